/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutex.c - mutexes of all processes, and sets of mutexes of a group.
 *
 * The mutexes of ARMCI_Create_mutexes() are locks of Skua. Those of a set belong to a group, which
 * locks of Skua cannot, so each is a ticket lock of two words in an allocation of the group, `next`
 * and `serving`. A process takes the next ticket by a fetch-and-add and waits until it is served; a
 * trylock takes the ticket that is being served by a compare-and-swap.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "armci_impl.h"

static struct {
    skua_locks locks;
    int       *count; /* mutexes of each process; NULL: not created */
} mutex_all;

int PARMCI_Create_mutexes(int count)
{
    int most = 0;

    if (count < 0 || mutex_all.count)
        ski_armci_fail("ARMCI_Create_mutexes",
                       count < 0 ? "a negative number of mutexes" : "there are mutexes already");
    mutex_all.count = malloc((size_t)ski_armci.size * sizeof *mutex_all.count);
    if (!mutex_all.count)
        ski_armci_fail("ARMCI_Create_mutexes", "no memory");
    MPI_Allgather(&count, 1, MPI_INT, mutex_all.count, 1, MPI_INT, ski_armci.world.comm);
    for (int i = 0; i < ski_armci.size; i++)
        if (mutex_all.count[i] > most)
            most = mutex_all.count[i];
    ski_armci_check("ARMCI_Create_mutexes",
                    skua_locks_create(most ? (size_t)most : 1, &mutex_all.locks));
    MPI_Barrier(ski_armci.world.comm);
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Create_mutexes, (int count));

int PARMCI_Destroy_mutexes(void)
{
    if (!mutex_all.count)
        ski_armci_fail("ARMCI_Destroy_mutexes", "there are no mutexes");
    MPI_Barrier(ski_armci.world.comm);
    ski_armci_check("ARMCI_Destroy_mutexes", skua_locks_destroy(mutex_all.locks));
    free(mutex_all.count);
    mutex_all.count = NULL;
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Destroy_mutexes, (void));

void ski_armci_mutexes_forget(void)
{
    free(mutex_all.count);
    mutex_all.count = NULL;
}

static int mutex_check(const char *call, int mutex, int process)
{
    if (!ski_armci_is_process(process) || !mutex_all.count || mutex < 0 ||
        mutex >= mutex_all.count[process])
        ski_armci_fail(call, "there is no mutex %d on process %d", mutex, process);
    return ski_armci.process[process].pe;
}

void PARMCI_Lock(int mutex, int proc)
{
    if (!skua_lock(mutex_all.locks, mutex_check("ARMCI_Lock", mutex, proc), (size_t)mutex))
        ski_armci_fail("ARMCI_Lock", "the job ends");
}
SKI_ARMCI_ALIAS(void, ARMCI_Lock, (int mutex, int proc));

void PARMCI_Unlock(int mutex, int proc)
{
    int pe = mutex_check("ARMCI_Unlock", mutex, proc);

    skua_flush_all();
    skua_unlock(mutex_all.locks, pe, (size_t)mutex);
}
SKI_ARMCI_ALIAS(void, ARMCI_Unlock, (int mutex, int proc));

/* ---- sets ------------------------------------------------------------------------- */

/* A ticket lock. */
struct mutex_ticket {
    uint64_t next, serving;
};

struct armcix_mutex_hdl_s {
    ARMCI_Group           group;
    struct mutex_ticket **base; /* locks of each member, by rank in the group */
};

armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup)
{
    static const char  call[] = "ARMCIX_Create_mutexes_hdl";
    armcix_mutex_hdl_t set    = malloc(sizeof *set);
    size_t             bytes  = (size_t)(count > 0 ? count : 0) * sizeof(struct mutex_ticket);

    if (!set)
        ski_armci_fail(call, "no memory");
    ARMCIX_Group_dup(pgroup, &set->group);
    set->base = malloc((size_t)set->group.size * sizeof *set->base);
    if (!set->base)
        ski_armci_fail(call, "no memory");
    if (ski_armci_malloc(call, (void **)set->base, (armci_size_t)bytes, &set->group)) {
        ARMCI_Group_free(&set->group);
        free(set->base);
        free(set);
        return NULL;
    }
    if (bytes)
        memset(set->base[set->group.rank], 0, bytes);
    MPI_Barrier(set->group.comm);
    return set;
}

int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl)
{
    ski_armci_free("ARMCIX_Destroy_mutexes_hdl", hdl->base[hdl->group.rank], &hdl->group);
    ARMCI_Group_free(&hdl->group);
    free(hdl->base);
    free(hdl);
    return 0;
}

/* Returns the address of a lock of a set. Ends the job if there is no such lock. */
static skua_gaddr mutex_ticket_at(const char *call, armcix_mutex_hdl_t set, int mutex, int process)
{
    int rank = ski_armci_group_rank_of(&set->group, process);

    if (rank < 0 || mutex < 0 || !set->base[rank])
        ski_armci_fail(call, "there is no mutex %d on process %d", mutex, process);
    return ski_armci_resolve(call, process, set->base[rank] + mutex, sizeof(struct mutex_ticket));
}

void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
    static const char call[]  = "ARMCIX_Lock_hdl";
    skua_gaddr        at      = mutex_ticket_at(call, hdl, mutex, proc);
    skua_gaddr        serving = skua_gaddr_add(at, offsetof(struct mutex_ticket, serving));
    uint64_t          mine, now;

    ski_armci_check(call, skua_fetch_add64(at, 1, &mine));
    for (;;) {
        ski_armci_check(call, skua_load64(serving, &now));
        if (now == mine)
            return;
        skua_poll(1);
        sched_yield();
    }
}

int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
    static const char call[] = "ARMCIX_Trylock_hdl";
    skua_gaddr        at     = mutex_ticket_at(call, hdl, mutex, proc);
    uint64_t          served, next;

    ski_armci_check(
        call, skua_load64(skua_gaddr_add(at, offsetof(struct mutex_ticket, serving)), &served));
    ski_armci_check(call, skua_compare_swap64(at, served, served + 1, &next));
    return next != served;
}

void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
    static const char call[] = "ARMCIX_Unlock_hdl";
    skua_gaddr        at     = mutex_ticket_at(call, hdl, mutex, proc);

    skua_flush_all();
    ski_armci_check(call, skua_fetch_add64(
                              skua_gaddr_add(at, offsetof(struct mutex_ticket, serving)), 1, NULL));
}
