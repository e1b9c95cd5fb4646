/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_coop.c - large puts that sender and receiver copy together.
 *
 * A receiver that waits for data has a core to spare, and the data are wanted in its cache.  So a
 * large put begins with a doorbell that asks for help.  A busy receiver handles the doorbell too
 * late and finds nothing left: the sender does not wait for it, and has copied everything itself.
 *
 * Claiming.  Where the receiver reaches the sender's memory both claim pieces, one after the other,
 * until none is left.
 *
 * Staging.  A sender that does not reach the receiver's memory copies the pieces that it takes to
 * staging memory, and notes number and slot of each.  The receiver copies them out: when there is
 * nothing left to take, and at the latest when the put is complete.  A receiver that cannot take
 * any copies out as they come: the sender rings when a piece is staged and no doorbell is in
 * flight; the receiver that answers copies all that it finds, and returns to its scheduler.  A slot
 * that was copied out some pieces ago is reused, since it is in the caches; if there is none, the
 * receiver is behind, and the next slot is used: there are enough for all pieces.
 *
 * Ordering.  The sender describes a put before it sets `next` to 0, with release; a PE that takes a
 * piece acquires that, and a PE that answers a doorbell has acquired more.  A PE that has copied a
 * piece which it took counts it in `done`, with release; the sender acquires that and rings, so the
 * receiver sees all data, and the sender may change its own.
 * A piece is staged when `word` counts it, with release; the receiver acquires that.  In the same
 * exchange the sender notes that a doorbell is in flight, and the receiver clears that before it
 * looks for pieces: a piece that it misses was staged later, so its sender found no doorbell, or
 * has rung since.  The receiver counts in `out`, with release, what it has copied out; the sender
 * acquires that before it writes to such a slot again. Doorbells that ask are in the inbox before
 * the one that ends the put, so a receiver that has seen the end has answered all of them: a sender
 * that closes the channel after its last put was received may free this.
 */
#include <sched.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/copy.h"
#include "core/pe/pe.h"
#include "onesided/channel/channel.h"

#define SPINS 1000

/* Bytes of a piece: copied directly; staged by the sender or taken by the receiver; always
 * staged. */
#define PIECE        ((size_t)128 << 10)
#define PIECE_TAKEN  ((size_t)64 << 10)
#define PIECE_STAGED ((size_t)32 << 10)

#define KEEP 2u /* pieces that are copied out before a slot is reused */
#define RUNG                                                                                       \
    1u /* in `word`, above which the staged pieces are counted: a doorbell is in flight            \
        */

/* A staged piece, and its slot. */
struct coop_staged {
    uint32_t piece, slot;
};

/* The state of one sender's puts; in the arena. */
struct ski_coop {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t next; /* the next piece to take */
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t done; /* pieces that were taken and copied */
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t word;
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t out; /* pieces that were staged and copied out */

    /* The put. */
    _Alignas(SKI_CACHE_LINE) const char *from;
    char    *to, *staging; /* staging: or NULL */
    size_t   bytes, piece;
    uint32_t pieces;
    bool     reached; /* the receiver reaches `from` */

    /* The sender's: pieces that it staged, slots that it used, and reused. */
    _Alignas(SKI_CACHE_LINE) uint32_t count;
    uint32_t slots, again;

    _Alignas(SKI_CACHE_LINE) struct coop_staged staged[]; /* in the order of staging */
};

static uint32_t coop_take(struct ski_coop *all)
{
    return atomic_fetch_add_explicit(&all->next, 1, memory_order_acquire);
}

static void coop_count_done(struct ski_coop *all)
{
    atomic_fetch_add_explicit(&all->done, 1, memory_order_release);
}

static void coop_copy(const struct ski_coop *all, char *to, const char *from, uint32_t piece)
{
    size_t left = all->bytes - piece * all->piece;

    ski_assert(piece < all->pieces);
    ski_copy_part(to, from, left < all->piece ? left : all->piece);
}

static void coop_copy_direct(struct ski_coop *all, uint32_t piece)
{
    size_t at = piece * all->piece;

    coop_copy(all, all->to + at, all->from + at, piece);
}

/* ---- the receiver ------------------------------------------------------------------------ */

static uint32_t coop_staged(struct ski_coop *all)
{
    return atomic_load_explicit(&all->word, memory_order_acquire) / 2;
}

