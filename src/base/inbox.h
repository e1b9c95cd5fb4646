/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.h - a bounded ring of cells of one cache line: many producers, one consumer.
 *
 * All messages reach a PE through its inbox.  A cell carries a small message whole, or the pointer
 * to a larger one.
 *
 *   producer   takes a ticket (one atomic add), fills the cell of that ticket and publishes it by
 *              writing the stamp of the ticket into it;
 *   consumer   checks the stamp of the next cell.
 *
 * Between two cores only the line of the cell moves, once: `tail` is accessed by producers alone,
 * `head` is written once per quarter of a ring (of a sole producer: once per as many slots), and
 * each producer caches the last head it read (struct ski_credit).
 *
 * Room.  A ticket cannot be returned, so a producer checks for room before it takes one: at most
 * half of the cells may appear used.  Producers that check at the same time take a ticket each, so
 * with at most half as many producers as cells, the cell of a ticket has been consumed when the
 * ticket is taken.  A producer that was delayed between the check and the ticket may hold too old a
 * head to know that; it then rereads the head until it does (ski_inbox_await_mp, very rare).
 *
 * Sleep.  Bit 0 of `tail` is set while the consumer sleeps; tickets count in steps of two.  The
 * consumer sets the bit with an atomic or; a producer sees it in the result of its atomic add.  All
 * changes of one word are totally ordered: either the consumer's or returns the producer's ticket,
 * and the consumer does not sleep, or the producer's add returns the bit, and the producer wakes
 * the consumer.  So no wake-up is lost, no fence is needed, and a send to a PE that is awake costs
 * nothing extra.
 *
 * Several rings.  The tail is changed by every send, so its line moves from producer to producer if
 * many send to one PE, and bounds their rate together.  On a large host an inbox therefore consists
 * of several rings (struct ski_rings).  A producer always uses the same ring of an inbox, so that
 * its cells are consumed in order; cells of producers with different rings have no order, not even
 * if one producer sends because it has received from the other.  The consumer visits the rings in
 * turn.  A visit ends when the ring is empty, or after a quota of cells that is proportional to its
 * producers, so that all producers are served evenly.
 *
 *   Sleep with several rings.  Each ring has a sleep bit; the consumer sleeps on the word of the
 *   first ring, and sets the bit of that ring before those of the others.  A producer that sees the
 *   bit of any ring clears that of the first, and wakes the consumer if it was set.  A producer
 *   whose add returns the bit of another ring therefore finds the bit of the first one set (an
 *   acquire fence in ski_inbox_clear_sleep() orders its accesses to the two rings), unless the
 *   consumer has been woken, or has woken up, since: in either case the consumer checks all rings
 *   before it sleeps again.
 *
 * Sole producers.  Where an inbox has a ring for each producer but a few (ski_rings_set_sole), the
 * only producer of a ring takes its tickets by a load and a store of the tail, without an atomic
 * operation, and may use all lines but one.  The first ring has the other producers, and tickets as
 * above.
 *
 *   Packed cells.  What takes time between two cores is the line, so a line of such a ring has
 *   four slots, and tickets count slots.  A whole cell takes all four; a packed one, with little
 *   data, takes one or two.  Its source is known by the ring, and it has no priority.  Each cell is
 *   published at once by a stamp of its own.  The consumer finds the next cell by the size of the
 *   one before it, and does not look at a stamp before it has seen the cell before: so a producer
 *   of a packed cell overwrites the stamp that follows it in the line, where data of an earlier lap
 *   may be, before it publishes the cell.  A cell does not extend to the next line.  If there is
 *   too little room in a line, a cell without a message fills it.
 *
 *   Sleep with sole producers.  The tail of such a ring has no sleep bit: the store would overwrite
 *   it.  The consumer sets the sleep bit of the first ring, then `asleep` of all others, executes a
 *   heavy fence (membarrier.h) and loads their tails.  A producer stores the tail, publishes its
 *   cell, executes a light fence and loads `asleep`.  So either the consumer sees the ticket, and
 *   does not sleep, or the producer sees `asleep`, and does what one does that sees a sleep bit.
 *
 * Prefetch.  Where the atomic add waits for earlier stores (x86-64), it would wait until the line
 * of the previous cell has arrived from the consumer's core, for every message.  A producer that
 * sends several in a row fetches the lines of cells ahead of their use (SKI_INBOX_AHEAD).  A sole
 * producer, whose stores wait for their lines in turn, fetches the line of the fourth cell from
 * now, taking all to be as large as this one.
 *
 * Urgent cells.  A consumer that has queued messages does not poll its inbox for a while.  A
 * producer of a cell that must not wait sets `urgent` of its ring, which the consumer reads from
 * time to time: the line of the head is in its cache, as producers read it once per quarter of a
 * ring. It is a hint: a producer that finds it set leaves it, though the consumer may be about to
 * clear it for an earlier cell; the consumer then empties the ring in any case.
 *
 * Ordering.
 *   cell contents   stamp release (publish) -> stamp acquire (peek)
 *   reuse of cells  head release (tell) -> head acquire (refresh, await)
 *   The tickets of one producer ascend, so its cells are consumed in FIFO order.
 *   A send has no acquire of its own: on aarch64 that would wait for the release of the previous
 *   send and cut the message rate to a third.
 */
