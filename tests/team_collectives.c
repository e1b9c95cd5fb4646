/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_collectives.c - random collectives of random teams against a model.
 *
 * All PEs generate the same teams and the same batches of calls from one seed, so each PE knows all
 * members and all input, and computes every result to the last bit.  The calls of a batch are made
 * in an order that keeps the calls of each team in order and is otherwise different on each PE, in
 * start(), in a user thread or in a handler.
 *
 * usage: test_team_collectives [BATCHES [MOST]]       MOST: bytes of a block, at most
 */
#include <skua/skua.h>
#include <string.h>

#include "matrix_product.h"
#include "tap.h"

#define TEAMS 5
#define CALLS 6
#define GUARD 16

enum kind {
    BARRIER,
    BROADCAST,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    KINDS
};

/* A team in the model. */
struct group {
    bool      used;
    skua_team team; /* the team, on its members */
    int       size;
    int      *pe; /* PE of each rank */
};

/* A call of a batch. */
struct call {
    uint64_t number;
    int      kind, group, root;
    size_t   bytes; /* bytes of a block, or of all elements */
    int      op;    /* index in ops[] */
    bool     in_place;
    bool     gaps; /* vectors have offsets */
    char    *from, *to;
    size_t   from_bytes, to_bytes;
};

struct batch {
    struct call  call[CALLS];
    int          calls, made;
    skua_counter over, handled;
};

static int          batches = 60;
static size_t       most    = 40000;
static skua_handler step_handler;
static skua_pe_data group_key;
static skua_op      matrix_op;

/* ---- values ------------------------------------------------------------------------ */

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 1000003 + b * 7919 + c * 104729 + 1;

    tap_random(&x);
    return tap_random(&x);
}

/* Fills block @p block of rank @p rank: bytes, or elements of an operator. */
static void fill(const struct call *c, int rank, int block, char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)mix(c->number * 64 + (uint64_t)rank, (uint64_t)block, i);
}

/* Returns the size of the block of a vector call from rank @p from to rank @p to. */
static size_t part(const struct call *c, int from, int to)
{
    uint64_t x = mix(c->number, (uint64_t)from, (uint64_t)to);

    return x % 3 == 0 ? 0 : c->bytes / (1 + x % 5);
}

enum { SUM_DOUBLE, MAX_INT64, XOR_INT32, OR_INT32, MINLOC, MAXLOC, MATRIX, OPS };

static skua_reduction reduction_of(const struct call *c)
{
    static const skua_type types[OPS] = {SKUA_DOUBLE, SKUA_INT64,        SKUA_INT32,
                                         SKUA_INT32,  SKUA_DOUBLE_INDEX, SKUA_INT32_INDEX,
                                         SKUA_UINT64};
    static const size_t    sizes[OPS] = {8, 8, 4, 4, 16, 16, 8};
    skua_op                ops[OPS]   = {SKUA_SUM,    SKUA_MAX,    SKUA_BIT_XOR, SKUA_LOGICAL_OR,
                                         SKUA_MINLOC, SKUA_MAXLOC, matrix_op};

    return (skua_reduction){ops[c->op], types[c->op], c->bytes / sizes[c->op]};
}

static void fill_elements(const struct call *c, int rank, char *at)
{
    size_t n = reduction_of(c).count;

    memset(at, 0, c->bytes);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = mix(c->number, (uint64_t)rank, i) % 1000;

        switch (c->op) {
        case SUM_DOUBLE: ((double *)(void *)at)[i] = (double)x / 7; break;
        case MAX_INT64: ((int64_t *)(void *)at)[i] = (int64_t)x; break;
        case XOR_INT32: ((int32_t *)(void *)at)[i] = (int32_t)x; break;
        case OR_INT32: ((int32_t *)(void *)at)[i] = x % 4 == 0 ? (int32_t)x : 0; break;
        case MINLOC:
            ((skua_double_index *)(void *)at)[i] = (skua_double_index){(double)(x % 5), rank};
            break;
        case MAXLOC:
            ((skua_int32_index *)(void *)at)[i] = (skua_int32_index){(int32_t)(x % 5), 0, rank};
            break;
        default: ((uint64_t *)(void *)at)[i] = x;
        }
    }
}

