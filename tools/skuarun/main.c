/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - skuarun: starts a job, forwards its input, output and signals, and ends all of its
 * processes together.
 *
 * Where all processes share memory, skuarun starts and monitors them itself (onehost.h).  Otherwise
 * the job has several arenas, and an agent for each of them starts its processes (launcher.h).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cgroup.h"
#include "base/config.h"
#include "base/interconnect.h"
#include "base/topology.h"
#include "boot/image_slots.h"
#include "checkpoint/store_file.h"
#include "launcher/launcher.h"
#include "launcher/remote_agent.h"
#include "onehost.h"
#include "processes/monitor.h"
#include "output_check.h"
#include "survive/relaunch.h"
#include "common/options.h"

static void main_raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Opens /dev/null for each standard descriptor that is closed, so that no file opened later gets
 * its number. */
static void main_open_standard_fds(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = dup(fd);
    close(fd);
}

/* A launcher and its agents hold the secret of the job: they write no core dump, and other
 * processes of the user cannot read their memory.  exec() undoes this for the processes they start.
 */
static void main_keep_memory_private(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

/* SIGUSR1, which makes a checkpoint due, waits until the monitor reads it. */
static void main_block_checkpoint_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static int main_cores(void)
{
    struct ski_topology topology;

    if (ski_topology_load(&topology) != SKUA_OK)
        return 1;
    ski_topology_free(&topology);
    return ski_cpus_allowed(topology.cores);
}

/* Reads the file of SKUA_TOPOLOGY, if one is set, so that a wrong one is refused once and before
 * any process is started. */
static bool main_check_topology(bool verbose)
{
    struct ski_interconnect of = {0};
    char                    text[SKI_INTERCONNECT_TEXT];

    if (!ski_interconnect_is_file(ski_config.topology))
        return true;
    if (!ski_interconnect_read(&of, ski_config.topology, text)) {
        ski_log(SKI_LOG_ERROR, "SKUA_TOPOLOGY: %s", text);
        return false;
    }
    if (verbose)
        fprintf(stderr, "skuarun: interconnect: %s (%s)\n", ski_interconnect_summary(&of, text),
                ski_config.topology);
    ski_interconnect_destroy(&of);
    return true;
}

/* A script of a job with --survive starts skuarun: that job's images are not those of the new job.
 */
static void main_leave_outer_job(void)
{
    const char *restart = getenv("SKUA_RESTART");

    if (!getenv(SKI_IMAGES_VARIABLE))
        return;
    unsetenv(SKI_IMAGES_VARIABLE);
    if (restart && strcmp(restart, SKI_RESTART_MEMORY) == 0)
        unsetenv("SKUA_RESTART");
}

/* Returns whether a job on this host can restart as SKUA_RESTART says: the directory has a complete
 * checkpoint.  On several hosts each process reads its own part, which need not be on this host. */
static bool main_check_restart(const struct run_options *options)
{
    struct ski_store_checkpoint checkpoint;
    char                        reason[SKI_STORE_REASON], offer[SKI_STORE_REASON];

    if (strcmp(ski_config.restart, SKI_RESTART_MEMORY) == 0) {
        fprintf(stderr, "skuarun: restart: a new job has no checkpoint in memory; name the "
                        "directory of one\n");
        return false;
    }
    if (options->hosts || strcmp(ski_config.restart, "none") == 0)
        return true;
    if (!ski_store_checkpoint_open(&checkpoint, ski_config.restart, reason)) {
        ski_store_file_offer(ski_config.restart, offer, sizeof offer);
        fprintf(stderr, "skuarun: restart: %s; %s\n", reason, offer);
        return false;
    }
    ski_store_checkpoint_close(&checkpoint);
    return true;
}

static int main_run_distributed(struct run_options *options)
{
    struct hosts hosts;
    int          code = 2;

    main_keep_memory_private();
    if (hosts_resolve(&hosts, options) && remote_agent_check(&hosts))
        code = launcher_run(options, &hosts);
    hosts_free(&hosts);
    return code;
}

int main(int argc, char **argv)
{
    struct run_options options;
    int                code;

    main_block_checkpoint_signal();
    main_open_standard_fds();
    main_raise_file_limit();
    main_leave_outer_job();
    relaunch_begin();
    if (argc == 2 && strcmp(argv[1], "--agent") == 0) {
        main_keep_memory_private();
        return agent_run();
    }
    output_check_at_exit("skuarun"); /* options that print */
    options = run_options_parse(argc, argv);
    if (ski_config_load() != SKUA_OK)
        return 2;
    ski_config_check_names();
    if (!main_check_topology(options.verbose) || !main_check_restart(&options))
        return 2;
    if (!options.threads)
        options.threads = (int)ski_config.threads;
    if (!options.pes && !options.hosts)
        options.pes = main_cores();
    if (options.pes && options.threads > options.pes)
        options.threads = options.pes;
    /* A job of one process has one arena whatever SKUA_SHARED_MEMORY says. */
    if (options.hosts || (!ski_config.shared_memory && options.threads < options.pes))
        code = main_run_distributed(&options);
    else
        code = onehost_run(&options);
    if (relaunch_wanted()) {
        monitor_restore_signals(true);
        relaunch_exec(argv);
    }
    return code;
}
