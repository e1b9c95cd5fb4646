/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - skua info: prints what this installation and this host provide. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <skua/message.h>
#include <skua/version.h>

#include "base/cgroup.h"
#include "base/config.h"
#include "base/interconnect.h"
#include "base/topology.h"
#include "boot/mpi_launcher.h"
#include "boot/pmix.h"
#include "onesided/buffer/buffer.h"
#include "transport/secret.h"
#include "transport/select.h"
#include "base/arena.h"
#include "commands.h"

static const char help[] =
    "usage: skua info [options]\n"
    "\n"
    "  -c, --config     print every setting, its value and its meaning\n"
    "  -t, --topology   print the packages, caches and cores of this host\n"
    "  -p, --peers      print how the processes of a job reach each other; run\n"
    "                   it as a job: skuarun -n 4 skua info --peers\n"
    "  -m, --memory     print the memory that a job takes before its program does\n"
    "                   anything; run it as a job: skuarun -n 4 skua info --memory\n"
    "      --man        print the settings as the body of a manual page\n"
    "  -h, --help       print this text\n"
    "\n"
    "Without options: print the version, this host, and what Skua can use on it.\n";

static void info_log_nothing(enum ski_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

/* Prints what a network driver uses, or why it cannot be used.  MPI is not initialised here: only
 * the processes of a job may do that. */
static void info_print_driver(const char *name)
{
    static struct ski_net    net; /* the driver may read it until it is stopped */
    const struct ski_driver *driver;

    net    = (struct ski_net){.processes    = 1,
                              .ports        = 1,
                              .one_host     = true,
                              .interfaces   = ski_config.net_interfaces,
                              .port_range   = ski_config.ports,
                              .peer_timeout = ski_config.peer_timeout,
                              .log          = info_log_nothing,
                              .last_error   = ski_driver_last_error};
    driver = ski_driver_load(name, net.last_error(), SKI_REASON_MAX);
    if (driver && strncmp(name, "mpi", 3) == 0) {
        printf("            %s: under its mpiexec or mpirun\n", name);
    } else if (driver && driver->start(&net) == SKUA_OK) {
        printf("            %s: %s\n", name, driver->describe());
        driver->stop();
    } else {
        printf("            %s: no, %s\n", name, net.last_error());
    }
}

/* Prints the size from which nocopy arguments are transferred without a copy. */
static void info_print_zero_copy(void)
{
    struct ski_zcopy_threshold from = ski_zcopy_threshold_measure();
    char                       text[SKI_ZCOPY_THRESHOLD_STR];

    printf("zero copy   %s\n", ski_zcopy_threshold_str(text, &from));
}

/* Prints the value of SKUA_SECURITY and the cryptography that its values use. */
static void info_print_security(void)
{
    char                     why[256];
    const struct ski_crypto *crypto = ski_crypto_load(why, sizeof why);

    printf("security    %s (SKUA_SECURITY)\n", ski_security_name((unsigned)ski_config.security));
    printf("            job: proofs by SipHash-2-4 of 128 bits\n");
    printf("            auth, encrypt: %s%s\n", crypto ? "" : "no, ",
           crypto ? crypto->describe() : why);
}

/* Prints the network between hosts as SKUA_TOPOLOGY or Slurm describes it. */
static int info_print_interconnect(void)
{
    struct ski_interconnect of      = {0};
    const char             *address = getenv("SLURM_TOPOLOGY_ADDR");
    char                    text[SKI_INTERCONNECT_TEXT];
    bool                    ok = true;

    if (ski_interconnect_is_file(ski_config.topology)) {
        ok = ski_interconnect_read(&of, ski_config.topology, text);
        printf("interconnect %s (SKUA_TOPOLOGY)\n",
               ok ? ski_interconnect_summary(&of, text) : text);
        ski_interconnect_destroy(&of);
    } else if (address && strcmp(ski_config.topology, "auto") == 0) {
        printf("interconnect %s (SLURM_TOPOLOGY_ADDR)\n", address);
    } else {
        printf("interconnect unknown: hosts are one hop apart (SKUA_TOPOLOGY)\n");
    }
    return ok ? 0 : 1;
}

/* Returns what the control groups say of the use of @p cpus CPUs, in @p text. */
static const char *info_quota(int cpus, char text[64])
{
    snprintf(text, 64, ", %d at a time (control groups)", ski_cpus_allowed(cpus));
    return ski_cpus_allowed(cpus) < cpus ? text : "";
}

static void info_print_summary(void)
{
    struct utsname      system;
    struct ski_topology topology = {0};
    char                quota[64];
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES), page = (size_t)sysconf(_SC_PAGESIZE);

    uname(&system);
    printf("Skua %s\n", SKUA_VERSION);
    printf("host        %s, %s %s\n", system.machine, system.sysname, system.release);
    if (ski_topology_load(&topology) == SKUA_OK)
        printf("processors  %d cores, %d CPUs usable by this process%s\n", topology.cores,
               topology.cpus, info_quota(topology.cpus, quota));
    ski_topology_free(&topology);
    printf("memory      %zu MiB\n", pages * page >> 20);
    printf("messages    inline up to %d bytes, then by address; header %d bytes\n", SKUA_INLINE_MAX,
           SKUA_MSG_HEADER);
    info_print_zero_copy();
    printf("transports  host: between PEs of this host, through the arena\n");
    for (int i = 0; i < SKI_CANDIDATES; i++)
        info_print_driver(ski_driver_names[i]);
    info_print_security();
    printf("launchers   skuarun; none (a program run directly has one PE, or SKUA_THREADS)\n");
    printf("            mpirun, prterun, srun (PMIx)%s%s\n", ski_pmix_missing() ? ": no, " : "",
           ski_pmix_missing() ? ski_pmix_missing() : "");
    printf("            mpiexec (MPI)%s%s\n", ski_mpi_missing() ? ": no, " : "",
           ski_mpi_missing() ? ski_mpi_missing() : "");
}

static int info_check_arena(void)
{
    struct ski_arena *arena;
    int               fd;
    size_t            bytes = ski_boot_arena_bytes();

    if (ski_arena_create(bytes, ski_config.arena_address, 0, &arena, &fd) != SKUA_OK)
        return 1;
    printf("arena       %zu MiB, can be mapped at %p\n", bytes >> 20, (void *)arena);
    ski_arena_detach(arena);
    close(fd);
    return 0;
}

int command_info(int argc, char **argv)
{
    static const struct option options[] = {
        {"config", no_argument, NULL, 'c'},
        {"topology", no_argument, NULL, 't'},
        {"peers", no_argument, NULL, 'p'},
        {"memory", no_argument, NULL, 'm'},
        {"man", no_argument, NULL, 'M'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    if (ski_config_load() != SKUA_OK)
        return 2;
    ski_config_check_names();
    while ((c = getopt_long(argc, argv, "ctpmh", options, NULL)) != -1) {
        if (c != '?' && optind < argc)
            break;
        switch (c) {
        case 'c': ski_config_print(stdout); return 0;
        case 't': ski_topology_print(stdout); return 0;
        case 'p': return peers_main(argc, argv);
        case 'm': return memory_cost_main(argc, argv);
        case 'M': ski_config_print_man(stdout); return 0;
        case 'h': fputs(help, stdout); return 0;
        default: fputs("(skua info --help)\n", stderr); return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "skua info: %s: unexpected argument (skua info --help)\n", argv[optind]);
        return 2;
    }
    info_print_summary();
    return info_print_interconnect() | info_check_arena();
}
