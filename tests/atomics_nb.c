/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomics_nb.c - typed atomics, blocking and not, also by external threads, and notifications
 * without data.
 *
 * Each PE starts random atomics of every type on words of random PEs.  Those of one word commute,
 * so the model knows the value at the end whatever their order; the previous values must be values
 * that the word can have had.  Sums of doubles are whole numbers: none is rounded.
 *
 * The words are in a symmetric region and in a region of each PE, whose size other hosts do not
 * know; neither may make a non-blocking call wait. A call that runs handlers is detected: each PE
 * sends itself messages that only a wait may run.
 *
 * usage: atomics_nb [operations] [remote]
 * With `remote` no PE uses words of its own host (SKUA_RMA_ATOMICS).
 */
#include <pthread.h>
#include <skua/skua.h>
#include <stddef.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define BATCH 64

enum { SUM, LEAST, MOST, UNUSED, ROLES };

struct words { /* one of each type for each role */
    int32_t     i32[ROLES];
    uint32_t    u32[ROLES];
    float       f32[ROLES];
    int64_t     i64[ROLES];
    uint64_t    u64[ROLES];
    double      f64[ROLES];
    uint64_t    swapped, turns;
    double      claimed;
    skua_notify notified, finished;
};

struct state {
    skua_region   symmetric, *local; /* local[pe]: the region of one PE */
    struct words *mine[2];
    double        model[6][ROLES]; /* sum, or extreme, of the operands of this PE */
    uint64_t      notified, random, sent, ran, signals, signals_sent;
};

static skua_pe_data state_key;
static int          operations = 2000;
static bool         remote_only;
static uint64_t     seed;
static skua_handler on_probe, on_signal;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static uint64_t below(uint64_t n)
{
    return tap_random(&self()->random) % n;
}

static const struct {
    skua_type type;
    size_t    offset, bytes;
} kinds[] = {
    {SKUA_INT32, offsetof(struct words, i32), 4},  {SKUA_UINT32, offsetof(struct words, u32), 4},
    {SKUA_FLOAT, offsetof(struct words, f32), 4},  {SKUA_INT64, offsetof(struct words, i64), 8},
    {SKUA_UINT64, offsetof(struct words, u64), 8}, {SKUA_DOUBLE, offsetof(struct words, f64), 8}};

union number {
    int32_t  i32;
    uint32_t u32;
    float    f32;
    int64_t  i64;
    uint64_t u64;
    double   f64;
};

static union number number_of(int kind, double x)
{
    union number n = {.u64 = 0};

    switch (kind) {
    case 0: n.i32 = (int32_t)x; break;
    case 1: n.u32 = (uint32_t)x; break;
    case 2: n.f32 = (float)x; break;
    case 3: n.i64 = (int64_t)x; break;
    case 4: n.u64 = (uint64_t)x; break;
    default: n.f64 = x;
    }
    return n;
}

static double value_of(int kind, const void *at)
{
    union number n = {.u64 = 0};

    memcpy(&n, at, kinds[kind].bytes);
    return kind == 0   ? n.i32
           : kind == 1 ? n.u32
           : kind == 2 ? (double)n.f32
           : kind == 3 ? (double)n.i64
           : kind == 4 ? (double)n.u64
                       : n.f64;
}

/* ---- probes: a message that this PE sends itself runs in a wait, never in a call ------------- */

static void probed(skua_msg *msg)
{
    self()->ran++;
    skua_msg_free(msg);
}

static void send_probe(void)
{
    self()->sent++;
    skua_send_copy(skua_pe(), on_probe, NULL, 0);
}

/* ---- random atomics ------------------------------------------------------------------------ */

struct started {
    skua_handle  handle;
    skua_counter local, remote;
    union number old;
    bool         asked, counted;
    int          kind;
    double       least, most; /* bounds of the previous value */
};

static int choose_pe(void)
{
    int pe;

    do
        pe = (int)below((uint64_t)skua_pes());
    while (remote_only && skua_host_of(pe) == skua_host_of(skua_pe()));
    return pe;
}

static skua_gaddr word_at(int pe, size_t offset)
{
    return skua_at(below(2) ? self()->symmetric : self()->local[pe], pe, offset);
}

