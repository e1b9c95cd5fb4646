/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wander.c - elements of a sparse array are inserted, destroyed, migrated, counted and broadcast to
 * at random, by all PEs at once, and compared with a model.
 *
 * usage: wander [ROUNDS] [STEPS] [plain | packed | pointer | fields]
 *
 * The elements migrate as plain bytes; packed, with memory that they own; by pointer, with memory
 * that they own; or as fields, some of which their class does not pack.
 *
 * Every element takes random steps: it sends to others, migrates, contributes to the next
 * reduction, and sometimes waits in the middle of an entry method.  PE 0 inserts and destroys
 * between rounds, when no message is in flight, and broadcasts during rounds.  At the end of each
 * round:
 *   - each element has received exactly the messages that were sent to it, and each broadcast of
 * its lifetime exactly once, in order;
 *   - each reduction has counted each existing element exactly once.
 * Each step finds the memory that its element owns as the last one left it.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define INDICES    60
#define REDUCTIONS 4 /* steps of each element in a round */

struct walker {
    uint64_t random;
    int64_t  got, sent[INDICES]; /* messages */
    int      shouts;             /* broadcasts of this round */
    int      steps, contributed;

    /* Members that plain elements do not use. */
    void          *address; /* its own address, unless it was unpacked since */
    int            pe;      /* address at which it has arrived */
    uint32_t       owned_bytes;
    unsigned char *owned; /* bytes that depend on their number */
    char          *name;
    int32_t       *numbers; /* NUMBERS of them, which depend on owned_bytes, or NULL */

    unsigned char bulk[1024]; /* of fields: too large to be copied inside a host */
};

enum { NUMBERS = 30 };

enum { PLAIN, PACKED, POINTER, FIELDS };

static int how = PLAIN;

static skua_class      walker_class;
static skua_entry      greet_entry, step_entry, shout_entry, report_entry;
static skua_collection walkers;

/* The state of PE 0. */
static bool     alive[INDICES];
static int      living, sums, sums_wanted;
static uint64_t seed;

/* The report of an element. */
struct report {
    int32_t index, shouts;
    int64_t got, sent[INDICES];
};

static skua_ref walker(int i)
{
    char name[40] = {0};

    memset(name, 'a' + i % 26, 30); /* a long index, and others like it */
    memcpy(name + 30, &i, sizeof i);
    return skua_element(walkers, skua_index_bytes(name, 34));
}

static int number_of(const void *self)
{
    skua_index index = skua_index_of(self);
    int        i;

    memcpy(&i, index.at.raw + 30, sizeof i);
    return i;
}

/* The parameters of a round. */
struct round {
    uint64_t        random;
    bool            alive[INDICES];
    int             steps;
    skua_completion counted;
};

/* ---- owned memory ---------------------------------------------------------------- */

static void *own(size_t bytes)
{
    return how == POINTER ? skua_buffer_alloc(bytes) : malloc(bytes);
}

static void disown(void *memory)
{
    if (how == POINTER)
        skua_buffer_free(memory);
    else
        free(memory);
}

static void own_other(struct walker *w)
{
    disown(w->owned);
    disown(w->numbers);
    w->owned_bytes = (uint32_t)(tap_random(&w->random) % 5000);
    w->owned       = w->owned_bytes ? own(w->owned_bytes) : NULL;
    for (uint32_t i = 0; i < w->owned_bytes; i++)
        w->owned[i] = (unsigned char)(i * 7 + w->owned_bytes);
    w->numbers = w->owned_bytes % 3 ? own(NUMBERS * sizeof *w->numbers) : NULL;
    for (int32_t i = 0; w->numbers && i < NUMBERS; i++)
        w->numbers[i] = i + (int32_t)w->owned_bytes;
}

static bool owns_memory(void)
{
    return how == PACKED || how == POINTER;
}

static void check_owned(const struct walker *w)
{
    CHECK(how != FIELDS || (w->bulk[0] == 1 && w->bulk[sizeof w->bulk - 1] == 2));
    for (uint32_t i = 0; i < w->owned_bytes; i++)
        CHECK(w->owned[i] == (unsigned char)(i * 7 + w->owned_bytes));
    CHECK(!owns_memory() || strcmp(w->name, "walker") == 0);
    CHECK(!w->numbers == !(w->owned_bytes % 3));
    for (int32_t i = 0; w->numbers && i < NUMBERS; i++)
        CHECK(w->numbers[i] == i + (int32_t)w->owned_bytes);
    CHECK(how == PLAIN || w->pe == skua_pe());
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct walker *w = self;

    CHECK(bytes == sizeof(uint64_t));
    memcpy(&w->random, data, bytes);
    if (how == PLAIN)
        return;
    w->address = self;
    w->pe      = skua_pe();
    if (how == FIELDS) {
        w->bulk[0]                  = 1;
        w->bulk[sizeof w->bulk - 1] = 2;
        return;
    }
    w->name = strcpy(own(sizeof "walker"), "walker");
    own_other(w);
}

