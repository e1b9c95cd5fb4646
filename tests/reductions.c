/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reductions.c - random reductions against a model.
 *
 * All PEs generate the same calls from one seed: operator, type, count (around the sizes at which
 * the runtime splits a call), root, and the number in flight.  All contributions are known, so each
 * PE computes every result to the last bit: PEs are combined in the order of skua/collective.h.
 * Some PEs are late; calls are made in start(), in a user thread and in handlers.  Before that,
 * calls of fixed sizes go to several roots, and a PE that makes one call after the other in start()
 * forwards the contribution of another PE.  Where an I/O thread combines half of the elements, it
 * does so in the rounding mode of the PE, which also sees the exceptions.
 *
 * usage: test_reductions [CALLS [SPLIT]]     SPLIT: bytes, the setting reduce_split
 */
#include <complex.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <skua/skua.h>
#include <string.h>
#include <unistd.h>

#include "element_value.h"
#include "matrix_product.h"
#include "tap.h"
#include "waits.h"

#define MOST_IN_FLIGHT 8
#define ROUNDED_FROM   ((size_t)1 << 20) /* bytes of a call that an I/O thread shares */
#define ROUNDED_CALLS  6
#define FORWARD_CALLS  8000 /* that the PE that forwards makes, at most ... */
#define FORWARD_PAUSE  1000 /* ... microseconds apart                       */

static skua_handler step_handler, forward_handler;
static skua_op      matrix_op, forward_op;
static int          calls = 150;
static size_t       split = 256;
static skua_pe_data driver_key;

/* ---- values and operators ------------------------------------------------------ */

static size_t type_size(skua_type type)
{
    static const size_t sizes[] = {4, 8, 4, 8, 4, 8, 8, 16, 1};

    return sizes[type - SKUA_INT32];
}

/* Returns element @p i of the contribution of @p pe to a call: small numbers, so that integers do
 * not overflow, and fractions whose sums depend on the order. */
static double number(uint64_t call, int pe, size_t i)
{
    uint64_t x = call * 1000003 + (uint64_t)pe * 7919 + i * 31 + 1;

    return (double)(tap_random(&x) % 1000);
}

/* Copies one element.  Its size is a constant in each case, for which compilers make no call: a
 * sanitizer would check the arguments of the call. */
static void copy_value(void *to, const void *from, skua_type type)
{
    switch (type_size(type)) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    default: memcpy(to, from, type_size(type));
    }
}

static void put_value(skua_type type, char *at, double x)
{
    union test_value v = {.bytes = {0}};

    switch (type) {
    case SKUA_INT32: v.i32 = (int32_t)x % 3; break;
    case SKUA_INT64: v.i64 = (int64_t)x % 3; break;
    case SKUA_UINT32: v.u32 = (uint32_t)x % 3; break;
    case SKUA_UINT64: v.u64 = (uint64_t)x % 3; break;
    case SKUA_FLOAT: v.f = (float)(x / 7); break;
    case SKUA_DOUBLE: v.d = x / 7; break;
    case SKUA_COMPLEX_FLOAT: v.cf = (float)(x / 7); break;
    case SKUA_COMPLEX_DOUBLE: v.cd = x / 7 + 1.0 / (x + 1) * I; break;
    default: break;
    }
    copy_value(at, &v, type);
}

#define APPLY(member)                                                                              \
    switch (op) {                                                                                  \
    case 0: a.member = a.member + b.member; break;                                                 \
    case 1: a.member = a.member * b.member; break;                                                 \
    case 2: a.member = b.member < a.member ? b.member : a.member; break;                           \
    case 3: a.member = a.member < b.member ? b.member : a.member; break;                           \
    case 4: a.member = a.member != 0 && b.member != 0; break;                                      \
    case 5: a.member = a.member != 0 || b.member != 0; break;                                      \
    default: a.member = (a.member != 0) != (b.member != 0); break;                                 \
    }

#define APPLY_BITS(member)                                                                         \
    a.member = op == 7 ? a.member & b.member : op == 8 ? a.member | b.member : a.member ^ b.member

static void combine_value(uint32_t op, skua_type type, char *into, const char *from)
{
    union test_value a, b;

    copy_value(&a, into, type);
    copy_value(&b, from, type);
    if (op >= 7 && type_size(type) == 4)
        APPLY_BITS(u32);
    else if (op >= 7)
        APPLY_BITS(u64);
    else if (type == SKUA_INT32)
        APPLY(i32)
    else if (type == SKUA_INT64)
        APPLY(i64)
    else if (type == SKUA_UINT32)
        APPLY(u32)
    else if (type == SKUA_UINT64)
        APPLY(u64)
    else if (type == SKUA_FLOAT)
        APPLY(f)
    else if (type == SKUA_DOUBLE)
        APPLY(d)
    else if (type == SKUA_COMPLEX_FLOAT)
        a.cf = a.cf + b.cf;
    else
        a.cd = a.cd + b.cd;
    copy_value(into, &a, type);
}

