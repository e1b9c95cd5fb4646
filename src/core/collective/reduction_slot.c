/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_slot.c - boards, slots and their stamps (see reduction_slot.h). */
#include "core/collective/reduction_slot.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/message/inbox_send.h"
#include "core/pe/pe.h"

#define SLOT_ASLEEP UINT64_C(1) /* bit of a stamp: the receiver sleeps */

_Static_assert(sizeof(struct ski_reduction_slot) == 256, "a slot fills whole cache lines");
_Static_assert((SKI_SLOT_DEPTH & (SKI_SLOT_DEPTH - 1)) == 0, "the depth is a power of two");

void ski_board_open(struct ski_pe *self)
{
    struct ski_collectives *c     = self->collectives;
    size_t                  slots = (size_t)c->levels * SKI_SLOT_DEPTH;
    size_t                  bytes = sizeof *c->board + slots * sizeof *c->board->slot;

    ski_assert(!c->board && !c->peers);
    if (ski_pe_hidden(self) || self->job->local_pes < 2)
        return;
    c->board = ski_span_try(self->job->arena, bytes, SKI_UNIT_LARGE);
    if (!c->board)
        return;
    memset(c->board, 0, bytes);
    c->peers = ski_calloc((size_t)self->job->local_pes, sizeof *c->peers);
    /* Release: pairs with the acquire in board_peer(); the board is zeroed before it is found. */
    atomic_store_explicit(&self->host->board[self->index], c->board, memory_order_release);
}

void ski_board_close(struct ski_collectives *c)
{
    free(c->peers);
    c->peers = NULL;
}

/* Returns the index of @p pe on this host, or -1: ski_job_index() without its divisions where the
 * PEs of the host are consecutive. */
static int board_index(const struct ski_pe *self, int pe)
{
    uint32_t index = (uint32_t)pe - (uint32_t)self->first;

    return index < self->near ? (int)index : ski_job_index(self->job, pe);
}

/* Returns what is cached of the board of the PE with @p index, or NULL if that PE has not begun yet
 * or has no board. */
static struct ski_board_peer *board_peer(struct ski_pe *self, int index)
{
    struct ski_board_peer *peer = &self->collectives->peers[index];

    ski_assert(index < self->job->local_pes);

    if (SKI_UNLIKELY(!peer->board))
        peer->board = atomic_load_explicit(&self->host->board[index], memory_order_acquire);
    return peer->board ? peer : NULL;
}

/* Returns whether the slot of a call may be written: the receiver has finished the call that used
 * the slot before. */
static bool board_has_room(struct ski_board_peer *peer, uint64_t call)
{
    if (SKI_LIKELY(call - peer->low < SKI_SLOT_DEPTH))
        return true;
    /* Acquire: pairs with the release in ski_board_finish(). */
    peer->low = atomic_load_explicit(&peer->board->low, memory_order_acquire);
    return call - peer->low < SKI_SLOT_DEPTH;
}

/* Returns the slot of @p board for a round of a small call. */
static struct ski_reduction_slot *board_slot(struct ski_reduction_board *board, uint32_t round,
                                             uint64_t call)
{
    return &board->slot[round * SKI_SLOT_DEPTH + call % SKI_SLOT_DEPTH];
}

struct ski_reduction_slot *ski_board_reserve(struct ski_pe *self, int pe, uint32_t round,
                                             uint64_t small_call)
{
    int                    index = self->collectives->peers ? board_index(self, pe) : -1;
    struct ski_board_peer *peer  = index >= 0 ? board_peer(self, index) : NULL;

    ski_assert(round < (uint32_t)self->collectives->levels);
    if (SKI_UNLIKELY(!peer || !board_has_room(peer, small_call)))
        return NULL;
    return board_slot(peer->board, round, small_call);
}

/* Brings the first lines of the slot of a later call, which follows @p slot, into the cache of this
 * PE, from that of the receiver: a store to them would wait.  Another PE may be the sender of that
 * call, so the data are left as they are, except between two PEs if the receiver has read them. */
static void board_claim(const struct ski_pe *self, int pe, struct ski_reduction_slot *slot,
                        uint64_t call)
{
    const struct ski_board_peer *peer = &self->collectives->peers[board_index(self, pe)];
    struct ski_reduction_slot   *next =
        slot - call % SKI_SLOT_DEPTH + (call + SKI_SLOTS_AHEAD) % SKI_SLOT_DEPTH;
    char *second = (char *)next + SKI_CACHE_LINE;

    ski_claim_line(&next->spare);
    if (self->pes == 2 && call + SKI_SLOTS_AHEAD - peer->low < SKI_SLOT_DEPTH)
        ski_claim_line(second);
    else
        ski_prefetch_write(second);
}

void ski_board_publish(struct ski_pe *self, int pe, struct ski_reduction_slot *slot,
                       uint64_t small_call)
{
    ski_assert(pe != self->pe);
    /* Release: pairs with the acquire in ski_board_find(). */
    if (SKI_UNLIKELY(
            atomic_exchange_explicit(&slot->stamp, (small_call + 1) << 1, memory_order_release) &
            SLOT_ASLEEP))
        ski_inbox_wakeup(self, pe);
    board_claim(self, pe, slot, small_call);
}

/* The second line, which larger contributions fill, is requested at the same time as the stamp, not
 * after it. */
const struct ski_reduction_slot *ski_board_find(const struct ski_pe *self, uint32_t round,
                                                uint64_t small_call)
{
    const struct ski_reduction_slot *slot = board_slot(self->collectives->board, round, small_call);

    ski_prefetch_polled((const char *)slot + SKI_CACHE_LINE);
    /* Acquire: pairs with the release in ski_board_publish(). */
    return atomic_load_explicit(&slot->stamp, memory_order_acquire) >> 1 == small_call + 1 ? slot
                                                                                           : NULL;
}

void ski_board_count(struct ski_pe *self)
{
    self->queue.pushed++;
    self->queue.popped++;
}

/* `low` is stored once in half the depth, so that its cache line stays with this PE in between. */
void ski_board_finish(struct ski_pe *self, uint64_t low)
{
    struct ski_collectives *c = self->collectives;

    ski_assert(low >= c->published_low && low <= c->small_begun);
    if (low - c->published_low < SKI_SLOT_DEPTH / 2)
        return;
    c->published_low = low;
    /* Release: pairs with the acquire in board_has_room(); the slots have been read. */
    atomic_store_explicit(&c->board->low, low, memory_order_release);
}

bool ski_board_arm(struct ski_pe *self, uint32_t round, uint64_t small_call)
{
    struct ski_reduction_slot *slot = board_slot(self->collectives->board, round, small_call);

    ski_assert(round < (uint32_t)self->collectives->levels);
    /* Acquire: pairs with the release in ski_board_publish(), as in ski_board_find(). */
    return atomic_fetch_or_explicit(&slot->stamp, SLOT_ASLEEP, memory_order_acquire) >> 1 !=
           small_call + 1;
}