void ski_coop_finish(struct ski_coop *all)
{
    uint32_t out = atomic_load_explicit(&all->out, memory_order_relaxed);

    ski_assert(out <= coop_staged(all));
    while (out < coop_staged(all)) {
        struct coop_staged next = all->staged[out];

        coop_copy(all, all->to + next.piece * all->piece, all->staging + next.slot * all->piece,
                  next.piece);
        atomic_store_explicit(&all->out, ++out, memory_order_release);
    }
}

void ski_coop_help(struct ski_coop *all)
{
    uint32_t i;

    atomic_fetch_and_explicit(&all->word, ~RUNG, memory_order_acquire);
    while (all->reached && (i = coop_take(all)) < all->pieces) {
        coop_copy_direct(all, i);
        coop_count_done(all);
    }
    ski_coop_finish(all);
}

/* ---- the sender -------------------------------------------------------------------------- */

static bool coop_source_is_reachable(const struct ski_pe *self, const skua_sender *sender,
                                     const char *from)
{
    return sender->channel->home == self->process ||
           (ski_arena_contains(self->pool.arena, from) &&
            ski_arena_contains(self->pool.arena, from + sender->bytes - 1));
}

static void coop_begin(struct ski_coop *all, const char *from, bool reached)
{
    all->from    = from;
    all->reached = reached;
    all->piece   = !all->staging ? PIECE : reached ? PIECE_TAKEN : PIECE_STAGED;
    all->pieces  = (uint32_t)((all->bytes + all->piece - 1) / all->piece);
    ski_assert(all->pieces > 0);
    all->count = all->slots = all->again = 0;
    atomic_store_explicit(&all->done, 0, memory_order_relaxed);
    atomic_store_explicit(&all->word, RUNG, memory_order_relaxed);
    atomic_store_explicit(&all->out, 0, memory_order_relaxed);
    atomic_store_explicit(&all->next, 0, memory_order_release);
}

static uint32_t coop_staging_slot(struct ski_coop *all)
{
    if (all->again + KEEP < atomic_load_explicit(&all->out, memory_order_acquire))
        return all->staged[all->again++].slot;
    ski_assert(all->slots < all->pieces);
    return all->slots++;
}

/* The last piece is announced by the end of the put; so are all, if there is no room for a
 * doorbell. */
static void coop_stage(struct ski_pe *self, skua_sender *sender, uint32_t i)
{
    struct ski_coop *all  = sender->coop;
    uint32_t         slot = coop_staging_slot(all), word;

    coop_copy(all, all->staging + slot * all->piece, all->from + i * all->piece, i);
    ski_assert(all->count < all->pieces && slot < all->pieces);
    all->staged[all->count++] = (struct coop_staged){i, slot};

    word = atomic_exchange_explicit(&all->word, 2 * all->count | RUNG, memory_order_release);
    if (!(word & RUNG) && i + 1 < all->pieces)
        ski_channel_ask_help(self, sender, all);
}

/* Waits while the receiver copies the last piece that it took. */
static void coop_wait(struct ski_coop *all)
{
    for (unsigned spins = 0; atomic_load_explicit(&all->done, memory_order_acquire) < all->pieces;
         spins++)
        if (spins % SPINS == SPINS - 1)
            sched_yield();
    ski_assert(atomic_load_explicit(&all->done, memory_order_relaxed) == all->pieces);
}

void ski_channel_put_coop(skua_sender *sender, const char *from)
{
    struct ski_pe   *self    = SKI_SELF();
    struct ski_coop *all     = sender->coop;
    bool             reached = coop_source_is_reachable(self, sender, from);
    uint32_t         i;

    if (!reached && !all->staging) {
        ski_channel_put_block(sender, from);
        return;
    }
    coop_begin(all, from, reached);
    ski_channel_ask_help(self, sender, all);
    while ((i = coop_take(all)) < all->pieces) {
        if (all->staging)
            coop_stage(self, sender, i);
        else
            coop_copy_direct(all, i);
        coop_count_done(all);
    }
    coop_wait(all);
    if (all->staging)
        ski_channel_ring(self, sender, SKI_CHANNEL_COOP, all);
    else
        ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

struct ski_coop *ski_coop_new(struct ski_pe *self, char *to, char *staging, size_t bytes)
{
    size_t           pieces = staging ? (bytes + PIECE_STAGED - 1) / PIECE_STAGED : 0;
    struct ski_coop *all = ski_pool_alloc(&self->pool, sizeof *all + pieces * sizeof *all->staged);

    if (!all)
        return NULL;
    memset(all, 0, sizeof *all);
    all->to      = to;
    all->staging = staging;
    all->bytes   = bytes;
    return all;
}