/* Chooses an operation and records it in the model. */
static skua_atomic_op draw(int kind, int role, union number *operand, struct started *s)
{
    bool   is_signed = kind == 0 || kind == 2 || kind == 3 || kind == 5;
    double x = (double)below(100), *model = &self()->model[kind][role];

    if (is_signed && below(2))
        x = -x;
    s->kind  = kind;
    s->least = -1e9, s->most = 1e9;
    *operand = number_of(kind, x);
    if (role == SUM) {
        *model += x;
        return SKUA_ATOMIC_ADD;
    }
    if (role == LEAST) {
        *model = x < *model ? x : *model;
        return SKUA_ATOMIC_MIN;
    }
    if (role == MOST) {
        *model = x > *model ? x : *model;
        return SKUA_ATOMIC_MAX;
    }
    s->least = s->most = 0; /* a load of a word that stays 0 */
    return SKUA_ATOMIC_LOAD;
}

static void start_one(struct started *s)
{
    int             kind = (int)below(6), role = (int)below(ROLES), pe = choose_pe();
    union number    operand;
    skua_atomic_op  op     = draw(kind, role, &operand, s);
    skua_gaddr      at     = word_at(pe, kinds[kind].offset + (size_t)role * kinds[kind].bytes);
    skua_rma_params params = {.order = (skua_order)below(4), .handle = &s->handle};
    uint64_t        ran    = self()->ran;
    skua_status     status;

    s->handle = (skua_handle)SKUA_HANDLE_INIT;
    s->local = s->remote = (skua_counter)SKUA_COUNTER_INIT;
    s->asked             = below(4) > 0;
    s->counted           = below(2);
    memset(&s->old, 0xee, sizeof s->old);
    if (s->counted) {
        params.local  = skua_done_count(&s->local);
        params.remote = skua_done_count(&s->remote);
    }
    if (below(8) == 0) {
        params.notify     = word_at(pe, offsetof(struct words, notified));
        params.notify_add = 3;
        self()->notified += 3;
    }
    status = skua_atomic_nb(at, op, kinds[kind].type, &operand, s->asked ? &s->old : NULL, &params);
    CHECK(status == SKUA_OK || status == SKUA_PENDING);
    CHECK(self()->ran == ran);
}

static void finish_one(struct started *s)
{
    double old;

    if (below(2)) {
        skua_handle_wait(&s->handle);
    } else {
        while (!skua_handle_test(&s->handle))
            ;
    }
    if (s->counted)
        CHECK(skua_counter_wait(&s->local, 1) && skua_counter_wait(&s->remote, 1));
    if (!s->asked)
        return;
    old = value_of(s->kind, &s->old);
    CHECK(old >= s->least && old <= s->most);
    CHECK(s->local.value == s->counted && s->remote.value == s->counted);
}

static void test_random(void)
{
    struct started *s = calloc(BATCH, sizeof *s);

    for (int done = 0; done < operations; done += BATCH) {
        send_probe();
        for (int i = 0; i < BATCH; i++)
            start_one(&s[i]);
        for (int i = 0; i < BATCH; i++)
            finish_one(&s[i]);
    }
    free(s);
    skua_flush_all();
}

/* ---- implicit atomics after each other and after puts --------------------------------------- */

/* Swaps of one caller on one word take effect in order: each returns the value of the previous
 * one. */
static void test_order(void)
{
    uint64_t old[8], value[8], last;
    int      pe = choose_pe();

    for (int round = 0; round < 20 && skua_pe() == 0; round++) {
        skua_gaddr      at     = skua_at(self()->symmetric, pe, offsetof(struct words, swapped));
        skua_rma_params strict = {.order = SKUA_ORDER_STRICT};

        CHECK(skua_load64(at, &last) == SKUA_OK);
        for (int i = 0; i < 8; i++) {
            value[i] = (uint64_t)(round * 8 + i + 1);
            CHECK(skua_atomic_nb(at, SKUA_ATOMIC_SWAP, SKUA_UINT64, &value[i], &old[i], &strict) >=
                  SKUA_OK);
        }
        skua_flush(pe);
        for (int i = 0; i < 8; i++)
            CHECK(old[i] == (i ? value[i - 1] : last));
    }
    skua_sync();
}

/* A double that each PE claims in turn by compare-and-swap, blocking and not. */
static void test_claims(void)
{
    skua_gaddr at = skua_at(self()->symmetric, 0, offsetof(struct words, claimed));

    if (remote_only)
        return;
    for (int round = 0; round < 10; round++) {
        double pair[2] = {round * skua_pes() + skua_pe(), 0}, old = -1;

        pair[1] = pair[0] + 1;
        do {
            if (round % 2) {
                CHECK(skua_atomic(at, SKUA_ATOMIC_COMPARE_SWAP, SKUA_DOUBLE, pair, &old) ==
                      SKUA_OK);
            } else {
                CHECK(skua_atomic_nb(at, SKUA_ATOMIC_COMPARE_SWAP, SKUA_DOUBLE, pair, &old, NULL) >=
                      SKUA_OK);
                skua_flush(0);
            }
            skua_poll(1);
            CHECK(old <= pair[0]);
        } while (old < pair[0]);
    }
    skua_sync();
    if (skua_pe() == 0)
        CHECK(self()->mine[0]->claimed == 10.0 * skua_pes());
}