/* ---- calls ----------------------------------------------------------------------- */

struct call {
    uint64_t    number;
    uint32_t    op;
    skua_op     id;
    skua_type   type;
    size_t      count;
    int         root; /* -1: all; -2: a barrier */
    skua_future future;
    bool        busy;
};

static size_t draw_count(uint64_t *seed, size_t size)
{
    size_t edges[] = {
        0, 1, 2, 6, 16 / size, split / 2 / size, split / size, 3 * split / size, 20 * split / size};
    size_t edge = edges[tap_random(seed) % (sizeof edges / sizeof *edges)];

    return edge + tap_random(seed) % 3 - (edge > 0);
}

static struct call draw_call(uint64_t *seed, uint64_t number)
{
    struct call c = {.number = number, .future = SKUA_FUTURE_INIT, .busy = true};
    int         p = skua_pes();

    c.op   = (uint32_t)(tap_random(seed) % 11);
    c.type = (skua_type)(SKUA_INT32 + tap_random(seed) % (SKUA_BYTE - SKUA_INT32));
    if (c.op >= 7)
        c.type = (skua_type)(SKUA_INT32 + (c.type - SKUA_INT32) % 4); /* bits: of integers */
    else if (c.op > 0 && c.type >= SKUA_COMPLEX_FLOAT)
        c.op = 0;
    c.id    = (skua_op)c.op;
    c.count = draw_count(seed, type_size(c.type));
    if (c.op == 10) {
        c.id    = matrix_op;
        c.type  = SKUA_UINT64;
        c.count = c.count / 4 * 4;
    }
    c.root = (int)(tap_random(seed) % (uint64_t)(2 * p + 1)) - p;
    c.root = c.root == -p ? -2 : c.root < 0 ? -1 : c.root < p ? c.root : 0;
    return c;
}

/* Fills the contribution of @p pe. */
static char *contribution(const struct call *c, int pe)
{
    size_t size = type_size(c->type);
    char  *data = malloc(c->count * size + 1);

    for (size_t i = 0; i < c->count; i++)
        if (c->op == 10)
            ((uint64_t *)(void *)data)[i] = (uint64_t)number(c->number, pe, i);
        else
            put_value(c->type, data + i * size, number(c->number, pe, i));
    return data;
}

static void combine(const struct call *c, char *into, const char *from)
{
    size_t size = type_size(c->type);

    if (c->op == 10 && c->count)
        matrix_product(into, from, c->count, c->type);
    for (size_t i = 0; c->op < 10 && i < c->count; i++)
        combine_value(c->op, c->type, into + i * size, from + i * size);
}

/* Combines at most 2^level PEs from @p first on: the lower half, then the upper half. */
static char *model(const struct call *c, int first, int level)
{
    int   half = level > 0 ? first + (1 << (level - 1)) : 0;
    char *low, *high;

    if (level == 0) {
        low = contribution(c, first);
        if (c->op >= 4 &&
            c->op <= 6) { /* results of logical operators are 0 or 1, also with one PE */
            char *none     = calloc(c->count + 1, type_size(c->type));
            struct call or = *c;

            or.op = 5;
            combine(& or, low, none);
            free(none);
        }
        return low;
    }
    low = model(c, first, level - 1);
    if (half >= skua_pes())
        return low;
    high = model(c, half, level - 1);
    combine(c, low, high);
    free(high);
    return low;
}

static void make_call(struct call *c)
{
    char *mine;

    if (c->root == -2) {
        skua_barrier(skua_done_future(&c->future));
        return;
    }
    mine = contribution(c, skua_pe());
    if (c->root < 0)
        skua_allreduce(c->id, c->type, mine, c->count, skua_done_future(&c->future));
    else
        skua_reduce(c->root, c->id, c->type, mine, c->count, skua_done_future(&c->future));
    memset(mine, 0xee, c->count * type_size(c->type)); /* its memory may be reused */
    free(mine);
}

