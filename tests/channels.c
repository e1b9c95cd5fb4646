/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.c - a random graph of channels, of all sizes, layouts and kinds of memory, with every
 * order of ready, mark and poll; large puts to busy and idle PEs; one-to-many and many-to-one
 * channels; quiescence; destruction.
 *
 * All bytes of each put are checked, and so is the memory between the blocks of a layout, which
 * must not change.  Bytes that lie together are compared at once, since a sanitizer checks each
 * access.
 *
 * usage: channels [puts on each channel]
 */
#include <skua/skua.h>
#include <string.h>
#include <unistd.h>

#include "layout_random.h"
#include "tap.h"
#include "waits.h"

#define EACH   12     /* channels that a PE receives on, in the graph */
#define MARGIN 24     /* bytes around a buffer that must not change */
#define GAP    0xa5   /* the value of bytes between blocks */
#define LARGE  600000 /* bytes of the largest channel */

enum memory { ARENA, HEAP, REGION, KINDS };

/* Memory of a layout, with a margin. */
struct space {
    enum memory        kind;
    skua_region        region;
    char              *memory;
    size_t             bytes;
    skua_layout        layout;
    struct test_layout form; /* holds the lists of the layout */
};

/* A channel at its receiver. */
struct inlet {
    skua_channel channel;
    struct space space;
    int          sender, number; /* the PE of the sender, and the index of the channel there */
    size_t       total;
    uint32_t     seen;
    bool         marked; /* marked ready, but not polled */
    bool         views;
};

/* A channel at its sender. */
struct outlet {
    skua_sender *sender;
    struct space space, other; /* other: a second source with an equal layout */
    size_t       total;
    int          receiver, number;
    uint64_t     salt;
    uint32_t     put;
};

struct state { /* the state of a PE */
    uint64_t       random;
    struct inlet   inlet[EACH];
    struct outlet *outlet;
    int            outlets, over;
    int            heard; /* number of arrivals, in the smaller tests */
    skua_channel   values[256];
    int            value_count;
};

static skua_pe_data state_key;
static skua_handler offer_handler, credit_handler, poll_handler, value_handler, noise_handler;
static uint64_t     seed;
static uint32_t     rounds = 40;
static bool         checked;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static size_t below(size_t n)
{
    return (size_t)(tap_random(&self()->random) % n);
}

/* ---- layouts ------------------------------------------------------------------------- */

#define CHUNK 1024 /* bytes that are made at a time, on the stack of a user thread, too */

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* Makes @p n bytes of put @p put on a channel, from byte @p i, a multiple of 8; all values occur.
 */
static void make_data(uint64_t *to, size_t n, uint64_t salt, uint32_t put, size_t i)
{
    for (size_t k = 0; 8 * k < n; k++) {
        uint64_t x = (salt + put) * UINT64_C(0x9e3779b97f4a7c15) + i + 8 * k;

        x     = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
        to[k] = put % 5 == 4 ? 0 : x ^ x >> 32;
    }
}

static bool all_equal(const char *at, size_t n, char value)
{
    return n == 0 || (*at == value && memcmp(at, at + 1, n - 1) == 0);
}

/* Returns a random layout of @p total bytes, of any kind. */
static struct test_layout random_layout(size_t total)
{
    struct test_layout t;

    test_layout_make(&t, test_layout_kind(&self()->random), &self()->random, 1, total,
                     total + 20 * TEST_LAYOUT_BLOCKS);
    return t;
}

static struct test_layout one_block(size_t total)
{
    struct test_layout t;

    test_layout_make(&t, SKUA_LAYOUT_CONTIGUOUS, &self()->random, 1, total, total);
    return t;
}

static void new_space(struct space *space, const struct test_layout *form, enum memory kind)
{
    space->form   = *form;
    space->kind   = kind;
    space->bytes  = form->room + 2 * MARGIN;
    space->memory = NULL;
    if (kind == ARENA) {
        space->memory = skua_channel_alloc(space->bytes);
    } else if (kind == HEAP) {
        space->memory = malloc(space->bytes);
    } else {
        CHECK(skua_region_create_local(space->bytes, &space->region) == SKUA_OK);
        space->memory = skua_region_local(space->region);
    }
    CHECK(space->memory);
    memset(space->memory, GAP, space->bytes);
    space->layout    = form->layout;
    space->layout.at = space->memory + MARGIN + form->base;
    if (form->layout.kind == SKUA_LAYOUT_INDEXED)
        space->layout.indexed.offset = space->form.offset;
    if (form->layout.kind == SKUA_LAYOUT_LIST)
        space->layout.list.block = space->form.block;
}

