/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.c - random puts, gets and accumulates of every layout, type and order, against a model.
 *
 * Each PE works on a slice of its own in the memory of every PE and keeps a copy of the expected
 * data. Memory is of three kinds: symmetric, allocated by one PE, and registered (malloc), which
 * other processes reach through the kernel.
 *
 * usage: onesided [operations]
 */
#include <complex.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define SLICE 4096 /* bytes of a piece that belong to one PE; a multiple of 16 */

enum { SYMMETRIC, ALLOCATED, REGISTERED, KINDS };

struct regions {
    skua_region region[KINDS];
};

struct state { /* of a PE */
    uint64_t       random;
    struct regions mine;
    char          *memory; /* the registered one    */
    struct regions of[64]; /* every PE's            */
    unsigned char *model;  /* [target][kind][SLICE] */
    int            heard;
    size_t         operations;
};

static skua_pe_data state_key;
static skua_handler tell;
static uint64_t     seed;
static size_t       operations = 3000;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static size_t below(size_t n)
{
    return n ? (size_t)(tap_random(&self()->random) % n) : 0;
}

static unsigned char *model_of(int pe, int kind)
{
    return self()->model + ((size_t)pe * KINDS + (size_t)kind) * SLICE;
}

/* ---- a random operation ------------------------------------------------------ */

enum verb { PUT, GET, ACC };
enum shape { WHOLE, STRIDED, VECTOR, INDEXED, SHAPES };

struct piece {
    size_t local, remote, bytes; /* offsets in the buffer and in the slice */
};

struct operation {
    enum verb       verb;
    enum shape      shape;
    int             pe, kind;
    size_t          unit; /* of an element */
    skua_update     update;
    char            scale[16];
    skua_strided    strided;
    size_t          strided_at; /* offset in the slice */
    struct piece    piece[64];
    size_t          pieces;
    skua_segment    segment[64];
    ptrdiff_t       local_at[64], remote_at[64];
    skua_indexed    indexed;
    bool            blocking;
    skua_rma_params ends;
    skua_handle     handle;
    skua_counter    local, remote;
    unsigned char   buffer[SLICE];
};

static const struct {
    skua_type type;
    size_t    bytes;
} types[] = {{SKUA_INT32, 4},  {SKUA_INT64, 8},         {SKUA_UINT64, 8},         {SKUA_FLOAT, 4},
             {SKUA_DOUBLE, 8}, {SKUA_COMPLEX_FLOAT, 8}, {SKUA_COMPLEX_DOUBLE, 16}};

static void choose_update(struct operation *o)
{
    const skua_op ops[] = {SKUA_SUM,    SKUA_SUM,     SKUA_MIN,    SKUA_MAX,
                           SKUA_BIT_OR, SKUA_BIT_AND, SKUA_BIT_XOR};
    size_t        t     = below(sizeof types / sizeof *types);

    o->unit        = types[t].bytes;
    o->update.type = types[t].type;
    o->update.op   = t < 3 ? ops[below(7)] : t < 5 ? ops[below(4)] : SKUA_SUM;
    if (o->update.op == SKUA_SUM && below(2)) {
        for (size_t i = 0; i < o->unit; i++)
            o->scale[i] = 0;
        o->scale[0]     = 2; /* 2 for integers; a small factor for floating types */
        o->update.scale = o->scale;
    }
}

