/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creation.c - a collection exists on every PE for everything that causally follows its creation.
 *
 * usage: creation [ROUNDS]
 *
 * Collections that the program creates in begin() exist on each PE before any entry method runs
 * there. Later, a random PE creates collections and sends their names along a random path; the PE
 * at its end uses them at once, in an entry method or in a user thread.  Meanwhile all PEs flood
 * its object: no entry method may run inside the one that uses the collections, and none may be
 * overtaken.  With every other seed some constructors wait, and entry methods do run inside them.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define FLOOD 20 /* messages of each PE to each other in a round */
#define FEED  5  /* elements for each PE */

struct names {
    skua_collection group, shared, array;
    int32_t         value; /* argument of the constructors */
};

struct trip {
    struct names    names;
    int32_t         hops;
    uint64_t        random;
    bool            threaded;
    skua_completion done;
};

struct looker {
    bool busy; /* an entry method uses the collection */
    int  next[64];
};

static struct names    first; /* read-only */
static skua_collection lookers;
static int             slow; /* some constructors let other messages run */
static skua_class      member_class, slow_class, looker_class, chare_class;
static skua_entry      visit_entry, look_entry, wait_entry, flood_entry, make_entry;
static uint64_t        seed; /* state of PE 0 */

/* ---- the collections ------------------------------------------------------------------- */

struct member {
    int value;
};

static void make_member(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(int));
    memcpy(&((struct member *)self)->value, data, bytes);
}

/* A constructor that lets other messages run. */
static void make_slow(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data;
    CHECK(bytes == 0);
    skua_poll(3);
}

static void look(const struct names *names)
{
    struct member *m = skua_object_local(skua_member(names->group, skua_pe()));
    struct member *s = skua_object_local(skua_member(names->shared, skua_process()));

    CHECK(skua_group_local(names->group) == m && skua_group_local(names->shared) == s);
    CHECK(m && m->value == names->value);
    CHECK(s && s->value == names->value);
    CHECK(skua_collection_local_count(names->array) == FEED);
    CHECK(skua_home(skua_element1(names->array, FEED * skua_pe())) == skua_pe());
    m = skua_object_local(skua_element1(names->array, FEED * skua_pe() + 1));
    CHECK(m && m->value == names->value);
}

static struct names make(int value)
{
    if (slow)
        skua_group_create(slow_class, NULL, 0);
    return (struct names){skua_group_create(member_class, &value, sizeof value),
                          skua_process_group_create(member_class, &value, sizeof value),
                          skua_array_create1(member_class, FEED * skua_pes(), &value, sizeof value),
                          value};
}

/* ---- after begin() ----------------------------------------------------------------------- */

static void make_chare(void *self, const void *data, size_t bytes)
{
    skua_completion done;

    (void)self;
    CHECK(bytes == sizeof done);
    memcpy(&done, data, bytes);
    look(&first);
    skua_complete(done, NULL, 0);
    skua_object_destroy(self);
}

/* ---- observers, one on each PE -------------------------------------------------------------- */

static void on_flood(void *self, const void *data, size_t bytes)
{
    struct looker *l = self;
    int            mail[2];

    CHECK(bytes == sizeof mail && !l->busy);
    memcpy(mail, data, bytes);
    CHECK(mail[1] == l->next[mail[0]]++);
}

static void flood(void)
{
    static _Thread_local int sent; /* per PE, which is a thread or a process */
    int                      mail[2] = {skua_pe(), 0};

    for (int n = 0; n < FLOOD; n++) {
        mail[1] = sent++;
        for (int pe = 0; pe < skua_pes(); pe++)
            skua_invoke_copy(skua_member(lookers, pe), flood_entry, mail, sizeof mail);
    }
}

static void on_look(void *self, const void *data, size_t bytes)
{
    struct looker     *l    = self;
    const struct trip *trip = data;

    CHECK(bytes == sizeof *trip && !l->busy);
    l->busy = !slow;
    look(&trip->names);
    l->busy = false;
    skua_complete(trip->done, NULL, 0);
}

