/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.h - bounded ring of cache-line cells: many producers, one consumer.
 *
 * It is how anything reaches a PE.  A cell is one cache line and carries a
 * small message whole, or the pointer to a larger one.
 *
 *   producer   take a ticket (one atomic add), fill that cell, publish it by
 *              writing the ticket's stamp into it;
 *   consumer   look at the stamp of the next cell.
 *
 * Between two cores only the cell's line moves, once: `tail` is touched by
 * producers alone, `head` is written once in a quarter of a ring, and each
 * producer remembers the last head it saw (struct ski_credit).
 *
 * Room.  A ticket cannot be given back, so room is checked before it is
 * taken: at most half of the cells may look taken.  Producers that check at the
 * same time take a ticket each, so with no more producers than half the cells a
 * ticket's cell has been consumed when it is taken.  A producer that was held
 * up between check and ticket may not know that yet, for want of a recent head:
 * it then looks again until it does (ski_inbox_await_mp, hardly ever).
 *
 * Sleep.  Bit 0 of `tail` says that the consumer sleeps; tickets count in
 * steps of two.  The consumer sets the bit with an atomic or, a producer sees
 * it in the result of its atomic add.  All changes of one word are totally
 * ordered: either the consumer's or returns the producer's ticket, and it does
 * not sleep, or the producer's add returns the bit, and it wakes the consumer.
 * So nothing is lost, no fence is needed, and a send to a PE that is awake
 * pays nothing for the possibility.
 *
 * Ordering.
 *   cell contents   stamp release (publish) -> stamp acquire (peek)
 *   reuse of cells  head release (tell) -> head acquire (refresh, await)
 *   One producer's tickets grow, so its cells are consumed in its order: FIFO.
 *   A send has no acquire of its own: on aarch64 that would wait until the
 *   release of the send before it is done, and cut the rate to a third.
 */
#ifndef SKI_INBOX_H
#define SKI_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"

#define SKI_CELL_DATA 48

struct ski_cell {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t stamp; /* ticket + 1 when filled */
    uint16_t handler;
    uint8_t  flags; /* the message layer's */
    uint8_t  bytes; /* of data             */
    int32_t  source;
    int32_t  priority;
    union {
        unsigned char data[SKI_CELL_DATA];
        void         *message;
    };
};

_Static_assert(sizeof(struct ski_cell) == SKI_CACHE_LINE, "a cell is one cache line");

/* Tickets never wrap; their stamps are the low 32 bits. */
struct ski_inbox {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t tail; /* next ticket * 2 + asleep          */
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t head; /* cells the consumer is done with   */
    _Alignas(SKI_CACHE_LINE) struct ski_cell cell[];
};

#define SKI_INBOX_ASLEEP UINT64_C(1)

/** Bytes of an inbox of @p cells cells, a power of two.  Zeroed memory is an
 *  empty inbox. */
static inline size_t ski_inbox_bytes(uint32_t cells)
{
    return sizeof(struct ski_inbox) + cells * sizeof(struct ski_cell);
}

/* ---- producers ---------------------------------------------------------- */

/* What a producer knows of one inbox: a head it has seen, at least 0. */
struct ski_credit {
    uint64_t head;
};

/* Slow paths of reserve: the ring looks full; our head is too old for our ticket. */
SKI_COLD bool ski_inbox_refresh_mp(struct ski_inbox *inbox, uint32_t cells,
                                   struct ski_credit *credit);
SKI_COLD void ski_inbox_await_mp(struct ski_inbox *inbox, uint32_t cells, struct ski_credit *credit,
                                 uint64_t ticket);

/** Take a ticket.  False: the ring is full.  *tail is to be handed on. */
static inline bool ski_inbox_reserve_mp(struct ski_inbox *inbox, uint32_t cells,
                                        struct ski_credit *credit, uint64_t *tail)
{
    uint64_t now = atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1;

    if (SKI_UNLIKELY(now - credit->head >= cells / 2) &&
        !ski_inbox_refresh_mp(inbox, cells, credit))
        return false;
    *tail = atomic_fetch_add_explicit(&inbox->tail, 2, memory_order_relaxed);
    if (SKI_UNLIKELY((*tail >> 1) - credit->head >= cells))
        ski_inbox_await_mp(inbox, cells, credit, *tail >> 1);
    return true;
}

