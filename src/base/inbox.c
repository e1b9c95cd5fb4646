/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - the slow paths of the inbox: a full ring, several rings, sleep, wake-up. */
#include "base/inbox.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/sanitizer.h"

bool ski_inbox_refresh(struct ski_inbox *inbox, uint32_t max, struct ski_credit *credit)
{
    /* Pairs with the release in ski_reader_tell_due_sc(): the consumer has read the cells that this
     * producer is about to overwrite. */
    credit->head = atomic_load_explicit(&inbox->head, memory_order_acquire);
    return (atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1) - credit->head < max;
}

void ski_inbox_await_mp(struct ski_inbox *inbox, uint32_t cells, struct ski_credit *credit,
                        uint64_t ticket)
{
    /* The consumer has published such a head already: other producers saw it before this one got
     * its ticket.  Pairs with the release in ski_reader_tell_due_sc(). */
    do
        credit->head = atomic_load_explicit(&inbox->head, memory_order_acquire);
    while (ticket - credit->head >= cells);
    ski_assert(credit->head <= ticket);
}

/* The read-modify-writes of the sleep bit are sequentially consistent.  So a consumer may set it
 * and then check other reasons to stay awake, such as the exit flag of the job: a thread that
 * writes such a reason and then clears the bit cannot be missed. */

bool ski_inbox_clear_sleep(struct ski_inbox *inbox)
{
    /* A producer of another ring has read the bit of that ring by its relaxed add.  With the fence
     * that add synchronises with the consumer's fetch_or there, so the consumer's fetch_or here,
     * which is sequenced before, precedes this fetch_and in the order of changes of the tail. */
    ski_fence(memory_order_acquire);
    return atomic_fetch_and(&inbox->tail, ~SKI_INBOX_ASLEEP) & SKI_INBOX_ASLEEP;
}

/* A consumer sleeps on the low half of `tail`: both supported CPUs are little-endian. */
static _Atomic uint32_t *inbox_sleep_word(struct ski_inbox *inbox)
{
    return (_Atomic uint32_t *)(void *)&inbox->tail;
}

void ski_inbox_wake_mp(struct ski_inbox *inbox)
{
    ski_futex_wake(inbox_sleep_word(inbox), 1);
}

/* Fills the line from @p slot on with a cell without a message.  Returns the first slot of the next
 * line. */
static uint64_t inbox_end_line(struct ski_inbox *inbox, uint32_t cells, uint64_t slot)
{
    struct ski_cell *cell = ski_inbox_slot(inbox, cells, slot);
    uint64_t         next = (slot | (SKI_CELL_SLOTS - 1)) + 1;

    cell->flags   = SKI_CELL_EMPTY;
    cell->handler = 0;
    atomic_store_explicit(&inbox->tail, next << 1, memory_order_relaxed);
    ski_inbox_publish_mp(cell, slot << 1);
    return next;
}

/* A consumer that is asleep is not woken for the cell that fills the line: if there is room, the
 * caller publishes another one next, and then looks; if there is none, the consumer is awake. */
bool ski_inbox_make_room_sp(struct ski_inbox *inbox, uint32_t cells, struct ski_credit *credit,
                            uint32_t slots)
{
    uint64_t now = atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1;
    uint32_t max = ski_inbox_max_sp(cells, slots);

    if (now - credit->head >= max && !ski_inbox_refresh(inbox, max, credit))
        return false;
    if (now % SKI_CELL_SLOTS + slots <= SKI_CELL_SLOTS)
        return true;
    now = inbox_end_line(inbox, cells, now);
    return now - credit->head < max || ski_inbox_refresh(inbox, max, credit);
}

/* ---- visits ------------------------------------------------------------------------ */

static void reader_set_due(struct ski_reader *reader)
{
    uint64_t tell = reader->told + reader->cells / 4;

    reader->due = tell < reader->until ? tell : reader->until;
}

/* Begins a visit of a ring of several. */
static void reader_begin_visit(struct ski_reader *reader)
{
    reader->left  = reader->quota;
    reader->until = reader->sole ? UINT64_MAX : reader->stamp + reader->quota;
    reader_set_due(reader);
}

void ski_reader_init(struct ski_reader *reader, struct ski_inbox *inbox, uint32_t cells)
{
    *reader = (struct ski_reader){.next  = inbox->cell,
                                  .stamp = 1,
                                  .told  = 1,
                                  .until = UINT64_MAX,
                                  .cells = cells,
                                  .inbox = inbox};
    reader_set_due(reader);
}

