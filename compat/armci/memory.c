/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - allocations, and the search for the piece that contains an address.
 *
 * Each member of a group creates a region of its own size and sends the others its name, address
 * and size; so sizes may differ, and a process that is not a member has no cost. Members agree on a
 * number for the allocation that is larger than any that one of them has seen; from this number a
 * member without memory of its own learns which allocation is freed.
 */
#include <stdlib.h>
#include <string.h>

#include "armci_impl.h"

/* The description of a member's piece that it sends to the others. */
struct memory_offer {
    uintptr_t base;
    uint64_t  bytes;
    uint64_t  allocations; /* the largest number of an allocation on that member */
    uint32_t  region;
    int32_t   status;
};

/* Returns the index of the first piece that begins after @p at. */
static size_t memory_after(const struct ski_armci_process *process, uintptr_t at)
{
    size_t low = 0, high = process->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (process->pieces[middle].base <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct ski_armci_piece *ski_armci_search(struct ski_armci_process *process, const void *at)
{
    size_t                  after = memory_after(process, (uintptr_t)at);
    struct ski_armci_piece *piece;

    if (after == 0)
        return NULL;
    piece = &process->pieces[after - 1];
    if (!ski_armci_piece_has(piece, at, 0))
        return NULL;
    process->last = piece;
    return piece;
}

skua_gaddr ski_armci_resolve(const char *call, int process, const void *at, size_t bytes)
{
    struct ski_armci_process     *p;
    const struct ski_armci_piece *piece;

    ski_armci_check_process(call, process);
    p     = &ski_armci.process[process];
    piece = ski_armci_find(p, at, bytes);
    if (!piece)
        ski_armci_fail(call, "%zu bytes at %p of process %d are in no allocation", bytes, at,
                       process);
    return ski_armci_address(p, piece, at);
}

static void memory_insert(struct ski_armci_process *process, struct ski_armci_piece piece)
{
    size_t at = memory_after(process, piece.base);

    if (process->count == process->room) {
        size_t room   = process->room ? 2 * process->room : 8;
        void  *larger = realloc(process->pieces, room * sizeof piece);

        if (!larger)
            ski_armci_fail("ARMCI_Malloc", "no memory for the table of allocations");
        process->pieces = larger;
        process->room   = room;
    }
    memmove(&process->pieces[at + 1], &process->pieces[at], (process->count - at) * sizeof piece);
    process->pieces[at] = piece;
    process->count++;
    process->last = &process->pieces[at];
}

/* Removes the piece of an allocation, if the process has one. */
static void memory_remove(struct ski_armci_process *process, uint64_t allocation)
{
    static const struct ski_armci_piece none;

    for (size_t i = 0; i < process->count; i++)
        if (process->pieces[i].allocation == allocation) {
            process->count--;
            memmove(&process->pieces[i], &process->pieces[i + 1],
                    (process->count - i) * sizeof *process->pieces);
            break;
        }
    process->last = &none;
}

/* Makes the caller's piece. Fails if there is no memory or the size is negative. */
static struct memory_offer memory_offer_make(armci_size_t bytes)
{
    struct memory_offer offer  = {.bytes = (uint64_t)bytes, .allocations = ski_armci.allocations};
    skua_region         region = {0};

    if (bytes < 0)
        offer.status = SKUA_ERR_INVAL;
    else if (bytes > 0)
        offer.status = skua_region_create_local((size_t)bytes, &region);
    if (offer.status == SKUA_OK && bytes > 0) {
        offer.region = region.id;
        offer.base   = (uintptr_t)skua_region_local(region);
    }
    return offer;
}

/* Returns true if the caller accesses a piece of @p process by load and store. */
static bool memory_is_mapped(const struct ski_armci_process *process,
                             const struct ski_armci_piece   *piece)
{
    return process->near &&
           (uintptr_t)skua_gaddr_local(skua_at(piece->region, process->pe, 0)) == piece->base;
}

/* Records the pieces of all members under one number. */
static void memory_accept(const struct memory_offer *offers, void **bases, const ARMCI_Group *group)
{
    for (int i = 0; i < group->size; i++)
        if (offers[i].allocations > ski_armci.allocations)
            ski_armci.allocations = offers[i].allocations;
    ski_armci.allocations++;
    for (int i = 0; i < group->size; i++) {
        struct ski_armci_process *process = &ski_armci.process[group->grp_to_abs[i]];
        struct ski_armci_piece    piece   = {
                 offers[i].base, offers[i].bytes, {offers[i].region}, ski_armci.allocations, false};

        bases[i] =
            (void *)offers[i].base; /* NOLINT(performance-no-int-to-ptr): of another process */
        if (piece.bytes == 0)
            continue;
        piece.mapped = memory_is_mapped(process, &piece);
        memory_insert(process, piece);
    }
}

int ski_armci_malloc(const char *call, void **bases, armci_size_t bytes, const ARMCI_Group *group)
{
    struct memory_offer  mine = memory_offer_make(bytes);
    struct memory_offer *all;
    bool                 failed = false;

    if (group->rank < 0)
        ski_armci_fail(call, "the caller is not a member of the group");
    all = malloc((size_t)group->size * sizeof *all);
    if (!all)
        ski_armci_fail(call, "no memory");
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, group->comm);
    for (int i = 0; i < group->size; i++)
        failed |= all[i].status != SKUA_OK;
    if (!failed)
        memory_accept(all, bases, group);
    else if (mine.region)
        skua_region_destroy((skua_region){mine.region});
    free(all);
    return failed;
}

void ski_armci_free(const char *call, void *base, const ARMCI_Group *group)
{
    struct ski_armci_process     *me     = &ski_armci.process[ski_armci.me];
    const struct ski_armci_piece *piece  = base ? ski_armci_search(me, base) : NULL;
    skua_region                   region = piece ? piece->region : (skua_region){0};
    uint64_t                      mine   = piece ? piece->allocation : 0, agreed;

    if (base && (!piece || piece->base != (uintptr_t)base))
        ski_armci_fail(call, "%p is not the address of an allocation", base);
    skua_flush_all();
    MPI_Allreduce(&mine, &agreed, 1, MPI_UINT64_T, MPI_MAX, group->comm);
    if (mine && mine != agreed)
        ski_armci_fail(call, "processes free different allocations");
    for (int i = 0; agreed && i < group->size; i++)
        memory_remove(&ski_armci.process[group->grp_to_abs[i]], agreed);
    if (piece)
        ski_armci_check(call, skua_region_destroy(region));
}

int PARMCI_Malloc(void **base_ptrs, armci_size_t size)
{
    return ski_armci_malloc("ARMCI_Malloc", base_ptrs, size, &ski_armci.world);
}
SKI_ARMCI_ALIAS(int, ARMCI_Malloc, (void **base_ptrs, armci_size_t size));

int PARMCI_Free(void *ptr)
{
    ski_armci_free("ARMCI_Free", ptr, &ski_armci.world);
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Free, (void *ptr));

int PARMCI_Malloc_memdev(void **ptr_arr, armci_size_t bytes, const char *device)
{
    (void)device;
    return ski_armci_malloc("ARMCI_Malloc_memdev", ptr_arr, bytes, &ski_armci.world);
}
SKI_ARMCI_ALIAS(int, ARMCI_Malloc_memdev, (void **ptr_arr, armci_size_t bytes, const char *device));

int PARMCI_Free_memdev(void *ptr)
{
    ski_armci_free("ARMCI_Free_memdev", ptr, &ski_armci.world);
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Free_memdev, (void *ptr));

int ARMCI_Malloc_group(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group)
{
    return ski_armci_malloc("ARMCI_Malloc_group", ptr_arr, bytes, group);
}

int PARMCI_Malloc_group_memdev(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group,
                               const char *device)
{
    (void)device;
    return ski_armci_malloc("ARMCI_Malloc_group_memdev", ptr_arr, bytes, group);
}
SKI_ARMCI_ALIAS(int, ARMCI_Malloc_group_memdev,
                (void **ptr_arr, armci_size_t bytes, ARMCI_Group *group, const char *device));

int ARMCI_Free_group(void *ptr, ARMCI_Group *group)
{
    ski_armci_free("ARMCI_Free_group", ptr, group);
    return 0;
}

void *PARMCI_Malloc_local(armci_size_t size)
{
    void *memory;

    return size > 0 && posix_memalign(&memory, 64, (size_t)size) == 0 ? memory : NULL;
}
SKI_ARMCI_ALIAS(void *, ARMCI_Malloc_local, (armci_size_t size));

int PARMCI_Free_local(void *ptr)
{
    free(ptr);
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Free_local, (void *ptr));

void PARMCI_Access_begin(void *ptr)
{
    (void)ptr;
}
SKI_ARMCI_ALIAS(void, ARMCI_Access_begin, (void *ptr));

void PARMCI_Access_end(void *ptr)
{
    (void)ptr;
}
SKI_ARMCI_ALIAS(void, ARMCI_Access_end, (void *ptr));

void ARMCI_Copy(void *src, void *dst, int size)
{
    if (size > 0)
        memmove(dst, src, (size_t)size);
}
