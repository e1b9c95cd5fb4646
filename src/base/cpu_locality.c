/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_locality.c - see cpu_locality.h. */
#include "base/cpu_locality.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_CACHES_MAX 8

/* Returns the number that a file begins with, such as the first of a list of CPUs "0-3,8"; -1 if
 * there is none. */
static int cpu_first_number(const char *root, int cpu, const char *name)
{
    char  path[256];
    FILE *file;
    int   n = -1;

    snprintf(path, sizeof path, "%s/cpu%d/%s", root, cpu, name);
    file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%d", &n) != 1)
        n = -1;
    fclose(file);
    return n;
}

/* Returns the first CPU that shares the cache of the highest level with @p cpu, or -1. */
static int cpu_last_cache(const char *root, int cpu)
{
    int  found = -1, highest = 0;
    char name[64];

    for (int i = 0; i < CPU_CACHES_MAX; i++) {
        int level;
        snprintf(name, sizeof name, "cache/index%d/level", i);
        level = cpu_first_number(root, cpu, name);
        if (level < highest)
            continue;
        snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", i);
        found   = cpu_first_number(root, cpu, name);
        highest = level;
    }
    return found;
}

/* Returns the NUMA node of a CPU: its folder has a symbolic link "nodeN". */
static int cpu_numa_node(const char *root, int cpu)
{
    char           path[256];
    int            node = -1;
    struct dirent *entry;
    DIR           *folder;

    snprintf(path, sizeof path, "%s/cpu%d", root, cpu);
    folder = opendir(path);
    if (!folder)
        return -1;
    while (node < 0 && (entry = readdir(folder)))
        if (sscanf(entry->d_name, "node%d", &node) != 1)
            node = -1;
    closedir(folder);
    return node;
}

/* Reads the file under its newer name, or else under its older one. */
static int cpu_number_of_either(const char *root, int cpu, const char *newer, const char *older)
{
    int n = cpu_first_number(root, cpu, newer);

    return n >= 0 ? n : cpu_first_number(root, cpu, older);
}

skua_cpu ski_cpu_locality_read(const char *root, int cpu)
{
    return (skua_cpu){
        .cpu     = cpu,
        .core    = cpu_number_of_either(root, cpu, "topology/core_cpus_list",
                                        "topology/thread_siblings_list"),
        .cache   = cpu_last_cache(root, cpu),
        .package = cpu_number_of_either(root, cpu, "topology/package_cpus_list",
                                        "topology/core_siblings_list"),
        .numa    = cpu_numa_node(root, cpu),
    };
}

static bool cpu_is_same(int a, int b)
{
    return a >= 0 && a == b;
}

skua_nearness ski_cpu_locality_distance(const skua_cpu *a, const skua_cpu *b)
{
    if (cpu_is_same(a->cpu, b->cpu) || cpu_is_same(a->core, b->core))
        return SKUA_SAME_CORE;
    if (cpu_is_same(a->cache, b->cache))
        return SKUA_SAME_CACHE;
    return cpu_is_same(a->package, b->package) ? SKUA_SAME_PACKAGE : SKUA_SAME_HOST;
}