static void free_space(struct space *space)
{
    if (space->kind == ARENA)
        skua_channel_free(space->memory);
    else if (space->kind == HEAP)
        free(space->memory);
    else
        CHECK(skua_region_destroy(space->region) == SKUA_OK);
}

static void fill(const struct space *space, size_t total, uint64_t salt, uint32_t put)
{
    uint64_t data[CHUNK / 8];

    for (size_t i = 0, n, run; i < total; i += n) {
        n = at_most(total - i, CHUNK);
        make_data(data, n, salt, put, i);
        for (size_t k = 0; k < n; k += run) {
            run = at_most(n - k, test_layout_run(&space->layout, i + k));
            memcpy(test_layout_byte(&space->layout, i + k), (char *)data + k, run);
        }
    }
}

/* Checks the data of a layout; @p clears them. */
static void check_data(const skua_layout *layout, size_t total, uint64_t salt, uint32_t put,
                       bool clears)
{
    uint64_t data[CHUNK / 8];

    for (size_t i = 0, n, run; i < total; i += n) {
        n = at_most(total - i, CHUNK);
        make_data(data, n, salt, put, i);
        for (size_t k = 0; k < n; k += run) {
            char *at = test_layout_byte(layout, i + k);

            run = at_most(n - k, test_layout_run(layout, i + k));
            CHECK(memcmp(at, (char *)data + k, run) == 0);
            if (clears)
                memset(at, GAP, run);
        }
    }
}

/* Checks the data and clears it; no other byte has been written. */
static void check(struct space *space, size_t total, uint64_t salt, uint32_t put)
{
    check_data(&space->layout, total, salt, put, true);
    CHECK(all_equal(space->memory, space->bytes, (char)GAP));
}

/* Checks data that are read in place (a view). */
static void check_view(struct inlet *in, uint64_t salt, uint32_t put)
{
    const skua_layout *view = skua_channel_view(in->channel);
    const skua_layout *own  = &in->space.layout;

    CHECK(view->bytes == own->bytes && view->kind == own->kind);
    if (view->kind == SKUA_LAYOUT_STRIDED) {
        CHECK(view->strided.levels == own->strided.levels);
        for (int i = 0; i < own->strided.levels; i++)
            CHECK(view->strided.count[i] == own->strided.count[i]);
    }
    if (view->at == own->at) {
        check(&in->space, in->total, salt, put);
        return;
    }
    check_data(view, in->total, salt, put, false);
    CHECK(all_equal(in->space.memory, in->space.bytes, (char)GAP));
}

static size_t random_total(void)
{
    static const size_t some[] = {1, 8, 47, 48, 49, 64, 100, 1000, 4096, 8192, 16384};

    switch (below(8)) {
    case 0: return some[below(sizeof some / sizeof *some)];
    case 1: return 1 + below(48);
    case 2: return below(4) ? 2520 * 8 : 1 + below(LARGE);
    case 3: return 2520;
    case 4: return 16 * 1024 + below(40000);
    default: return 8 * (1 + below(600));
    }
}

/* ---- the graph -------------------------------------------------------------------------- */

struct offer {
    skua_channel channel;
    int          number;
    size_t       total;
    uint64_t     salt;
};

struct turn { /* the sender may put again, or is done */
    int number;
};

static uint64_t salt_of(int pe, int number)
{
    return (uint64_t)pe * 1000003u + (uint64_t)number * 7919u;
}

static void put_next(struct outlet *out)
{
    bool other = below(3) == 0;

    fill(other ? &out->other : &out->space, out->total, out->salt, out->put++);
    if (other)
        skua_channel_put_from(out->sender, out->other.layout.at);
    else
        skua_channel_put(out->sender);
}

static void put_in_thread(void *arg)
{
    skua_thread_yield();
    put_next(arg);
}

static void put_somehow(struct outlet *out)
{
    if (below(6) == 0)
        skua_thread_detach(skua_thread_create(put_in_thread, out, 0));
    else
        put_next(out);
}