#ifndef SKI_INBOX_H
#define SKI_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/membarrier.h"

#define SKI_CELL_DATA 48

/* A whole cell of a ring. */
struct ski_cell {
    _Atomic uint32_t stamp; /* low half of ticket + 1, once filled */
    uint16_t         handler;
    uint8_t          flags; /* SKI_CELL_*; others are defined by core/message */
    uint8_t          bytes; /* valid bytes of data                            */
    int32_t          source;
    int32_t          priority;
    union {
        unsigned char data[SKI_CELL_DATA];
        void         *message;
    };
};

_Static_assert(sizeof(struct ski_cell) == SKI_CACHE_LINE, "a cell is one cache line");

/* Packed cells begin as whole ones do; their data are where those have `source` and the rest. */
#define SKI_CELL_SLOTS   4    /* slots of a line                                     */
#define SKI_CELL_SLOT    16   /* bytes of a slot                                     */
#define SKI_CELL_EMPTY   0x10 /* in `flags`, with the handler 0: there is no message */
#define SKI_CELL_PACKED  0x80 /* in `flags`: the cell is packed                      */
#define SKI_PACKED_SHORT 8    /* bytes of data in one slot                           */
#define SKI_PACKED_DATA  24   /* bytes of data in two slots                          */

/** Returns the data of a packed cell. */
static inline unsigned char *ski_cell_packed_data(const struct ski_cell *cell)
{
    return (unsigned char *)(uintptr_t)cell + offsetof(struct ski_cell, source);
}

_Static_assert(offsetof(struct ski_cell, source) + SKI_PACKED_SHORT == SKI_CELL_SLOT &&
                   offsetof(struct ski_cell, source) + SKI_PACKED_DATA == (size_t)2 * SKI_CELL_SLOT,
               "packed cells end where the next slot begins");

/** Returns the number of slots of a packed cell with @p bytes of data. */
static inline uint32_t ski_packed_slots(size_t bytes)
{
    return bytes > SKI_PACKED_SHORT ? 2 : 1;
}

/* Tickets never wrap; a stamp is the low 32 bits of ticket + 1. */
struct ski_inbox {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t tail; /* next ticket * 2 + SKI_INBOX_ASLEEP */
    _Atomic uint32_t asleep; /* 1: the consumer sleeps, for a sole producer */
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t head; /* cells consumed, as last published  */
    _Atomic uint32_t urgent;                        /* 1: a cell must not wait            */
    _Alignas(SKI_CACHE_LINE) struct ski_cell cell[];
};

#define SKI_INBOX_ASLEEP UINT64_C(1)

/** Returns the size in bytes of an inbox of @p cells cells, a power of two.  Zeroed memory is an
 *  empty inbox. */
static inline size_t ski_inbox_bytes(uint32_t cells)
{
    return sizeof(struct ski_inbox) + cells * sizeof(struct ski_cell);
}

/* ---- producers ---------------------------------------------------------- */

/* The state of one inbox that a producer caches: the last head that it read, and its last ticket;
 * at first 0. */
struct ski_credit {
    uint64_t head;
    uint64_t ticket;
};

/** Slow path of ski_inbox_reserve_mp() and ski_inbox_reserve_sp(): rereads the head.  Returns
 *  whether fewer than @p max cells, or slots, appear used. */
SKI_COLD bool ski_inbox_refresh(struct ski_inbox *inbox, uint32_t max, struct ski_credit *credit);

/** Slow path of ski_inbox_reserve_mp(): rereads the head until it shows that the cell of @p ticket
 *  is free.  The cell is free by then; only the head that this producer has cached is too old. */
