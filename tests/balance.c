/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - elements wait at sync points and are moved by every strategy, while they send to each
 * other, are inserted, destroy themselves and migrate; others move asynchronously under traffic;
 * invalid results of strategies are refused.
 *
 * usage: balance [POINTS]
 *
 * One phase for each strategy.  An element that has passed k sync points sends k to another: the
 * receiver must have called skua_at_sync() k times by then; otherwise the sync point was passed too
 * early.  A phase ends when each element has passed all sync points, which a reduction counts.  In
 * each phase an array is destroyed while its elements migrate: the next sync point must not wait
 * for them.
 *
 * Finally `diffusion` lowers the largest load of a PE. The elements report their loads, so the
 * result does not depend on time. Some elements have a thread that waits where it cannot migrate;
 * these elements stay, and no sync point waits for them.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define ELEMENTS 23
#define DRIFTERS 9
#define HOPS     60
#define LEAVES   40
#define WEIGHTS  60
#define PES_MAX  64

struct block {
    uint64_t random;
    int      phase, passed; /* sync points of the phase that it has passed */
    int      called;        /* sync points of the phase that it has reached */
    int      waiting, inserted;
    int      dying; /* its message `die` is in flight */
};

struct birth {
    int phase, passed;
};

struct hop {
    int left;
};

struct weight {
    double load;
    int    passed;

    bool            held; /* a thread of the element waits for `let` */
    skua_completion let;  /* what that thread waits for */
};

static skua_class      block_class, drifter_class, rock_class, leaf_class, weight_class;
static skua_entry      begin_entry, resume_entry, greet_entry, die_entry, hop_entry;
static skua_entry      blow_entry, fall_entry, weigh_entry, begin_weight_entry;
static skua_handler    end_handler, hopped_handler, blown_handler, weighed_handler;
static skua_collection blocks, drifters; /* read-only */
static int             points = 5;       /* sync points of each phase; read-only */
static uint64_t        seed;             /* read-only */

static const char *const strategies[] = {
    "none",        "rotate",   "random", "greedy",       "refine",     "greedy-comm",
    "orb",         "topology", "graph",  "hierarchical", "diffusion",  "auto",
    "auto:greedy", "mine",     "bad-pe", "bad-fixed",    "bad-status", "rotate"};

#define PHASES ((int)(sizeof strategies / sizeof *strategies))

/* The state of PE 0. */
static int      phase, hopped;
static uint64_t refused;
static bool     phase_over;
static double   heaviest; /* the largest load of a PE before diffusion */

/* The leaves of this phase, whose id is lost when they are destroyed. */
static skua_collection leaves;

/* ---- strategies of the program ---------------------------------------------------- */

static skua_status decide_mine(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        if (problem->object[i].flags & SKUA_OBJECT_MOVABLE)
            to[i] = (int32_t)(i % (uint32_t)problem->pes);
    return SKUA_OK;
}

static skua_status decide_bad_pe(const skua_strategy_problem *problem, int32_t *to)
{
    if (problem->objects)
        to[problem->objects - 1] = problem->pes;
    return SKUA_OK;
}

static skua_status decide_bad_fixed(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        if (!(problem->object[i].flags & SKUA_OBJECT_MOVABLE))
            to[i] = problem->pes; /* also on one PE */
    return SKUA_OK;
}

static skua_status decide_bad_status(const skua_strategy_problem *problem, int32_t *to)
{
    if (problem->objects)
        to[0] = problem->pes - 1;
    return SKUA_ERR_NOMEM;
}

static const skua_strategy own[] = {
    {.name = "mine", .about = "by turns", .decide = decide_mine},
    {.name = "bad-pe", .about = "no such PE", .decide = decide_bad_pe},
    {.name = "bad-fixed", .about = "moves what stays", .decide = decide_bad_fixed},
    {.name = "bad-status", .about = "fails", .decide = decide_bad_status},
};

/* ---- elements at sync points ------------------------------------------------------ */

static void block_construct(void *self, const void *data, size_t bytes)
{
    struct block *b = self;
    struct birth  birth;

    b->random = seed + 1 + (uint64_t)skua_index_of(self).at.x[0] * 977;
    if (bytes != sizeof birth)
        return; /* created with the array */
    memcpy(&birth, data, sizeof birth);
    b->inserted = 1;
    b->phase    = birth.phase;
    b->passed = b->called = birth.passed;
    skua_invoke_copy(skua_ref_of(self), begin_entry, &b->phase, sizeof b->phase);
}