static void on_offer(skua_msg *msg)
{
    struct state      *s     = self();
    struct offer      *offer = skua_msg_data(msg);
    struct outlet     *out   = &s->outlet[s->outlets++];
    struct test_layout form  = random_layout(offer->total);

    CHECK(s->outlets <= EACH * skua_pes());
    new_space(&out->space, &form, (enum memory)below(KINDS));
    new_space(&out->other, &form, (enum memory)below(KINDS));
    out->total    = offer->total;
    out->receiver = skua_msg_source(msg);
    out->number   = offer->number;
    out->salt     = offer->salt;
    out->sender   = below(3) ? skua_channel_lend(offer->channel, &out->space.layout)
                             : skua_channel_open(offer->channel, &out->space.layout);
    CHECK(out->sender);
    put_somehow(out);
    skua_msg_free(msg);
}

/* Records that the receiver of a channel is ready. */
static void on_credit(skua_msg *msg)
{
    struct state *s    = self();
    struct turn   turn = *(struct turn *)skua_msg_data(msg);
    int           from = skua_msg_source(msg);

    skua_msg_free(msg);
    for (int i = 0; i < s->outlets; i++)
        if (s->outlet[i].receiver == from && s->outlet[i].number == turn.number) {
            put_somehow(&s->outlet[i]);
            return;
        }
    skua_abort("a credit for an unknown channel");
}

static void give_credit(const struct inlet *in)
{
    struct turn turn = {in->number};

    skua_send_copy(in->sender, credit_handler, &turn, sizeof turn);
}

static void on_poll(skua_msg *msg)
{
    struct inlet *in = *(struct inlet **)skua_msg_data(msg);

    skua_msg_free(msg);
    CHECK(in->marked);
    in->marked = false;
    skua_channel_poll(in->channel);
}

/* The callback checks the data and makes the channel ready in one of several orders. */
static void on_data(void *arg)
{
    struct inlet *in   = arg;
    uint32_t      seen = in->seen++;

    CHECK(!in->marked); /* nothing is reported between mark and poll */
    CHECK(skua_channel_count(in->channel) == in->seen);
    if (in->views)
        check_view(in, salt_of(skua_pe(), in->number), seen);
    else
        check(&in->space, in->total, salt_of(skua_pe(), in->number), seen);
    if (in->seen == rounds) {
        self()->over++;
        return;
    }
    if (below(7) == 0)
        skua_poll(3);
    switch (below(3)) {
    case 0: skua_channel_ready(in->channel); break;
    case 1:
        skua_channel_mark(in->channel);
        skua_channel_poll(in->channel);
        break;
    default:
        skua_channel_mark(in->channel);
        in->marked = true;
        skua_send_copy(skua_pe(), poll_handler, &in, sizeof in);
    }
    give_credit(in);
}

static void offer_one(int number)
{
    struct inlet      *in = &self()->inlet[number];
    struct offer       offer;
    struct test_layout form;

    *in       = (struct inlet){.number = number, .sender = (int)below((size_t)skua_pes())};
    in->total = random_total();
    form      = random_layout(in->total);
    new_space(&in->space, &form, (enum memory)below(KINDS));
    in->views = below(2);
    CHECK((in->views ? skua_channel_create_view : skua_channel_create)(
              &in->space.layout, on_data, in, "graph", &in->channel) == SKUA_OK);
    offer = (struct offer){in->channel, number, in->total, salt_of(skua_pe(), number)};
    skua_send_copy(in->sender, offer_handler, &offer, sizeof offer);
}

static bool all_over(void *arg)
{
    (void)arg;
    return self()->over == EACH;
}

static void drop_outlets(void)
{
    struct state *s = self();

    for (int i = 0; i < s->outlets; i++) {
        CHECK(s->outlet[i].put == rounds);
        skua_channel_close(s->outlet[i].sender);
        free_space(&s->outlet[i].space);
        free_space(&s->outlet[i].other);
    }
    free(s->outlet);
}

static void test_graph(void)
{
    struct state *s = self();

    s->over    = 0;
    s->outlets = 0;
    s->outlet  = calloc((size_t)(EACH * skua_pes()), sizeof *s->outlet);
    skua_sync();
    for (int i = 0; i < EACH; i++)
        offer_one(i);
    CHECK(skua_run_until(all_over, NULL));
    skua_sync();
    drop_outlets();
    for (int i = 0; i < EACH; i++) {
        skua_channel_destroy(s->inlet[i].channel);
        free_space(&s->inlet[i].space);
    }
}

/* ---- values to all ------------------------------------------------------------------------ */

static void on_value(skua_msg *msg)
{
    struct state *s = self();

    s->values[s->value_count++] = *(skua_channel *)skua_msg_data(msg);
    skua_msg_free(msg);
}