SKI_COLD void ski_inbox_await_mp(struct ski_inbox *inbox, uint32_t cells, struct ski_credit *credit,
                                 uint64_t ticket);

/** Fetches, for writing, a cell that a producer will use soon.  A producer that got two tickets in
 *  a row has the inbox to itself for the moment; another one would take lines away from producers
 *  that fill them. */
static inline void ski_inbox_prefetch_mp(struct ski_inbox *inbox, uint32_t cells,
                                         struct ski_credit *credit, uint64_t ticket)
{
    if (SKI_INBOX_AHEAD == 0)
        return;
    if (ticket - credit->ticket == 1)
        ski_prefetch_write(&inbox->cell[(ticket + SKI_INBOX_AHEAD) & (cells - 1)]);
    credit->ticket = ticket;
}

/** Takes a ticket.  Returns false if the ring is full.  *@p tail is passed to ski_inbox_cell() and
 *  ski_inbox_publish_mp(). */
static inline bool ski_inbox_reserve_mp(struct ski_inbox *inbox, uint32_t cells,
                                        struct ski_credit *credit, uint64_t *tail)
{
    uint64_t now = atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1;

    if (SKI_UNLIKELY(now - credit->head >= cells / 2) &&
        !ski_inbox_refresh(inbox, cells / 2, credit))
        return false;
    *tail = atomic_fetch_add_explicit(&inbox->tail, 2, memory_order_relaxed);
    if (SKI_UNLIKELY((*tail >> 1) - credit->head >= cells))
        ski_inbox_await_mp(inbox, cells, credit, *tail >> 1);
    ski_inbox_prefetch_mp(inbox, cells, credit, *tail >> 1);
    return true;
}

/** Returns the cell of a ticket, for the caller to fill. */
static inline struct ski_cell *ski_inbox_cell(struct ski_inbox *inbox, uint32_t cells,
                                              uint64_t tail)
{
    return &inbox->cell[(tail >> 1) & (cells - 1)];
}

/** Returns the cell at slot @p slot of a ring with a sole producer. */
static inline struct ski_cell *ski_inbox_slot(struct ski_inbox *inbox, uint32_t cells,
                                              uint64_t slot)
{
    size_t mask = (size_t)cells * SKI_CELL_SLOTS - 1;

    return (struct ski_cell *)(void *)((char *)inbox->cell + (slot & mask) * SKI_CELL_SLOT);
}

/** Returns the number of slots of a ring with a sole producer that may be used before a cell of @p
 *  slots slots: the ring takes about as many cells as it has lines, whatever their size, so that
 *  the consumer need not read many more of them before it finds the last.  In any case there is
 *  room for the rest of a line and a whole cell, or for a packed cell and the stamp after it. */
static inline uint32_t ski_inbox_max_sp(uint32_t cells, uint32_t slots)
{
    return slots == SKI_CELL_SLOTS ? (cells - 2) * SKI_CELL_SLOTS + 1 : cells * slots;
}

/** Takes @p slots slots of a line, of a ring whose sole producer is the caller.  Returns their
 *  cell, for the caller to fill, or NULL if there is no room as far as @p credit knows, or too
 *  little in the line.  *@p tail is passed to ski_inbox_publish_sp() or
 *  ski_inbox_publish_packed_sp(). */
static inline struct ski_cell *ski_inbox_try_reserve_sp(struct ski_inbox *inbox, uint32_t cells,
                                                        const struct ski_credit *credit,
                                                        uint32_t slots, uint64_t *tail)
{
    uint64_t now = atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1;

    if (SKI_UNLIKELY(now - credit->head >= ski_inbox_max_sp(cells, slots) ||
                     now % SKI_CELL_SLOTS + slots > SKI_CELL_SLOTS))
        return NULL;
    if (SKI_INBOX_AHEAD && now % SKI_CELL_SLOTS == 0)
        ski_prefetch_write(ski_inbox_slot(inbox, cells, now + (uint64_t)slots * SKI_CELL_SLOTS));
    atomic_store_explicit(&inbox->tail, (now + slots) << 1, memory_order_relaxed);
    *tail = now << 1;
    return ski_inbox_slot(inbox, cells, now);
}

/** Slow path of ski_inbox_reserve_sp(): rereads the head if there is no room, and fills the line if
 *  there is too little left of it.  Returns whether there is room for @p slots slots then. */
SKI_COLD bool ski_inbox_make_room_sp(struct ski_inbox *inbox, uint32_t cells,
                                     struct ski_credit *credit, uint32_t slots);

