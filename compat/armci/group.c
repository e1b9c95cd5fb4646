/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - groups of processes, and the locality of processes.
 *
 * Programs keep an ARMCI_Group by value, and Global Arrays uses its communicator, so a group
 * consists of its communicator and the world ranks of its members.
 */
#include <stdlib.h>

#include "armci_impl.h"

#define GROUP_TAG 22 /* tag of MPI_Comm_create_group() on communicators of groups */

void ski_armci_group_fill(ARMCI_Group *group)
{
    MPI_Group members, world;
    int      *ranks;

    group->noncoll_pgroup_comm = MPI_COMM_NULL;
    group->grp_to_abs = group->abs_to_grp = NULL;
    group->rank                           = -1;
    group->size                           = 0;
    if (group->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(group->comm, &group->rank);
    MPI_Comm_size(group->comm, &group->size);
    group->grp_to_abs = malloc((size_t)group->size * sizeof(int));
    ranks             = malloc((size_t)group->size * sizeof(int));
    if (!ranks || !group->grp_to_abs)
        ski_armci_fail("ARMCI_Group_create", "no memory");
    for (int i = 0; i < group->size; i++)
        ranks[i] = i;
    MPI_Comm_group(group->comm, &members);
    MPI_Comm_group(ski_armci.world.comm, &world);
    MPI_Group_translate_ranks(members, group->size, ranks, world, group->grp_to_abs);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    free(ranks);
}

int ski_armci_group_rank_of(const ARMCI_Group *group, int absolute)
{
    for (int i = 0; i < group->size; i++)
        if (group->grp_to_abs[i] == absolute)
            return i;
    return -1;
}

void ARMCI_Group_create_child(int grp_size, int *pid_list, ARMCI_Group *group_out,
                              ARMCI_Group *group_parent)
{
    MPI_Group parent, child;
    int       rank;

    if (group_parent->rank < 0)
        ski_armci_fail("ARMCI_Group_create_child",
                       "the caller is not a member of the parent group");
    MPI_Comm_group(group_parent->comm, &parent);
    MPI_Group_incl(parent, grp_size, pid_list, &child);
    MPI_Group_rank(child, &rank);
    group_out->comm = MPI_COMM_NULL;
    if (rank != MPI_UNDEFINED)
        MPI_Comm_create_group(group_parent->comm, child, GROUP_TAG, &group_out->comm);
    MPI_Group_free(&parent);
    MPI_Group_free(&child);
    ski_armci_group_fill(group_out);
}

void ARMCI_Group_create(int grp_size, int *pid_list, ARMCI_Group *group_out)
{
    ARMCI_Group_create_child(grp_size, pid_list, group_out, &ski_armci.preset);
}

int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group)
{
    int error = MPI_Comm_split(parent->comm, color, key, &new_group->comm);

    if (error == MPI_SUCCESS)
        ski_armci_group_fill(new_group);
    return error;
}

int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group)
{
    int error = MPI_Comm_dup(parent->comm, &new_group->comm);

    if (error == MPI_SUCCESS)
        ski_armci_group_fill(new_group);
    return error;
}

void ARMCIX_Get_world_comm(MPI_Comm *comm)
{
    *comm = ski_armci.world.comm;
}

void ARMCI_Group_free(ARMCI_Group *group)
{
    if (group->comm != MPI_COMM_NULL)
        MPI_Comm_free(&group->comm);
    free(group->grp_to_abs);
    ski_armci_group_fill(group);
}

int ARMCI_Group_rank(ARMCI_Group *group, int *rank)
{
    *rank = group->rank;
    return group->rank < 0;
}

void ARMCI_Group_size(ARMCI_Group *group, int *size)
{
    *size = group->size;
}

void ARMCI_Group_set_default(ARMCI_Group *group)
{
    ski_armci.preset = *group;
}

void ARMCI_Group_get_default(ARMCI_Group *group_out)
{
    *group_out = ski_armci.preset;
}

void ARMCI_Group_get_world(ARMCI_Group *group_out)
{
    *group_out = ski_armci.world;
}

int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank)
{
    return group_rank >= 0 && group_rank < group->size ? group->grp_to_abs[group_rank] : -1;
}

/* ---- locality ------------------------------------------------------------------------ */

int armci_domain_nprocs(armci_domain_t domain, int id)
{
    (void)domain;
    return skua_host_pes(id < 0 ? ski_armci.process[ski_armci.me].domain : id);
}

int armci_domain_id(armci_domain_t domain, int glob_proc_id)
{
    (void)domain;
    return ski_armci_is_process(glob_proc_id) ? ski_armci.process[glob_proc_id].domain : -1;
}

int armci_domain_glob_proc_id(armci_domain_t domain, int id, int loc_proc_id)
{
    (void)domain;
    for (int i = 0; i < ski_armci.size; i++)
        if (ski_armci.process[i].domain == id && loc_proc_id-- == 0)
            return i;
    return -1;
}

int armci_domain_my_id(armci_domain_t domain)
{
    return armci_domain_id(domain, ski_armci.me);
}

int armci_domain_count(armci_domain_t domain)
{
    (void)domain;
    return skua_hosts();
}

int armci_domain_same_id(armci_domain_t domain, int proc)
{
    (void)domain;
    return ski_armci_is_process(proc) && ski_armci.process[proc].near;
}

int ARMCI_Same_node(int proc)
{
    return armci_domain_same_id(ARMCI_DOMAIN_SMP, proc);
}

int armci_sameclusnode(int proc)
{
    return armci_domain_same_id(ARMCI_DOMAIN_SMP, proc);
}

int ARMCI_Uses_shm(void)
{
    return 1;
}

int ARMCI_Uses_shm_grp(ARMCI_Group *group)
{
    (void)group;
    return 1;
}

void ARMCI_Set_shm_limit(unsigned long shmemlimit)
{
    (void)shmemlimit;
}