static bool has_values(void *arg)
{
    return self()->value_count == *(int *)arg;
}

static void wait_for_values(int n)
{
    CHECK(skua_run_until(has_values, &n));
    self()->value_count = 0;
}

static void on_heard(void *arg)
{
    (void)arg;
    self()->heard++;
}

static bool has_heard(void *arg)
{
    return self()->heard == *(int *)arg;
}

static void wait_until_heard(int n)
{
    CHECK(skua_run_until(has_heard, &n));
    self()->heard = 0;
}

/* ---- quiescence, one buffer for many channels, destruction ---------------------------------- */

/* Returns whether PE @p pe is in another process of this host. */
static bool is_apart(int pe)
{
    skua_region region;
    pid_t       theirs = getpid();

    CHECK(skua_region_create(sizeof theirs, &region) == SKUA_OK);
    memcpy(skua_region_local(region), &theirs, sizeof theirs);
    skua_sync();
    CHECK(skua_get(&theirs, skua_at(region, pe, 0), sizeof theirs) == SKUA_OK);
    skua_sync();
    skua_region_destroy(region);
    return skua_hosts() == 1 && theirs != getpid();
}

/* A put to a channel that was destroyed changes no memory that only the receiver reaches. */
static void test_late_put(size_t bytes)
{
    struct state *s = self();
    int         to = (skua_pe() + 1) % skua_pes(), from = (skua_pe() - 1 + skua_pes()) % skua_pes();
    bool        apart = is_apart(from), direct = getenv("SKUA_MALLOC_ARENA") != NULL;
    char       *in = calloc(1, bytes), *data = calloc(1, bytes);
    skua_layout layout = skua_layout_contiguous(in, bytes);
    skua_channel mine;
    skua_sender *out;

    CHECK(skua_channel_create(&layout, on_heard, NULL, "late", &mine) == SKUA_OK);
    skua_send_copy(from, value_handler, &mine, sizeof mine);
    wait_for_values(1);
    layout = skua_layout_contiguous(data, bytes);
    CHECK(out = skua_channel_open(s->values[0], &layout));
    skua_sync();
    skua_channel_destroy(mine);
    skua_sync();
    memset(data, 1, bytes);
    if (is_apart(to))
        skua_channel_put(out);
    wait_quiet();
    CHECK(!apart || direct || all_equal(in, bytes, 0));
    CHECK(s->heard == 0);
    skua_channel_close(out);
    free(in), free(data);
}

/* Each PE puts one buffer to all PEs at once; only quiescence is waited for. */
static void test_quiescence(size_t bytes)
{
    struct state *s  = self();
    int           n  = skua_pes();
    char        **in = calloc((size_t)n, sizeof *in), *from = malloc(bytes);
    skua_channel *mine = calloc((size_t)n, sizeof *mine);
    skua_sender **out  = calloc((size_t)n, sizeof *out);
    skua_layout   layout;

    for (int pe = 0; pe < n; pe++) {
        in[pe] = pe % 2 ? skua_channel_alloc(bytes) : malloc(bytes);
        memset(in[pe], 0, bytes);
        layout = skua_layout_contiguous(in[pe], bytes);
        CHECK(skua_channel_create(&layout, on_heard, NULL, "quiet", &mine[pe]) == SKUA_OK);
        skua_send_copy(pe, value_handler, &mine[pe], sizeof mine[pe]);
    }
    wait_for_values(n);
    skua_sync();
    memset(from, 1 + skua_pe(), bytes);
    layout = skua_layout_contiguous(from, bytes);
    for (int pe = 0; pe < n; pe++) {
        out[pe] = skua_channel_open(s->values[pe], &layout);
        CHECK(out[pe]);
        skua_channel_put(out[pe]);
    }
    wait_quiet();
    CHECK(s->heard == n);
    s->heard = 0;
    for (int pe = 0; pe < n; pe++)
        CHECK(in[pe][0] > 0 && all_equal(in[pe], bytes, in[pe][0]));
    skua_sync();
    for (int pe = 0; pe < n; pe++)
        skua_channel_destroy(mine[pe]);
    skua_sync();
    for (int pe = 0; pe < n && bytes <= 48 && !checked; pe++) /* these are not reported */
        skua_channel_put(out[pe]);
    wait_quiet();
    CHECK(s->heard == 0);
    for (int pe = 0; pe < n; pe++) {
        skua_channel_close(out[pe]);
        pe % 2 ? skua_channel_free(in[pe]) : free(in[pe]);
    }
    free(from), free(in), free(mine), free(out);
}

