/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - see partition.h. */
#include "partition.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/config.h"
#include "base/topology.h"
#include "export.h"
#include "order.h"

struct remote *partition(const struct options *options, const struct hosts *hosts, int *count)
{
    int            most   = (options->pes + options->threads - 1) / options->threads;
    struct remote *remote = ski_calloc((size_t)most, sizeof *remote);
    int            first  = 0;

    *count = 0;
    for (int i = 0; i < hosts->count; i++) {
        int processes = (hosts->host[i].pes + options->threads - 1) / options->threads;
        int each      = ski_config.shared_memory ? processes : 1;

        for (int end = first + processes; first < end; first += each)
            remote[(*count)++] = (struct remote){.host    = &hosts->host[i],
                                                 .first   = first,
                                                 .here    = each,
                                                 .running = each,
                                                 .channel = {.in = -1, .out = -1},
                                                 .words   = {.fd = -1}};
    }
    return remote;
}

static bool all_local(const struct hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        if (!hosts->host[i].local)
            return false;
    return true;
}

/* What all agents are told. */
static bool common_order(struct order *order, const struct options *options,
                         const struct hosts *hosts, char folder[PATH_MAX])
{
    struct order_head *h = &order->head;

    *order = (struct order){.head     = {.pes             = options->pes,
                                         .pes_per_process = options->threads,
                                         .one_host        = all_local(hosts),
                                         .label           = options->label,
                                         .verbose         = options->verbose,
                                         .terminal        = (uint8_t)isatty(STDOUT_FILENO)},
                            .folder   = folder,
                            .argument = options->command};
    while (options->command[h->arguments])
        h->arguments++;
    if (!getcwd(folder, PATH_MAX) ||
        getrandom(h->secret, sizeof h->secret, 0) != (ssize_t)sizeof h->secret) {
        fprintf(stderr,
                "skuarun: cannot find out the working directory, or no random numbers: %s\n",
                strerror(errno));
        return false;
    }
    order->setting = export_settings(options->exports, &h->settings);
    return true;
}

/* Points the order at the processes of @p remote; returns how many PEs they have. */
static int partition_turn_to(struct order_head *h, const struct remote *remote)
{
    h->first = remote->first;
    h->here  = remote->here;
    return order_pes(h);
}

/* Returns whether two agents share their CPUs.  Where the kernel does not tell, hosts of one name
 * do. */
static bool partition_shares(const struct remote *a, const struct remote *b)
{
    if (!a->machine.boot[0])
        return a->host == b->host;
    return memcmp(&a->machine, &b->machine, sizeof a->machine) == 0;
}

/* Finds how many PEs share the CPUs of remote[i], and how many of them come before its own. */
static void partition_count_beside(struct order_head *h, const struct remote *remote, int count,
                                   int i)
{
    h->beside = h->beside_first = 0;
    for (int other = 0; other < count; other++) {
        if (other == i)
            h->beside_first = h->beside;
        if (partition_shares(&remote[i], &remote[other]))
            h->beside += partition_turn_to(h, &remote[other]);
    }
    partition_turn_to(h, &remote[i]);
}

/* Processes of this host that share no memory have an agent each.  Where all their PEs run is
 * found out once, by the first; the others get it from *@p cpu. */
static bool partition_place(struct order *order, const struct remote *remote, int **cpu)
{
    struct order_head *h = &order->head;

    if (ski_config.shared_memory || !remote->host->local)
        return true;
    if (!*cpu) {
        *cpu = ski_calloc((size_t)h->beside, sizeof **cpu);
        if (ski_topology_place(ski_config.pin, h->beside, *cpu) != SKUA_OK)
            return false;
    }
    h->cpus    = order_pes(h);
    order->cpu = *cpu + h->beside_first;
    return true;
}

static bool partition_send(struct order *order, struct remote *remote, int count)
{
    int *cpu = NULL;
    bool ok  = true;

    for (int i = 0; i < count && ok; i++) {
        struct buffer to = {0};

        order->head.cpus = 0;
        order->cpu       = NULL;
        partition_count_beside(&order->head, remote, count, i);
        ok = partition_place(order, &remote[i], &cpu);
        order_encode(order, &to);
        if (ok)
            channel_send(&remote[i].channel, FRAME_ORDER, to.text, to.end, NULL, 0);
        buffer_free(&to);
    }
    free(cpu);
    return ok;
}

bool partition_order(const struct options *options, const struct hosts *hosts,
                     struct remote *remote, int count)
{
    char         folder[PATH_MAX];
    struct order order = {0};
    bool ok = common_order(&order, options, hosts, folder) && partition_send(&order, remote, count);

    free(order.setting);
    return ok;
}

static void announce(const struct remote *remote)
{
    fprintf(stderr, "skuarun: process %d", remote->first);
    if (remote->here > 1)
        fprintf(stderr, " to %d", remote->first + remote->here - 1);
    fprintf(stderr, " on host %s\n", remote->host->name);
}

bool partition_start(const struct options *options, struct remote *remote, int count)
{
    bool ok = true;

    for (int i = 0; i < count && ok; i++) {
        if (options->verbose && options->hosts)
            announce(&remote[i]);
        ok = remote_start(&remote[i]);
    }
    return ok;
}