/** Takes @p slots slots as ski_inbox_try_reserve_sp() does.  Returns NULL if the ring is full. */
static inline struct ski_cell *ski_inbox_reserve_sp(struct ski_inbox *inbox, uint32_t cells,
                                                    struct ski_credit *credit, uint32_t slots,
                                                    uint64_t *tail)
{
    struct ski_cell *cell = ski_inbox_try_reserve_sp(inbox, cells, credit, slots, tail);

    if (SKI_UNLIKELY(!cell) && ski_inbox_make_room_sp(inbox, cells, credit, slots))
        cell = ski_inbox_try_reserve_sp(inbox, cells, credit, slots, tail);
    return cell;
}

/** Returns the last cell that the caller, the sole producer of the ring, has published, if it is a
 *  whole one, else NULL. */
static inline const struct ski_cell *ski_inbox_last_whole_sp(struct ski_inbox *inbox,
                                                             uint32_t          cells)
{
    uint64_t               now  = atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1;
    const struct ski_cell *cell = ski_inbox_slot(inbox, cells, now - SKI_CELL_SLOTS);

    return now > 0 && now % SKI_CELL_SLOTS == 0 && !(cell->flags & SKI_CELL_PACKED) ? cell : NULL;
}

/** Returns the ticket, or the slot, after the last one of the ring that was taken. */
static inline uint64_t ski_inbox_taken(const struct ski_inbox *inbox)
{
    return atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1;
}

/** Returns how many tickets, or slots, of the ring the consumer has published as consumed. */
static inline uint64_t ski_inbox_consumed(const struct ski_inbox *inbox)
{
    return atomic_load_explicit(&inbox->head, memory_order_relaxed);
}

/** Makes a filled cell visible.  Returns whether the consumer was asleep when the ticket was taken;
 *  the caller must then call ski_inbox_clear_sleep() and, if that is true, ski_inbox_wake_mp(). */
static inline bool ski_inbox_publish_mp(struct ski_cell *cell, uint64_t tail)
{
    /* Publishes the cell: pairs with the acquire in ski_reader_ready_sc(). */
    atomic_store_explicit(&cell->stamp, (uint32_t)(tail >> 1) + 1, memory_order_release);
    return SKI_UNLIKELY(tail & SKI_INBOX_ASLEEP);
}

/** Makes a filled whole cell visible, in a ring whose sole producer is the caller.  Returns whether
 *  the consumer sleeps, or is about to; the caller must then do as after ski_inbox_publish_mp(). */
static inline bool ski_inbox_publish_sp(struct ski_inbox *inbox, struct ski_cell *cell,
                                        uint64_t tail)
{
    ski_inbox_publish_mp(cell, tail);
    /* The tail was stored before: pairs with the heavy fence in ski_reader_prepare_sleep_sc(). */
    ski_membarrier_light();
    return SKI_UNLIKELY(atomic_load_explicit(&inbox->asleep, memory_order_relaxed));
}

/** Makes a filled packed cell of @p slots slots visible.  Returns what ski_inbox_publish_sp()
 *  does. */
static inline bool ski_inbox_publish_packed_sp(struct ski_inbox *inbox, struct ski_cell *cell,
                                               uint32_t slots, uint64_t tail)
{
    struct ski_cell *after = (struct ski_cell *)(void *)((char *)cell + slots * SKI_CELL_SLOT);
    uint64_t         next  = (tail >> 1) + slots;

    /* Data of an earlier lap may look like the stamp next + 1.  The slot is free, as
     * ski_inbox_reserve_sp() has checked.  The release that follows orders this store before the
     * stamp of the cell. */
    if (next % SKI_CELL_SLOTS)
        atomic_store_explicit(&after->stamp, (uint32_t)next, memory_order_relaxed);
    return ski_inbox_publish_sp(inbox, cell, tail);
}

/** Marks the ring for the consumer: a cell that was published must not wait. */
static inline void ski_inbox_set_urgent_mp(struct ski_inbox *inbox)
{
    /* The release pairs with the acquire in ski_reader_take_urgent_sc(), after which the consumer
     * finds the cell. */
    if (!atomic_load_explicit(&inbox->urgent, memory_order_relaxed))
        atomic_store_explicit(&inbox->urgent, 1, memory_order_release);
}

/** Clears the sleep bit.  Returns true to the one caller that cleared it; if that is a producer, it
 *  must call ski_inbox_wake_mp(). */