/* ---- notifications -------------------------------------------------------------------------- */

static void test_notify_add(void)
{
    for (int i = 0; i < operations / 4; i++) {
        uint64_t ran = self()->ran;

        if (i % 50 == 0)
            send_probe(), ran = self()->ran;
        CHECK(skua_notify_add(word_at(choose_pe(), offsetof(struct words, notified)), 2) ==
              SKUA_OK);
        CHECK(self()->ran == ran);
        self()->notified += 2;
    }
}

/* ---- external threads ------------------------------------------------------------------ */

#define OUTSIDE 12 /* atomics of an external thread */

struct outsider {
    skua_gaddr at, notify, finished;
};

/* Each atomic increments a notification and sends a signal after it. */
static void *outside(void *arg)
{
    const struct outsider *o = arg;

    for (int i = 0; i < OUTSIDE; i++) {
        uint64_t        one = 1, old = UINT64_MAX;
        skua_rma_params params = {.notify = o->notify, .notify_add = 5, .signal = on_signal};

        CHECK(skua_atomic_nb(o->at, SKUA_ATOMIC_ADD, SKUA_UINT64, &one, &old, &params) >= 0);
        skua_flush_all();
        CHECK(old < 1000000000);
    }
    CHECK(skua_notify_add(o->finished, 1) == SKUA_OK);
    return NULL;
}

static void signalled(skua_msg *msg)
{
    self()->signals++;
    skua_msg_free(msg);
}

/* The PE serves requests while it waits, since the thread may need that. */
static void test_outside(void)
{
    struct state   *s  = self();
    int             pe = choose_pe();
    struct outsider o  = {word_at(pe, offsetof(struct words, u64)),
                          word_at(pe, offsetof(struct words, notified)),
                          skua_at(s->symmetric, skua_pe(), offsetof(struct words, finished))};
    pthread_t       thread;

    CHECK(pthread_create(&thread, NULL, outside, &o) == 0);
    CHECK(skua_notify_wait(&s->mine[0]->finished, 1));
    CHECK(pthread_join(thread, NULL) == 0);
    s->model[4][SUM] += OUTSIDE;
    s->notified += 5 * OUTSIDE;
    s->signals_sent += OUTSIDE;
    skua_sync();
}

/* ---- invalid calls -------------------------------------------------------------------------- */

static void test_wrong(void)
{
    skua_gaddr at  = skua_at(self()->symmetric, skua_pe(), 0);
    uint64_t   one = 1;
    double     x   = 1;

    CHECK(skua_atomic(at, SKUA_ATOMIC_AND, SKUA_DOUBLE, &x, NULL) == SKUA_ERR_INVAL);
    CHECK(skua_atomic(at, SKUA_ATOMIC_ADD, SKUA_BYTE, &one, NULL) == SKUA_ERR_INVAL);
    CHECK(skua_atomic_nb(at, SKUA_ATOMIC_ADD, SKUA_COMPLEX_FLOAT, &one, NULL, NULL) ==
          SKUA_ERR_INVAL);
    CHECK(skua_atomic(at, (skua_atomic_op)(SKUA_ATOMIC_MAX + 1), SKUA_INT64, &one, NULL) ==
          SKUA_ERR_INVAL);
    CHECK(skua_atomic(at, SKUA_ATOMIC_SWAP, SKUA_INT64, NULL, NULL) == SKUA_ERR_INVAL);
    CHECK(skua_atomic_nb(skua_gaddr_add(at, 4), SKUA_ATOMIC_ADD, SKUA_INT64, &one, NULL, NULL) ==
          SKUA_ERR_ALIGN);
    CHECK(skua_atomic_nb(skua_gaddr_add(at, sizeof(struct words)), SKUA_ATOMIC_ADD, SKUA_INT64,
                         &one, NULL, NULL) == SKUA_ERR_RANGE);
    CHECK(skua_atomic(at, SKUA_ATOMIC_LOAD, SKUA_UINT64, NULL, &one) == SKUA_OK);
}

