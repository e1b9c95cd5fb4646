/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large.c - puts and gets from a byte to megabytes, many in flight at once, against a model: each
 * PE writes to its neighbour and keeps a copy of the expected data.  Then ping-pong of puts with
 * notification between PEs that answer at once or compute before.
 *
 * usage: large [rounds]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define AREA    ((size_t)3 << 20)
#define OPS     12 /* operations between two flushes */
#define COUNTER AREA
#define PIECE   (AREA + 64)

struct state { /* the state of a PE */
    uint64_t       random;
    skua_region    memory;
    unsigned char *model, *source, *result, *expected;
};

static skua_pe_data state_key;
static uint64_t     seed;
static int          rounds = 40;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static size_t below(size_t n)
{
    return (size_t)(tap_random(&self()->random) % n);
}

/* Returns a size of any magnitude. */
static size_t some_bytes(void)
{
    size_t most = (size_t)1 << (1 + below(21));

    return 1 + below(most < AREA ? most : AREA);
}

static int neighbour(void)
{
    return (skua_pe() + 1) % skua_pes();
}

static skua_gaddr there(size_t offset)
{
    return skua_at(self()->memory, neighbour(), offset);
}

/* ---- against the model ------------------------------------------------------- */

static void put_whole(struct state *s, size_t bytes)
{
    size_t to = below(AREA - bytes + 1), from = below(AREA - bytes + 1);

    CHECK(skua_put_nb(there(to), s->source + from, bytes, NULL) >= 0);
    memcpy(s->model + to, s->source + from, bytes);
}

/* Uses two blocks, which take another path. */
static void put_pieces(struct state *s, size_t bytes)
{
    size_t      to = below(AREA - 2 * bytes + 1), from = below(AREA - 2 * bytes + 1);
    skua_block  half[] = {{0, bytes}, {(ptrdiff_t)bytes, bytes}};
    skua_layout remote = skua_layout_list(NULL, 2, half);
    skua_layout local  = skua_layout_contiguous(s->source + from, 2 * bytes);

    CHECK(skua_put_layout_nb(there(to), &remote, &local, NULL) >= 0);
    memcpy(s->model + to, s->source + from, 2 * bytes);
}

static void get_and_compare(struct state *s)
{
    size_t bytes = some_bytes(), from = below(AREA - bytes + 1);

    CHECK(skua_get(s->result, there(from), bytes) == SKUA_OK);
    CHECK(memcmp(s->result, s->model + from, bytes) == 0);
}

/* A get of any order is not overtaken by a later put in strict order. */
static void get_before_put(struct state *s)
{
    skua_rma_params strict = {.order = SKUA_ORDER_STRICT}, partial = {.order = SKUA_ORDER_PARTIAL};
    size_t          bytes = some_bytes(), at = below(AREA - bytes + 1);

    memcpy(s->expected, s->model + at, bytes);
    CHECK(skua_get_nb(s->result, there(at), bytes, below(2) ? &strict : &partial) >= 0);
    CHECK(skua_put_nb(there(at), s->source, bytes, &strict) >= 0);
    memcpy(s->model + at, s->source, bytes);
    skua_flush(neighbour());
    CHECK(memcmp(s->result, s->expected, bytes) == 0);
}

/* Nor by an atomic. */
static void get_before_atomic(struct state *s)
{
    size_t   bytes = some_bytes(), at = below(AREA - bytes + 1) & ~(size_t)7;
    uint64_t word, before;

    memcpy(&word, s->model + at, sizeof word);
    CHECK(skua_get_nb(s->result, there(at), bytes, NULL) >= 0);
    CHECK(skua_fetch_add64(there(at), 1, &before) == SKUA_OK);
    CHECK(before == word);
    skua_flush(neighbour());
    CHECK(memcmp(s->result, s->model + at, bytes) == 0);
    word++;
    memcpy(s->model + at, &word, sizeof word);
}

static void put_many(struct state *s)
{
    for (int i = 0; i < OPS; i++) {
        size_t bytes = some_bytes();

        if (below(3) == 0 && bytes <= AREA / 2)
            put_pieces(s, bytes);
        else
            put_whole(s, bytes);
    }
    skua_flush(neighbour());
}

static void test_model(struct state *s)
{
    for (int i = 0; i < rounds; i++) {
        put_many(s);
        get_and_compare(s);
        get_before_put(s);
        get_before_atomic(s);
    }
    CHECK(skua_get(s->result, there(0), AREA) == SKUA_OK);
    CHECK(memcmp(s->result, s->model, AREA) == 0);
}

/* ---- notifications ------------------------------------------------------------- */

/* Computes for a moment without calling Skua. */
static void compute(void)
{
    double until = skua_time() + 1e-3;

    while (skua_time() < until)
        ;
}

/* Each PE puts to one neighbour and waits for the other; then all data have arrived. */
static void test_notify(struct state *s)
{
    unsigned char *own    = skua_gaddr_local(skua_at(s->memory, skua_pe(), 0));
    skua_handle    handle = {0};
    size_t         bytes  = 300000;

    for (int turn = 1; turn <= 20 * rounds; turn++) {
        size_t now = turn % 20 ? 64 + (size_t)turn % 100 : bytes;

        memset(s->source, turn, now);
        CHECK(skua_put_nb(there(0), s->source, now,
                          &(skua_rma_params){.handle = &handle, .notify = there(COUNTER)}) >= 0);
        CHECK(skua_notify_wait((skua_notify *)(void *)(own + COUNTER), (uint64_t)turn));
        CHECK(own[0] == (unsigned char)turn && own[now - 1] == (unsigned char)turn);
        if (turn % 50 == 0)
            compute();
        skua_handle_wait(&handle);
        skua_sync(); /* before the memory is written again */
    }
}

/* ---- all ------------------------------------------------------------------------ */

static void start(int argc, char **argv)
{
    struct state *s = self();

    (void)argc, (void)argv;
    s->random   = seed + (uint64_t)skua_pe();
    s->model    = calloc(1, AREA);
    s->source   = malloc(AREA);
    s->result   = malloc(AREA);
    s->expected = malloc(AREA);
    for (size_t i = 0; i < AREA; i++)
        s->source[i] = (unsigned char)tap_random(&s->random);
    CHECK(skua_region_create(PIECE, &s->memory) == SKUA_OK);
    memset(skua_gaddr_local(skua_at(s->memory, skua_pe(), 0)), 0, PIECE);
    skua_sync();
    test_model(s);
    skua_sync();
    test_notify(s);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    seed      = tap_seed();
    state_key = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