static void combine(const struct call *c, char *into, const char *from)
{
    size_t n = reduction_of(c).count;

    if (c->op == MATRIX && n)
        matrix_product(into, from, n, SKUA_UINT64);
    for (size_t i = 0; i < n; i++) {
        double            *d = (double *)(void *)into + i;
        int64_t           *l = (int64_t *)(void *)into + i;
        int32_t           *w = (int32_t *)(void *)into + i;
        skua_double_index *p = (skua_double_index *)(void *)into + i;
        skua_int32_index  *q = (skua_int32_index *)(void *)into + i;
        const double      *e = (const double *)(const void *)from + i;

        switch (c->op) {
        case SUM_DOUBLE: *d = *d + *e; break;
        case MAX_INT64:
            *l = ((const int64_t *)(const void *)from)[i] > *l
                     ? ((const int64_t *)(const void *)from)[i]
                     : *l;
            break;
        case XOR_INT32: *w ^= ((const int32_t *)(const void *)from)[i]; break;
        case OR_INT32: *w = *w || ((const int32_t *)(const void *)from)[i]; break;
        case MINLOC:
            if (((const skua_double_index *)(const void *)from)[i].value < p->value)
                *p = ((const skua_double_index *)(const void *)from)[i];
            break;
        case MAXLOC:
            if (((const skua_int32_index *)(const void *)from)[i].value > q->value)
                *q = ((const skua_int32_index *)(const void *)from)[i];
            break;
        default: break;
        }
    }
}

/* Makes truth values of a logical operator's elements. */
static void truths(const struct call *c, char *at)
{
    for (size_t i = 0; c->op == OR_INT32 && i < reduction_of(c).count; i++)
        ((int32_t *)(void *)at)[i] = ((int32_t *)(void *)at)[i] != 0;
}

/* Combines ranks from @p first on, at most 2^level of them, below @p end. */
static char *model_blocks(const struct call *c, int first, int level, int end)
{
    int   half = level > 0 ? first + (1 << (level - 1)) : 0;
    char *low, *high;

    if (level == 0) {
        low = malloc(c->bytes + 1);
        fill_elements(c, first, low);
        truths(c, low);
        return low;
    }
    low = model_blocks(c, first, level - 1, end);
    if (half >= end)
        return low;
    high = model_blocks(c, half, level - 1, end);
    combine(c, low, high);
    free(high);
    return low;
}

/* Computes the result of a scan of ranks first .. last, as recursive doubling computes it: the last
 * 2^k ranks at a time, for as many k as reach down to rank 0. */
static char *model_scan(const struct call *c, int last, int64_t width)
{
    char *high, *low;

    if (width == 1 || last == 0)
        return model_blocks(c, last, 0, last + 1);
    high = model_scan(c, last, width / 2);
    if (last < width / 2)
        return high;
    low = model_scan(c, (int)(last - width / 2), width / 2);
    combine(c, low, high);
    free(high);
    return low;
}

/* Computes the result of an exscan from the parts that arrive, the nearest ranks first. */
static char *model_exscan(const struct call *c, int rank)
{
    char *all = NULL;

    for (int64_t far = 1; far <= rank; far *= 2) {
        char *low = model_scan(c, (int)(rank - far), far);

        if (all)
            combine(c, low, all);
        free(all);
        all = low;
    }
    return all;
}

/* ---- calls ---------------------------------------------------------------------------- */

static int rank_in(const struct group *g)
{
    for (int rank = 0; rank < g->size; rank++)
        if (g->pe[rank] == skua_pe())
            return rank;
    return -1;
}

static size_t draw_bytes(uint64_t *seed)
{
    size_t edges[] = {0, 1, 8, 24, 100, 1000, 4096, 16384, 20000, 131072, 200000};
    size_t edge    = edges[tap_random(seed) % (sizeof edges / sizeof *edges)];

    edge = edge < most ? edge : most;
    return edge + tap_random(seed) % 3;
}