/* Runs in a user thread; other entries run while it waits. */
static void on_wait(void *self, const void *data, size_t bytes)
{
    const struct trip *trip = data;

    (void)self;
    CHECK(bytes == sizeof *trip && skua_thread_self());
    look(&trip->names);
    skua_complete(trip->done, NULL, 0);
}

/* Forwards along the path, which ends on a random PE. */
static void on_visit(void *self, const void *data, size_t bytes)
{
    struct trip trip;
    skua_entry  entry = visit_entry;

    CHECK(bytes == sizeof trip && !((struct looker *)self)->busy);
    memcpy(&trip, data, bytes);
    if (trip.hops-- == 0)
        entry = trip.threaded ? wait_entry : look_entry;
    else
        flood();
    skua_invoke_copy(skua_member(lookers, (int)(tap_random(&trip.random) % (unsigned)skua_pes())),
                     entry, &trip, sizeof trip);
}

static void on_make(void *self, const void *data, size_t bytes)
{
    struct trip trip;

    CHECK(bytes == sizeof trip);
    memcpy(&trip, data, bytes);
    trip.names = make(trip.names.value);
    on_visit(self, &trip, sizeof trip);
    on_visit(self, &trip, sizeof trip);
}

/* ---- PE 0 ----------------------------------------------------------------------------------- */

static int rounds;

static void play(void *arg, const void *data, size_t bytes);

static skua_completion after(int events)
{
    static struct {
        int left;
    } wait;

    wait.left = events;
    return skua_done_call(play, &wait);
}

/* Begins the next round when the last one is complete. */
static void play(void *arg, const void *data, size_t bytes)
{
    struct trip trip = {.names = {.value = rounds}};
    skua_ref    maker;

    (void)data, (void)bytes;
    if (--*(int *)arg > 0)
        return;
    if (rounds-- == 0) {
        skua_quiescence(skua_done_exit(0));
        return;
    }
    trip.hops     = (int)(tap_random(&seed) % 3);
    trip.threaded = tap_random(&seed) % 3 == 0;
    trip.random   = tap_random(&seed) | 1;
    trip.done     = after(2);
    maker         = skua_member(lookers, (int)(tap_random(&seed) % (unsigned)skua_pes()));
    skua_invoke_copy(maker, make_entry, &trip, sizeof trip);
}

static void begin(int argc, char **argv)
{
    skua_completion done;

    rounds  = argc > 1 ? atoi(argv[1]) : 60;
    seed    = tap_seed();
    slow    = seed / 2 % 2;
    first   = make(17);
    lookers = skua_group_create(looker_class, NULL, 0);
    done    = after(4 * skua_pes());
    CHECK(skua_pes() <= 64);
    for (int n = 0; n < 4; n++)
        for (int pe = skua_pes() - 1; pe >= 0; pe--)
            skua_chare_create(chare_class, pe, &done, sizeof done);
}

int main(int argc, char **argv)
{
    member_class = skua_class_register(&(skua_class_def){
        .name = "member", .bytes = sizeof(struct member), .construct = make_member});
    looker_class =
        skua_class_register(&(skua_class_def){.name = "looker", .bytes = sizeof(struct looker)});
    chare_class = skua_class_register(&(skua_class_def){.name = "chare", .construct = make_chare});
    slow_class  = skua_class_register(&(skua_class_def){.name = "slow", .construct = make_slow});
    visit_entry = skua_method_register(looker_class, "visit", on_visit, 0);
    look_entry  = skua_method_register(looker_class, "look", on_look, 0);
    wait_entry  = skua_method_register(looker_class, "wait", on_wait, SKUA_ENTRY_THREADED);
    flood_entry = skua_method_register(looker_class, "flood", on_flood, 0);
    make_entry  = skua_method_register(looker_class, "make", on_make, 0);
    skua_readonly_register("first", &first, sizeof first);
    skua_readonly_register("slow", &slow, sizeof slow);
    skua_readonly_register("lookers", &lookers, sizeof lookers);
    return skua_program(argc, argv, begin);
}
