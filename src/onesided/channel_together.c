/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_together.c - large puts, which sender and receiver copy together.
 *
 * A receiver that waits for data has a core to spare, and its cache is where they are wanted.  So
 * a large put from memory that it reaches begins with a doorbell that asks for help; then both
 * take pieces, one after the other, until there are none.  A receiver that is busy does not come,
 * or comes too late and finds nothing to do: then the sender has copied all, as it would have
 * anyway.
 *
 * Ordering.  The sender sets what a put is about before it sets `next` to 0, with release; who
 * takes a piece acquires it.  The doorbell that asks is in the inbox before the one that tells of
 * the data, so a receiver that has been told has answered it: it is never late, and a sender that
 * closes the channel, when its last put was received, may free this.  Whoever has copied a piece
 * counts it in `done` with release; the sender acquires that, and rings: the receiver sees all
 * data, and the sender may change its own.
 */
#include <sched.h>
#include <stdatomic.h>

#include "base/copy.h"
#include "core/pe.h"
#include "onesided/channel.h"

#define PIECE ((size_t)128 << 10)
#define SPINS 1000

/* In the arena. */
struct ski_together {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t next; /* piece that nobody has taken */
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t done; /* pieces                      */
    _Alignas(SKI_CACHE_LINE) const char *from;
    char    *to;
    size_t   bytes;
    uint32_t pieces;
};

static void copy_piece(const struct ski_together *all, uint32_t i)
{
    size_t at = i * PIECE, left = all->bytes - at;

    ski_copy(all->to + at, all->from + at, left < PIECE ? left : PIECE);
}

void ski_together_help(struct ski_together *all)
{
    uint32_t i;

    while ((i = atomic_fetch_add_explicit(&all->next, 1, memory_order_acquire)) < all->pieces) {
        copy_piece(all, i);
        atomic_fetch_add_explicit(&all->done, 1, memory_order_release);
    }
}

/* The receiver is copying the last piece. */
static void wait_for_help(struct ski_together *all)
{
    for (unsigned spins = 0; atomic_load_explicit(&all->done, memory_order_acquire) < all->pieces;
         spins++)
        if (spins % SPINS == SPINS - 1)
            sched_yield();
}

static bool is_reached(const struct ski_pe *self, const skua_sender *sender, const char *from)
{
    return sender->channel->home == self->process ||
           (ski_arena_contains(self->pool.arena, from) &&
            ski_arena_contains(self->pool.arena, from + sender->bytes - 1));
}

void ski_put_together(skua_sender *sender, const char *from)
{
    struct ski_pe       *self = SKI_SELF();
    struct ski_together *all  = sender->together;

    if (!is_reached(self, sender, from)) {
        ski_put_block(sender, from);
        return;
    }
    all->from = from;
    atomic_store_explicit(&all->done, 0, memory_order_relaxed);
    atomic_store_explicit(&all->next, 0, memory_order_release);
    ski_channel_ask(self, sender, all);
    ski_together_help(all);
    wait_for_help(all);
    ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

struct ski_together *ski_together_new(struct ski_pe *self, char *to, size_t bytes)
{
    struct ski_together *all = ski_pool_alloc(&self->pool, sizeof *all);

    if (!all)
        return NULL;
    memset(all, 0, sizeof *all);
    all->to     = to;
    all->bytes  = bytes;
    all->pieces = (uint32_t)((bytes + PIECE - 1) / PIECE);
    atomic_store_explicit(&all->next, all->pieces, memory_order_relaxed);
    return all;
}