/** The cell that @p tail reserved; its fields are the caller's to fill. */
static inline struct ski_cell *ski_inbox_cell(struct ski_inbox *inbox, uint32_t cells,
                                              uint64_t tail)
{
    return &inbox->cell[(tail >> 1) & (cells - 1)];
}

/** Make the filled cell visible.  True: the consumer was asleep when the ticket
 *  was taken, and the caller must rouse and wake it. */
static inline bool ski_inbox_publish_mp(struct ski_cell *cell, uint64_t tail)
{
    /* Publishes the cell: pairs with the acquire in ski_reader_ready_sc(). */
    atomic_store_explicit(&cell->stamp, (uint32_t)(tail >> 1) + 1, memory_order_release);
    return SKI_UNLIKELY(tail & SKI_INBOX_ASLEEP);
}

/** Take back the consumer's announcement of sleep.  True for the one caller
 *  that did; a producer that did must also ski_inbox_wake_mp(). */
SKI_COLD bool ski_inbox_rouse(struct ski_inbox *inbox);

/** Wake the consumer after a true ski_inbox_rouse(): a system call. */
SKI_COLD void ski_inbox_wake_mp(struct ski_inbox *inbox);

/* ---- the consumer ------------------------------------------------------- */

/* The consumer's place in its inbox, in memory of its own. */
struct ski_reader {
    struct ski_cell  *next;  /* the cell that will be filled next          */
    uint64_t          stamp; /* its ticket + 1, of which it gets the low half */
    uint64_t          told;  /* the stamp when producers last heard of us  */
    uint32_t          cells;
    struct ski_inbox *inbox;
};

static inline void ski_reader_init(struct ski_reader *reader, struct ski_inbox *inbox,
                                   uint32_t cells)
{
    *reader = (struct ski_reader){inbox->cell, 1, 1, cells, inbox};
}

/** Whether the next cell is filled. */
static inline bool ski_reader_ready_sc(const struct ski_reader *reader)
{
    /* Pairs with the release in ski_inbox_publish_mp(). */
    return atomic_load_explicit(&reader->next->stamp, memory_order_acquire) ==
           (uint32_t)reader->stamp;
}

/** The next cell if it is filled, else NULL. */
static inline struct ski_cell *ski_reader_peek_sc(const struct ski_reader *reader)
{
    return ski_reader_ready_sc(reader) ? reader->next : NULL;
}

/** Whether the cell behind the one that was peeked at is filled too: a hint. */
static inline bool ski_reader_more_sc(const struct ski_reader *reader)
{
    const struct ski_cell *cell = &reader->inbox->cell[reader->stamp & (reader->cells - 1)];

    return atomic_load_explicit(&cell->stamp, memory_order_relaxed) == (uint32_t)reader->stamp + 1;
}

/** The cell @p n behind the one that is next, if it is filled, or NULL. */
static inline const struct ski_cell *ski_reader_ahead_sc(const struct ski_reader *reader,
                                                         uint32_t                 n)
{
    const struct ski_cell *cell =
        &reader->inbox->cell[(reader->stamp + n - 1) & (reader->cells - 1)];

    /* Pairs with the release in ski_inbox_publish_mp(). */
    if (atomic_load_explicit(&cell->stamp, memory_order_acquire) != (uint32_t)reader->stamp + n)
        return NULL;
    return cell;
}

/** Be done with the cell that was peeked at. */
static inline void ski_reader_advance_sc(struct ski_reader *reader)
{
    reader->next = &reader->inbox->cell[reader->stamp & (reader->cells - 1)];
    reader->stamp++;
}

/** Tell producers how far we are, if they might care: once in a quarter of a ring. */
static inline void ski_reader_tell_sc(struct ski_reader *reader)
{
    if (reader->stamp - reader->told < reader->cells / 4)
        return;
    reader->told = reader->stamp;
    /* Pairs with the acquires in ski_inbox_refresh_mp() and ski_inbox_await_mp(). */
    atomic_store_explicit(&reader->inbox->head, reader->stamp - 1, memory_order_release);
}

/** Announce sleep.  True: nothing has arrived nor is on its way, and the caller
 *  may sleep.  In either case it calls ski_inbox_rouse() when it goes on. */
bool ski_reader_doze_sc(struct ski_reader *reader);

/** Sleep until a producer rouses us, for @p ns at most. */
void ski_reader_sleep_sc(struct ski_reader *reader, uint64_t ns);

#endif