void ski_rings_init(struct ski_rings *rings, struct ski_reader *reader, struct ski_inbox *first,
                    uint32_t count, uint32_t cells, uint32_t unused)
{
    ski_assert(count > 1);
    *rings = (struct ski_rings){.first = first};
    for (uint32_t i = 0; i < count; i++) {
        struct ski_reader *of = i == 0 ? reader : &rings->other[rings->others];

        if (i > 0 && i == unused)
            continue;
        ski_reader_init(of, (void *)((char *)first + i * ski_inbox_bytes(cells)), cells);
        of->rings = rings;
        rings->others += i > 0;
    }
}

/* Returns reader @p i of all those of the inbox, of which @p reader is number 0. */
static struct ski_reader *rings_reader(struct ski_reader *reader, uint32_t i)
{
    return i == 0 ? reader : &reader->rings->other[i - 1];
}

static void reader_set_quota(struct ski_reader *reader, uint32_t quota)
{
    reader->quota = quota ? quota : 1;
    reader_begin_visit(reader);
}

/* Cells of a producer in a quota, and in all of a quota, at most; and of a sole producer. */
#define QUOTA_EACH 4
#define QUOTA_MAX  32
#define QUOTA_SOLE 8

/* Returns the number of producers of ring @p ring of @p rings. */
static uint32_t rings_producers(uint32_t ring, uint32_t rings, uint32_t producers, uint32_t self)
{
    return (producers + rings - 1 - ring) / rings - (self < producers && self % rings == ring);
}

void ski_rings_share(struct ski_reader *reader, uint32_t producers, uint32_t self)
{
    uint32_t count = reader->rings->others + 1, most = (producers + count - 1) / count;
    uint32_t each = most * QUOTA_EACH > QUOTA_MAX ? QUOTA_MAX / most : QUOTA_EACH;

    for (uint32_t i = 0; i < count; i++)
        reader_set_quota(rings_reader(reader, i),
                         rings_producers(i, count, producers, self) * (each ? each : 1));
}

void ski_rings_set_sole(struct ski_reader *reader,
                        int32_t (*source)(uint32_t ring, const void *arg), const void *arg)
{
    struct ski_inbox *first = reader->rings->first;

    reader->rings->sole = true;
    for (uint32_t i = 0; i <= reader->rings->others; i++) {
        struct ski_reader *of   = rings_reader(reader, i);
        size_t             from = (size_t)((char *)of->inbox - (char *)first);

        of->sole = of->inbox != first;
        if (of->sole)
            of->source = source((uint32_t)(from / ski_inbox_bytes(of->cells)), arg);
        reader_set_quota(of, QUOTA_SOLE);
    }
}

/* Returns the first of the readers from @p of to @p end whose next cell is filled, or @p end.  The
 * loads have no order, so that they do not wait for each other. */
static struct ski_reader *rings_find(struct ski_reader *of, struct ski_reader *end)
{
    while (of < end &&
           atomic_load_explicit(&of->next->stamp, memory_order_relaxed) != (uint32_t)of->stamp)
        of++;
    return of;
}

/* Exchanges @p reader and one of the others. */
static void rings_exchange(struct ski_reader *reader, struct ski_reader *other)
{
    struct ski_rings *rings  = reader->rings;
    struct ski_reader before = *reader;

    *reader = *other;
    *other  = before;
    rings->turn =
        other + 1 == rings->other + rings->others ? 0 : (uint32_t)(other + 1 - rings->other);
}

bool ski_rings_turn_sc(struct ski_reader *reader)
{
    struct ski_rings  *rings = reader->rings;
    struct ski_reader *turn = rings->other + rings->turn, *end = rings->other + rings->others;
    struct ski_reader *found = rings_find(turn, end);

    if (found == end)
        found = rings_find(rings->other, end = turn);
    if (found == end)
        return false;
    rings_exchange(reader, found);
    reader_begin_visit(reader);
    /* True; the acquire comes before what is read of the cell. */
    return ski_reader_ready_sc(reader);
}

static void reader_publish(struct ski_reader *reader)
{
    reader->told = reader->stamp;
    /* Pairs with the acquires in ski_inbox_refresh() and ski_inbox_await_mp(). */
    atomic_store_explicit(&reader->inbox->head, reader->stamp - 1, memory_order_release);
}

void ski_reader_publish_sc(struct ski_reader *reader)
{
    for (uint32_t i = 0; i <= (reader->rings ? reader->rings->others : 0); i++) {
        struct ski_reader *ring = reader->rings ? rings_reader(reader, i) : reader;

        if (ring->stamp != ring->told)
            reader_publish(ring);
    }
}