static void check_result(struct call *c)
{
    size_t      bytes, expected = c->root == -2 ? 0 : c->count * type_size(c->type);
    int         level = 0;
    const void *result;
    char       *sum;

    c->busy = false;
    if (c->root >= 0 && c->root != skua_pe())
        return;
    result = skua_future_wait(&c->future, &bytes);
    CHECK(result && bytes == expected);
    while (1 << level < skua_pes())
        level++;
    sum = model(c, 0, level);
    CHECK(memcmp(result, sum, bytes) == 0);
    free(sum);
    skua_future_clear(&c->future);
}

/* ---- three contexts ------------------------------------------------------ */

static void be_late(uint64_t *seed, uint64_t number)
{
    uint64_t late = tap_random(seed) % 4;

    if ((number + (uint64_t)skua_pe()) % 5 == 0 && late == 0 && !skua_thread_self())
        skua_poll(20);
}

static void run_calls(uint64_t seed, uint64_t first, int count)
{
    struct call in_flight[MOST_IN_FLIGHT] = {{.busy = false}};

    for (int i = 0; i < count; i++) {
        struct call *c = &in_flight[tap_random(&seed) % MOST_IN_FLIGHT];

        if (c->busy)
            check_result(c);
        *c = draw_call(&seed, first + (uint64_t)i);
        make_call(c);
        be_late(&seed, c->number);
    }
    for (int i = 0; i < MOST_IN_FLIGHT; i++)
        if (in_flight[i].busy)
            check_result(&in_flight[i]);
}

/* Makes calls to several roots, at both ends of the sizes that recursive halving is used for: of 16
 * hosts with reduce_split=64k one and two rounds halve. */
static void run_rooted(void)
{
    struct call in_flight[MOST_IN_FLIGHT] = {{.busy = false}};

    for (int i = 0; i < 2 * MOST_IN_FLIGHT; i++) {
        struct call *c = &in_flight[i % MOST_IN_FLIGHT];

        if (c->busy)
            check_result(c);
        *c = (struct call){.number = 2000000 + (uint64_t)i,
                           .id     = SKUA_SUM,
                           .type   = SKUA_DOUBLE,
                           .count = i % 2 ? split / sizeof(double) - 1 : split / 4 / sizeof(double),
                           .root  = 5 * i % skua_pes(),
                           .future = SKUA_FUTURE_INIT,
                           .busy   = true};
        make_call(c);
    }
    for (int i = 0; i < MOST_IN_FLIGHT; i++)
        check_result(&in_flight[i]);
}

/* Adds a small number to 1 in all elements, upwards, but for the last one, which overflows. */
static void run_rounded(void)
{
    size_t        count = split / sizeof(double), wrong = 0, bytes;
    double       *mine = malloc(count * sizeof *mine);
    const double *result;
    skua_future   future = SKUA_FUTURE_INIT;

    CHECK(mine);
    for (size_t i = 0; i < count; i++)
        mine[i] = i == count - 1 ? DBL_MAX : skua_pe() == 0 ? 1 : 1e-30;
    skua_sync(); /* this PE has combined what it sends on for calls before */
    CHECK(fesetround(FE_UPWARD) == 0);
    for (int call = 0; call < ROUNDED_CALLS; call++) {
        feclearexcept(FE_ALL_EXCEPT);
        skua_reduce(0, SKUA_SUM, SKUA_DOUBLE, mine, count, skua_done_future(&future));
        if (skua_pe() != 0)
            continue;
        result = skua_future_wait(&future, &bytes);
        CHECK(bytes == count * sizeof *mine && fetestexcept(FE_OVERFLOW));
        for (size_t i = 0; i < count; i++)
            wrong += result[i] <= 1;
        skua_future_clear(&future);
    }
    fesetround(FE_TONEAREST);
    CHECK(wrong == 0);
    free(mine);
}

/* ---- forwarding ------------------------------------------------------------------ */

enum { FORWARD_FROM, FORWARD_BY, FORWARD_ROOT, FORWARD_PES };

/* What a PE knows of the calls. */
struct forward {
    int64_t      combined; /* contributions that this PE has combined         */
    int64_t      calls;    /* of all PEs, as the PE that forwards says        */
    skua_counter told;     /* messages of it                                  */
    skua_counter results;
};

static skua_pe_data forward_key;

static struct forward *forward(void)
{
    return skua_pe_data_get(forward_key);
}

static void on_forward(skua_msg *msg)
{
    memcpy(&forward()->calls, skua_msg_data(msg), sizeof forward()->calls);
    skua_msg_free(msg);
    skua_complete(skua_done_count(&forward()->told), NULL, 0);
}

static void add_and_count(void *into, const void *from, size_t count, skua_type type)
{
    (void)type;
    for (size_t i = 0; i < count; i++)
        ((int64_t *)into)[i] += ((const int64_t *)from)[i];
    forward()->combined++;
}

