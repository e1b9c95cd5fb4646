/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - skuarun: starts a job, forwards its input, output and signals, and
 * sees to it that all of it ends together.
 *
 * Where all processes share memory, skuarun watches them itself (onehost.h).
 * Else there are several arenas, and an agent for each holds its processes.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent.h"
#include "base/config.h"
#include "base/topology.h"
#include "launcher.h"
#include "onehost.h"
#include "options.h"

static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A standard descriptor that we were started without must not become another's. */
static void open_standard(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = dup(fd);
    close(fd);
}

/* The secret of the job passes through a launcher and its agents: they leave no core dump, and
 * other processes of the user cannot read their memory.  What they start is as usual. */
static void keep_memory_private(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

static int cores(void)
{
    struct ski_topology topology;

    if (ski_topology_load(&topology) != SKUA_OK)
        return 1;
    ski_topology_free(&topology);
    return topology.cores;
}

static int run_spread(struct options *options)
{
    struct hosts hosts;
    int          code;

    keep_memory_private();
    code = hosts_settle(&hosts, options) ? launcher_run(options, &hosts) : 2;
    hosts_free(&hosts);
    return code;
}

int main(int argc, char **argv)
{
    struct options options;

    open_standard();
    raise_file_limit();
    if (argc == 2 && strcmp(argv[1], "--agent") == 0) {
        keep_memory_private();
        return agent_run();
    }
    options = options_parse(argc, argv);
    if (ski_config_load() != SKUA_OK)
        return 2;
    ski_config_check_names();
    if (!options.pes && !options.hosts)
        options.pes = cores();
    if (options.pes && options.threads > options.pes)
        options.threads = options.pes;
    /* One process alone has nobody to share memory with. */
    if (options.hosts || (!ski_config.shared_memory && options.threads < options.pes))
        return run_spread(&options);
    return onehost_run(&options);
}