/* ---- large puts to busy and idle PEs ------------------------------------------------- */

#define LARGE_TURNS 6

static void on_noise(skua_msg *msg)
{
    skua_msg_free(msg);
}

/* Computes for some time without running the scheduler. */
static void work(void)
{
    size_t steps = below(400000);

    for (volatile size_t i = 0; i < steps; i++)
        ;
}

/* The activity of a PE before it waits for data: none, a long computation, or several short
 * ones. */
static void be_busy(void)
{
    size_t kind = below(4), times = below(8);

    for (size_t i = 0; kind > 0 && i < times; i++) {
        work();
        if (kind == 2)
            skua_poll(1);
        if (kind == 3)
            skua_send_copy(skua_pe(), noise_handler, &i, sizeof i);
    }
}

/* Puts from a buffer that is overwritten as soon as that is allowed. */
static void put_large(skua_sender *out, const struct space *from, size_t bytes)
{
    skua_channel_put_from(out, from->layout.at);
    if (skua_hosts() > 1)
        return;
    for (size_t left = bytes, n; left > 0; left -= n) { /* the end may be copied last */
        n = at_most(left, CHUNK);
        memset((char *)from->layout.at + left - n, 1, n);
    }
}

/* A put to a channel that is destroyed meanwhile may or may not be reported, and must not block. */
static void test_deletion(skua_channel mine, skua_sender *out, const struct space *from,
                          size_t bytes)
{
    skua_sync();
    if (!checked && skua_pe() % 2)
        put_large(out, from, bytes);
    else
        be_busy();
    skua_channel_destroy(mine);
    wait_quiet();
    CHECK(self()->heard <= 1);
    self()->heard = 0;
}

/* From each PE to the next, in turns, so that the receiver may be waiting. */
static void test_large(size_t bytes, enum memory kind)
{
    int                n = skua_pes(), before = (skua_pe() + n - 1) % n;
    struct test_layout form = one_block(bytes);
    struct space       in, from[2];
    skua_channel       mine;
    skua_sender       *out;

    new_space(&in, &form, kind);
    new_space(&from[0], &form, HEAP);
    new_space(&from[1], &form, ARENA);
    CHECK(skua_channel_create(&in.layout, on_heard, NULL, "large", &mine) == SKUA_OK);
    skua_send_copy(before, value_handler, &mine, sizeof mine);
    wait_for_values(1);
    out = skua_channel_open(self()->values[0], &from[0].layout);
    CHECK(out);
    for (uint32_t turn = 0; turn < LARGE_TURNS; turn++) {
        bool          puts  = (uint32_t)skua_pe() % 2 == turn % 2;
        struct space *space = &from[below(2)];

        if (puts)
            fill(space, bytes, 99, turn);
        skua_sync(); /* no PE sleeps now */
        if (puts)
            put_large(out, space, bytes);
        if ((uint32_t)before % 2 == turn % 2) {
            be_busy();
            wait_until_heard(1);
            check(&in, bytes, 99, turn);
            skua_channel_ready(mine);
        }
    }
    test_deletion(mine, out, &from[below(2)], bytes);
    skua_channel_close(out);
    free_space(&in), free_space(&from[0]), free_space(&from[1]);
    skua_sync();
}

/* Sizes around the protocol thresholds of a put, and sizes that are not a multiple of a
 * fragment. */
static void test_larges(void)
{
    static const size_t sizes[] = {81919, 81920, 131073, 393217, 500000, 1 << 20, 1300001};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        test_large(sizes[i], i == 4 ? ARENA : HEAP);
}

/* ---- zero-copy channels --------------------------------------------------------------------- */

/* Returns true if all PEs share an arena and use it. */
static bool by_address(void)
{
    return !getenv("SKUA_CHANNELS") && skua_hosts() == 1;
}