static void block_position(const void *self, double xyz[3])
{
    xyz[0] = skua_index_of(self).at.x[0];
    xyz[1] = xyz[2] = 0;
}

static _Thread_local volatile double sink;

static void work(struct block *b)
{
    for (uint64_t i = tap_random(&b->random) % 3000; i > 0; i--)
        sink += (double)i;
}

static void maybe_insert(struct block *b)
{
    int          index = skua_index_of(b).at.x[0];
    struct birth birth = {b->phase, b->passed};

    if (b->inserted || tap_random(&b->random) % 8)
        return;
    index = ((b->phase + 1) * (points + 1) + b->passed) * ELEMENTS + index;
    skua_array_insert(skua_element1(blocks, index),
                      (int)(tap_random(&b->random) % (unsigned)skua_pes()), &birth, sizeof birth);
}

/* Reaches the next sync point; or ends the phase. The message `die` of an element that migrates may
 * arrive after the next `resume`: until then the element does nothing, neither ends nor sends
 * another one, and neither the sync point nor the reduction waits for it after its death. */
static void block_run(struct block *b)
{
    int to = (int)(tap_random(&b->random) % ELEMENTS), total, die;

    if (b->dying)
        return;
    if (b->passed == points) {
        die = b->inserted;
        skua_contribute(b, SKUA_SUM, SKUA_INT32, &(int32_t){1}, 1, skua_done_send(0, end_handler));
        if (die)
            skua_object_destroy(b);
        return;
    }
    work(b);
    total = b->phase * points + b->passed;
    skua_invoke_copy(skua_element1(blocks, to), greet_entry, &total, sizeof total);
    if (b->passed + 1 < points)
        maybe_insert(b);
    if (tap_random(&b->random) % 6 == 0)
        skua_migrate(b, (int)(tap_random(&b->random) % (unsigned)skua_pes()));
    if (b->inserted && tap_random(&b->random) % 6 == 0) {
        skua_object_destroy(b); /* before it has reached the sync point */
        return;
    }
    if (b->inserted && tap_random(&b->random) % 4 == 0) {
        b->dying = 1;
        skua_invoke_copy(skua_ref_of(b), die_entry, NULL, 0); /* while it waits */
    }
    b->called++;
    b->waiting = 1;
    skua_at_sync(b);
}

static void on_begin(void *self, const void *data, size_t bytes)
{
    struct block *b = self;

    CHECK(bytes == sizeof b->phase);
    memcpy(&b->phase, data, bytes);
    if (!b->inserted)
        b->passed = b->called = 0;
    block_run(b);
}

static void on_resume(void *self, const void *data, size_t bytes)
{
    struct block *b = self;

    (void)data;
    CHECK(bytes == 0 && b->waiting);
    b->waiting = 0;
    b->passed++;
    CHECK(b->passed == b->called);
    block_run(b);
}

static void on_greet(void *self, const void *data, size_t bytes)
{
    struct block *b = self;
    int           passed;

    CHECK(bytes == sizeof passed);
    memcpy(&passed, data, bytes);
    CHECK(b->phase * points + b->called >= passed);
    if (tap_random(&b->random) % 8 == 0)
        skua_migrate(b, (int)(tap_random(&b->random) % (unsigned)skua_pes()));
}

static void on_die(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    CHECK(((struct block *)self)->dying);
    skua_object_destroy(self);
}

/* ---- elements that move at any time ----------------------------------------------- */

static void on_hop(void *self, const void *data, size_t bytes)
{
    struct block *b = self;
    struct hop    hop;

    CHECK(bytes == sizeof hop);
    memcpy(&hop, data, bytes);
    if (!b->random)
        b->random = seed + 77 + (uint64_t)skua_index_of(self).at.x[0];
    work(b);
    if (hop.left % 20 == 0)
        skua_balance_now();
    if (hop.left-- == 0)
        skua_send_copy(0, hopped_handler, NULL, 0);
    else
        skua_invoke_copy(skua_element1(drifters, (int)(tap_random(&b->random) % DRIFTERS)),
                         hop_entry, &hop, sizeof hop);
}