static void destroy(void *self)
{
    struct walker *w = self;

    disown(w->owned);
    disown(w->numbers);
    disown(w->name);
}

static void pup_counts(skua_pup *p, struct walker *w)
{
    skua_pup_value(p, &w->random);
    skua_pup_value(p, &w->got);
    skua_pup_value(p, &w->sent);
    skua_pup_value(p, &w->shouts);
    skua_pup_value(p, &w->steps);
    skua_pup_value(p, &w->contributed);
}

static void pup(skua_pup *p, void *self)
{
    struct walker *w = self;

    CHECK(how != POINTER || !tap_all_near() || skua_pup_sizing(p));
    pup_counts(p, w);
    skua_pup_value(p, &w->owned_bytes);
    skua_pup_memory(p, &w->owned, w->owned_bytes);
    skua_pup_string(p, &w->name);
    skua_pup_array(p, &w->numbers, NUMBERS, sizeof *w->numbers);
}

/* Packs members in ascending order. A migration zeroes the others. */
static void pup_fields(skua_pup *p, void *self)
{
    struct walker *w = self;

    pup_counts(p, w);
    skua_pup_value(p, &w->bulk);
    if (skua_pup_unpacking(p)) {
        CHECK(!w->address && !w->pe && !w->name);
        w->owned_bytes = 0;
    }
}

/* An element that migrated by pointer has its old address. */
static void moved(void *self)
{
    struct walker *w = self;

    w->pe = skua_pe();
    if (how == FIELDS) {
        CHECK(!w->address);
        check_owned(w);
        w->address = self;
        return;
    }
    CHECK(!w->address || w->address == self);
    CHECK(w->address || how == PACKED || !tap_all_near());
    w->address = self;
}

/* ---- a step ----------------------------------------------------------------------- */

static void greet(struct walker *w, const struct round *round, int whom)
{
    char     data[200] = {0};
    size_t   bytes     = tap_random(&w->random) % 3 ? 8 : 200;
    skua_ref ref       = walker(whom);

    if (!round->alive[whom])
        return;
    ref.of = skua_collection_of(w);
    w->sent[whom]++;
    skua_invoke_copy(ref, greet_entry, data, bytes);
}

static void on_greet(void *self, const void *data, size_t bytes)
{
    (void)data;
    CHECK(bytes == 8 || bytes == 200);
    ((struct walker *)self)->got++;
}

static void contribute(struct walker *w, const struct round *round)
{
    int64_t values[2] = {1, number_of(w)};

    w->contributed++;
    skua_contribute(w, SKUA_SUM, SKUA_INT64, values, 2, round->counted);
}

static void on_step(void *self, const void *data, size_t bytes)
{
    struct walker      *w     = self;
    const struct round *round = data;
    uint64_t            draw  = tap_random(&w->random);

    CHECK(bytes == sizeof *round);
    check_owned(w);
    for (uint64_t n = draw % 4; n > 0; n--)
        greet(w, round, (int)(tap_random(&w->random) % INDICES));
    if (w->contributed < REDUCTIONS && draw >> 8 & 1)
        contribute(w, round);
    if (++w->steps < round->steps) {
        skua_ref self_ref = skua_ref_of(self);
        skua_invoke_copy(self_ref, step_entry, round, sizeof *round);
    } else {
        while (w->contributed < REDUCTIONS)
            contribute(w, round);
        w->steps = w->contributed = 0;
    }
    if (owns_memory() && (draw >> 32) % 4 == 0)
        own_other(w);
    if (draw >> 16 & 1)
        skua_migrate(self, (int)(tap_random(&w->random) % (unsigned)skua_pes()));
    if ((draw >> 24) % 8 == 0)
        skua_poll(2); /* other entries run meanwhile */
}

static void on_shout(void *self, const void *data, size_t bytes)
{
    int n;

    CHECK(bytes == sizeof n);
    memcpy(&n, data, sizeof n);
    CHECK(n == ++((struct walker *)self)->shouts);
    if (tap_random(&((struct walker *)self)->random) % 8 == 0)
        skua_poll(2); /* the next reduction may begin before all elements have the result */
}

/* ---- reports ------------------------------------------------------------------------ */

