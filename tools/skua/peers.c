/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.c - skua info --peers: how the processes of a job reach each other.
 *
 * It is a Skua program that examines the job it runs in.  The first PE of each process reports its
 * host, and which processes it shares an arena with, to PE 0.
 */
#include <skua/skua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands.h"
#include "core/net/net.h"
#include "transport/driver.h"

#define COLUMNS_MAX 32 /* of the table; with more processes only their number is printed */

struct peers_report {
    int32_t process;
    char    host[64];
    uint8_t near[]; /* for each process: whether it shares the arena */
};

static skua_handler          report_handler;
static struct peers_report **reports; /* on PE 0 */
static int                   missing;

static const char *peers_path(const struct peers_report *from, int to)
{
    if (from->process == to)
        return "self";
    return from->near[to] ? "arena" : ski_net_driver()->name;
}

static void peers_print_row(const struct peers_report *r)
{
    int first = skua_process_first(r->process), pes = skua_process_pes(r->process), near = 0;

    printf("%7d  %4d-%-4d  %-16s", r->process, first, first + pes - 1, r->host);
    for (int i = 0; i < skua_processes(); i++)
        near += r->near[i];
    if (skua_processes() > COLUMNS_MAX)
        printf("  %d by arena, %d by driver", near - 1, skua_processes() - near);
    for (int i = 0; i < skua_processes() && skua_processes() <= COLUMNS_MAX; i++)
        printf(" %-5s", peers_path(r, i));
    printf("\n");
}

static void peers_print(void)
{
    printf("process  PEs        host             ");
    for (int i = 0; i < skua_processes() && skua_processes() <= COLUMNS_MAX; i++)
        printf(" to %-2d", i);
    printf("\n");
    for (int i = 0; i < skua_processes(); i++)
        peers_print_row(reports[i]);
    printf("\nself: one process; arena: memory shared by the processes of a host, no copies");
    if (ski_net_driver())
        printf("; %s: %s", ski_net_driver()->name, ski_net_driver()->describe());
    printf("\n");
}

/* Prints where a host is in the interconnect. */
static void peers_print_host(int host)
{
    int         coord[SKUA_TORUS_DIMS], dims = skua_host_coord(host, coord);
    const char *name;

    printf("host %d, node %s", host, skua_host_name(host));
    for (int d = 0; d < dims; d++)
        printf("%s%d", d ? "," : ": coordinates ", coord[d]);
    for (int level = 0; (name = skua_host_switch(host, level)) != NULL; level++)
        printf("%s%s", level ? ", " : ": switches ", name);
    printf("\n");
}

/* Prints the interconnect and the hops between hosts. */
static void peers_print_interconnect(void)
{
    skua_interconnect of;
    int               hosts = skua_hosts();

    skua_interconnect_get(&of, sizeof of);
    if (of.kind == SKUA_INTERCONNECT_UNKNOWN || hosts == 1)
        return;
    printf("\n");
    for (int i = 0; i < hosts; i++)
        peers_print_host(i);
    printf("\nhops     ");
    for (int k = 0; k < hosts && hosts <= COLUMNS_MAX; k++)
        printf(" %4d", k);
    for (int i = 0; i < hosts && hosts <= COLUMNS_MAX; i++) {
        printf("\nhost %-4d", i);
        for (int k = 0; k < hosts; k++)
            printf(" %4d", skua_host_hops(i, k));
    }
    printf("\n");
}

static void peers_on_report(skua_msg *msg)
{
    struct peers_report *r    = skua_msg_data(msg);
    size_t               size = skua_msg_size(msg);

    if (!reports) {
        reports = ski_calloc((size_t)skua_processes(), sizeof *reports);
        missing = skua_processes();
    }
    reports[r->process] = memcpy(ski_malloc(size), r, size);
    skua_msg_free(msg);
    if (--missing > 0)
        return;
    peers_print();
    peers_print_interconnect();
    for (int i = 0; i < skua_processes(); i++)
        free(reports[i]);
    free(reports);
    skua_exit(0);
}

static void peers_start(int argc, char **argv)
{
    int                  processes = skua_processes();
    size_t               bytes     = sizeof(struct peers_report) + (size_t)processes;
    skua_msg            *msg;
    struct peers_report *r;

    (void)argc, (void)argv;
    if (skua_pe() != skua_process_first(skua_process()))
        return;
    msg        = skua_msg_alloc(bytes);
    r          = memset(skua_msg_data(msg), 0, bytes);
    r->process = skua_process();
    gethostname(r->host, sizeof r->host - 1);
    for (int i = 0; i < processes; i++)
        r->near[i] = skua_shares_memory(skua_process_first(i));
    skua_send(0, report_handler, msg);
}

int peers_main(int argc, char **argv)
{
    report_handler = skua_handler_register("report", peers_on_report);
    return skua_main(argc, argv, peers_start);
}
