/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - see board.h. */
#include "board.h"

#include <string.h>

#include "wait.h"

/* Members up to which each reads the boards of all others. */
#define BOARD_MEMBERS_MAX 16

/* What a member writes in one call: short data are in the line of the stamp. */
struct board_entry {
    _Alignas(128) uint64_t stamp; /* the number of the call   */
    uint64_t spare;               /* written, but never read  */
    _Alignas(16) char data[SHMEMI_SHORT_BYTES];
};

static struct {
    struct board_entry (*entries)[2]; /* of this PE, by slot */
    uint64_t number[SHMEMI_SLOTS]; /* of the last call of a slot, also of a team that has ended */
} board;

size_t shmemi_board_bytes(void)
{
    return SHMEMI_SLOTS * sizeof *board.entries;
}

void shmemi_board_open(char *memory)
{
    memset(&board, 0, sizeof board);
    board.entries = (struct board_entry(*)[2])(void *)memory;
    memset(memory, 0, shmemi_board_bytes());
}

bool shmemi_board_serves(const struct shmemi_set *set)
{
    return set->mapped && set->slot != SHMEMI_SLOT_ACTIVE_SET && set->size <= BOARD_MEMBERS_MAX;
}

uint64_t shmemi_board_last_number(void)
{
    uint64_t last = 0;

    /* Threads may be in calls of other teams. Their numbers need not be exact: their slots are not
     * free. */
    for (int slot = 0; slot < SHMEMI_SLOTS; slot++) {
        uint64_t number = __atomic_load_n(&board.number[slot], __ATOMIC_RELAXED);

        last = number > last ? number : last;
    }
    return last;
}

void shmemi_board_begin(int slot, uint64_t last)
{
    __atomic_store_n(&board.number[slot], last, __ATOMIC_RELAXED); /* see above */
}

/* ---- entries -------------------------------------------------------------- */

/* Requests the line of @p entry, which its readers have, for a store. On aarch64 a prefetch does
 * nothing if this core has the line, too. */
static void board_claim_entry(struct board_entry *entry)
{
#if defined __aarch64__
    __atomic_store_n(&entry->spare, 0, __ATOMIC_RELAXED);
#else
    __asm__ volatile("prefetchw %0" : : "m"(*entry));
#endif
}

/* Begins the next call of a slot. Returns its number. */
static uint64_t board_next(const struct shmemi_set *set)
{
    uint64_t number = board.number[set->slot] + 1;

    __atomic_store_n(&board.number[set->slot], number, __ATOMIC_RELAXED);
    return number;
}

static struct board_entry *board_own(const struct shmemi_set *set, uint64_t number)
{
    return &board.entries[set->slot][number % 2];
}

/* Publishes the entry of a call. The release pairs with board_await(). */
static void board_publish(const struct shmemi_set *set, uint64_t number)
{
    __atomic_store_n(&board_own(set, number)->stamp, number, __ATOMIC_RELEASE);
    board_claim_entry(board_own(set, number + 1));
}

/* Requests the line with byte @p last of the data of @p entry at the same time as the stamp, not
 * after it. On x86-64 later loads are begun before the poll has succeeded, and a prefetch would
 * take the line from the core that writes it. */
static void board_prefetch(const struct board_entry *entry, size_t last)
{
#if defined __aarch64__
    __asm__ volatile("prfm pldl1keep, %0" : : "Q"(entry->data[last]));
#else
    (void)entry, (void)last;
#endif
}

/* Returns the entry of rank @p rank for a call when it is published; byte @p last of its data is
 * the last one that is read. */
static const struct board_entry *board_await(const struct shmemi_set *set, uint64_t number,
                                             int rank, size_t last)
{
    const struct shmemi_segment *heap   = &shmemi_job.segment[SHMEMI_HEAP];
    size_t                       offset = (uintptr_t)board_own(set, number) - heap->base;
    struct board_entry          *entry  = (void *)(heap->peer[shmemi_set_pe(set, rank)] + offset);
    struct shmemi_wait           wait   = {0};

    for (;;) {
        board_prefetch(entry, last);
        if (__atomic_load_n(&entry->stamp, __ATOMIC_ACQUIRE) >= number)
            return entry;
        shmemi_wait_step(&wait);
    }
}

/* ---- calls -------------------------------------------------------------- */

void shmemi_board_sync(const struct shmemi_set *set)
{
    uint64_t number = board_next(set);

    board_publish(set, number);
    for (int rank = 0; rank < set->size; rank++)
        if (rank != set->me)
            board_await(set, number, rank, 0);
}

void shmemi_board_reduce(const struct shmemi_set *set, void *dest, const void *source,
                         const struct shmemi_reduction *r)
{
    _Alignas(16) char into[SHMEMI_SHORT_BYTES];
    uint64_t          number = board_next(set);
    size_t            bytes  = r->size * r->count;

    memcpy(board_own(set, number)->data, source, bytes);
    board_publish(set, number);
    for (int rank = 0; rank < set->size; rank++) {
        const void *from =
            rank == set->me ? source : board_await(set, number, rank, bytes - 1)->data;

        if (rank == 0)
            memcpy(into, from, bytes);
        else
            r->combine(into, from, r->count);
    }
    memcpy(dest, into, bytes);
}