/* ---- elements that are destroyed while they migrate -------------------------------- */

static void on_blow(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_send_copy(0, blown_handler, NULL, 0);
    skua_migrate(self, (skua_pe() + 1 + skua_index_of(self).at.x[0]) % skua_pes());
}

static void on_fall(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    skua_abort("a leaf was resumed: none waits at a sync point");
}

static void on_blown(skua_msg *msg)
{
    skua_msg_free(msg);
    if (leaves.id)
        skua_collection_destroy(leaves);
    leaves.id = 0;
}

/* ---- elements that report their loads ------------------------------------------------ */

static double weight_load(const void *self)
{
    return ((const struct weight *)self)->load;
}

/* Adds the weight to the load of its PE. */
static void weight_add(struct weight *w)
{
    double load[PES_MAX] = {0};

    load[skua_pe()] = w->load;
    skua_contribute(w, SKUA_SUM, SKUA_DOUBLE, load, PES_MAX, skua_done_send(0, weighed_handler));
}

/* Waits at three sync points, and lets the waiting thread continue. */
static void on_weigh(void *self, const void *data, size_t bytes)
{
    struct weight *w = self;

    (void)data, (void)bytes;
    if (w->passed == 3 && w->held) {
        skua_complete(w->let, NULL, 0);
        return;
    }
    weight_add(w);
    if (w->passed++ < 3)
        skua_at_sync(w);
}

/* Waits for a future that does not migrate until all sync points are passed. */
static void weight_hold(struct weight *w)
{
    skua_future *future = malloc(sizeof *future);

    *future = (skua_future)SKUA_FUTURE_INIT;
    w->held = true;
    w->let  = skua_done_future(future);
    skua_future_wait(future, NULL);
    skua_future_clear(future);
    free(future);
    weight_add(w);
}

static void on_begin_weight(void *self, const void *data, size_t bytes)
{
    struct weight *w = self;

    w->load = skua_pe() == 0 ? 9 : 1;
    on_weigh(w, data, bytes);
    if (skua_index_of(w).at.x[0] % 3 == 0)
        weight_hold(w);
}

static void on_weighed(skua_msg *msg)
{
    static int    times;
    const double *load = skua_msg_data(msg);
    double        most = 0;

    for (int pe = 0; pe < PES_MAX; pe++)
        most = load[pe] > most ? load[pe] : most;
    skua_msg_free(msg);
    if (times == 0)
        heaviest = most;
    CHECK(times == 0 || skua_pes() == 1 || most < heaviest);
    if (times++ == 3)
        skua_exit(0);
}

static void begin_weights(void)
{
    skua_collection_destroy(blocks);
    skua_collection_destroy(drifters);
    skua_balance_set_strategy("diffusion");
    skua_invoke_all(skua_array_create1(weight_class, WEIGHTS, NULL, 0), begin_weight_entry, NULL,
                    0);
}

/* ---- phases ----------------------------------------------------------------------- */

/* Returns the strategy of this phase; without Scotch, another one than `graph`. */
static const char *phase_strategy(void)
{
    const char *name = strategies[phase];

    return strcmp(name, "graph") == 0 && !skua_strategy_find(name) ? "greedy" : name;
}

static void check_stats(void)
{
    skua_balance_stats stats;
    const char        *name = phase_strategy();
    bool               bad  = strncmp(name, "bad", 3) == 0;

    skua_balance_stats_get(&stats, sizeof stats);
    CHECK(stats.sync_points == (uint64_t)(phase + 1) * (uint64_t)points);
    CHECK(strcmp(skua_balance_strategy(), name) == 0);
    CHECK(bad ? stats.refused > refused : refused > 0 || stats.refused == 0);
    CHECK(strcmp(name, "rotate") != 0 || skua_pes() == 1 || stats.rounds > 0);
    refused = stats.refused;
}

static void begin_phase(void)
{
    struct hop hop = {HOPS};

    phase_over = false;
    hopped     = 0;
    skua_balance_set_strategy(phase_strategy());
    leaves = skua_array_create1(leaf_class, LEAVES, NULL, 0);
    skua_invoke_all(leaves, blow_entry, NULL, 0);
    skua_invoke_all(blocks, begin_entry, &phase, sizeof phase);
    for (int i = 0; i < DRIFTERS; i++)
        skua_invoke_copy(skua_element1(drifters, i), hop_entry, &hop, sizeof hop);
}

