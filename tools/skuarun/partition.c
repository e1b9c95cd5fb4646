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
        int each      = ski_config.share ? processes : 1;

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

/* Where all PEs of this host run, found out once for all its agents; NULL: each host
 * has one agent, which does that. */
static bool place(const struct hosts *hosts, int **cpu)
{
    *cpu = NULL;
    for (int i = 0; i < hosts->count && !ski_config.share; i++)
        if (hosts->host[i].local && !*cpu) {
            *cpu = ski_calloc((size_t)hosts->host[i].pes, sizeof **cpu);
            if (ski_topology_place(ski_config.pin, hosts->host[i].pes, *cpu) != SKUA_OK)
                return false;
        }
    return true;
}

/* @p before: PEs of agents of the same host. */
static void send_order(struct remote *remote, struct order *order, int before, int *cpu)
{
    struct order_head *h  = &order->head;
    struct buffer      to = {0};

    h->first        = remote->first;
    h->here         = remote->here;
    h->beside       = remote->host->pes;
    h->beside_first = before;
    h->cpus         = cpu ? order_pes(h) : 0;
    order->cpu      = cpu ? cpu + before : NULL;
    order_encode(order, &to);
    channel_send(&remote->channel, FRAME_ORDER, to.text, to.end, NULL, 0);
    buffer_free(&to);
}

static void send_orders(struct remote *remote, int count, struct order *order, int *cpu)
{
    int before = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && remote[i].host != remote[i - 1].host)
            before = 0;
        send_order(&remote[i], order, before, remote[i].host->local ? cpu : NULL);
        before += order_pes(&order->head);
    }
}

static void announce(const struct remote *remote)
{
    fprintf(stderr, "skuarun: process %d", remote->first);
    if (remote->here > 1)
        fprintf(stderr, " to %d", remote->first + remote->here - 1);
    fprintf(stderr, " on host %s\n", remote->host->name);
}

bool partition_start(const struct options *options, const struct hosts *hosts,
                     struct remote *remote, int count)
{
    char         folder[PATH_MAX];
    struct order order = {0};
    int         *cpu;
    bool         ok = place(hosts, &cpu) && common_order(&order, options, hosts, folder);

    for (int i = 0; i < count && ok; i++) {
        if (options->verbose && options->hosts)
            announce(&remote[i]);
        ok = remote_start(&remote[i]);
    }
    if (ok)
        send_orders(remote, count, &order, cpu);
    free(cpu);
    free(order.setting);
    return ok;
}