/* ---- the job -------------------------------------------------------------------------------- */

/* Combines one number of each PE. */
static double over_all(skua_op op, double x)
{
    skua_future future = SKUA_FUTURE_INIT;
    double      all;

    skua_allreduce(op, SKUA_DOUBLE, &x, 1, skua_done_future(&future));
    future_take(&future, &all, sizeof all);
    return all;
}

static double word_value(int kind, int role, int where)
{
    return value_of(kind, (const char *)self()->mine[where] + kinds[kind].offset +
                              (size_t)role * kinds[kind].bytes);
}

/* Each operand went to some word: the extreme of all words is that of all operands. */
static void check_extremes(int kind)
{
    double least = word_value(kind, LEAST, 0), most = word_value(kind, MOST, 0);

    if (word_value(kind, LEAST, 1) < least)
        least = word_value(kind, LEAST, 1);
    if (word_value(kind, MOST, 1) > most)
        most = word_value(kind, MOST, 1);
    CHECK(over_all(SKUA_MIN, least) == over_all(SKUA_MIN, self()->model[kind][LEAST]));
    CHECK(over_all(SKUA_MAX, most) == over_all(SKUA_MAX, self()->model[kind][MOST]));
    CHECK(word_value(kind, UNUSED, 0) == 0 && word_value(kind, UNUSED, 1) == 0);
}

/* The words hold the sums of all operands of the PEs. */
static void check_end(void)
{
    struct state *s = self();

    for (int kind = 0; kind < 6; kind++) {
        CHECK(over_all(SKUA_SUM, word_value(kind, SUM, 0) + word_value(kind, SUM, 1) -
                                     s->model[kind][SUM]) == 0);
        check_extremes(kind);
    }
    CHECK(over_all(SKUA_SUM, (double)skua_notify_value(&s->mine[0]->notified) +
                                 (double)skua_notify_value(&s->mine[1]->notified) -
                                 (double)s->notified) == 0);
    while (over_all(SKUA_SUM, (double)s->signals - (double)s->signals_sent) < 0)
        skua_poll(1); /* signals are messages, so they arrive later */
    CHECK(over_all(SKUA_SUM, (double)s->signals - (double)s->signals_sent) == 0);
}

static void exchange_regions(void)
{
    struct state *s    = self();
    skua_gaddr    root = {0};
    skua_region   table;

    CHECK(skua_region_create((size_t)skua_pes() * sizeof(skua_region), &table) == SKUA_OK);
    CHECK(skua_region_create_local(sizeof(struct words), &s->local[skua_pe()]) == SKUA_OK);
    s->mine[1] = skua_region_local(s->local[skua_pe()]);
    memset(s->mine[1], 0, sizeof *s->mine[1]);
    for (int pe = 0; pe < skua_pes(); pe++) {
        root = skua_at(table, pe, (size_t)skua_pe() * sizeof(skua_region));
        CHECK(skua_put(root, &s->local[skua_pe()], sizeof(skua_region)) == SKUA_OK);
    }
    skua_sync();
    memcpy(s->local, skua_region_local(table), (size_t)skua_pes() * sizeof(skua_region));
    CHECK(skua_region_destroy(table) == SKUA_OK);
}

static void start(int argc, char **argv)
{
    struct state *s = self();

    (void)argc, (void)argv;
    s->random = seed + (uint64_t)skua_pe();
    s->local  = calloc((size_t)skua_pes(), sizeof *s->local);
    CHECK(skua_region_create(sizeof(struct words), &s->symmetric) == SKUA_OK);
    s->mine[0] = skua_region_local(s->symmetric);
    memset(s->mine[0], 0, sizeof *s->mine[0]);
    exchange_regions();
    skua_sync();
    if (!remote_only || skua_hosts() > 1) {
        test_notify_add();
        test_random();
        test_order();
        test_claims();
        test_outside();
    }
    test_wrong();
    skua_sync();
    check_end();
    skua_sync();
    CHECK(self()->ran <= self()->sent);
    CHECK(skua_region_destroy(s->local[skua_pe()]) == SKUA_OK);
    CHECK(skua_region_destroy(s->symmetric) == SKUA_OK);
    free(s->local);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        operations = atoi(argv[1]);
    remote_only = argc > 2 && strcmp(argv[2], "remote") == 0;
    seed        = tap_seed();
    on_probe    = skua_handler_register("probe", probed);
    on_signal   = skua_handler_register("signal", signalled);
    state_key   = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