void ski_reader_tell_due_sc(struct ski_reader *reader)
{
    if (reader->stamp - reader->told >= reader->cells / 4)
        reader_publish(reader);
    if (reader->sole ? reader->left > 0 : reader->stamp < reader->until)
        reader_set_due(reader);
    else if (!ski_rings_turn_sc(reader))
        reader_begin_visit(reader);
}

/* ---- urgent cells, sleep ------------------------------------------------------------- */

bool ski_reader_take_urgent_sc(struct ski_reader *reader)
{
    uint32_t others = reader->rings ? reader->rings->others : 0;
    bool     urgent = false;

    for (uint32_t i = 0; i <= others; i++) {
        struct ski_reader *of = rings_reader(reader, i);

        /* Pairs with the release in ski_inbox_set_urgent_mp(). */
        if (ski_reader_is_urgent_sc(of))
            urgent |= atomic_exchange_explicit(&of->inbox->urgent, 0, memory_order_acquire);
    }
    return urgent;
}

/* Sets the sleep bit of a ring.  Returns whether no ticket of it is outstanding. */
static bool reader_set_sleep(struct ski_reader *reader)
{
    uint64_t tail = atomic_fetch_or(&reader->inbox->tail, SKI_INBOX_ASLEEP);

    ski_assert((tail >> 1) + 1 >= reader->stamp &&
               (tail >> 1) + 1 - reader->stamp <= reader->cells);
    return (tail >> 1) + 1 == reader->stamp;
}

/* Sets `asleep` of all rings that have a sole producer.  Returns whether no ticket of them is
 * outstanding. */
static bool rings_set_asleep(struct ski_reader *reader)
{
    const struct ski_rings *rings = reader->rings;
    bool                    empty = true;

    /* Pairs with the acquire fence in ski_inbox_clear_sleep(): a producer that sees `asleep` finds
     * the sleep bit of the first ring, unless that was cleared since. */
    for (uint32_t i = 0; i <= rings->others; i++)
        atomic_store_explicit(&rings_reader(reader, i)->inbox->asleep, 1, memory_order_release);
    if (!ski_membarrier_heavy())
        return false; /* a producer may not see `asleep` */
    for (uint32_t i = 0; empty && i <= rings->others; i++) {
        const struct ski_reader *of = rings_reader(reader, i);

        /* Pairs with the light fence in ski_inbox_publish_sp().  A producer of the first ring that
         * takes a ticket after the check of that ring sees its sleep bit. */
        empty =
            of->inbox == rings->first ||
            (atomic_load_explicit(&of->inbox->tail, memory_order_relaxed) >> 1) + 1 == of->stamp;
    }
    return empty;
}

bool ski_reader_prepare_sleep_sc(struct ski_reader *reader)
{
    const struct ski_rings *rings = reader->rings;
    bool                    empty = true;

    if (!rings)
        return reader_set_sleep(reader);
    /* Once each: a bit that a producer has cleared is not set again before the consumer has checked
     * all rings. */
    for (uint32_t i = 0; i <= rings->others; i++)
        if (rings_reader(reader, i)->inbox == rings->first)
            empty = reader_set_sleep(rings_reader(reader, i));
    if (rings->sole)
        return empty && rings_set_asleep(reader);
    for (uint32_t i = 0; empty && i <= rings->others; i++)
        if (rings_reader(reader, i)->inbox != rings->first)
            empty = reader_set_sleep(rings_reader(reader, i));
    return empty;
}

void ski_reader_end_sleep_sc(struct ski_reader *reader)
{
    const struct ski_rings *rings = reader->rings;

    for (uint32_t i = 0; rings && i <= rings->others; i++) {
        struct ski_inbox *inbox = rings_reader(reader, i)->inbox;

        if (rings->sole)
            atomic_store_explicit(&inbox->asleep, 0, memory_order_relaxed);
        else if (inbox != rings->first)
            ski_inbox_clear_sleep(inbox);
    }
}

void ski_reader_sleep_sc(struct ski_reader *reader, uint64_t ns)
{
    struct ski_inbox *inbox = reader->rings ? reader->rings->first : reader->inbox;
    uint64_t          start = ski_ticks(), spent = 0;
    uint64_t          tail = atomic_load_explicit(&inbox->tail, memory_order_relaxed);

    while ((tail & SKI_INBOX_ASLEEP) && spent < ns) {
        ski_futex_wait(inbox_sleep_word(inbox), (uint32_t)tail,
                       ns == SKI_FOREVER ? ns : ns - spent);
        tail  = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
        spent = ski_ticks_to_ns(ski_ticks() - start);
    }
}