static struct call draw_call(uint64_t *seed, uint64_t number, const struct group *groups)
{
    struct call c = {.number = number, .kind = (int)(tap_random(seed) % KINDS)};

    do
        c.group = (int)(tap_random(seed) % TEAMS);
    while (!groups[c.group].used);
    c.root     = (int)(tap_random(seed) % (uint64_t)groups[c.group].size);
    c.bytes    = draw_bytes(seed);
    c.op       = (int)(tap_random(seed) % OPS);
    c.in_place = tap_random(seed) % 3 == 0;
    c.gaps     = tap_random(seed) % 2;
    if (c.kind >= REDUCE && c.kind <= EXSCAN)
        c.bytes = c.bytes / 32 * 32;
    return c;
}

static char *guarded(size_t bytes)
{
    char *at = malloc(bytes + GUARD);

    memset(at, 0x5a, bytes + GUARD);
    return at;
}

/* Computes sizes and offsets of the blocks of a vector; returns their end.  @p out: sent by this
 * member, else received. */
static size_t blocks_of(const struct call *c, int size, int rank, bool out, size_t *bytes,
                        size_t *offsets)
{
    size_t at = 0;

    for (int r = 0; r < size; r++) {
        bytes[r] = c->kind == GATHERV || c->kind == ALLGATHERV ? part(c, r, 0)
                   : out                                       ? part(c, rank, r)
                                                               : part(c, r, rank);
        if (c->kind == SCATTERV)
            bytes[r] = part(c, c->root, r);
        offsets[r] = at;
        at += bytes[r] + (c->gaps ? 3 : 0);
    }
    return at;
}

static void make_vector_call(struct call *c, const struct group *g, skua_completion done)
{
    int              rank = rank_in(g), n = g->size;
    size_t          *sizes = malloc(4 * (size_t)n * sizeof *sizes), mine = part(c, rank, 0);
    skua_team_blocks v = {NULL, sizes, c->gaps ? sizes + n : NULL}, w = v;
    size_t           end = blocks_of(c, n, rank, c->kind == ALLTOALLV, sizes, sizes + n);

    if (c->kind == ALLTOALLV) {
        w           = (skua_team_blocks){NULL, sizes + 2 * n, c->gaps ? sizes + 3 * n : NULL};
        c->to_bytes = blocks_of(c, n, rank, false, sizes + 2 * n, sizes + 3 * n);
        v.data = c->from = guarded(end);
        w.data = c->to = guarded(c->to_bytes);
        for (int r = 0; r < n; r++)
            fill(c, rank, r, c->from + sizes[n + r], sizes[r]);
        skua_team_alltoallv(g->team, &v, &w, done);
    } else if (c->kind == SCATTERV) {
        c->to_bytes = part(c, c->root, rank);
        v.data = c->from = rank == c->root ? guarded(end) : NULL;
        c->to            = guarded(c->to_bytes);
        for (int r = 0; rank == c->root && r < n; r++)
            fill(c, rank, r, c->from + sizes[n + r], sizes[r]);
        skua_team_scatterv(g->team, c->root, rank == c->root ? &v : NULL, c->to, c->to_bytes, done);
    } else {
        bool result = c->kind == ALLGATHERV || rank == c->root;

        c->to_bytes = result ? end : 0;
        v.data = c->to = guarded(c->to_bytes);
        c->from        = c->in_place && result ? c->to + sizes[n + rank] : guarded(mine);
        fill(c, rank, 0, c->from, mine);
        if (c->kind == ALLGATHERV)
            skua_team_allgatherv(g->team, c->from, mine, &v, done);
        else
            skua_team_gatherv(g->team, c->root, c->from, mine, result ? &v : NULL, done);
    }
    memset(sizes, 0xee, 4 * (size_t)n * sizeof *sizes);
    free(sizes);
}