SKI_COLD bool ski_inbox_clear_sleep(struct ski_inbox *inbox);

/** Wakes the consumer after ski_inbox_clear_sleep() returned true.  A system call. */
SKI_COLD void ski_inbox_wake_mp(struct ski_inbox *inbox);

/* ---- the consumer ------------------------------------------------------- */

struct ski_rings;

/* The consumer's position in its inbox, or in one ring of it, in private memory. */
struct ski_reader {
    struct ski_cell  *next;  /* the cell that is consumed next                           */
    uint64_t          stamp; /* its ticket + 1                                           */
    uint64_t          due;   /* the stamp at which the head is published or a visit ends */
    uint64_t          told;  /* the stamp when the head was last published               */
    uint64_t          until; /* the stamp at which the visit ends                        */
    uint32_t          cells;
    uint32_t          quota;  /* cells of a visit                                         */
    uint32_t          left;   /* cells that are left of it, of a sole producer            */
    int32_t           source; /* of packed cells                                          */
    bool              sole;   /* the ring has a sole producer: stamps count slots         */
    struct ski_inbox *inbox;
    struct ski_rings *rings; /* all rings of the inbox; NULL: it has one                 */
};

/* The rings of an inbox that has several.  One of them is being read, by a reader that the consumer
 * has; the readers of the others are kept here. */
struct ski_rings {
    struct ski_inbox *first; /* the ring on whose tail the consumer sleeps       */
    uint32_t          others;
    uint32_t          turn; /* the reader in `other` that is polled next         */
    bool              sole; /* rings other than the first have a sole producer   */
    struct ski_reader other[];
};

/** Makes the reader of an empty inbox. */
void ski_reader_init(struct ski_reader *reader, struct ski_inbox *inbox, uint32_t cells);

/** Returns the size in bytes of the record of @p count rings. */
static inline size_t ski_rings_bytes(uint32_t count)
{
    return sizeof(struct ski_rings) + (count - 1) * sizeof(struct ski_reader);
}

/** Makes the reader of an empty inbox of @p count contiguous rings, two or more.  Ring @p unused is
 *  not read if it is not the first.  ski_rings_share() or ski_rings_set_sole() must be called
 *  before anything is read. */
void ski_rings_init(struct ski_rings *rings, struct ski_reader *reader, struct ski_inbox *first,
                    uint32_t count, uint32_t cells, uint32_t unused);

/** Sets the quotas of rings that producers share: producer i of @p producers uses ring i modulo the
 *  number of rings; number @p self, if there is one, is the consumer, which sends nothing to
 *  itself. */
void ski_rings_share(struct ski_reader *reader, uint32_t producers, uint32_t self);

/** Declares that each ring but the first has a sole producer, and sets the quotas.  @p source, with
 *  @p arg, returns the PE that sends to ring @p ring. */
void ski_rings_set_sole(struct ski_reader *reader,
                        int32_t (*source)(uint32_t ring, const void *arg), const void *arg);

/** Returns whether the next cell is filled. */
static inline bool ski_reader_ready_sc(const struct ski_reader *reader)
{
    /* Pairs with the release in ski_inbox_publish_mp(). */
    return atomic_load_explicit(&reader->next->stamp, memory_order_acquire) ==
           (uint32_t)reader->stamp;
}

/** Makes @p reader that of the next other ring whose next cell is filled, in turn.  Returns false
 * if there is none. */
bool ski_rings_turn_sc(struct ski_reader *reader);

/** Returns whether a cell of the inbox is filled, which is then the next one of @p reader. */
static inline bool ski_reader_poll_sc(struct ski_reader *reader)
{
    return ski_reader_ready_sc(reader) || (reader->rings && ski_rings_turn_sc(reader));
}

/** Returns the next cell if it is filled, else NULL. */
static inline struct ski_cell *ski_reader_peek_sc(const struct ski_reader *reader)
{
    return ski_reader_ready_sc(reader) ? reader->next : NULL;
}

/** Returns the stamp of the cell after the next one, in a ring of a sole producer.  A whole cell,
 *  and a cell without a message, extend to the end of the line. */