/* Segments that do not overlap: every second block of a grid. */
static void choose_list(struct operation *o)
{
    size_t block = o->unit * (1 + below(6)), room = SLICE / block / 2;
    size_t n = 1 + below(room < 60 ? room : 60), first = below(room - n + 1);

    o->pieces = n;
    for (size_t i = 0; i < n; i++) {
        o->piece[i].remote = (first + i) * 2 * block;
        o->piece[i].local  = i * block;
        o->piece[i].bytes  = o->shape == VECTOR ? o->unit * (1 + below(block / o->unit)) : block;
    }
    if (o->shape == VECTOR && below(8) == 0)
        o->piece[0].bytes = 0;
    for (size_t i = 0; i < n; i++) {
        o->segment[i]   = (skua_segment){o->buffer + o->piece[i].local,
                                         (ptrdiff_t)o->piece[i].remote - 64, o->piece[i].bytes};
        o->local_at[i]  = (ptrdiff_t)o->piece[i].local;
        o->remote_at[i] = (ptrdiff_t)o->piece[i].remote - 64;
    }
    o->indexed = (skua_indexed){block, n, below(2) ? o->local_at : NULL, o->remote_at};
}

/* Up to three levels, sometimes with a negative stride. */
static void choose_strided(struct operation *o)
{
    size_t        span = o->unit * (1 + below(4)), packed = span;
    skua_strided *s = &o->strided;

    *s            = (skua_strided){.bytes = span, .levels = (int)below(4)};
    o->strided_at = 0;
    for (int i = 0; i < s->levels; i++) {
        size_t stride = span + o->unit * below(3), most = (SLICE - span) / stride;
        s->count[i] = 1 + below(most < 5 ? most + 1 : 5);
        if (packed * s->count[i] > sizeof o->buffer)
            s->count[i] = 1;
        s->remote[i] = (ptrdiff_t)stride;
        s->local[i]  = (ptrdiff_t)packed;
        packed *= s->count[i];
        span += (s->count[i] - 1) * stride;
        if (below(6) == 0) {
            s->remote[i] = -s->remote[i];
            o->strided_at += (s->count[i] - 1) * stride;
        }
    }
    o->strided_at += o->unit * below((SLICE - span) / o->unit + 1);
}

static void list_strided(struct operation *o)
{
    const skua_strided *s     = &o->strided;
    size_t              at[8] = {0};
    int                 level;

    o->pieces = 0;
    do {
        struct piece p = {0, o->strided_at, s->bytes};
        for (int i = 0; i < s->levels; i++) {
            p.local += at[i] * (size_t)s->local[i];
            p.remote = (size_t)((ptrdiff_t)p.remote + (ptrdiff_t)at[i] * s->remote[i]);
        }
        o->piece[o->pieces++] = p;
        for (level = 0; level < s->levels && ++at[level] == s->count[level]; level++)
            at[level] = 0;
    } while (level < s->levels && o->pieces < 64);
}

static void choose_shape(struct operation *o)
{
    size_t bytes;

    switch (o->shape) {
    case STRIDED:
        do {
            choose_strided(o);
            list_strided(o);
        } while (o->pieces == 64); /* too many for our list */
        break;
    case VECTOR:
    case INDEXED: choose_list(o); break;
    default:
        bytes       = o->unit * below(SLICE / o->unit + 1);
        o->piece[0] = (struct piece){0, o->unit * below((SLICE - bytes) / o->unit + 1), bytes};
        o->pieces   = 1;
    }
}

static void choose_ends(struct operation *o)
{
    o->ends     = (skua_rma_params){.order = (skua_order)below(4)};
    o->blocking = below(2);
    if (below(2))
        o->ends.handle = &o->handle;
    if (below(2))
        o->ends.local = skua_done_count(&o->local);
    if (below(2))
        o->ends.remote = skua_done_count(&o->remote);
}

/* ---- carrying it out ---------------------------------------------------------- */

static skua_gaddr address(const struct operation *o, ptrdiff_t at)
{
    const struct regions *r = &self()->of[o->kind == SYMMETRIC ? skua_pe() : o->pe];

    return skua_at(r->region[o->kind], o->pe,
                   (uint64_t)((ptrdiff_t)((size_t)skua_pe() * SLICE) + 64 + at));
}

#define GO(verb_nb, verb_blocking) (o->blocking ? verb_blocking : verb_nb)

