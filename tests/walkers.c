/* SPDX-License-Identifier: Apache-2.0 */
/* walkers.c - see walkers.h. */
#include "walkers.h"

#include <string.h>

#include "tap.h"
#include "waits.h"

#define WALKERS 8
#define DEPTH   6  /* levels of a recursion */
#define LOCALS  40 /* numbers on each level */

/* What a walker counts; the sums of all are checked. */
struct walker_counts {
    int64_t levels, notes_sent, notes_got;
};

/* What a walker is made with. */
struct walker_trip {
    uint64_t        seed;
    skua_collection movers;
    int32_t         count; /* of movers */
    skua_entry      square;
};

struct walker {
    uint64_t             random;
    struct walker_trip   trip;
    struct walker_counts counts;
};

static skua_class      walker_class;
static skua_entry      walk_entry, note_entry, tell_entry;
static skua_collection walkers; /* on PE 0 */

static int walker_draw(struct walker *w, int n)
{
    return (int)(tap_random(&w->random) % (unsigned)n);
}

static void walker_construct(void *self, const void *data, size_t bytes)
{
    struct walker *w = self;

    CHECK(bytes == sizeof w->trip);
    memcpy(&w->trip, data, sizeof w->trip);
    w->random = w->trip.seed * 37 + (uint64_t)skua_index_of(self).at.x[0] + 1;
}

static void walker_send_note(struct walker *w)
{
    w->counts.notes_sent++;
    skua_invoke_copy(skua_element1(skua_collection_of(w), walker_draw(w, WALKERS)), note_entry,
                     NULL, 0);
}

/* Waits for the answer of a mover, or for the scheduler, while the element migrates. */
static void walker_wait(struct walker *w)
{
    skua_future     answer = SKUA_FUTURE_INIT;
    uint64_t        x      = (uint64_t)walker_draw(w, 1000);
    skua_ref        mover  = skua_element1(w->trip.movers, walker_draw(w, w->trip.count));
    const uint64_t *data;
    size_t          bytes = 0;

    if (walker_draw(w, 4) == 0) {
        skua_migrate(w, walker_draw(w, skua_pes()));
        skua_thread_yield();
        return;
    }
    skua_invoke_reply(mover, w->trip.square, &x, sizeof x, skua_done_future(&answer));
    skua_migrate(w, walker_draw(w, skua_pes()));
    data = skua_future_wait(&answer, &bytes);
    CHECK(bytes == sizeof *data && *data == x * x);
    skua_future_clear(&answer);
}

__attribute__((noinline)) static int64_t walker_recurse(struct walker *w, int depth)
{
    uint64_t own[LOCALS], first = tap_random(&w->random);
    int64_t  below = 0;

    for (unsigned i = 0; i < LOCALS; i++)
        own[i] = first + i;
    walker_send_note(w);
    walker_wait(w);
    w->counts.levels++;
    if (depth > 1)
        below = walker_recurse(w, depth - 1);
    walker_wait(w);
    for (unsigned i = 0; i < LOCALS; i++)
        CHECK(own[i] == first + i);
    return below + 1;
}

static void on_walk(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    CHECK(walker_recurse(self, DEPTH) == DEPTH);
}

static void on_note(void *self, const void *data, size_t bytes)
{
    (void)data;
    CHECK(bytes == 0);
    ((struct walker *)self)->counts.notes_got++;
}

static void on_tell(void *self, const void *data, size_t bytes)
{
    struct walker  *w = self;
    skua_completion done;

    CHECK(bytes == sizeof done);
    memcpy(&done, data, sizeof done);
    skua_contribute(w, SKUA_SUM, SKUA_INT64, &w->counts, sizeof w->counts / sizeof(int64_t), done);
}

void walkers_register(void)
{
    skua_class_def def = {.name      = "walker",
                          .bytes     = sizeof(struct walker),
                          .construct = walker_construct,
                          .pup       = skua_pup_plain};

    walker_class = skua_class_register(&def);
    walk_entry   = skua_method_register(walker_class, "walk", on_walk, SKUA_ENTRY_THREADED);
    note_entry   = skua_method_register(walker_class, "note", on_note, 0);
    tell_entry   = skua_method_register(walker_class, "tell", on_tell, 0);
}

void walkers_create(uint64_t seed, skua_collection movers, int count, skua_entry square)
{
    struct walker_trip trip = {seed, movers, count, square};

    walkers = skua_array_create1(walker_class, WALKERS, &trip, sizeof trip);
}

void walkers_run(void)
{
    skua_invoke_all(walkers, walk_entry, NULL, 0);
}

void walkers_check(int rounds)
{
    skua_future          future = SKUA_FUTURE_INIT;
    skua_completion      done   = skua_done_future(&future);
    struct walker_counts sum;

    skua_invoke_all(walkers, tell_entry, &done, sizeof done);
    future_take(&future, &sum, sizeof sum);
    CHECK(sum.levels == (int64_t)rounds * WALKERS * DEPTH && sum.notes_sent == sum.levels);
    CHECK(sum.notes_got == sum.notes_sent);
}
