/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_coop.c - large puts, which sender and receiver copy together.
 *
 * A receiver that waits for data has a core to spare, and its cache is where they are wanted.  So
 * a large put begins with a doorbell that asks for help.  A receiver that is busy does not come,
 * or comes too late and finds nothing to do: nobody waits for it, and the sender has copied all,
 * as it would have anyway.
 *
 * Taking.  Where the receiver reaches the sender's memory both take pieces, one after the other,
 * until there are none.
 *
 * Staging.  A sender that does not reach the receiver's memory copies the pieces that it takes to
 * staging memory, and notes for each which it is and where it lies.  The receiver copies them out:
 * when there is nothing left to take, and at the latest when it is told of the data.  If it takes
 * none it copies out as they come: the sender rings when a piece is there and no doorbell is on
 * its way, the receiver that answers copies all that it finds, and goes back to its scheduler.
 * A place that was copied out some pieces ago is used again, since it is in the caches; if there
 * is none, the receiver is behind, and the next one is taken: there are enough for all pieces.
 *
 * Ordering.  The sender sets what a put is about before it sets `next` to 0, with release; who
 * takes a piece acquires it, and who answers a doorbell has acquired more.  Whoever has copied a
 * piece that it took counts it in `done` with release; the sender acquires that, and rings: the
 * receiver sees all data, and the sender may change its own.
 * A staged piece is there when `word`, which counts them, says so, with release; the receiver
 * acquires it.  The sender says in the same exchange that a doorbell is on its way, and the
 * receiver takes that back before it looks for pieces: one that it does not see came later, so its
 * sender found no doorbell, or has rung one since.  The receiver counts in `out`, with release,
 * what it has copied out; the sender acquires it before it writes to such a place again.
 * Doorbells that ask are in the inbox before the one that tells of the data, so a receiver that
 * has been told has answered all: none is ever late, and a sender that closes the channel, when
 * its last put was received, may free this.
 */
#include <sched.h>
#include <stdatomic.h>

#include "base/copy.h"
#include "core/pe/pe.h"
#include "onesided/channel/channel.h"

#define SPINS 1000

/* Bytes of a piece: that goes straight to its place; that is staged, or taken by the receiver; or
 * is staged, as all of them are. */
#define PIECE        ((size_t)128 << 10)
#define PIECE_TAKEN  ((size_t)64 << 10)
#define PIECE_STAGED ((size_t)32 << 10)

#define KEEP 2u /* pieces that are copied out before a place is used again */
#define RUNG 1u /* in `word`, which has the pieces above: a doorbell is on its way */

/* A piece that was staged, and its place there. */
struct staged {
    uint32_t piece, place;
};

/* In the arena. */
struct ski_together {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t next; /* piece that nobody has taken */
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t done; /* that were taken and copied  */
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t word;
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t out; /* staged, and copied from there */

    /* What a put is about. */
    _Alignas(SKI_CACHE_LINE) const char *from;
    char    *to, *staging; /* staging: or NULL */
    size_t   bytes, piece;
    uint32_t pieces;
    bool     reached; /* `from`, by the receiver */

    /* The sender's: pieces that were staged, places that were used, and used again. */
    _Alignas(SKI_CACHE_LINE) uint32_t count;
    uint32_t places, again;

    _Alignas(SKI_CACHE_LINE) struct staged staged[]; /* in this order */
};

static uint32_t take(struct ski_together *all)
{
    return atomic_fetch_add_explicit(&all->next, 1, memory_order_acquire);
}

static void over(struct ski_together *all)
{
    atomic_fetch_add_explicit(&all->done, 1, memory_order_release);
}

static void copy(const struct ski_together *all, char *to, const char *from, uint32_t piece)
{
    size_t left = all->bytes - piece * all->piece;

    ski_copy_piece(to, from, left < all->piece ? left : all->piece);
}

static void copy_straight(struct ski_together *all, uint32_t piece)
{
    size_t at = piece * all->piece;

    copy(all, all->to + at, all->from + at, piece);
}

/* ---- the receiver ------------------------------------------------------------------------ */

static uint32_t there(struct ski_together *all)
{
    return atomic_load_explicit(&all->word, memory_order_acquire) / 2;
}