static inline uint64_t ski_reader_after_sp(const struct ski_reader *reader)
{
    const struct ski_cell *cell  = reader->next;
    uint64_t               stamp = reader->stamp;

    /* Branches, no arithmetic: so the CPU loads the cell after this one before it knows the size of
     * this one. */
    if (SKI_UNLIKELY(!(cell->flags & SKI_CELL_PACKED))) {
        stamp = ((stamp - 1) | (SKI_CELL_SLOTS - 1)) + 1;
        __asm__("" : "+r"(stamp));
    } else if (cell->bytes > SKI_PACKED_SHORT) {
        stamp++;
        __asm__("" : "+r"(stamp));
    }
    return stamp + 1;
}

/** Returns whether the cell after the next one is filled, too: a hint without ordering. */
static inline bool ski_reader_more_sc(const struct ski_reader *reader)
{
    uint64_t               stamp = reader->sole ? ski_reader_after_sp(reader) : reader->stamp + 1;
    const struct ski_cell *cell  = reader->sole
                                       ? ski_inbox_slot(reader->inbox, reader->cells, stamp - 1)
                                       : &reader->inbox->cell[reader->stamp & (reader->cells - 1)];

    return atomic_load_explicit(&cell->stamp, memory_order_relaxed) == (uint32_t)stamp;
}

/** Returns the first cell of the line @p n lines after that of the next cell if it is filled, else
 *  NULL. */
static inline const struct ski_cell *ski_reader_ahead_sc(const struct ski_reader *reader,
                                                         uint32_t                 n)
{
    uint64_t ticket = reader->stamp - 1, line = reader->sole ? ticket / SKI_CELL_SLOTS : ticket;
    uint64_t stamp              = (reader->sole ? (line + n) * SKI_CELL_SLOTS : ticket + n) + 1;
    const struct ski_cell *cell = &reader->inbox->cell[(line + n) & (reader->cells - 1)];

    /* Pairs with the release in ski_inbox_publish_mp(). */
    if (atomic_load_explicit(&cell->stamp, memory_order_acquire) != (uint32_t)stamp)
        return NULL;
    return cell;
}

/** Consumes the next cell, in a ring of a sole producer. */
static inline void ski_reader_advance_sp(struct ski_reader *reader)
{
    reader->stamp = ski_reader_after_sp(reader);
    reader->next  = ski_inbox_slot(reader->inbox, reader->cells, reader->stamp - 1);
    if (--reader->left == 0)
        reader->due = 0;
}

/** Consumes the next cell, in a ring that producers share. */
static inline void ski_reader_advance_mp(struct ski_reader *reader)
{
    reader->next = &reader->inbox->cell[reader->stamp & (reader->cells - 1)];
    reader->stamp++;
}

/** Consumes the next cell, which ski_reader_peek_sc() returned. */
static inline void ski_reader_advance_sc(struct ski_reader *reader)
{
    if (SKI_UNLIKELY(reader->sole))
        ski_reader_advance_sp(reader);
    else
        ski_reader_advance_mp(reader);
}

/** Slow path of ski_reader_tell_sc(). */
void ski_reader_tell_due_sc(struct ski_reader *reader);

/** Called after cells were consumed.  Publishes the position of the consumer to producers, once per
 *  quarter of a ring.  Makes @p reader that of another ring, if one has a filled cell, at the end
 * of a visit. */
static inline void ski_reader_tell_sc(struct ski_reader *reader)
{
    if (SKI_UNLIKELY(reader->stamp >= reader->due))
        ski_reader_tell_due_sc(reader);
}

/** Publishes the position of the consumer to the producers of all rings now.  Cells that were
 *  consumed are not read any more. */
SKI_COLD void ski_reader_publish_sc(struct ski_reader *reader);

/** Returns whether a producer of the ring has published a cell that must not wait. */
static inline bool ski_reader_is_urgent_sc(const struct ski_reader *reader)
{
    return atomic_load_explicit(&reader->inbox->urgent, memory_order_relaxed);
}

/** Returns ski_reader_is_urgent_sc() of any ring of the inbox, and clears it. */
bool ski_reader_take_urgent_sc(struct ski_reader *reader);

/** Sets the sleep bits.  Returns whether no ticket is outstanding, so that the caller may sleep. In
 *  either case it calls ski_inbox_clear_sleep(), of the first ring, and ski_reader_end_sleep_sc()
 *  before it continues. */
bool ski_reader_prepare_sleep_sc(struct ski_reader *reader);

/** Clears the sleep bits of rings other than the first one. */
void ski_reader_end_sleep_sc(struct ski_reader *reader);

/** Sleeps until a producer clears the sleep bit, for at most @p ns nanoseconds. */
void ski_reader_sleep_sc(struct ski_reader *reader, uint64_t ns);

#endif
