/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox_test.c - the ring keeps each producer's order, refuses when full,
 * survives wrap-around of its tickets, and never loses a wake-up.
 */
#include "base/inbox.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/futex.h"
#include "base/sanitizer.h"
#include "tests/tap.h"

#define PRODUCERS 4
#if defined(SKI_ASAN) || defined(SKI_TSAN) /* which take some ten times as long */
#define EACH 12000u
#else
#define EACH 50000u
#endif

#define RINGS 3

static uint32_t inbox_test_cells = 64; /* of a ring */

static struct ski_inbox *inbox_test_new_inbox(uint64_t first_ticket, struct ski_reader *reader)
{
    struct ski_inbox *inbox = aligned_alloc(SKI_CACHE_LINE, ski_inbox_bytes(inbox_test_cells));

    memset(inbox, 0, ski_inbox_bytes(inbox_test_cells));
    atomic_store(&inbox->tail, first_ticket * 2);
    atomic_store(&inbox->head, first_ticket);
    ski_reader_init(reader, inbox, inbox_test_cells);
    reader->next  = &inbox->cell[first_ticket & (inbox_test_cells - 1)];
    reader->stamp = reader->told = first_ticket + 1;
    for (uint64_t i = 0; i < inbox_test_cells; i++) /* as the previous lap would have left them */
        atomic_store(&inbox->cell[(first_ticket + i) % inbox_test_cells].stamp,
                     (uint32_t)(first_ticket + i - inbox_test_cells + 1));
    return inbox;
}

static bool shared_sole;   /* each ring but the first has a sole producer */
static bool shared_packed; /* ... whose cells are packed, most of them    */

/* Puts a packed cell with @p value into ring @p to of a sole producer.  Returns false if it is
 * full, and whether the consumer sleeps in *@p asleep. */
static bool inbox_test_push_packed(struct ski_inbox *to, struct ski_credit *credit, int32_t value,
                                   uint8_t bytes, bool *asleep)
{
    uint32_t         slots = ski_packed_slots(bytes);
    uint64_t         tail;
    struct ski_cell *cell = ski_inbox_reserve_sp(to, inbox_test_cells, credit, slots, &tail);

    if (!cell)
        return false;
    cell->handler = 1;
    cell->flags   = SKI_CELL_PACKED;
    cell->bytes   = bytes;
    memset(ski_cell_packed_data(cell), 0xff, bytes);
    memcpy(ski_cell_packed_data(cell), &value, sizeof value);
    *asleep = ski_inbox_publish_packed_sp(to, cell, slots, tail);
    return true;
}

/* Puts a whole cell with @p value into ring @p to of a sole producer, with data that look like the
 * stamps of packed cells in the next lap.  Returns what inbox_test_push_packed() does. */
static bool inbox_test_push_whole(struct ski_inbox *to, struct ski_credit *credit, int32_t source,
                                  int32_t value, bool *asleep)
{
    uint64_t         tail;
    struct ski_cell *cell =
        ski_inbox_reserve_sp(to, inbox_test_cells, credit, SKI_CELL_SLOTS, &tail);

    if (!cell)
        return false;
    cell->handler  = 1;
    cell->flags    = 0;
    cell->source   = source;
    cell->priority = value;
    for (uint32_t i = 1; i < SKI_CELL_SLOTS; i++) {
        uint32_t stamp = (uint32_t)(tail >> 1) + inbox_test_cells * SKI_CELL_SLOTS + i + 1;

        memcpy((char *)cell + (size_t)i * SKI_CELL_SLOT, &stamp, sizeof stamp);
    }
    *asleep = ski_inbox_publish_sp(to, cell, tail);
    return true;
}

/* Returns the source and the value of the next cell. */
static int32_t inbox_test_next(const struct ski_reader *reader, int32_t *value)
{
    if (reader->sole && reader->next->flags & SKI_CELL_PACKED) {
        memcpy(value, ski_cell_packed_data(reader->next), sizeof *value);
        return reader->source;
    }
    *value = reader->next->priority;
    return reader->next->source;
}

/* Returns whether the next cell carries nothing: the rest of its line is not used. */
static bool inbox_test_is_empty(const struct ski_reader *reader)
{
    return reader->sole && reader->next->flags & SKI_CELL_EMPTY;
}