static void make_reduction_call(struct call *c, const struct group *g, skua_completion done)
{
    skua_reduction what   = reduction_of(c);
    bool           result = c->kind != REDUCE || rank_in(g) == c->root;

    c->to_bytes = result ? c->bytes : 0;
    c->to       = guarded(c->to_bytes);
    c->from     = result && c->in_place ? c->to : guarded(c->bytes);
    fill_elements(c, rank_in(g), c->from);
    if (c->kind == REDUCE)
        skua_team_reduce(g->team, c->root, &what, c->from, c->to, done);
    else if (c->kind == ALLREDUCE)
        skua_team_allreduce(g->team, &what, c->from, c->to, done);
    else if (c->kind == SCAN)
        skua_team_scan(g->team, &what, c->from, c->to, done);
    else
        skua_team_exscan(g->team, &what, c->from, c->to, done);
}

static void make_block_call(struct call *c, const struct group *g, skua_completion done)
{
    int    rank = rank_in(g);
    size_t all = c->bytes * (size_t)g->size, own = c->bytes * (size_t)rank;
    bool   root = rank == c->root;

    switch (c->kind) {
    case BARRIER: skua_team_barrier(g->team, done); break;
    case BROADCAST:
        c->to = guarded(c->to_bytes = c->bytes);
        if (root)
            fill(c, rank, 0, c->to, c->bytes);
        skua_team_broadcast(g->team, c->root, c->to, c->bytes, done);
        break;
    case GATHER:
    case ALLGATHER:
        c->to_bytes = root || c->kind == ALLGATHER ? all : 0;
        c->to       = guarded(c->to_bytes);
        c->from     = c->in_place && c->to_bytes ? c->to + own : guarded(c->bytes);
        fill(c, rank, 0, c->from, c->bytes);
        if (c->kind == GATHER)
            skua_team_gather(g->team, c->root, c->from, c->bytes, c->to, done);
        else
            skua_team_allgather(g->team, c->from, c->bytes, c->to, done);
        break;
    case SCATTER:
        c->from = root ? guarded(all) : NULL;
        for (int r = 0; root && r < g->size; r++)
            fill(c, rank, r, c->from + c->bytes * (size_t)r, c->bytes);
        c->to_bytes = c->bytes;
        c->to       = guarded(c->bytes);
        skua_team_scatter(g->team, c->root, c->from, c->to, c->bytes, done);
        break;
    default:
        c->from = guarded(all);
        c->to   = guarded(c->to_bytes = all);
        for (int r = 0; r < g->size; r++)
            fill(c, rank, r, c->from + c->bytes * (size_t)r, c->bytes);
        skua_team_alltoall(g->team, c->from, c->to, c->bytes, done);
    }
}

static void make_call(struct call *c, const struct group *g, skua_completion done)
{
    if (c->kind == GATHERV || c->kind == SCATTERV || c->kind == ALLGATHERV || c->kind == ALLTOALLV)
        make_vector_call(c, g, done);
    else if (c->kind >= REDUCE && c->kind <= EXSCAN)
        make_reduction_call(c, g, done);
    else
        make_block_call(c, g, done);
}

/* ---- results ------------------------------------------------------------------------------ */

static int levels(int size)
{
    int level = 0;

    while (1 << level < size)
        level++;
    return level;
}

#define CHAIN 16 /* members of a team whose scans go along a chain */

/* Computes the result of a scan of ranks 0 .. last, as a chain computes it. */
static char *model_chain(const struct call *c, int last)
{
    char *all = last < 0 ? NULL : model_blocks(c, 0, 0, 1);

    for (int rank = 1; rank <= last; rank++) {
        char *next = model_blocks(c, rank, 0, rank + 1);

        combine(c, all, next);
        free(next);
    }
    return all;
}

/* Returns the expected output of a reduction; NULL: none. */
static char *expect_reduction(const struct call *c, const struct group *g)
{
    int rank = rank_in(g);

    if (g->size <= CHAIN && (c->kind == SCAN || c->kind == EXSCAN))
        return model_chain(c, c->kind == SCAN ? rank : rank - 1);
    if (c->kind == SCAN)
        return model_scan(c, rank, INT64_C(1) << levels(g->size));
    return c->kind == EXSCAN ? model_exscan(c, rank) : model_blocks(c, 0, levels(g->size), g->size);
}