/* Ends a phase after both kinds of elements have ended theirs. */
static void maybe_end_phase(void)
{
    if (!phase_over || hopped < DRIFTERS)
        return;
    check_stats();
    if (++phase == PHASES)
        begin_weights();
    else
        begin_phase();
}

static void on_end(skua_msg *msg)
{
    CHECK(*(int32_t *)skua_msg_data(msg) >= ELEMENTS);
    skua_msg_free(msg);
    phase_over = true;
    maybe_end_phase();
}

static void on_hopped(skua_msg *msg)
{
    skua_msg_free(msg);
    hopped++;
    maybe_end_phase();
}

static void begin(int argc, char **argv)
{
    skua_array_def sparse = {.dims = 1, .range = {1, {0}, {ELEMENTS}}, .flags = SKUA_ARRAY_OPEN};

    seed = tap_seed();
    if (argc > 1)
        points = atoi(argv[1]);
    blocks   = skua_array_create(block_class, &sparse, NULL, 0);
    drifters = skua_array_create1(drifter_class, DRIFTERS, NULL, 0);
    skua_array_create1(rock_class, 5, NULL, 0);
    begin_phase();
}

static void register_classes(void)
{
    static const skua_class_def block   = {.name      = "block",
                                           .bytes     = sizeof(struct block),
                                           .construct = block_construct,
                                           .pup       = skua_pup_plain};
    static const skua_class_def drifter = {
        .name = "drifter", .bytes = sizeof(struct block), .pup = skua_pup_plain};
    static const skua_class_def rock   = {.name = "rock", .bytes = 8};
    static const skua_class_def leaf   = {.name = "leaf", .bytes = 8, .pup = skua_pup_plain};
    static const skua_class_def weight = {
        .name = "weight", .bytes = sizeof(struct weight), .pup = skua_pup_plain};
    skua_balance_params params = {.flags = SKUA_BALANCE_AT_SYNC, .position = block_position};

    block_class   = skua_class_register(&block);
    drifter_class = skua_class_register(&drifter);
    rock_class    = skua_class_register(&rock);
    begin_entry   = skua_method_register(block_class, "begin", on_begin, 0);
    resume_entry  = skua_method_register(block_class, "resume", on_resume, 0);
    greet_entry   = skua_method_register(block_class, "greet", on_greet, 0);
    die_entry     = skua_method_register(block_class, "die", on_die, 0);
    hop_entry     = skua_method_register(drifter_class, "hop", on_hop, 0);
    params.resume = resume_entry;
    skua_class_set_balance(block_class, &params);
    leaf_class = skua_class_register(&leaf);
    blow_entry = skua_method_register(leaf_class, "blow", on_blow, 0);
    fall_entry = skua_method_register(leaf_class, "fall", on_fall, 0);
    params     = (skua_balance_params){.flags = SKUA_BALANCE_AT_SYNC, .resume = fall_entry};
    skua_class_set_balance(leaf_class, &params);
    weight_class = skua_class_register(&weight);
    weigh_entry  = skua_method_register(weight_class, "weigh", on_weigh, 0);
    begin_weight_entry =
        skua_method_register(weight_class, "begin", on_begin_weight, SKUA_ENTRY_THREADED);
    params.resume = weigh_entry;
    params.load   = weight_load;
    skua_class_set_balance(weight_class, &params);
    params = (skua_balance_params){.flags = 0};
    skua_class_set_balance(drifter_class, &params);
    skua_class_set_balance(rock_class, &params);
}

int main(int argc, char **argv)
{
    register_classes();
    end_handler     = skua_handler_register("end", on_end);
    hopped_handler  = skua_handler_register("hopped", on_hopped);
    blown_handler   = skua_handler_register("blown", on_blown);
    weighed_handler = skua_handler_register("weighed", on_weighed);
    skua_readonly_register("blocks", &blocks, sizeof blocks);
    skua_readonly_register("drifters", &drifters, sizeof drifters);
    skua_readonly_register("points", &points, sizeof points);
    skua_readonly_register("seed", &seed, sizeof seed);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        skua_strategy_register(&own[i]);
    return skua_program(argc, argv, begin);
}