/* Puts a cell into ring @p ring of an inbox. */
static bool inbox_test_push_ring(struct ski_inbox *inbox, int ring, struct ski_credit *credit,
                                 int32_t source, int32_t value)
{
    struct ski_inbox *to =
        (void *)((char *)inbox + (size_t)ring * ski_inbox_bytes(inbox_test_cells));
    struct ski_cell *cell;
    uint64_t         tail;
    bool             asleep;

    if (shared_sole && ring > 0) {
        static const uint8_t sizes[] = {4, 8, 0, 4, 20, 4, 24, 0, 0, 4, 4, 4, 4, 24, 24, 9};
        uint8_t              bytes   = shared_packed ? sizes[(uint32_t)value % sizeof sizes] : 0;

        if (!(bytes ? inbox_test_push_packed(to, credit, value, bytes, &asleep)
                    : inbox_test_push_whole(to, credit, source, value, &asleep)))
            return false;
    } else {
        if (!ski_inbox_reserve_mp(to, inbox_test_cells, credit, &tail))
            return false;
        cell           = ski_inbox_cell(to, inbox_test_cells, tail);
        cell->flags    = 0;
        cell->source   = source;
        cell->priority = value;
        asleep         = ski_inbox_publish_mp(cell, tail);
    }
    if (asleep && ski_inbox_clear_sleep(inbox))
        ski_inbox_wake_mp(inbox);
    return true;
}

static bool inbox_test_push(struct ski_inbox *inbox, struct ski_credit *credit, int32_t source,
                            int32_t value)
{
    return inbox_test_push_ring(inbox, 0, credit, source, value);
}

static void test_inbox_alone(uint64_t first_ticket, const char *when)
{
    struct ski_credit credit = {0};
    struct ski_reader reader;
    struct ski_inbox *inbox = inbox_test_new_inbox(first_ticket, &reader);
    int               n = 0, good = 1;

    OK(!ski_reader_peek_sc(&reader), "an inbox is empty at first (%s)", when);
    while (inbox_test_push(inbox, &credit, 0, n))
        n++;
    OK(n == (int)inbox_test_cells / 2, "it takes half of its cells, then refuses (%s)", when);
    for (int i = 0; i < n; i++) {
        struct ski_cell *cell = ski_reader_peek_sc(&reader);
        good &= cell && cell->priority == i;
        ski_reader_advance_sc(&reader);
        ski_reader_tell_sc(&reader);
    }
    OK(good && !ski_reader_peek_sc(&reader), "what went in comes out in order (%s)", when);
    OK(inbox_test_push(inbox, &credit, 0, 0), "and there is room again (%s)", when);
    free(inbox);
}

/* ---- many producers, a consumer that sleeps ------------------------------- */

static struct ski_inbox *shared;
static int               shared_rings;

/* Returns the ring of a producer: those that are left over, if rings have sole producers, use the
 * first. */
static int inbox_test_ring(int producer)
{
    return shared_sole ? (producer < shared_rings - 1 ? producer + 1 : 0) : producer % shared_rings;
}

static void *inbox_test_produce(void *arg)
{
    struct ski_credit credit = {0};
    int32_t           me     = (int32_t)(intptr_t)arg;

    for (uint32_t i = 0; i < EACH; i++) {
        while (!inbox_test_push_ring(shared, inbox_test_ring(me), &credit, me, (int32_t)i))
            sched_yield();
        if (i % 1024 == 0)
            sched_yield(); /* let the consumer fall asleep now and then */
    }
    return NULL;
}

static int32_t inbox_test_source(uint32_t ring, const void *arg)
{
    (void)arg;
    return (int32_t)ring - 1;
}

/* Makes an empty inbox of several rings; the caller frees reader->rings, too. */
static struct ski_inbox *inbox_test_new_rings(struct ski_reader *reader)
{
    struct ski_inbox *inbox =
        aligned_alloc(SKI_CACHE_LINE, RINGS * ski_inbox_bytes(inbox_test_cells));

    memset(inbox, 0, RINGS * ski_inbox_bytes(inbox_test_cells));
    ski_rings_init(malloc(ski_rings_bytes(RINGS)), reader, inbox, RINGS, inbox_test_cells, 0);
    if (shared_sole)
        ski_rings_set_sole(reader, inbox_test_source, NULL);
    else
        ski_rings_share(reader, RINGS, RINGS);
    return inbox;
}

static void test_inbox_turns(void)
{
    struct ski_credit credit[RINGS] = {{0}};
    struct ski_reader reader;
    struct ski_inbox *inbox        = inbox_test_new_rings(&reader);
    int               taken[RINGS] = {0}, most = 0, least = 10;

    OK(!ski_reader_poll_sc(&reader), "an inbox of several rings is empty at first");
    for (int i = 0; i < 10 * RINGS; i++)
        inbox_test_push_ring(inbox, i % RINGS, &credit[i % RINGS], i % RINGS, i / RINGS);
    for (int i = 0; i < 4 * RINGS && ski_reader_poll_sc(&reader); i++) {
        taken[reader.next->source] += reader.next->priority == taken[reader.next->source];
        ski_reader_advance_sc(&reader);
        ski_reader_tell_sc(&reader);
    }
    for (int i = 0; i < RINGS; i++) {
        most  = taken[i] > most ? taken[i] : most;
        least = taken[i] < least ? taken[i] : least;
    }
    OK(most == 4 && least == 4, "the rings are read in turn, each in order");
    OK(!ski_reader_prepare_sleep_sc(&reader),
       "with cells in one of them the consumer may not sleep");
    ski_inbox_clear_sleep(inbox);
    ski_reader_end_sleep_sc(&reader);
    for (int i = 0; i < RINGS; i++)
        OK(!ski_inbox_clear_sleep(
               (void *)((char *)inbox + (size_t)i * ski_inbox_bytes(inbox_test_cells))),
           "and the sleep bit of ring %d is cleared", i);
    free(reader.rings);
    free(inbox);
}