/* Fills the expected output of a call that moves data. */
static void expect_blocks(const struct call *c, const struct group *g, char *at)
{
    int     rank = rank_in(g), n = g->size;
    size_t *sizes = malloc(2 * (size_t)n * sizeof *sizes);

    switch (c->kind) {
    case BROADCAST: fill(c, c->root, 0, at, c->bytes); break;
    case SCATTER: fill(c, c->root, rank, at, c->bytes); break;
    case SCATTERV: fill(c, c->root, rank, at, c->to_bytes); break;
    case GATHER:
    case ALLGATHER:
        for (int r = 0; c->to_bytes && r < n; r++)
            fill(c, r, 0, at + c->bytes * (size_t)r, c->bytes);
        break;
    case ALLTOALL:
        for (int r = 0; r < n; r++)
            fill(c, r, rank, at + c->bytes * (size_t)r, c->bytes);
        break;
    default:
        blocks_of(c, n, rank, false, sizes, sizes + n);
        for (int r = 0; c->to_bytes && r < n; r++)
            fill(c, r, c->kind == ALLTOALLV ? rank : 0, at + sizes[n + r], sizes[r]);
    }
    free(sizes);
}

static void check_call(struct call *c, const struct group *g)
{
    char *expected = NULL;

    if (c->kind == BARRIER)
        return;
    if (c->kind >= REDUCE && c->kind <= EXSCAN) {
        if (c->to_bytes)
            expected = expect_reduction(c, g);
        CHECK(!expected || memcmp(c->to, expected, c->to_bytes) == 0);
        for (size_t i = 0; i < GUARD; i++)
            CHECK(c->to[c->to_bytes + i] == 0x5a);
    } else {
        expected = guarded(c->to_bytes);
        expect_blocks(c, g, expected);
        CHECK(memcmp(c->to, expected, c->to_bytes + GUARD) == 0);
    }
    free(expected);
    if (c->from && (c->from < c->to || c->from > c->to + c->to_bytes))
        free(c->from);
    free(c->to);
}

/* ---- batches ------------------------------------------------------------------------------- */

/* Chooses an order of the calls for this PE that keeps the calls of each team in order. */
static void interleave(struct call *call, int n, uint64_t *seed)
{
    for (int round = 0; round < 2 * n; round++)
        for (int i = 0; i + 1 < n; i++)
            if (call[i].group != call[i + 1].group && tap_random(seed) % 2) {
                struct call swap = call[i];

                call[i]     = call[i + 1];
                call[i + 1] = swap;
            }
}

/* Returns the teams of this PE. */
static struct group *groups(void)
{
    return skua_pe_data_get(group_key);
}

static void make_batch(struct batch *b)
{
    for (int i = 0; i < b->calls; i++)
        make_call(&b->call[i], &groups()[b->call[i].group], skua_done_count(&b->over));
    b->made = b->calls;
}

static void on_step(skua_msg *msg)
{
    struct batch *b = *(struct batch **)skua_msg_data(msg);

    skua_msg_free(msg);
    make_batch(b);
    skua_complete(skua_done_count(&b->handled), NULL, 0);
}

static void in_thread(void *arg)
{
    struct batch *b = arg;

    make_batch(b);
    CHECK(skua_counter_wait(&b->over, b->calls));
}

static void run_batch(uint64_t *seed, uint64_t number)
{
    struct batch  b    = {.calls = 0, .over = SKUA_COUNTER_INIT, .handled = SKUA_COUNTER_INIT};
    struct batch *at   = &b;
    uint64_t      mine = mix(number, (uint64_t)skua_pe(), 3);

    for (int i = 0; i < CALLS; i++) {
        struct call c = draw_call(seed, number * CALLS + (uint64_t)i, groups());

        if (rank_in(&groups()[c.group]) >= 0)
            b.call[b.calls++] = c;
    }
    interleave(b.call, b.calls, &mine);
    switch (tap_random(&mine) % 3) {
    case 0: make_batch(&b); break;
    case 1: skua_thread_join(skua_thread_create(in_thread, &b, 256 << 10)); break;
    default:
        skua_send_copy(skua_pe(), step_handler, &at, sizeof at);
        CHECK(skua_counter_wait(&b.handled, 1));
    }
    CHECK(skua_counter_wait(&b.over, b.calls));
    for (int i = 0; i < b.calls; i++)
        check_call(&b.call[i], &groups()[b.call[i].group]);
}