/* A face of a block for a neighbour, which reads it in place if possible. */
static void test_lending(bool views, bool lends, bool heap)
{
    struct state *s     = self();
    char         *from  = heap ? malloc(4000) : skua_channel_alloc(4000), in[1000];
    const size_t  rows  = 10;
    skua_layout   ghost = skua_layout_strided(in, 100, 1, &rows, &(ptrdiff_t){100});
    skua_layout   face  = skua_layout_strided(from, 100, 1, &rows, &(ptrdiff_t){400});
    bool          near  = skua_pes() == 1 || !heap;
    skua_channel  mine;
    skua_sender  *out;

    memset(from, 1 + skua_pe(), 4000);
    CHECK((views ? skua_channel_create_view : skua_channel_create)(&ghost, on_heard, NULL, "lent",
                                                                   &mine) == SKUA_OK);
    skua_send_copy((skua_pe() + skua_pes() - 1) % skua_pes(), value_handler, &mine, sizeof mine);
    wait_for_values(1);
    out = (lends ? skua_channel_lend : skua_channel_open)(s->values[0], &face);
    CHECK(out);
    for (int turn = 0; turn < 4; turn++) {
        const skua_layout *view = &ghost;

        skua_channel_put_from(out, from + 100 * turn);
        wait_until_heard(1);
        if (views)
            view = skua_channel_view(mine);
        if (lends && views && near && by_address())
            CHECK(view->at != in && view->strided.stride[0] == 400);
        if (!lends || !views)
            CHECK(view->at == in && view->strided.stride[0] == 100);
        for (size_t i = 0; i < 1000; i++)
            CHECK(*test_layout_byte(view, i) == 1 + (skua_pe() + skua_pes() - 1) % skua_pes());
        skua_channel_ready(mine);
        skua_sync();
    }
    skua_channel_destroy(mine);
    skua_channel_close(out);
    heap ? free(from) : skua_channel_free(from);
    skua_sync();
}

/* ---- many channels at once ------------------------------------------------------------------ */

#define FLOOD 2000
#define BATCH 250 /* values in flight */

struct flood {
    uint64_t    *in, *from;
    skua_channel mine[FLOOD];
    skua_sender *out[FLOOD];
};

static skua_layout part(uint64_t *of, int i)
{
    return skua_layout_contiguous(of + 25 * i, i % 2 ? 200 : 8);
}

static void open_flood(struct flood *flood, int before)
{
    for (int i = 0; i < FLOOD; i++) {
        skua_layout layout = part(flood->in, i);

        CHECK(skua_channel_create(&layout, on_heard, NULL, NULL, &flood->mine[i]) == SKUA_OK);
    }
    for (int at = 0; at < FLOOD; at += BATCH) {
        for (int i = at; i < at + BATCH; i++)
            skua_send_copy(before, value_handler, &flood->mine[i], sizeof *flood->mine);
        wait_for_values(BATCH);
        for (int i = at; i < at + BATCH; i++) {
            skua_layout layout = part(flood->from, i);

            flood->out[i] = skua_channel_open(self()->values[i - at], &layout);
            CHECK(flood->out[i]);
        }
        skua_sync();
    }
}

static uint64_t flood_value(int pe, int i)
{
    return (uint64_t)pe << 32 | (uint64_t)i;
}

/* More doorbells than an inbox holds, while no receiver polls. */
static void test_flood(void)
{
    int to = (skua_pe() + 1) % skua_pes(), before = (skua_pe() + skua_pes() - 1) % skua_pes();
    struct flood *flood = calloc(1, sizeof *flood);

    flood->in   = skua_channel_alloc(FLOOD * 200);
    flood->from = malloc(FLOOD * 200);
    open_flood(flood, before);
    for (int i = 0; i < FLOOD; i++) {
        for (int k = 0; k < 25; k++)
            flood->from[25 * i + k] = flood_value(to, i);
        skua_channel_put(flood->out[i]);
    }
    wait_until_heard(FLOOD);
    for (int i = 0; i < FLOOD; i++)
        for (int k = 0; k < (i % 2 ? 25 : 1); k++)
            CHECK(flood->in[25 * i + k] == flood_value(skua_pe(), i));
    skua_sync();
    for (int i = 0; i < FLOOD; i++) {
        skua_channel_destroy(flood->mine[i]);
        skua_channel_close(flood->out[i]);
    }
    skua_channel_free(flood->in);
    free(flood->from), free(flood);
    skua_sync();
}

/* ---- one at a time -------------------------------------------------------------------------- */

#define THINGS 6

/* Doorbells and messages of @p from are in the inbox of this PE; each scheduler turn handles one of
 * them. */