static void forward_call(void)
{
    int64_t one = 1;

    skua_reduce(FORWARD_ROOT, forward_op, SKUA_INT64, &one, 1,
                skua_done_count(&forward()->results));
}

/* Makes calls without a wait between them, until one of them has combined the contribution that
 * another PE has made since the first one.  Returns their number. */
static int64_t forward_calls(void)
{
    int64_t n = 1;

    forward_call();
    CHECK(forward()->combined == 0);
    skua_send_copy(FORWARD_FROM, forward_handler, &n, sizeof n);
    for (; n < FORWARD_CALLS && forward()->combined == 0; n++) {
        usleep(FORWARD_PAUSE);
        forward_call();
    }
    CHECK(forward()->combined > 0);
    return n;
}

/* Between hosts of one PE each: contributions of FORWARD_FROM to FORWARD_ROOT go by FORWARD_BY. */
static void run_forward(void)
{
    int     me   = skua_pe();
    int64_t made = 0;

    if (skua_pes() < FORWARD_PES || skua_hosts() != skua_pes())
        return;
    forward()->told = forward()->results = (skua_counter)SKUA_COUNTER_INIT;
    skua_sync();
    if (me == FORWARD_BY) {
        made = forward_calls();
        for (int pe = 0; pe < skua_pes(); pe++)
            if (pe != me)
                skua_send_copy(pe, forward_handler, &made, sizeof made);
    } else {
        if (me == FORWARD_FROM)
            CHECK(skua_counter_wait(&forward()->told, 1));
        forward_call();
        CHECK(skua_counter_wait(&forward()->told, me == FORWARD_FROM ? 2 : 1));
        for (made = 1; made < forward()->calls; made++)
            forward_call();
    }
    if (me == FORWARD_ROOT)
        CHECK(skua_counter_wait(&forward()->results, made));
}

/* ---- handlers ---------------------------------------------------------------------- */

/* Handlers do not wait in this test: each makes a few calls, and the next one checks them. */
struct driver {
    uint64_t     seed;
    int          left;
    int          made;
    struct call  call[MOST_IN_FLIGHT];
    skua_counter over;
};

static void on_step(skua_msg *msg)
{
    struct driver *d = skua_pe_data_get(driver_key);

    for (d->made = 0; d->made < MOST_IN_FLIGHT && d->left > 0; d->made++, d->left--) {
        d->call[d->made] = draw_call(&d->seed, 1000000 + (uint64_t)d->left);
        make_call(&d->call[d->made]);
    }
    skua_msg_free(msg);
    skua_complete(skua_done_count(&d->over), NULL, 0);
}

static void run_handlers(uint64_t seed)
{
    struct driver *d = skua_pe_data_get(driver_key);

    d->seed = seed;
    for (d->left = calls / 3; d->left > 0;) {
        int64_t next = d->over.value + 1;

        skua_send_copy(skua_pe(), step_handler, NULL, 0);
        CHECK(skua_counter_wait(&d->over, next));
        for (int i = 0; i < d->made; i++)
            check_result(&d->call[i]);
    }
}

static void in_thread(void *arg)
{
    run_calls(*(uint64_t *)arg + 1, 500000, calls / 3);
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    uint64_t     seed   = skua_pe() == 0 ? test_seed : 0;
    skua_future  future = SKUA_FUTURE_INIT;
    skua_thread *thread;

    (void)argc, (void)argv;
    skua_allreduce(SKUA_SUM, SKUA_UINT64, &seed, 1, skua_done_future(&future));
    future_take(&future, &seed, sizeof seed);
    run_rooted();
    if (split >= ROUNDED_FROM)
        run_rounded();
    run_forward();
    run_calls(seed, 0, calls);
    thread = skua_thread_create(in_thread, &seed, 256 << 10);
    skua_thread_join(thread);
    run_handlers(seed + 2);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    calls           = argc > 1 ? atoi(argv[1]) : calls;
    split           = argc > 2 ? strtoul(argv[2], NULL, 0) : split;
    test_seed       = tap_seed();
    step_handler    = skua_handler_register("step", on_step);
    matrix_op       = skua_op_register("matrix product", matrix_product);
    driver_key      = skua_pe_data_register(sizeof(struct driver));
    forward_handler = skua_handler_register("forward", on_forward);
    forward_op      = skua_op_register("add and count", add_and_count);
    forward_key     = skua_pe_data_register(sizeof(struct forward));
    return skua_main(argc, argv, start);
}
