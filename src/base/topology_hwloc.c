/* SPDX-License-Identifier: Apache-2.0 */
/* topology_hwloc.c - cores, caches and CPUs as hwloc sees them. */
#include <hwloc.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/topology.h"

/* Loads the tree of hwloc, restricted to the CPUs that this process may use. */
static bool topology_load_tree(hwloc_topology_t *tree)
{
    hwloc_cpuset_t mine = hwloc_bitmap_alloc();
    bool           ok   = false;

    if (mine && hwloc_topology_init(tree) == 0) {
        hwloc_topology_set_io_types_filter(*tree, HWLOC_TYPE_FILTER_KEEP_NONE);
        ok = hwloc_topology_load(*tree) == 0;
        if (!ok)
            hwloc_topology_destroy(*tree);
    }
    if (ok && hwloc_get_cpubind(*tree, mine, HWLOC_CPUBIND_THREAD) == 0)
        hwloc_topology_restrict(*tree, mine, 0);
    hwloc_bitmap_free(mine);
    if (!ok)
        ski_log(SKI_LOG_ERROR, "hwloc cannot read the topology of this host");
    return ok;
}

/* Appends the n-th CPU of every core that has one.  Returns false if no core has. */
static bool topology_add_nth(struct ski_topology *topology, hwloc_topology_t tree, int cores, int n)
{
    hwloc_obj_t core  = NULL;
    int         added = 0;

    while ((core = hwloc_get_next_obj_by_depth(tree, cores, core))) {
        int cpu = hwloc_bitmap_first(core->cpuset);
        for (int i = 0; i < n && cpu >= 0; i++)
            cpu = hwloc_bitmap_next(core->cpuset, cpu);
        if (cpu >= 0) {
            topology->cpu[topology->cpus++] = cpu;
            added++;
        }
    }
    return added > 0;
}

skua_status ski_topology_load(struct ski_topology *topology)
{
    hwloc_topology_t tree;
    int              cpus, cores;

    if (!topology_load_tree(&tree))
        return SKUA_ERR_SYSTEM;
    cpus           = hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PU);
    cores          = hwloc_get_type_or_below_depth(tree, HWLOC_OBJ_CORE); /* a depth */
    topology->cpus = 0;
    topology->cpu  = calloc((size_t)cpus, sizeof(int));
    if (topology->cpu) {
        int n = 0;
        while (topology->cpus < cpus && topology_add_nth(topology, tree, cores, n))
            n++;
        topology->cores = (int)hwloc_get_nbobjs_by_depth(tree, cores);
    }
    hwloc_topology_destroy(tree);
    return topology->cpu ? SKUA_OK : SKUA_ERR_NOMEM;
}

static void topology_print_tree(FILE *to, hwloc_obj_t object, int depth)
{
    char type[64], attributes[128];

    hwloc_obj_type_snprintf(type, sizeof type, object, 1);
    hwloc_obj_attr_snprintf(attributes, sizeof attributes, object, " ", 0);
    fprintf(to, "%*s%s", 2 * depth, "", type);
    if (object->os_index != HWLOC_UNKNOWN_INDEX)
        fprintf(to, " %u", object->os_index);
    fprintf(to, "%s%s%s\n", attributes[0] ? " (" : "", attributes, attributes[0] ? ")" : "");
    for (unsigned i = 0; i < object->arity; i++)
        topology_print_tree(to, object->children[i], depth + 1);
}

void ski_topology_print(FILE *to)
{
    hwloc_topology_t tree;

    if (!topology_load_tree(&tree))
        return;
    topology_print_tree(to, hwloc_get_root_obj(tree), 0);
    hwloc_topology_destroy(tree);
}