static skua_status start_whole(struct operation *o)
{
    skua_gaddr at    = address(o, (ptrdiff_t)o->piece[0].remote);
    size_t     bytes = o->piece[0].bytes;

    switch (o->verb) {
    case PUT:
        return GO(skua_put_nb(at, o->buffer, bytes, &o->ends), skua_put(at, o->buffer, bytes));
    case GET:
        return GO(skua_get_nb(o->buffer, at, bytes, &o->ends), skua_get(o->buffer, at, bytes));
    default:
        return GO(skua_acc_nb(at, o->buffer, bytes, &o->update, &o->ends),
                  skua_acc(at, o->buffer, bytes, &o->update));
    }
}

static skua_status start_strided(struct operation *o)
{
    skua_gaddr    at = address(o, (ptrdiff_t)o->strided_at);
    skua_strided *s  = &o->strided;

    switch (o->verb) {
    case PUT:
        return GO(skua_put_strided_nb(at, o->buffer, s, &o->ends),
                  skua_put_strided(at, o->buffer, s));
    case GET:
        return GO(skua_get_strided_nb(o->buffer, at, s, &o->ends),
                  skua_get_strided(o->buffer, at, s));
    default:
        return GO(skua_acc_strided_nb(at, o->buffer, s, &o->update, &o->ends),
                  skua_acc_strided(at, o->buffer, s, &o->update));
    }
}

static skua_status start_vector(struct operation *o)
{
    skua_gaddr    at = address(o, 64);
    skua_segment *s  = o->segment;
    size_t        n  = o->pieces;

    switch (o->verb) {
    case PUT: return GO(skua_put_vector_nb(at, s, n, &o->ends), skua_put_vector(at, s, n));
    case GET: return GO(skua_get_vector_nb(s, n, at, &o->ends), skua_get_vector(s, n, at));
    default:
        return GO(skua_acc_vector_nb(at, s, n, &o->update, &o->ends),
                  skua_acc_vector(at, s, n, &o->update));
    }
}

static skua_status start_indexed(struct operation *o)
{
    skua_gaddr    at = address(o, 64);
    skua_indexed *x  = &o->indexed;

    switch (o->verb) {
    case PUT:
        return GO(skua_put_indexed_nb(at, o->buffer, x, &o->ends),
                  skua_put_indexed(at, o->buffer, x));
    case GET:
        return GO(skua_get_indexed_nb(o->buffer, at, x, &o->ends),
                  skua_get_indexed(o->buffer, at, x));
    default:
        return GO(skua_acc_indexed_nb(at, o->buffer, x, &o->update, &o->ends),
                  skua_acc_indexed(at, o->buffer, x, &o->update));
    }
}

/* ---- the model ------------------------------------------------------------------ */

#define UPDATE(ctype, expression)                                                                  \
    do {                                                                                           \
        ctype a, b, s = (ctype)1;                                                                  \
        memcpy(&a, to, sizeof a);                                                                  \
        memcpy(&b, from, sizeof b);                                                                \
        if (u->scale)                                                                              \
            memcpy(&s, u->scale, sizeof s);                                                        \
        a = (ctype)(expression);                                                                   \
        memcpy(to, &a, sizeof a);                                                                  \
    } while (0)