static void test_turns(int to, int from)
{
    struct state *s = self();
    uint64_t      in[THINGS], out = 5;
    skua_layout   layout = skua_layout_contiguous(&out, sizeof out);
    skua_channel  mine[THINGS];
    skua_sender  *sender[THINGS];

    for (int i = 0; i < THINGS; i++) {
        skua_layout place = skua_layout_contiguous(&in[i], sizeof in[i]);

        CHECK(skua_channel_create(&place, on_heard, NULL, "turns", &mine[i]) == SKUA_OK);
        skua_send_copy(from, value_handler, &mine[i], sizeof mine[i]);
    }
    wait_for_values(THINGS);
    for (int i = 0; i < THINGS; i++)
        CHECK((sender[i] = skua_channel_open(s->values[i], &layout)) != NULL);
    skua_sync();
    for (int i = 0; i < THINGS; i++) {
        skua_channel_put(sender[i]);
        skua_send_copy(to, value_handler, &mine[i], sizeof mine[i]);
    }
    for (int seen = s->heard + s->value_count; seen < 2 * THINGS;) {
        int before = seen;

        CHECK(skua_run_count(1) == 1);
        seen = s->heard + s->value_count;
        CHECK(seen <= before + 1);
    }
    s->heard = s->value_count = 0;
    skua_sync();
    for (int i = 0; i < THINGS; i++) {
        CHECK(in[i] == 5);
        skua_channel_close(sender[i]);
        skua_channel_destroy(mine[i]);
    }
    skua_sync();
}

/* ---- one to many ---------------------------------------------------------------------------- */

#define TURNS 20

/* Each PE in turn puts to all others and to itself, several channels on some. */
static void test_many(size_t bytes)
{
    struct state      *s = self();
    int                n = skua_pes(), each = 1 + skua_pe() % 2, all = n + n / 2;
    struct test_layout form;
    struct space       in[2], from;
    skua_channel       mine[2];
    skua_sender       *out;

    for (int i = 0; i < each; i++) {
        form = random_layout(bytes);
        new_space(&in[i], &form, (enum memory)below(KINDS));
        CHECK(skua_channel_create(&in[i].layout, on_heard, NULL, "many", &mine[i]) == SKUA_OK);
        for (int pe = 0; pe < n; pe++)
            skua_send_copy(pe, value_handler, &mine[i], sizeof mine[i]);
    }
    wait_for_values(all);
    form = random_layout(bytes);
    new_space(&from, &form, (enum memory)below(KINDS));
    out = skua_channel_open_many(s->values, (size_t)all, &from.layout);
    CHECK(out);
    skua_sync();
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn % n == skua_pe()) {
            fill(&from, bytes, 77, (uint32_t)turn);
            skua_channel_put(out);
        }
        wait_until_heard(each);
        for (int i = 0; i < each; i++) {
            check(&in[i], bytes, 77, (uint32_t)turn);
            skua_channel_ready(mine[i]);
        }
        skua_sync();
    }
    skua_channel_close(out);
    free_space(&from);
    for (int i = 0; i < each; i++) {
        skua_channel_destroy(mine[i]);
        free_space(&in[i]);
    }
    skua_sync();
}

/* ---- many to one ---------------------------------------------------------------------------- */

/* Returns the contribution of sender @p pe to element @p i. */
static int64_t given(int pe, size_t i, int turn)
{
    return (int64_t)(((uint64_t)pe + 1) * (i + 3) * ((uint64_t)turn + 1) % 1021) - 300;
}

/* Returns the result over all senders. */
static int64_t expected(skua_op op, size_t i, int turn)
{
    int64_t value = given(0, i, turn);

    for (int pe = 1; pe < skua_pes(); pe++) {
        int64_t next = given(pe, i, turn);

        if (op == SKUA_SUM)
            value += next;
        else if (op == SKUA_MIN)
            value = next < value ? next : value;
        else if (op == SKUA_MAX)
            value = next > value ? next : value;
        else if (op == SKUA_BIT_AND)
            value &= next;
        else
            value |= next;
    }
    return value;
}

static size_t set_element(void *to, skua_type type, size_t i, int64_t value)
{
    switch (type) {
    case SKUA_INT32: ((int32_t *)to)[i] = (int32_t)value; return 4;
    case SKUA_INT64: ((int64_t *)to)[i] = value; return 8;
    case SKUA_FLOAT: ((float *)to)[i] = (float)value; return 4;
    default: ((double *)to)[i] = (double)value; return 8;
    }
}

