/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomics.c - contended atomics, locks and accumulates.
 *
 * The workers are all contexts that may call: each PE on its own stack, user threads of each PE,
 * and external threads of each process.  They update the memory of PE 0, which is symmetric,
 * allocated by it, or registered (malloc).  The values they find, and the values at the end, show
 * whether any update was lost, doubled or torn.
 *
 * usage: atomics [rounds]
 */
#include <pthread.h>
#include <sched.h>
#include <skua/skua.h>
#include <stddef.h>
#include <string.h>

#include "tap.h"

#define OUTSIDERS 2    /* external threads of a process                             */
#define FIBERS    3    /* user threads of a PE that use the locks                   */
#define LOCKS     3    /* locks on each PE                                          */
#define ELEMENTS  1500 /* bytes of an accumulate: more than one of its locks covers */

enum { SYMMETRIC, ALLOCATED, REGISTERED, KINDS };

/* The memory of PE 0 that all workers update. */
struct target {
    uint64_t counter64, swapped64, token64, flags64, pair64;
    uint32_t counter32, swapped32, token32, flags32, pair32;
    double   doubles[ELEMENTS];
    int64_t  integers[ELEMENTS];
    uint32_t tickets[]; /* for each width: a word for each fetch_add and for each token */
};

struct guarded { /* protected by a lock: plain memory */
    uint64_t inside, counter;
};

struct mine {                /* the symmetric memory of each PE */
    skua_notify    finished; /* external threads */
    struct guarded guarded[LOCKS];
    uint64_t       expected[LOCKS];
};

enum where { ON_PE, IN_FIBER, OUTSIDE };

struct worker {
    enum where  where;
    int         index, of; /* number among all workers of the job */
    int         pes;
    uint64_t    random;
    skua_region region;   /* the updated region of PE 0 */
    skua_gaddr  finished; /* notification of its PE for finished external threads */
    void (*work)(struct worker *);
    struct state *state;
    skua_counter *ended;
};

struct state { /* the state of a PE */
    skua_region kind[KINDS], mine;
    skua_locks  locks;
    bool        told;
    char       *memory;
};

static skua_pe_data state_key;
static skua_handler tell;
static uint64_t     seed;
static size_t       rounds = 100;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

/* ---- workers -------------------------------------------------------------------- */

static int workers_of(int fibers)
{
    return skua_pes() * (1 + fibers) + skua_processes() * OUTSIDERS;
}

/* Yields from time to time. */
static void mix(struct worker *w)
{
    if (tap_random(&w->random) % 4)
        return;
    if (w->where == ON_PE)
        skua_poll(1);
    else if (w->where == IN_FIBER)
        skua_thread_yield();
    else
        sched_yield();
}

static void *outside(void *arg)
{
    struct worker *w = arg;

    w->work(w);
    CHECK(skua_notify_add(w->finished, 1) == SKUA_OK);
    return NULL;
}

static void in_fiber(void *arg)
{
    struct worker *w = arg;

    w->work(w);
    w->ended->value++; /* read after the thread was joined */
}

static struct worker a_worker(const struct worker *like, enum where where, int index)
{
    struct worker w = *like;

    w.where  = where;
    w.index  = index;
    w.random = seed + (uint64_t)index * 7919 + 1;
    return w;
}

static void start_outsiders(const struct worker *like, int first, pthread_t *thread,
                            struct worker *w)
{
    for (int i = 0; i < OUTSIDERS; i++) {
        w[i] = a_worker(like, OUTSIDE, first + skua_process() * OUTSIDERS + i);
        CHECK(pthread_create(&thread[i], NULL, outside, &w[i]) == 0);
    }
}