static void update_model(const skua_update *u, void *to, const void *from)
{
    bool min = u->op == SKUA_MIN, max = u->op == SKUA_MAX;

    if (u->op == SKUA_BIT_OR && u->type == SKUA_INT32)
        UPDATE(uint32_t, s == 1 ? a | b : 0);
    else if (u->op == SKUA_BIT_OR)
        UPDATE(uint64_t, s == 1 ? a | b : 0);
    else if (u->op == SKUA_BIT_AND && u->type == SKUA_INT32)
        UPDATE(uint32_t, s == 1 ? a & b : 0);
    else if (u->op == SKUA_BIT_AND)
        UPDATE(uint64_t, s == 1 ? a & b : 0);
    else if (u->op == SKUA_BIT_XOR && u->type == SKUA_INT32)
        UPDATE(uint32_t, s == 1 ? a ^ b : 0);
    else if (u->op == SKUA_BIT_XOR)
        UPDATE(uint64_t, s == 1 ? a ^ b : 0);
    else if (u->type == SKUA_INT32 && (min || max))
        UPDATE(int32_t, (b < a) == min && s ? b : a);
    else if (u->type == SKUA_INT32)
        UPDATE(uint32_t, a + s * b);
    else if (u->type == SKUA_INT64 && (min || max))
        UPDATE(int64_t, (b < a) == min && s ? b : a);
    else if (u->type == SKUA_INT64 || (u->type == SKUA_UINT64 && !min && !max))
        UPDATE(uint64_t, a + s * b);
    else if (u->type == SKUA_UINT64)
        UPDATE(uint64_t, (b < a) == min && s ? b : a);
    else if (u->type == SKUA_FLOAT)
        UPDATE(float, min ? (b < a ? b : a) : max ? (a < b ? b : a) : a + s * b);
    else if (u->type == SKUA_DOUBLE)
        UPDATE(double, min ? (b < a ? b : a) : max ? (a < b ? b : a) : a + s * b);
    else if (u->type == SKUA_COMPLEX_FLOAT)
        UPDATE(float complex, a + s * b);
    else
        UPDATE(double complex, a + s * b);
}

static void carry_out_in_model(struct operation *o)
{
    unsigned char *slice = model_of(o->pe, o->kind);

    for (size_t i = 0; i < o->pieces; i++) {
        struct piece *p = &o->piece[i];
        if (o->verb == PUT)
            memcpy(slice + p->remote, o->buffer + p->local, p->bytes);
        else if (o->verb == GET)
            CHECK(memcmp(slice + p->remote, o->buffer + p->local, p->bytes) == 0);
        else
            for (size_t k = 0; k < p->bytes; k += o->unit)
                update_model(&o->update, slice + p->remote + k, o->buffer + p->local + k);
    }
}

/* Numbers that stay exact under a few thousand sums: small integers. */
static void fill(struct operation *o)
{
    for (size_t i = 0; i + o->unit <= sizeof o->buffer; i += o->unit) {
        int value = (int)below(7) - 3;
        switch (o->update.type) {
        case SKUA_FLOAT:
        case SKUA_COMPLEX_FLOAT:
            for (size_t k = 0; k < o->unit; k += 4)
                memcpy(o->buffer + i + k, &(float){(float)value}, 4);
            break;
        case SKUA_DOUBLE:
        case SKUA_COMPLEX_DOUBLE:
            for (size_t k = 0; k < o->unit; k += 8)
                memcpy(o->buffer + i + k, &(double){value}, 8);
            break;
        default:
            for (size_t k = 0; k < o->unit; k++)
                o->buffer[i + k] = (unsigned char)below(256);
        }
    }
}

static bool is_floating(skua_type type)
{
    return type == SKUA_FLOAT || type == SKUA_DOUBLE || type == SKUA_COMPLEX_FLOAT ||
           type == SKUA_COMPLEX_DOUBLE;
}

/* Floating types need memory that holds such numbers: zero it first. */
static void clear_if_floating(struct operation *o)
{
    static const unsigned char zeros[SLICE];
    struct operation           clear = {.verb = PUT, .pe = o->pe, .kind = o->kind};

    if (o->verb != ACC || !is_floating(o->update.type))
        return;
    CHECK(skua_put(address(&clear, 0), zeros, SLICE) == SKUA_OK);
    memset(model_of(o->pe, o->kind), 0, SLICE);
}