void ski_together_end(struct ski_together *all)
{
    uint32_t out = atomic_load_explicit(&all->out, memory_order_relaxed);

    while (out < there(all)) {
        struct staged next = all->staged[out];

        copy(all, all->to + next.piece * all->piece, all->staging + next.place * all->piece,
             next.piece);
        atomic_store_explicit(&all->out, ++out, memory_order_release);
    }
}

void ski_together_help(struct ski_together *all)
{
    uint32_t i;

    atomic_fetch_and_explicit(&all->word, ~RUNG, memory_order_acquire);
    while (all->reached && (i = take(all)) < all->pieces) {
        copy_straight(all, i);
        over(all);
    }
    ski_together_end(all);
}

/* ---- the sender -------------------------------------------------------------------------- */

static bool is_reached(const struct ski_pe *self, const skua_sender *sender, const char *from)
{
    return sender->channel->home == self->process ||
           (ski_arena_contains(self->pool.arena, from) &&
            ski_arena_contains(self->pool.arena, from + sender->bytes - 1));
}

static void begin(struct ski_together *all, const char *from, bool reached)
{
    all->from    = from;
    all->reached = reached;
    all->piece   = !all->staging ? PIECE : reached ? PIECE_TAKEN : PIECE_STAGED;
    all->pieces  = (uint32_t)((all->bytes + all->piece - 1) / all->piece);
    all->count = all->places = all->again = 0;
    atomic_store_explicit(&all->done, 0, memory_order_relaxed);
    atomic_store_explicit(&all->word, RUNG, memory_order_relaxed);
    atomic_store_explicit(&all->out, 0, memory_order_relaxed);
    atomic_store_explicit(&all->next, 0, memory_order_release);
}

static uint32_t place_for_next(struct ski_together *all)
{
    if (all->again + KEEP < atomic_load_explicit(&all->out, memory_order_acquire))
        return all->staged[all->again++].place;
    return all->places++;
}

/* The last is told of by another doorbell; as are all, if there is no room for one that asks. */
static void stage(struct ski_pe *self, skua_sender *sender, uint32_t i)
{
    struct ski_together *all   = sender->together;
    uint32_t             place = place_for_next(all), word;

    copy(all, all->staging + place * all->piece, all->from + i * all->piece, i);
    all->staged[all->count++] = (struct staged){i, place};

    word = atomic_exchange_explicit(&all->word, 2 * all->count | RUNG, memory_order_release);
    if (!(word & RUNG) && i + 1 < all->pieces)
        ski_channel_ask(self, sender, all);
}

/* The receiver is copying the last piece that it took. */
static void wait_for_help(struct ski_together *all)
{
    for (unsigned spins = 0; atomic_load_explicit(&all->done, memory_order_acquire) < all->pieces;
         spins++)
        if (spins % SPINS == SPINS - 1)
            sched_yield();
}

void ski_put_together(skua_sender *sender, const char *from)
{
    struct ski_pe       *self    = SKI_SELF();
    struct ski_together *all     = sender->together;
    bool                 reached = is_reached(self, sender, from);
    uint32_t             i;

    if (!reached && !all->staging) {
        ski_put_block(sender, from);
        return;
    }
    begin(all, from, reached);
    ski_channel_ask(self, sender, all);
    while ((i = take(all)) < all->pieces) {
        if (all->staging)
            stage(self, sender, i);
        else
            copy_straight(all, i);
        over(all);
    }
    wait_for_help(all);
    if (all->staging)
        ski_channel_ring(self, sender, SKI_CHANNEL_PIECES, all);
    else
        ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

struct ski_together *ski_together_new(struct ski_pe *self, char *to, char *staging, size_t bytes)
{
    size_t               pieces = staging ? (bytes + PIECE_STAGED - 1) / PIECE_STAGED : 0;
    struct ski_together *all =
        ski_pool_alloc(&self->pool, sizeof *all + pieces * sizeof *all->staged);

    if (!all)
        return NULL;
    memset(all, 0, sizeof *all);
    all->to      = to;
    all->staging = staging;
    all->bytes   = bytes;
    return all;
}
