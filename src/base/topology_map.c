/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_map.c - ski_topology_print_map(): the PEs of a host on its packages, NUMA nodes, cores
 * and hardware threads.
 *
 * A NUMA node that has a PE is a line:
 *
 *     package 0, NUMA node 1: [0 4] [1 5] [2 .] [. .]
 *
 * A core is a pair of brackets around its hardware threads, and a dot is one without a PE.  Where a
 * line would be too long it gives sums instead:
 *
 *     package 0, NUMA node 1: PEs 0-63 on 64 of 64 cores
 */
#include <stdlib.h>
#include <string.h>

#include "base/topology.h"

#define TOPOLOGY_MAP_LINE 90 /* characters of a line, above which a NUMA node is summed up */

/* The PEs to print: numbers and CPUs. */
struct topology_map_pes {
    const int *pe, *cpu;
    int        count;
};

/* Text that grows at its end, up to a bound, and then is marked as too long. */
struct topology_map_text {
    char   text[TOPOLOGY_MAP_LINE + 1];
    size_t bytes;
    bool   too_long;
};

static void topology_map_add(struct topology_map_text *line, const char *text)
{
    size_t n = strlen(text);

    line->too_long |= line->bytes + n > TOPOLOGY_MAP_LINE;
    if (line->too_long)
        return;
    memcpy(line->text + line->bytes, text, n + 1);
    line->bytes += n;
}

static void topology_map_add_range(struct topology_map_text *line, const char *before, int from,
                                   int to)
{
    char text[64];

    if (to > from)
        snprintf(text, sizeof text, "%s%d-%d", before, from, to);
    else
        snprintf(text, sizeof text, "%s%d", before, from);
    topology_map_add(line, text);
}

/* Appends the numbers of the PEs on CPUs of @p place[0 ... count - 1], as ranges.  Returns how many
 * they are. */
static int topology_map_add_pes(struct topology_map_text *line, const struct topology_map_pes *pes,
                                const skua_cpu *place, int count)
{
    int found = 0, from = -1, to = -1;

    for (int i = 0; i < pes->count; i++) {
        int k = 0;

        while (k < count && place[k].cpu != pes->cpu[i])
            k++;
        if (k == count)
            continue;
        if (found++ > 0 && pes->pe[i] == to + 1) {
            to++;
            continue;
        }
        if (from >= 0)
            topology_map_add_range(line, "", from, to), topology_map_add(line, ",");
        from = to = pes->pe[i];
    }
    if (from >= 0)
        topology_map_add_range(line, "", from, to);
    return found;
}

/* Returns how many places from the first on belong to its core. */
static int topology_map_core(const skua_cpu *place, int count)
{
    int n = 1;

    while (n < count && place[n].core == place[0].core)
        n++;
    return n;
}

/* Draws the cores of a NUMA node. */
static void topology_map_draw(struct topology_map_text *line, const struct topology_map_pes *pes,
                              const skua_cpu *place, int count)
{
    for (int i = 0; i < count; i++) {
        bool first = i == 0 || place[i - 1].core != place[i].core;
        bool last  = i + 1 == count || place[i + 1].core != place[i].core;

        topology_map_add(line, first ? " [" : " ");
        if (topology_map_add_pes(line, pes, &place[i], 1) == 0)
            topology_map_add(line, ".");
        topology_map_add(line, last ? "]" : "");
    }
}

/* Counts the cores of a NUMA node, and those with a PE. */
static void topology_map_count(const struct topology_map_pes *pes, const skua_cpu *place, int count,
                               int *cores, int *used)
{
    *cores = *used = 0;
    for (int i = 0, n; i < count; i += n) {
        struct topology_map_text none = {.too_long = true};

        n = topology_map_core(place + i, count - i);
        *used += topology_map_add_pes(&none, pes, place + i, n) > 0;
        ++*cores;
    }
}

/* Prints the line of a NUMA node.  Returns false, and prints nothing, if it has no PE. */
static bool topology_map_print_numa(FILE *to, const char *prefix,
                                    const struct topology_map_pes *pes, const skua_cpu *place,
                                    int count, int package)
{
    struct topology_map_text drawn = {.bytes = 0}, ranges = {.bytes = 0};
    int                      cores, used;

    topology_map_count(pes, place, count, &cores, &used);
    if (used == 0)
        return false;
    topology_map_draw(&drawn, pes, place, count);
    topology_map_add_pes(&ranges, pes, place, count);
    fprintf(to, "%spackage %d, NUMA node %d:", prefix, package, place->numa < 0 ? 0 : place->numa);
    if (!drawn.too_long)
        fprintf(to, "%s\n", drawn.text);
    else
        fprintf(to, " PEs %s%s on %d of %d cores\n", ranges.text, ranges.too_long ? "..." : "",
                used, cores);
    return true;
}

/* Returns how many places from the first on belong to its NUMA node and package. */
static int topology_map_numa(const skua_cpu *place, int count)
{
    int n = 1;

    while (n < count && place[n].numa == place[0].numa && place[n].package == place[0].package)
        n++;
    return n;
}

void ski_topology_print_map(FILE *to, const char *prefix, const int *pe, const int *cpu, int count)
{
    struct topology_map_pes pes = {pe, cpu, count};
    struct ski_topology     topology;
    int                     package = -1, without = 0;

    if (count == 0 || cpu[0] == SKI_CPU_ANY || ski_topology_load(&topology) != SKUA_OK)
        return;
    for (int i = 0, n; i < topology.cpus; i += n) {
        const skua_cpu *place = &topology.place[i];

        n = topology_map_numa(place, topology.cpus - i);
        package += i == 0 || place[-1].package != place[0].package;
        without += !topology_map_print_numa(to, prefix, &pes, place, n, package);
    }
    if (without > 0)
        fprintf(to, "%s%d NUMA node%s without a PE\n", prefix, without, without > 1 ? "s" : "");
    ski_topology_free(&topology);
}