static void wait_for_end(struct operation *o, skua_status status)
{
    CHECK(status == SKUA_OK || (status == SKUA_PENDING && !o->blocking));
    if (o->blocking) {
        skua_flush(o->pe); /* it may not be complete yet */
        return;
    }
    if (o->ends.handle)
        skua_handle_wait(&o->handle);
    if (o->ends.local.kind)
        CHECK(skua_counter_wait(&o->local, 1));
    if (o->ends.remote.kind)
        CHECK(skua_counter_wait(&o->remote, 1));
    switch (below(3)) {
    case 0: skua_flush(o->pe); break;
    case 1: skua_flush_all(); break;
    default: skua_flush_region(address(o, 0).region);
    }
    CHECK(o->handle.pending == 0 && o->local.value <= 1 && o->remote.value <= 1);
}

/* Compares our slice of a PE with the model. */
static void compare(int pe, int kind)
{
    struct operation o = {.verb = GET, .shape = WHOLE, .pe = pe, .kind = kind, .blocking = true};

    o.piece[0] = (struct piece){0, 0, SLICE};
    o.pieces   = 1;
    CHECK(start_whole(&o) == SKUA_OK);
    carry_out_in_model(&o);
}

static void one_operation(struct operation *o)
{
    static skua_status (*const start[SHAPES])(struct operation *) = {start_whole, start_strided,
                                                                     start_vector, start_indexed};

    memset(o, 0, sizeof *o);
    o->verb  = (enum verb)below(3);
    o->shape = (enum shape)below(SHAPES);
    o->pe    = (int)below((size_t)skua_pes());
    o->kind  = (int)below(KINDS);
    o->unit  = 1 + below(24);
    if (o->verb == ACC)
        choose_update(o);
    choose_shape(o);
    choose_ends(o);
    if (o->verb == ACC)
        fill(o);
    else
        for (size_t i = 0; i < sizeof o->buffer; i++)
            o->buffer[i] = (unsigned char)below(256);
    clear_if_floating(o);
    wait_for_end(o, start[o->shape](o));
    carry_out_in_model(o);
    compare(o->pe, o->kind);
}

/* ---- the job ---------------------------------------------------------------------- */

static void on_tell(skua_msg *msg)
{
    memcpy(&self()->of[skua_msg_source(msg)], skua_msg_data(msg), sizeof(struct regions));
    self()->heard++;
    skua_msg_free(msg);
}

static bool all_told(void *arg)
{
    (void)arg;
    return self()->heard == skua_pes();
}

static void make_regions(void)
{
    struct state *s     = self();
    size_t        bytes = (size_t)skua_pes() * SLICE + 128;

    s->memory = calloc(1, bytes);
    CHECK(skua_region_create(bytes, &s->mine.region[SYMMETRIC]) == SKUA_OK);
    CHECK(skua_region_create_local(bytes, &s->mine.region[ALLOCATED]) == SKUA_OK);
    CHECK(skua_region_create_from(s->memory, bytes, &s->mine.region[REGISTERED]) == SKUA_OK);
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK(skua_region_size(s->mine.region[kind]) == bytes);
        memset(skua_region_local(s->mine.region[kind]), 0, bytes);
    }
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, tell, &s->mine, sizeof s->mine);
    CHECK(skua_run_until(all_told, NULL));
    skua_sync();
}

/* The final check of all slices, after all PEs have finished. */
static void compare_all(void)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        for (int kind = 0; kind < KINDS; kind++)
            compare(pe, kind);
}

static void start(int argc, char **argv)
{
    struct state     *s = self();
    struct operation *o = malloc(sizeof *o);

    (void)argc, (void)argv;
    s->random = seed + (uint64_t)skua_pe();
    s->model  = calloc((size_t)skua_pes() * KINDS, SLICE);
    make_regions();
    for (size_t i = 0; i < operations; i++)
        one_operation(o);
    compare_all();
    skua_sync();
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(skua_region_destroy(s->mine.region[kind]) == SKUA_OK);
    free(o);
    free(s->model);
    free(s->memory);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        operations = strtoul(argv[1], NULL, 10);
    seed      = tap_seed();
    tell      = skua_handler_register("tell", on_tell);
    state_key = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
