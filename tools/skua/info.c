/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - skua info. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <skua/message.h>
#include <skua/version.h>

#include "base/config.h"
#include "base/topology.h"
#include "boot/pmix.h"
#include "base/arena.h"
#include "commands.h"

static const char help[] = "usage: skua info [options]\n"
                           "\n"
                           "  -c, --config     every setting, its value and what it does\n"
                           "  -t, --topology   packages, caches and cores of this host\n"
                           "      --man        the settings as the body of a manual page\n"
                           "  -h, --help       this text\n"
                           "\n"
                           "Without options: the version, this host, and how it can be used.\n";

static void print_summary(void)
{
    struct utsname      system;
    struct ski_topology topology = {0};
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES), page = (size_t)sysconf(_SC_PAGESIZE);

    uname(&system);
    printf("Skua %s\n", SKUA_VERSION);
    printf("host        %s, %s %s\n", system.machine, system.sysname, system.release);
    if (ski_topology_load(&topology) == SKUA_OK)
        printf("processors  %d cores, %d CPUs that we may use\n", topology.cores, topology.cpus);
    ski_topology_free(&topology);
    printf("memory      %zu MiB\n", pages * page >> 20);
    printf("messages    inline up to %d bytes, then by address; header %d bytes\n", SKUA_INLINE_MAX,
           SKUA_MSG_HEADER);
    printf("transports  host (PEs of this host, through the arena)\n");
    printf("launchers   skuarun; none (a program by itself is one PE, or SKUA_THREADS)\n");
    printf("            mpirun, prterun, srun (PMIx)%s%s\n", ski_pmix_missing() ? ": no, " : "",
           ski_pmix_missing() ? ski_pmix_missing() : "");
}

static int check_arena(void)
{
    struct ski_arena *arena;
    int               fd;
    size_t            bytes = ski_config.arena_size ? ski_config.arena_size : (size_t)1 << 30;

    if (ski_arena_create(bytes, ski_config.arena_address, 0, &arena, &fd) != SKUA_OK)
        return 1;
    printf("arena       can be mapped, at %p\n", (void *)arena);
    ski_arena_detach(arena);
    close(fd);
    return 0;
}

int command_info(int argc, char **argv)
{
    static const struct option options[] = {
        {"config", no_argument, NULL, 'c'},
        {"topology", no_argument, NULL, 't'},
        {"man", no_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    if (ski_config_load() != SKUA_OK)
        return 2;
    ski_config_check_names();
    while ((c = getopt_long(argc, argv, "cth", options, NULL)) != -1) {
        switch (c) {
        case 'c': ski_config_print(stdout); return 0;
        case 't': ski_topology_print(stdout); return 0;
        case 'm': ski_config_print_man(stdout); return 0;
        case 'h': fputs(help, stdout); return 0;
        default: fputs("(skua info --help)\n", stderr); return 2;
        }
    }
    print_summary();
    return check_arena();
}
