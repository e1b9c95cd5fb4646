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

/* Returns the first CPU of the object of a type that contains @p cpu, or -1. */
static int topology_first_of(hwloc_topology_t tree, hwloc_obj_t cpu, hwloc_obj_type_t type)
{
    hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(tree, type, cpu);

    return found ? hwloc_bitmap_first(found->cpuset) : -1;
}

skua_status ski_topology_read(struct ski_topology *topology)
{
    hwloc_topology_t tree;
    hwloc_obj_t      cpu = NULL;

    if (!topology_load_tree(&tree))
        return SKUA_ERR_SYSTEM;
    topology->place =
        calloc((size_t)hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PU), sizeof *topology->place);
    /* Of several NUMA nodes at one CPU, the first is ordinary memory. */
    while (topology->place && (cpu = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_PU, cpu)))
        topology->place[topology->cpus++] =
            (skua_cpu){.cpu     = (int)cpu->os_index,
                       .core    = topology_first_of(tree, cpu, HWLOC_OBJ_CORE),
                       .cache   = -1,
                       .package = topology_first_of(tree, cpu, HWLOC_OBJ_PACKAGE),
                       .numa    = cpu->nodeset ? hwloc_bitmap_first(cpu->nodeset) : -1};
    hwloc_topology_destroy(tree);
    return topology->place ? SKUA_OK : SKUA_ERR_NOMEM;
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
