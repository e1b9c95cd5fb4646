/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.c - random puts, gets and accumulates of every pair of layouts, type and order, against
 * a model.
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

#include "layout_random.h"
#include "tap.h"

#define SLICE 4096 /* bytes of a piece that belong to one PE; a multiple of 16 */

enum { SYMMETRIC, ALLOCATED, REGISTERED, KINDS };

struct regions {
    skua_region region[KINDS];
};

struct state { /* the state of a PE */
    uint64_t       random;
    struct regions mine;
    char          *memory; /* the registered memory */
    struct regions of[64]; /* regions of every PE */
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

struct operation {
    enum verb          verb;
    int                pe, kind;
    size_t             unit; /* bytes of an element */
    skua_update        update;
    char               scale[16];
    struct test_layout here, there;
    bool               short_form; /* both are contiguous, and no layout is given */
    bool               blocking;
    skua_rma_params    params;
    skua_handle        handle;
    skua_counter       local, remote;
    _Alignas(16) unsigned char buffer[SLICE];
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

/* Two layouts of any kinds with the same number of elements. */
static void choose_layouts(struct operation *o)
{
    uint64_t        *random = &self()->random;
    skua_layout_kind here = test_layout_kind(random), there = test_layout_kind(random);
    size_t           most  = SLICE / o->unit;
    size_t           units = below(8) ? below(most / (1 + below(8)) + 1) : below(3);

    units = units < most ? units : most;
    test_layout_make(&o->here, here, random, o->unit, units, SLICE);
    test_layout_make(&o->there, there, random, o->unit, units, SLICE);
    o->here.layout.at = o->buffer + o->here.base;
    o->short_form = here == SKUA_LAYOUT_CONTIGUOUS && there == SKUA_LAYOUT_CONTIGUOUS && below(4);
}

static void choose_params(struct operation *o)
{
    o->params   = (skua_rma_params){.order = (skua_order)below(4)};
    o->blocking = below(2);
    if (below(2))
        o->params.handle = &o->handle;
    if (below(2))
        o->params.local = skua_done_count(&o->local);
    if (below(2))
        o->params.remote = skua_done_count(&o->remote);
}

/* ---- carrying it out ---------------------------------------------------------- */

static skua_gaddr address(const struct operation *o, ptrdiff_t at)
{
    const struct regions *r = &self()->of[o->kind == SYMMETRIC ? skua_pe() : o->pe];

    return skua_at(r->region[o->kind], o->pe,
                   (uint64_t)((ptrdiff_t)((size_t)skua_pe() * SLICE) + 64 + at));
}

#define GO(verb_nb, verb_blocking) (o->blocking ? verb_blocking : verb_nb)

static skua_status start_short(struct operation *o)
{
    skua_gaddr at    = address(o, (ptrdiff_t)o->there.base);
    size_t     bytes = o->here.layout.bytes;
    char      *here  = o->here.layout.at;

    switch (o->verb) {
    case PUT: return GO(skua_put_nb(at, here, bytes, &o->params), skua_put(at, here, bytes));
    case GET: return GO(skua_get_nb(here, at, bytes, &o->params), skua_get(here, at, bytes));
    default:
        return GO(skua_acc_nb(at, here, bytes, &o->update, &o->params),
                  skua_acc(at, here, bytes, &o->update));
    }
}

static skua_status start_layouts(struct operation *o)
{
    skua_gaddr         at   = address(o, (ptrdiff_t)o->there.base);
    const skua_layout *here = &o->here.layout, *there = &o->there.layout;

    switch (o->verb) {
    case PUT:
        return GO(skua_put_layout_nb(at, there, here, &o->params),
                  skua_put_layout(at, there, here));
    case GET:
        return GO(skua_get_layout_nb(here, at, there, &o->params),
                  skua_get_layout(here, at, there));
    default:
        return GO(skua_acc_layout_nb(at, there, here, &o->update, &o->params),
                  skua_acc_layout(at, there, here, &o->update));
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

/* Each block of a layout consists of whole elements, so an element is contiguous. */
static void carry_out_in_model(struct operation *o)
{
    unsigned char *slice = model_of(o->pe, o->kind) + o->there.base;
    unsigned char *local = o->buffer + o->here.base;

    for (size_t i = 0; i < o->here.units; i++) {
        unsigned char *there = slice + test_layout_offset(&o->there.layout, i * o->unit);
        unsigned char *here  = local + test_layout_offset(&o->here.layout, i * o->unit);

        if (o->verb == PUT)
            memcpy(there, here, o->unit);
        else if (o->verb == GET)
            CHECK(memcmp(there, here, o->unit) == 0);
        else
            update_model(&o->update, there, here);
    }
}

/* Returns small integers, which stay exact under a few thousand additions. */
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
    if (o->params.handle)
        skua_handle_wait(&o->handle);
    if (o->params.local.kind)
        CHECK(skua_counter_wait(&o->local, 1));
    if (o->params.remote.kind)
        CHECK(skua_counter_wait(&o->remote, 1));
    switch (below(3)) {
    case 0: skua_flush(o->pe); break;
    case 1: skua_flush_all(); break;
    default: skua_flush_region(address(o, 0).region);
    }
    CHECK(o->handle.pending == 0 && o->local.value <= 1 && o->remote.value <= 1);
}

/* Compares this PE's slice of another PE's memory with the model. */
static void compare(int pe, int kind)
{
    struct operation o = {.verb = GET, .pe = pe, .kind = kind};

    CHECK(skua_get(o.buffer, address(&o, 0), SLICE) == SKUA_OK);
    CHECK(memcmp(o.buffer, model_of(pe, kind), SLICE) == 0);
}

/* A get writes only the bytes of its layout. */
static void check_rest(const struct operation *o, const unsigned char *before)
{
    unsigned char expected[SLICE];

    if (o->verb != GET)
        return;
    memcpy(expected, before, SLICE);
    for (size_t i = 0; i < o->here.units; i++) {
        size_t at = o->here.base + (size_t)test_layout_offset(&o->here.layout, i * o->unit);

        memcpy(expected + at, o->buffer + at, o->unit);
    }
    CHECK(memcmp(o->buffer, expected, SLICE) == 0);
}

static void one_operation(struct operation *o)
{
    unsigned char before[SLICE];

    memset(o, 0, sizeof *o);
    o->verb = (enum verb)below(3);
    o->pe   = (int)below((size_t)skua_pes());
    o->kind = (int)below(KINDS);
    o->unit = 1 + below(24);
    if (o->verb == ACC)
        choose_update(o);
    choose_layouts(o);
    choose_params(o);
    if (o->verb == ACC)
        fill(o);
    else
        for (size_t i = 0; i < sizeof o->buffer; i++)
            o->buffer[i] = (unsigned char)below(256);
    memcpy(before, o->buffer, SLICE);
    clear_if_floating(o);
    wait_for_end(o, o->short_form ? start_short(o) : start_layouts(o));
    carry_out_in_model(o);
    check_rest(o, before);
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