static void test_inbox_together(int rings)
{
    struct ski_reader reader;
    pthread_t         thread[PRODUCERS];
    int32_t           next[PRODUCERS] = {0};
    unsigned long     taken = 0, sleeps = 0;
    int               bad = 0;

    shared       = rings > 1 ? inbox_test_new_rings(&reader) : inbox_test_new_inbox(0, &reader);
    shared_rings = rings;
    for (intptr_t i = 0; i < PRODUCERS; i++)
        pthread_create(&thread[i], NULL, inbox_test_produce, (void *)i);
    while (taken < (unsigned long)PRODUCERS * EACH) {
        struct ski_cell *cell = ski_reader_poll_sc(&reader) ? reader.next : NULL;
        if (cell) {
            if (!inbox_test_is_empty(&reader)) {
                int32_t value, source = inbox_test_next(&reader, &value);

                bad += value != next[source]++;
                taken++;
            }
            ski_reader_advance_sc(&reader);
            ski_reader_tell_sc(&reader);
            continue;
        }
        if (ski_reader_prepare_sleep_sc(&reader)) {
            sleeps++;
            ski_reader_sleep_sc(&reader, SKI_FOREVER); /* a lost wake-up would hang here */
        }
        ski_inbox_clear_sleep(shared);
        ski_reader_end_sleep_sc(&reader);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(thread[i], NULL);
    OK(bad == 0, "each producer's order is kept (rings %d%s, %lu cells, %lu sleeps)", rings,
       shared_packed ? " of packed cells"
       : shared_sole ? " of sole producers"
                     : "",
       taken, sleeps);
    free(reader.rings);
    free(shared);
}

/* A ring that is not used is not read. */
static void test_inbox_unused(void)
{
    struct ski_inbox *inbox =
        aligned_alloc(SKI_CACHE_LINE, RINGS * ski_inbox_bytes(inbox_test_cells));
    struct ski_reader reader;

    ski_rings_init(malloc(ski_rings_bytes(RINGS)), &reader, inbox, RINGS, inbox_test_cells, 1);
    OK(reader.rings->others == RINGS - 2, "a ring that is not used has no reader");
    for (uint32_t i = 0; i < reader.rings->others; i++)
        OK((char *)reader.rings->other[i].inbox ==
               (char *)inbox + (i + 2) * ski_inbox_bytes(inbox_test_cells),
           "ring %u has one", i + 2);
    free(reader.rings);
    free(inbox);
}

/* Rings of sole producers: all cells are used, and a full ring does not delay another. */
static void test_inbox_sole(void)
{
    struct ski_credit credit[RINGS] = {{0}};
    struct ski_reader reader;
    struct ski_inbox *inbox;
    int               n = 0, taken[RINGS] = {0}, first = 0;

    shared_sole = true;
    inbox       = inbox_test_new_rings(&reader);
    OK(ski_reader_prepare_sleep_sc(&reader), "with nothing on its way the consumer may sleep");
    OK(inbox_test_push_ring(inbox, 2, &credit[2], 2, 0) && !ski_inbox_clear_sleep(inbox),
       "a sole producer wakes it");
    ski_reader_end_sleep_sc(&reader);
    OK(!ski_reader_prepare_sleep_sc(&reader), "with a cell in such a ring it may not sleep");
    ski_inbox_clear_sleep(inbox);
    ski_reader_end_sleep_sc(&reader);
    while (inbox_test_push_ring(inbox, 1, &credit[1], 1, n))
        n++;
    OK(n == (int)inbox_test_cells - 1,
       "a ring of a sole producer takes all of its cells but one, then refuses");
    for (int i = 0; i < (int)inbox_test_cells + 1 && ski_reader_poll_sc(&reader); i++) {
        int32_t value, source = inbox_test_next(&reader, &value);

        taken[source] += value == taken[source];
        first = taken[2] == 0 ? i + 1 : first;
        ski_reader_advance_sc(&reader);
        ski_reader_tell_sc(&reader);
    }
    OK(taken[1] == n && taken[2] == 1 && first <= 8,
       "the rings are read in turn, each in order: the other one after %d cells", first);
    OK(inbox_test_push_ring(inbox, 1, &credit[1], 1, 0), "and there is room again");
    free(reader.rings);
    free(inbox);
    test_inbox_together(RINGS);
    shared_packed = true;
    test_inbox_together(RINGS);
    inbox_test_cells = 8;
    test_inbox_together(RINGS);
    inbox_test_cells = 64;
    shared_packed = shared_sole = false;
}

/* A ring takes as many packed cells as it has lines, of either size. */
static void test_inbox_packed_room(uint8_t bytes)
{
    struct ski_credit credit = {0};
    struct ski_reader reader;
    struct ski_inbox *inbox, *ring;
    int               n = 0;
    bool              asleep;

    shared_sole = true;
    inbox       = inbox_test_new_rings(&reader);
    ring        = (void *)((char *)inbox + ski_inbox_bytes(inbox_test_cells));
    while (inbox_test_push_packed(ring, &credit, n, bytes, &asleep))
        n++;
    OK(n == (int)inbox_test_cells, "a ring takes as many packed cells of %d bytes as it has lines",
       bytes);
    for (n = 0; ski_reader_poll_sc(&reader); n++) {
        ski_reader_advance_sc(&reader);
        ski_reader_tell_sc(&reader);
    }
    OK(n == (int)inbox_test_cells && inbox_test_push_packed(ring, &credit, n, bytes, &asleep),
       "they are read, and there is room again");
    free(reader.rings);
    free(inbox);
    shared_sole = false;
}

/* Rings of packed and whole cells, filled and emptied in steps of different lengths, also where
 * stamps wrap. */
static void test_inbox_packed(uint64_t first_slot, const char *when)
{
    struct ski_credit credit = {0};
    struct ski_reader reader, *of = &reader;
    struct ski_inbox *inbox, *ring;
    int32_t           sent = 0, taken = 0, value;
    int               bad = 0, most = 0;

    shared_sole = shared_packed = true;
    inbox                       = inbox_test_new_rings(&reader);
    ring                        = (void *)((char *)inbox + ski_inbox_bytes(inbox_test_cells));
    of                          = &reader.rings->other[0];
    atomic_store(&ring->tail, first_slot * 2);
    atomic_store(&ring->head, first_slot);
    of->stamp = of->told = first_slot + 1;
    of->next             = ski_inbox_slot(ring, inbox_test_cells, first_slot);
    for (int step = 0; step < 4000; step++) {
        int n = step % 50 == 0 ? 100000 : step * 7 % 23;

        while (n-- > 0 && inbox_test_push_ring(inbox, 1, &credit, 0, sent))
            sent++;
        most = sent - taken > most ? sent - taken : most;
        for (n = step % 77 == 0 ? 100000 : step * 5 % 29; n > 0 && ski_reader_poll_sc(&reader);
             n--) {
            if (!inbox_test_is_empty(&reader)) {
                bad += inbox_test_next(&reader, &value) != 0 || value != taken++;
                bad += ski_reader_more_sc(&reader) != (sent > taken);
            }
            ski_reader_advance_sc(&reader);
            ski_reader_tell_sc(&reader);
        }
    }
    OK(bad == 0 && taken > 5000 && most > (int)inbox_test_cells / 4,
       "packed cells come out in order (%s, ring of %u; bad %d, %d of %d)", when, inbox_test_cells,
       bad, taken, sent);
    free(reader.rings);
    free(inbox);
    shared_sole = shared_packed = false;
}

static void test_inbox_time_limit(void)
{
    struct ski_reader reader;
    struct ski_inbox *inbox  = inbox_test_new_inbox(0, &reader);
    struct ski_credit credit = {0};

    OK(ski_reader_prepare_sleep_sc(&reader), "with nothing on its way it may sleep");
    ski_reader_sleep_sc(&reader, 1000000);
    OK(ski_inbox_clear_sleep(inbox), "the time being over, the announcement is still there");
    OK(!ski_inbox_clear_sleep(inbox), "and can be taken back once");
    inbox_test_push(inbox, &credit, 0, 0);
    OK(!ski_reader_prepare_sleep_sc(&reader), "with something on its way it may not");
    free(inbox);
}

int main(void)
{
    test_inbox_alone(0, "fresh");
    test_inbox_alone(UINT32_MAX - UINT64_C(10), "stamps about to wrap");
    test_inbox_time_limit();
    test_inbox_turns();
    test_inbox_together(1);
    test_inbox_together(RINGS);
    test_inbox_unused();
    if (ski_membarrier_register())
        test_inbox_sole();
    for (inbox_test_cells = 64; inbox_test_cells >= 4; inbox_test_cells /= 2) {
        test_inbox_packed_room(8);
        test_inbox_packed_room(24);
        test_inbox_packed(0, "fresh");
        test_inbox_packed(UINT32_MAX - UINT64_C(1003), "stamps about to wrap");
    }
    return tap_end();
}