/* ---- teams ---------------------------------------------------------------------------------- */

/* Replaces a team by one that is split off another; all PEs compute its members. */
static void replace_team(uint64_t *seed, uint64_t number)
{
    struct group *all = groups(), *old, *parent, new = {.used = true};
    int           color, count = 1 + (int)(tap_random(seed) % 3);
    bool          member;
    skua_team     made;

    old = &all[1 + tap_random(seed) % (TEAMS - 1)];
    do
        parent = &all[tap_random(seed) % TEAMS];
    while (!parent->used || parent == old);
    color  = (int)(mix(number, (uint64_t)parent->pe[0], 1) % (uint64_t)count);
    new.pe = malloc((size_t)parent->size * sizeof *new.pe);
    for (int key = 0; key < 4;
         key++) /* a stable sort of the members with that color by their key */
        for (int r = 0; r < parent->size; r++)
            if ((int)(mix(number, (uint64_t)parent->pe[r], 1) % (uint64_t)count) == color &&
                (int)(mix(number, (uint64_t)parent->pe[r], 2) % 4) == key)
                new.pe[new.size++] = parent->pe[r];
    member = rank_in(&new) >= 0;
    if (rank_in(parent) >= 0) {
        bool other = !member && number % 2;

        CHECK(skua_team_split(parent->team,
                              other ? SKUA_COLOR_NONE
                                    : (int)(mix(number, (uint64_t)skua_pe(), 1) % (uint64_t)count),
                              (int)(mix(number, (uint64_t)skua_pe(), 2) % 4) - 2,
                              &made) == SKUA_OK);
        CHECK(!other || made == SKUA_TEAM_NONE);
        if (!member && made != SKUA_TEAM_NONE)
            CHECK(skua_team_destroy(made) == SKUA_OK);
        new.team = member ? made : SKUA_TEAM_NONE;
    }
    if (old->used && rank_in(old) >= 0)
        CHECK(skua_team_destroy(old->team) == SKUA_OK);
    free(old->used ? old->pe : NULL);
    *old = new;
    if (!member)
        return;
    CHECK(skua_team_pes(old->team) == old->size && skua_team_pe(old->team) == rank_in(old));
    for (int r = 0; r < old->size; r++)
        CHECK(skua_team_pe_of(old->team, r) == old->pe[r] &&
              skua_team_translate(SKUA_TEAM_ALL, old->pe[r], old->team) == r);
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    uint64_t      seed = skua_pe() == 0 ? test_seed : 0;
    skua_counter  over = SKUA_COUNTER_INIT;
    struct group *all  = groups();

    (void)argc, (void)argv;
    skua_team_broadcast(SKUA_TEAM_ALL, 0, &seed, sizeof seed, skua_done_count(&over));
    CHECK(skua_counter_wait(&over, 1));
    all[0] =
        (struct group){true, SKUA_TEAM_ALL, skua_pes(), malloc((size_t)skua_pes() * sizeof(int))};
    for (int pe = 0; pe < skua_pes(); pe++)
        all[0].pe[pe] = pe;
    for (int i = 0; i < batches; i++) {
        if (i % 3 == 0 || i < TEAMS)
            replace_team(&seed, (uint64_t)i);
        run_batch(&seed, (uint64_t)i);
    }
    for (int i = 0; i < TEAMS; i++)
        free(all[i].used ? all[i].pe : NULL);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    batches      = argc > 1 ? atoi(argv[1]) : batches;
    most         = argc > 2 ? strtoul(argv[2], NULL, 0) : most;
    test_seed    = tap_seed();
    step_handler = skua_handler_register("step", on_step);
    matrix_op    = skua_op_register("matrix product", matrix_product);
    group_key    = skua_pe_data_register(TEAMS * sizeof(struct group));
    return skua_main(argc, argv, start);
}