static void on_report(void *self, const void *data, size_t bytes)
{
    struct walker  *w      = self;
    struct report   report = {number_of(self), w->shouts, w->got, {0}};
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    memcpy(report.sent, w->sent, sizeof report.sent);
    skua_contribute(self, SKUA_SET, SKUA_BYTE, &report, sizeof report, to);
    memset(w->sent, 0, sizeof w->sent);
    w->got    = 0;
    w->shouts = 0;
}

static void on_counted(void *arg, const void *data, size_t bytes)
{
    const int64_t *values = data;
    int64_t        sum    = 0;

    (void)arg;
    for (int i = 0; i < INDICES; i++)
        sum += alive[i] ? i : 0;
    CHECK(bytes == 16 && values[0] == living && values[1] == sum);
    sums++;
}

static bool all_counted(void *arg)
{
    (void)arg;
    return sums == sums_wanted;
}

static void check_round(int shouts)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);
    const void     *data, *at = NULL;
    size_t          bytes, length;
    int64_t         got[INDICES] = {0}, sent[INDICES] = {0};
    int             seen = 0;

    skua_invoke_all(walkers, report_entry, &done, sizeof done);
    data = skua_future_wait(&future, &bytes);
    while (skua_set_next(data, bytes, &at, &length)) {
        const struct report *report = at;

        CHECK(length == sizeof *report && alive[report->index]);
        CHECK(report->shouts == shouts);
        got[report->index] += report->got;
        for (int i = 0; i < INDICES; i++)
            sent[i] += report->sent[i];
        seen++;
    }
    CHECK(seen == living);
    for (int i = 0; i < INDICES; i++)
        CHECK(got[i] == sent[i]);
    skua_future_clear(&future);
}

/* ---- rounds -------------------------------------------------------------------------- */

static void change_population(void)
{
    for (int n = 0; n < 20; n++) {
        int      i      = (int)(tap_random(&seed) % INDICES);
        uint64_t random = tap_random(&seed) | 1;

        if (alive[i] && living > 1) {
            skua_object_destroy_ref(walker(i));
            living--;
            alive[i] = false;
        } else if (!alive[i]) {
            int pe = (int)(tap_random(&seed) % (unsigned)(skua_pes() + 1)) - 1;
            skua_array_insert(walker(i), pe, &random, sizeof random);
            living++;
            alive[i] = true;
        }
        wait_quiet();
    }
}

static void play(int steps)
{
    struct round round = {.random = tap_random(&seed), .steps = steps};
    int          shouts;

    memcpy(round.alive, alive, sizeof alive);
    round.counted = skua_done_call(on_counted, NULL);
    sums_wanted += REDUCTIONS;
    skua_invoke_all(walkers, step_entry, &round, sizeof round);
    shouts = (int)(tap_random(&seed) % 20);
    for (int n = 1; n <= shouts; n++) {
        skua_invoke_all(walkers, shout_entry, &n, sizeof n);
        skua_poll(tap_random(&seed) % 20);
    }
    CHECK(skua_run_until(all_counted, NULL));
    wait_quiet();
    check_round(shouts);
}

static bool is_how(int argc, char **argv, const char *word)
{
    return argc > 3 && strcmp(argv[3], word) == 0;
}

static void start(int argc, char **argv)
{
    int            rounds = argc > 1 ? atoi(argv[1]) : 30;
    int            steps  = argc > 2 ? atoi(argv[2]) : 20;
    skua_array_def def    = {.flags = SKUA_ARRAY_OPEN};

    if (skua_pe() != 0)
        return;
    seed    = tap_seed();
    walkers = skua_array_create(walker_class, &def, NULL, 0);
    for (int i = 0; i < rounds; i++) {
        change_population();
        play(steps);
    }
    skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name      = "walker",
                          .bytes     = sizeof(struct walker),
                          .construct = construct,
                          .pup       = skua_pup_plain};

    if (is_how(argc, argv, "packed"))
        how = PACKED;
    if (is_how(argc, argv, "pointer"))
        how = POINTER;
    if (is_how(argc, argv, "fields")) {
        how       = FIELDS;
        def.pup   = pup_fields;
        def.moved = moved;
    }
    if (owns_memory()) {
        def.destroy = destroy;
        def.pup     = pup;
        def.moved   = moved;
        def.flags   = how == POINTER ? SKUA_CLASS_BY_POINTER : 0;
    }
    walker_class = skua_class_register(&def);
    greet_entry  = skua_method_register(walker_class, "greet", on_greet, 0);
    step_entry   = skua_method_register(walker_class, "step", on_step, 0);
    shout_entry  = skua_method_register(walker_class, "shout", on_shout, 0);
    report_entry = skua_method_register(walker_class, "report", on_report, 0);
    return skua_main(argc, argv, start);
}