/* Serves requests while it waits, since the threads may need that. */
static void join_outsiders(pthread_t *thread)
{
    struct mine *mine = skua_region_local(self()->mine);

    CHECK(skua_notify_wait(&mine->finished, OUTSIDERS));
    skua_notify_take(&mine->finished, OUTSIDERS);
    for (int i = 0; i < OUTSIDERS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

/* Runs a test in all workers at once and waits for all of them. */
static void all_work(void (*work)(struct worker *), skua_region region, int fibers)
{
    bool          first = skua_pe() == skua_process_first(skua_process());
    skua_counter  ended = SKUA_COUNTER_INIT;
    skua_thread  *fiber[FIBERS];
    pthread_t     thread[OUTSIDERS];
    struct worker in[FIBERS], out[OUTSIDERS], on;
    struct worker like = {.of       = workers_of(fibers),
                          .pes      = skua_pes(),
                          .region   = region,
                          .finished = skua_at(self()->mine, skua_pe(), 0),
                          .work     = work,
                          .state    = self(),
                          .ended    = &ended};

    skua_sync();
    if (first)
        start_outsiders(&like, skua_pes() * (1 + fibers), thread, out);
    for (int i = 0; i < fibers; i++) {
        in[i]    = a_worker(&like, IN_FIBER, skua_pes() + skua_pe() * fibers + i);
        fiber[i] = skua_thread_create(in_fiber, &in[i], 0);
    }
    on = a_worker(&like, ON_PE, skua_pe());
    work(&on);
    for (int i = 0; i < fibers; i++)
        skua_thread_join(fiber[i]);
    CHECK(ended.value == fibers);
    if (first)
        join_outsiders(thread);
    skua_sync();
}

static skua_gaddr place(const struct worker *w, size_t offset)
{
    return skua_at(w->region, 0, offset);
}

static skua_gaddr ticket(const struct worker *w, int width, size_t i)
{
    size_t first = (size_t)width * ((size_t)w->of * (rounds + 1) + 1);

    return place(w, offsetof(struct target, tickets) + 4 * (first + i));
}

static size_t tickets_of(int workers)
{
    return 2 * ((size_t)workers * (rounds + 1) + 1);
}

/* ---- atomics, of both widths ---------------------------------------------------- */

/* The operations of a worker in a round:
 *   count   fetch-and-add; no two workers get one number
 *   climb   adds one by compare-and-swap
 *   flip    sets and clears its own bit of a word; the other bits do not change
 *   write   stores a value of two equal halves, and never reads a torn one */
#define HAMMER(bits, type, width)                                                                  \
    static void count_##bits(const struct worker *w)                                               \
    {                                                                                              \
        type old = (type)-1;                                                                       \
        CHECK(skua_fetch_add##bits(place(w, offsetof(struct target, counter##bits)), 1, &old) ==   \
              SKUA_OK);                                                                            \
        CHECK(old < (type)w->of * rounds);                                                         \
        CHECK(skua_add32(ticket(w, width, (size_t)old), 1) == SKUA_OK);                            \
    }                                                                                              \
    static void climb_##bits(const struct worker *w)                                               \
    {                                                                                              \
        skua_gaddr at = place(w, offsetof(struct target, swapped##bits));                          \
        type       seen, old;                                                                      \
        CHECK(skua_load##bits(at, &seen) == SKUA_OK);                                              \
        while (is_ok(skua_compare_swap##bits(at, seen, seen + 1, &old)) && old != seen)            \
            seen = old;                                                                            \
    }                                                                                              \
    static void flip_##bits(const struct worker *w)                                                \
    {                                                                                              \
        skua_gaddr at  = place(w, offsetof(struct target, flags##bits));                           \
        type       bit = (type)1 << w->index, old;                                                 \
        CHECK(skua_fetch_or##bits(at, bit, &old) == SKUA_OK && !(old & bit));                      \
        CHECK(skua_load##bits(at, &old) == SKUA_OK && old & bit);                                  \
        CHECK(skua_fetch_and##bits(at, (type)~bit, &old) == SKUA_OK && old & bit);                 \
        CHECK(skua_fetch_xor##bits(at, bit, &old) == SKUA_OK && !(old & bit));                     \
        CHECK(skua_or##bits(at, bit) == SKUA_OK);                                                  \
        CHECK(skua_fetch_xor##bits(at, bit, &old) == SKUA_OK && old & bit);                        \
        CHECK(skua_xor##bits(at, bit) == SKUA_OK);                                                 \
        CHECK(skua_and##bits(at, (type)~bit) == SKUA_OK);                                          \
    }                                                                                              \
    static void write_##bits(const struct worker *w, size_t round)                                 \
    {                                                                                              \
        skua_gaddr at   = place(w, offsetof(struct target, pair##bits));                           \
        type       half = ((type)w->index << 8 | (type)(round & 255)) & ((type)-1 >> bits / 2);    \
        type       seen;                                                                           \
        CHECK(skua_store##bits(at, half << bits / 2 | half) == SKUA_OK);                           \
        CHECK(skua_load##bits(at, &seen) == SKUA_OK);                                              \
        CHECK(seen >> bits / 2 == (seen & ((type)-1 >> bits / 2)));                                \
    }                                                                                              \
    static void hammer_##bits(struct worker *w)                                                    \
    {                                                                                              \
        type token = (type)w->index + 1; /* swapped repeatedly; at the end none is lost */         \
        for (size_t i = 0; i < rounds; i++) {                                                      \
            count_##bits(w);                                                                       \
            climb_##bits(w);                                                                       \
            flip_##bits(w);                                                                        \
            write_##bits(w, i);                                                                    \
            CHECK(skua_swap##bits(place(w, offsetof(struct target, token##bits)), token,           \
                                  &token) == SKUA_OK);                                             \
            mix(w);                                                                                \
        }                                                                                          \
        CHECK(token <= (type)w->of);                                                               \
        CHECK(skua_add32(ticket(w, width, (size_t)w->of *rounds + (size_t)token), 1) == SKUA_OK);  \
    }                                                                                              \
    static void check_##bits(const struct target *t, int workers)                                  \
    {                                                                                              \
        size_t          total  = (size_t)workers * rounds;                                         \
        const uint32_t *ticket = t->tickets + (size_t)width * (total + (size_t)workers + 1);       \
        CHECK(t->counter##bits == total);                                                          \
        CHECK(t->swapped##bits == total);                                                          \
        CHECK(t->flags##bits == 0);                                                                \
        for (size_t i = 0; i < total; i++)                                                         \
            CHECK(ticket[i] == 1);                                                                 \
        for (size_t i = 0; i <= (size_t)workers; i++)                                              \
            CHECK(ticket[total + i] == (i != t->token##bits));                                     \
    }

static bool is_ok(skua_status status)
{
    CHECK(status == SKUA_OK);
    return true;
}

HAMMER(32, uint32_t, 0)
HAMMER(64, uint64_t, 1)

static void hammer(struct worker *w)
{
    hammer_32(w);
    hammer_64(w);
}

static struct target *target_of(skua_region region)
{
    return skua_gaddr_local(skua_at(region, 0, 0));
}

static void test_atomics(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        all_work(hammer, self()->kind[kind], 1);
        if (skua_pe() == 0) {
            check_32(target_of(self()->kind[kind]), workers_of(1));
            check_64(target_of(self()->kind[kind]), workers_of(1));
        }
        skua_sync();
    }
}

/* ---- accumulate ------------------------------------------------------------------- */

/* Returns a layout of every third element, in two levels. */
static const skua_layout thirds = {.kind    = SKUA_LAYOUT_STRIDED,
                                   .bytes   = 8,
                                   .strided = {2, {ELEMENTS / 3 / 10, 10}, {8 * 30, 8 * 3}}};

static void accumulate(struct worker *w)
{
    static const skua_update in_doubles    = {.op = SKUA_SUM, .type = SKUA_DOUBLE};
    static const skua_update in_integers   = {.op = SKUA_SUM, .type = SKUA_INT64};
    skua_gaddr               doubles       = place(w, offsetof(struct target, doubles));
    skua_gaddr               integers      = place(w, offsetof(struct target, integers));
    double                  *d             = malloc(ELEMENTS * sizeof *d);
    int64_t                 *n             = malloc(ELEMENTS * sizeof *n);
    skua_layout              some_doubles  = skua_layout_contiguous(d, skua_layout_bytes(&thirds));
    skua_layout              some_integers = skua_layout_contiguous(n, skua_layout_bytes(&thirds));

    for (int i = 0; i < ELEMENTS; i++) {
        d[i] = w->index + 1;
        n[i] = -(w->index + 1);
    }
    for (size_t i = 0; i < rounds / 4; i++) {
        CHECK(skua_acc(doubles, d, ELEMENTS * sizeof *d, &in_doubles) == SKUA_OK);
        CHECK(skua_acc_layout(doubles, &thirds, &some_doubles, &in_doubles) == SKUA_OK);
        CHECK(skua_acc_layout(integers, &thirds, &some_integers, &in_integers) == SKUA_OK);
        CHECK(skua_acc(integers, n, ELEMENTS * sizeof *n, &in_integers) == SKUA_OK);
        mix(w);
    }
    free(n);
    free(d);
}

static void check_sums(const struct target *t, int workers)
{
    int64_t sum = (int64_t)(rounds / 4) * workers * (workers + 1) / 2;

    for (int i = 0; i < ELEMENTS; i++) {
        CHECK(t->doubles[i] == (double)(i % 3 == 0 ? 2 * sum : sum));
        CHECK(t->integers[i] == -(i % 3 == 0 ? 2 * sum : sum));
    }
}

static void test_accumulate(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        all_work(accumulate, self()->kind[kind], 1);
        if (skua_pe() == 0)
            check_sums(target_of(self()->kind[kind]), workers_of(1));
        skua_sync();
    }
}

/* ---- locks ------------------------------------------------------------------------ */

/* Checks that the lock is exclusive, also across a switch to other threads of the PE. */
static void use_guarded(struct worker *w, skua_gaddr at)
{
    const uint64_t me = (uint64_t)w->index + 1;
    struct guarded seen;

    CHECK(skua_get(&seen, at, sizeof seen) == SKUA_OK && seen.inside == 0);
    seen.inside = me;
    CHECK(skua_put(at, &seen, sizeof seen) == SKUA_OK);
    mix(w);
    skua_flush(at.pe);
    CHECK(skua_get(&seen, at, sizeof seen) == SKUA_OK && seen.inside == me);
    seen.inside = 0;
    seen.counter++;
    CHECK(skua_put(at, &seen, sizeof seen) == SKUA_OK);
}

static void use_locks(struct worker *w)
{
    for (size_t i = 0; i < rounds; i++) {
        int    pe   = (int)(tap_random(&w->random) % (uint64_t)w->pes);
        size_t lock = tap_random(&w->random) % LOCKS;
        size_t at   = offsetof(struct mine, guarded) + lock * sizeof(struct guarded);

        CHECK(skua_lock(w->state->locks, pe, lock));
        use_guarded(w, skua_at(w->region, pe, at));
        skua_unlock(w->state->locks, pe, lock);
        CHECK(skua_add64(skua_at(w->region, pe, offsetof(struct mine, expected) + lock * 8), 1) ==
              SKUA_OK);
    }
}

static void test_locks(void)
{
    struct state *s    = self();
    struct mine  *mine = skua_region_local(s->mine);

    CHECK(skua_locks_create(LOCKS, &s->locks) == SKUA_OK);
    all_work(use_locks, s->mine, FIBERS);
    for (int i = 0; i < LOCKS; i++)
        CHECK(mine->guarded[i].counter == mine->expected[i] && mine->guarded[i].inside == 0);
    skua_sync();
    CHECK(skua_locks_destroy(s->locks) == SKUA_OK);
}

/* Each PE holds its own lock while it takes that of the next, in turn: a held lock does not block
 * other locks. */
static void test_two_locks(void)
{
    struct state *s = self();

    CHECK(skua_locks_create(2, &s->locks) == SKUA_OK);
    for (int i = 0; i < 20; i++) {
        CHECK(skua_lock(s->locks, skua_pe(), 0));
        CHECK(skua_lock(s->locks, (skua_pe() + 1) % skua_pes(), 1));
        skua_unlock(s->locks, skua_pe(), 0);
        skua_unlock(s->locks, (skua_pe() + 1) % skua_pes(), 1);
    }
    skua_sync();
    CHECK(skua_locks_destroy(s->locks) == SKUA_OK);
}

/* ---- the job ------------------------------------------------------------------------ */

static void on_tell(skua_msg *msg)
{
    struct state *s = self();
    skua_region  *r = skua_msg_data(msg);

    s->kind[ALLOCATED]  = r[0];
    s->kind[REGISTERED] = r[1];
    s->told             = true;
    skua_msg_free(msg);
}

static bool is_told(void *arg)
{
    (void)arg;
    return self()->told;
}

/* PE 0 creates its regions and sends them to the others. */
static void make_regions(void)
{
    struct state *s     = self();
    size_t        bytes = sizeof(struct target) + 4 * tickets_of(workers_of(1));
    skua_region   made[2];

    CHECK(skua_region_create(sizeof(struct mine), &s->mine) == SKUA_OK);
    memset(skua_region_local(s->mine), 0, sizeof(struct mine));
    CHECK(skua_region_create(bytes, &s->kind[SYMMETRIC]) == SKUA_OK);
    memset(skua_region_local(s->kind[SYMMETRIC]), 0, bytes);
    if (skua_pe() == 0) {
        s->memory = calloc(1, bytes);
        CHECK(skua_region_create_local(bytes, &made[0]) == SKUA_OK);
        memset(skua_region_local(made[0]), 0, bytes);
        CHECK(skua_region_create_from(s->memory, bytes, &made[1]) == SKUA_OK);
        for (int pe = 0; pe < skua_pes(); pe++)
            skua_send_copy(pe, tell, made, sizeof made);
    }
    CHECK(skua_run_until(is_told, NULL));
    skua_sync();
}

static void free_regions(void)
{
    struct state *s = self();

    CHECK(skua_region_destroy(s->mine) == SKUA_OK);
    for (int kind = 0; kind < KINDS; kind++)
        if (kind == SYMMETRIC || skua_pe() == 0)
            CHECK(skua_region_destroy(s->kind[kind]) == SKUA_OK);
    free(s->memory);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    make_regions();
    test_atomics();
    test_accumulate();
    test_locks();
    test_two_locks();
    skua_sync();
    free_regions();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = strtoul(argv[1], NULL, 10);
    seed      = tap_seed();
    tell      = skua_handler_register("tell", on_tell);
    state_key = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