/* All PEs put to the last one, in rounds; the data of some is strided. */
static void test_reduction(skua_op op, skua_type type, size_t count, bool heap)
{
    int          root = skua_pes() - 1;
    size_t       size = type == SKUA_INT32 || type == SKUA_FLOAT ? 4 : 8, bytes = count * size;
    char        *to = heap ? malloc(bytes) : skua_channel_alloc(bytes), *from = malloc(2 * bytes);
    char         want[8];
    skua_layout  layout = skua_layout_contiguous(from, bytes);
    skua_sender *out;
    skua_channel mine;

    if (skua_pe() % 3 == 1)
        layout = skua_layout_strided(from, size, 1, &count, &(ptrdiff_t){2 * (ptrdiff_t)size});
    if (skua_pe() == root) {
        const skua_channel_reduction_def def = {.size    = sizeof def,
                                                .to      = to,
                                                .count   = count,
                                                .type    = type,
                                                .op      = op,
                                                .senders = skua_pes(),
                                                .fn      = on_heard,
                                                .name    = "sums"};

        CHECK(skua_channel_create_reduction(&def, &mine) == SKUA_OK);
        for (int pe = 0; pe < skua_pes(); pe++)
            skua_send_copy(pe, value_handler, &mine, sizeof mine);
    }
    wait_for_values(1);
    out = skua_channel_open(self()->values[0], &layout);
    CHECK(out);
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < count; i++) {
            set_element(want, type, 0, given(skua_pe(), i, turn));
            memcpy(test_layout_byte(&layout, i * size), want, size);
        }
        skua_channel_put(out);
        if (skua_pe() == root) {
            wait_until_heard(1);
            for (size_t i = 0; i < count; i++) {
                set_element(want, type, 0, expected(op, i, turn));
                CHECK(memcmp(to + i * size, want, size) == 0);
            }
            skua_channel_ready(mine);
        }
        skua_sync();
    }
    skua_channel_close(out);
    if (skua_pe() == root)
        skua_channel_destroy(mine);
    heap ? free(to) : skua_channel_free(to);
    free(from);
    skua_sync();
}

/* Small and large allocations are usable to their last byte and are freed. */
static void test_memory(void)
{
    static const size_t sizes[] = {1, 64, 32767 - 64, 32768 - 64, 32768, 32769, 65536, 200000};
    char               *memory[sizeof sizes / sizeof *sizes];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memory[i] = skua_channel_alloc(sizes[i]);
        CHECK(memory[i] && (uintptr_t)memory[i] % 64 == 0);
        memset(memory[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(memory[i][0] == (char)i && memory[i][sizes[i] - 1] == (char)i);
        skua_channel_free(memory[i]);
    }
}

static void test_reductions(void)
{
    test_reduction(SKUA_SUM, SKUA_DOUBLE, 1, false);
    test_reduction(SKUA_SUM, SKUA_INT64, 3000, false);
    test_reduction(SKUA_SUM, SKUA_FLOAT, 10000, true);
    test_reduction(SKUA_MIN, SKUA_INT32, 100, false);
    test_reduction(SKUA_MAX, SKUA_DOUBLE, 100, true);
    test_reduction(SKUA_MIN, SKUA_FLOAT, 7, false);
    test_reduction(SKUA_MAX, SKUA_INT64, 7, true);
    test_reduction(SKUA_BIT_AND, SKUA_INT64, 50, false);
    test_reduction(SKUA_BIT_OR, SKUA_INT32, 50, true);
}

/* ---- the job -------------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    self()->random = seed + (uint64_t)skua_pe();
    test_memory();
    test_graph();
    test_graph();
    test_quiescence(8);
    test_quiescence(3000);
    test_quiescence(100000);
    if (!checked && !getenv("SKUA_CHANNELS")) /* which report late puts */
        test_late_put(30000);
    test_larges();
    for (int kind = 0; kind < 8; kind++)
        test_lending(kind & 1, kind & 2, kind & 4);
    test_flood();
    test_turns(skua_pe(), skua_pe());
    test_turns((skua_pe() + 1) % skua_pes(), (skua_pe() + skua_pes() - 1) % skua_pes());
    test_many(8);
    test_many(2520);
    test_many(50000);
    test_reductions();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (uint32_t)atoi(argv[1]);
    checked        = getenv("SKUA_CHECKED_CHANNELS") != NULL;
    seed           = tap_seed();
    offer_handler  = skua_handler_register("offer", on_offer);
    credit_handler = skua_handler_register("credit", on_credit);
    poll_handler   = skua_handler_register("poll", on_poll);
    value_handler  = skua_handler_register("value", on_value);
    noise_handler  = skua_handler_register("noise", on_noise);
    state_key      = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
