/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_nearest.c - the PEs that are nearest to a PE (skua/topology.h).
 *
 * Hosts are sorted by their hops, and the PEs of each are taken in turn until there are enough; so
 * the time grows with the hosts and with the PEs that are asked for, not with all PEs.
 */
#include <stdlib.h>

#include <skua/topology.h>

#include "base/memory.h"
#include "core/pe/pe.h"
#include "objects/services/host_interconnect.h"
#include "objects/services/host_topology.h"

/* A host or a PE, and what sorts it. */
struct nearest_item {
    int distance; /* hops, or a skua_nearness     */
    int behind;   /* how much lower its number is, around the end */
    int number;
};

static int nearest_compare(const void *a, const void *b)
{
    const struct nearest_item *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->behind < y->behind ? -1 : x->behind > y->behind;
}

/* Returns how much lower @p number is than @p from, around the end of @p count numbers. */
static int nearest_behind(int number, int from, int count)
{
    return number >= from ? number - from : number - from + count;
}

/* Appends the PEs of a host but @p pe.  Returns how many are there now. */
static int nearest_add_host(int pe, int host, int count, int *nearest, int n)
{
    int                  pes = skua_host_pes(host), items = 0;
    bool                 near = host == skua_host_of(pe) && pe == ski_self->pe;
    struct nearest_item *item = ski_malloc((size_t)pes * sizeof *item);

    for (int i = 0; i < pes; i++) {
        int other = skua_host_pe(host, i);

        if (other != pe)
            item[items++] = (struct nearest_item){near ? (int)skua_distance(other) : 0,
                                                  nearest_behind(other, pe, ski_self->pes), other};
    }
    qsort(item, (size_t)items, sizeof *item, nearest_compare);
    for (int i = 0; i < items && n < count; i++)
        nearest[n++] = item[i].number;
    free(item);
    return n;
}

int skua_nearest(int pe, int count, int *nearest)
{
    int                  hosts, home, n = 0;
    struct nearest_item *item;

    ski_host_topology_check_pe(__func__, pe);
    if (count < 0)
        ski_misuse("skua_nearest: %d is not a number of PEs", count);
    hosts = skua_hosts();
    home  = skua_host_of(pe);
    n     = nearest_add_host(pe, home, count, nearest, 0);
    if (n == count || hosts == 1)
        return n;
    item = ski_malloc((size_t)hosts * sizeof *item);
    for (int i = 0; i < hosts; i++)
        item[i] = (struct nearest_item){ski_host_interconnect_hops(home, i),
                                        nearest_behind(i, home, hosts), i};
    qsort(item, (size_t)hosts, sizeof *item, nearest_compare);
    for (int i = 1; i < hosts && n < count; i++) /* 0 is its own */
        n = nearest_add_host(pe, item[i].number, count, nearest, n);
    free(item);
    return n;
}
