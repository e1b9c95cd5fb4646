/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - what the States, Pairs and Orthos of pairs.ci do, and Main; see pairs.h. */
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pairs.ci.h"

#define LIMIT       1e-10 /* of the largest element of |S - 1| and |S - S^T| */
#define ROUNDS_MOST 100   /* of the iteration */
#define NEAR        1e-8  /* of |Y Z - 1|: the next round makes it less than can be seen */

/* ---- shapes -----------------------------------------------------------------------------------
 */

static int64_t states_in(int64_t block)
{
    int64_t left = options.states - block * options.grain;

    return left < options.grain ? left : options.grain;
}

/* Where a chunk begins in the numbers of a State. */
static int64_t chunk_begin(int64_t z)
{
    return 2 * (options.points * z / options.chunks);
}

static int64_t chunk_numbers(int64_t z)
{
    return chunk_begin(z + 1) - chunk_begin(z);
}

static int64_t slots(void)
{
    return options.blocks * options.chunks;
}

/* The Pair of a slot, as State s on plane w has it. */
static Pair_element pair_of(int s, int w, int slot)
{
    int mine = s / (int)options.grain, other = slot / (int)options.chunks;

    return Pair_at(pairs, w, mine < other ? mine : other, mine < other ? other : mine,
                   slot % (int)options.chunks);
}

/* Which of its rows is that State's. */
static int row_of(int s, int slot)
{
    int mine = s / (int)options.grain, other = slot / (int)options.chunks;
    int above = mine > other ? (int)states_in(other) : 0;

    return above + s % (int)options.grain;
}

/* The State of a Pair's row, and the slot that it has for the Pair. */
static int state_of(const Pair *p, int row)
{
    return row < p->count[0] ? p->x * (int)options.grain + row
                             : p->y * (int)options.grain + row - (int)p->count[0];
}

static int slot_of(const Pair *p, int row)
{
    return (row < p->count[0] ? p->y : p->x) * (int)options.chunks + p->z;
}

static void *take(int64_t numbers)
{
    void *memory = skua_channel_alloc((size_t)numbers * sizeof(double));

    if (!memory)
        skua_abort("no memory for states; see --states, --planes and --points");
    return memory;
}

static double *numbers(int64_t count)
{
    double *memory = calloc((size_t)count, sizeof *memory);

    if (!memory)
        skua_abort("no memory for the overlap matrix; see --states");
    return memory;
}

static void add(double *restrict to, const double *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* So many numbers as one, below 2^32: a sum of these is exact in any order. */
static double bits_of(const double *at, int64_t count)
{
    uint64_t sum = 0, one;

    for (int64_t i = 0; i < count; i++) {
        memcpy(&one, &at[i], sizeof one);
        sum = (sum ^ one) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (double)(sum >> 32);
}

/* ---- State ------------------------------------------------------------------------------------
 */

void State_on_create(State *t)
{
    t->at   = take(2 * options.points);
    t->part = calloc((size_t)slots(), sizeof *t->part);
    t->in   = calloc((size_t)slots(), sizeof *t->in);
    t->out  = calloc((size_t)slots(), sizeof(skua_sender *));
    for (int64_t slot = 0; slot < slots(); slot++)
        t->part[slot] = take(chunk_numbers(slot % options.chunks));
}

void State_on_destroy(State *t)
{
    for (int64_t slot = 0; slot < slots(); slot++) {
        skua_channel_close(t->out[slot]);
        skua_channel_delete(t->in[slot]);
        skua_channel_free(t->part[slot]);
    }
    free(t->part);
    free(t->in);
    free(t->out);
    skua_channel_free(t->at);
}

/* Between -1 and 1. */
static double noise(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)(int64_t)(x ^ x >> 31) * 0x1p-63;
}

/* So that a state has, about, the length 1. */
void State_on_fill(State *t)
{
    State_position at    = State_index(t);
    double         scale = sqrt(1.5 / (double)(options.points * options.planes));
    uint64_t       seed  = (uint64_t)at.i << 44 ^ (uint64_t)at.j << 28;

    for (int64_t i = 0; i < 2 * options.points; i++)
        t->at[i] = scale * noise((seed ^ (uint64_t)i) + 1);
    skua_contribute_nothing(t, Main_ready_done(boss));
}

/* Time goes on: each point takes a little of the next one. */
void go_on(State *t)
{
    const double part = 1.0 / 32, first[] = {t->at[0], t->at[1]};
    int64_t      last = 2 * options.points - 2;

    for (int64_t i = 0; i < last; i++)
        t->at[i] += part * (t->at[i + 2] - t->at[i]);
    for (int64_t i = 0; i < 2; i++)
        t->at[last + i] += part * (first[i] - t->at[last + i]);
}

static void result_arrived(void *arg)
{
    State *t = arg;

    if (++t->come < slots())
        return;
    t->come = 0;
    State_complete(State_self(t), t->turn);
}

void create_result_channels(State *t)
{
    State_position at = State_index(t);

    for (int slot = 0; slot < slots(); slot++) {
        size_t      bytes = (size_t)chunk_numbers(slot % options.chunks) * sizeof(double);
        skua_layout to    = skua_layout_of(t->part[slot], bytes);

        if (skua_channel_create(&to, result_arrived, t, "result", &t->in[slot]))
            skua_abort("no channel for a result");
        Pair_open(pair_of(at.i, at.j, slot), row_of(at.i, slot), t->in[slot]);
    }
}

void open_pair(State *t, int slot, skua_channel channel)
{
    int64_t     z = slot % options.chunks;
    skua_layout from =
        skua_layout_of(t->at + chunk_begin(z), (size_t)chunk_numbers(z) * sizeof *t->at);

    t->out[slot] = skua_channel_open(channel, &from);
    if (!t->out[slot])
        skua_abort("no way from a state to a pair");
}

static void send_row(const State *t, int slot)
{
    State_position at  = State_index(t);
    int64_t        z   = slot % options.chunks;
    Row           *row = Row_new((size_t)chunk_numbers(z));

    row->turn = t->turn;
    row->row  = row_of(at.i, slot);
    memcpy(row->at, t->at + chunk_begin(z), row->at_count * sizeof *row->at);
    Pair_row(pair_of(at.i, at.j, slot), row);
}

void give_rows(State *t, int way)
{
    for (int slot = 0; slot < slots(); slot++)
        if (way == MESSAGES)
            send_row(t, slot);
        else
            skua_channel_put(t->out[slot]);
}

/* Slots come in their order: the first has no others before it. */
void add_result(State *t, int64_t slot, const double *from)
{
    int64_t z  = slot % options.chunks;
    double *to = t->at + chunk_begin(z);

    if (slot < options.chunks)
        memcpy(to, from, (size_t)chunk_numbers(z) * sizeof *to);
    else
        add(to, from, chunk_numbers(z));
}

void add_results(State *t)
{
    for (int64_t slot = 0; slot < slots(); slot++) {
        add_result(t, slot, t->part[slot]);
        skua_channel_ready(t->in[slot]);
    }
}

/* On a terminal, every second. */
static void show_progress(State *t, int64_t step, int64_t steps)
{
    State_position at  = State_index(t);
    double         now = at.i || at.j ? t->shown : skua_time();

    if (now - t->shown < 1)
        return;
    t->shown = now;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld of %lld steps ", (long long)step, (long long)steps);
}

void end_step(State *t, int64_t step, int64_t steps)
{
    t->turn++;
    show_progress(t, step + 1, steps);
}

void contribute_bits(State *t)
{
    double bits = bits_of(t->at, 2 * options.points);

    skua_contribute(t, SKUA_SUM, SKUA_DOUBLE, &bits, 1, Main_finished_done(boss));
}

/* ---- Pair -------------------------------------------------------------------------------------
 */

int rows_in(const Pair *p)
{
    return (int)(p->count[0] + p->count[1]);
}

static void make_pair(Pair *p)
{
    Pair_position at = Pair_index(p);

    p->w        = at.i;
    p->x        = at.j;
    p->y        = at.k;
    p->z        = at.l;
    p->count[0] = states_in(p->x);
    p->count[1] = p->x < p->y ? states_in(p->y) : 0;
    p->numbers  = chunk_numbers(p->z);
    p->at       = take(rows_in(p) * p->numbers);
    p->result   = take(rows_in(p) * p->numbers);
    p->in       = calloc((size_t)rows_in(p), sizeof *p->in);
    p->out      = calloc((size_t)rows_in(p), sizeof(skua_sender *));
}

void Pair_on_destroy(Pair *p)
{
    for (int row = 0; row < rows_in(p); row++) {
        skua_channel_close(p->out[row]);
        skua_channel_delete(p->in[row]);
    }
    free(p->in);
    free(p->out);
    skua_channel_free(p->at);
    skua_channel_free(p->result);
}

static void row_arrived(void *arg)
{
    Pair *p = arg;

    if (++p->come < rows_in(p))
        return;
    p->come = 0;
    Pair_filled(Pair_self(p), p->turn);
}

void create_row_channels(Pair *p)
{
    make_pair(p);
    for (int row = 0; row < rows_in(p); row++) {
        skua_layout to =
            skua_layout_of(p->at + row * p->numbers, (size_t)p->numbers * sizeof *p->at);

        if (skua_channel_create(&to, row_arrived, p, "row", &p->in[row]))
            skua_abort("no channel for a row");
        State_open(State_at(states, state_of(p, row), p->w), slot_of(p, row), p->in[row]);
    }
}

void open_state(Pair *p, int row, skua_channel channel)
{
    skua_layout from =
        skua_layout_of(p->result + row * p->numbers, (size_t)p->numbers * sizeof *p->at);

    p->out[row] = skua_channel_open(channel, &from);
    if (!p->out[row])
        skua_abort("no way from a pair to a state");
}

void take_row(Pair *p, const Row *row)
{
    memcpy(p->at + row->row * p->numbers, row->at, (size_t)p->numbers * sizeof *p->at);
}

/* The rows have been used: they may be written again. */
static void release(Pair *p, int way)
{
    for (int row = 0; row < rows_in(p) && way == CHANNELS; row++)
        skua_channel_ready(p->in[row]);
}

/* Rows of the second block; where it is the first, these. */
static double *second(const Pair *p, double *rows)
{
    return rows + (p->x < p->y ? p->count[0] * p->numbers : 0);
}

static Tile *tile_for(const Pair *p, int other)
{
    Tile *tile = Tile_new((size_t)(states_in(p->x) * states_in(p->y)));

    tile->turn_and_place =
        ((p->turn * options.blocks + other) * options.planes + p->w) * options.chunks + p->z;
    return tile;
}

static Tile *transposed(const Pair *p, const Tile *tile)
{
    int64_t rows = p->count[0], columns = p->count[1];
    Tile   *turned = tile_for(p, p->x);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            turned->at[j * rows + i] = tile->at[i * columns + j];
    return turned;
}

void multiply_forward(Pair *p, struct task task)
{
    struct gemm shape = {
        (int)states_in(p->x), (int)states_in(p->y), (int)p->numbers, false, true, 1, 0};
    Tile *tile = tile_for(p, p->y);

    gemm_double(&shape, p->at, second(p, p->at), tile->at);
    if (!task.backward)
        release(p, task.way);
    if (p->x < p->y)
        Ortho_tile(Ortho_at(orthos, p->y), transposed(p, tile));
    Ortho_tile(Ortho_at(orthos, p->x), tile);
}

static void send_result(const Pair *p, int row)
{
    Result *result = Result_new((size_t)p->numbers);

    result->turn_and_slot = p->turn * slots() + slot_of(p, row);
    memcpy(result->at, p->result + row * p->numbers, (size_t)p->numbers * sizeof *p->at);
    State_result(State_at(states, state_of(p, row), p->w), result);
}

/* By our tile of T, which is symmetric: rows of x from those of y, and the other way round. */
void multiply_backward(Pair *p, struct task task, const double *factor)
{
    int         x = (int)states_in(p->x), y = (int)states_in(p->y), n = (int)p->numbers;
    struct gemm down = {x, n, y, false, false, 1, 0}, up = {y, n, x, true, false, 1, 0};

    gemm_double(&down, factor, second(p, p->at), p->result);
    if (p->x < p->y)
        gemm_double(&up, factor, p->at, second(p, p->result));
    release(p, task.way);
    for (int row = 0; row < rows_in(p); row++)
        if (task.way == MESSAGES)
            send_result(p, row);
        else
            skua_channel_put(p->out[row]);
}

/* ---- Ortho ------------------------------------------------------------------------------------
 */

void Ortho_on_create(Ortho *o)
{
    int64_t all = options.states;

    o->first   = Ortho_index(o) * options.grain;
    o->count   = states_in(Ortho_index(o));
    o->s       = numbers(o->count * all);
    o->mine    = numbers(2 * o->count * all);
    o->product = numbers(o->count * all);
    o->y       = numbers(all * all);
    o->z       = numbers(all * all);
}

void Ortho_on_destroy(Ortho *o)
{
    free(o->s);
    free(o->mine);
    free(o->product);
    free(o->y);
    free(o->z);
}

/* Tiles come in the order of their places: the first of a block has no others before it. */
void add_tile(Ortho *o, int64_t place, const double *tile)
{
    int64_t each = options.planes * options.chunks, block = place / each;
    int64_t columns = states_in(block);

    for (int64_t i = 0; i < o->count; i++) {
        double *to = o->s + i * options.states + block * options.grain;

        if (place % each == 0)
            memcpy(to, tile + i * columns, (size_t)columns * sizeof *to);
        else
            add(to, tile + i * columns, columns);
    }
}

/* The larger one; and what is not a number is larger than all. */
static double larger(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

/* The largest sum of sizes in a row. */
static double norm(const double *rows, int64_t count, int64_t columns)
{
    double most = 0;

    for (int64_t i = 0; i < count; i++) {
        double sum = 0;

        for (int64_t j = 0; j < columns; j++)
            sum += fabs(rows[i * columns + j]);
        most = larger(most, sum);
    }
    return most;
}

/* The largest element of |rows - 1|, where these are ours. */
static double distance(const Ortho *o, const double *rows)
{
    double most = 0;

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < options.states; j++)
            most = larger(most, fabs(rows[i * options.states + j] - (o->first + i == j)));
    return most;
}

void begin_iteration(Ortho *o)
{
    int64_t count = o->count * options.states;

    memcpy(o->mine, o->s, (size_t)count * sizeof *o->s);
    memset(o->mine + count, 0, (size_t)count * sizeof *o->s);
    for (int64_t i = 0; i < o->count; i++)
        o->mine[count + i * options.states + o->first + i] = 1;
    o->told   = norm(o->s, o->count, options.states);
    o->rounds = 0;
    o->done   = false;
}

void tell_rows(Ortho *o)
{
    o->told_all = 0;
    for (int64_t to = 0; to < options.blocks; to++) {
        Rows *rows = Rows_new((size_t)(2 * o->count * options.states));

        rows->round = o->round;
        rows->from  = Ortho_index(o);
        rows->told  = o->told;
        memcpy(rows->at, o->mine, rows->at_count * sizeof *rows->at);
        Ortho_rows(Ortho_at(orthos, (int)to), rows);
    }
}

void take_rows(Ortho *o, const Rows *rows)
{
    int64_t first = rows->from * options.grain * options.states;
    size_t  count = rows->at_count / 2;

    memcpy(o->y + first, rows->at, count * sizeof *o->y);
    memcpy(o->z + first, rows->at + count, count * sizeof *o->z);
    o->told_all = larger(o->told_all, rows->told);
}

/* All of S is in Y: look at it, and divide it by its norm, so that the iteration converges. */
static void scale(Ortho *o)
{
    int64_t all = options.states;

    for (int64_t i = o->first; i < o->first + o->count; i++)
        for (int64_t j = 0; j < all; j++)
            o->asymmetric = larger(o->asymmetric, fabs(o->y[i * all + j] - o->y[j * all + i]));
    o->scale = o->told_all;
    for (int64_t i = 0; i < all * all; i++)
        o->y[i] /= o->scale;
    for (int64_t i = 0; i < o->count * all; i++)
        o->mine[i] /= o->scale;
}

/* Our rows of one of the two: (3 a - a b a) / 2.  Returns how far a b is from 1. */
static double improve_one(Ortho *o, double *mine, const double *a, const double *b)
{
    int         all   = (int)options.states;
    struct gemm shape = {(int)o->count, all, all, false, false, 1, 0};

    gemm_double(&shape, mine, b, o->product);
    shape.alpha = -0.5;
    shape.beta  = 1.5;
    gemm_double(&shape, o->product, a, mine);
    return distance(o, o->product);
}

/* Whether we end depends on what all were told: all decide the same. */
void improve(Ortho *o)
{
    o->round++;
    if (++o->rounds > ROUNDS_MOST)
        skua_abort("the overlap matrix has no root: states are not independent");
    if (o->rounds == 1)
        scale(o);
    else if (o->told_all < NEAR) {
        o->done = true;
        return;
    }
    o->told = improve_one(o, o->mine, o->y, o->z);
    improve_one(o, o->mine + o->count * options.states, o->z, o->y);
}

/* To the Pairs of x and y >= x, on all planes: our tile of T = Z / sqrt(c). */
static void send_factor(const Ortho *o, int w, int y, int z)
{
    Factor       *factor = Factor_new((size_t)(o->count * states_in(y)));
    const double *from   = o->mine + o->count * options.states + y * options.grain;
    double        f      = 1 / sqrt(o->scale);

    factor->turn = o->turn;
    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < states_in(y); j++)
            factor->at[i * states_in(y) + j] = f * from[i * options.states + j];
    Pair_factor(Pair_at(pairs, w, Ortho_index(o), y, z), factor);
}

void send_factors(Ortho *o)
{
    for (int w = 0; w < options.planes; w++)
        for (int y = Ortho_index(o); y < options.blocks; y++)
            for (int z = 0; z < options.chunks; z++)
                send_factor(o, w, y, z);
}

/* Of S, whose tiles beside the diagonal have been transposed by Pairs: it is the tile in the
 * middle that must be symmetric. */
static double asymmetry(const Ortho *o)
{
    const double *tile = o->s + o->first;
    double        most = 0;

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < i; j++)
            most = larger(most, fabs(tile[i * options.states + j] - tile[j * options.states + i]));
    return most;
}

/* The worst of all Orthos, and the sum of bits. */
static void combine(void *to, const void *from, size_t count, skua_type type)
{
    struct outcome       *a = to;
    const struct outcome *b = from;

    (void)count, (void)type;
    a->away       = larger(a->away, b->away);
    a->asymmetric = larger(a->asymmetric, b->asymmetric);
    a->bits += b->bits;
}

static skua_op outcome_op;

void register_operator(void)
{
    outcome_op = skua_op_register("outcome", combine);
}

/* Of a step that nobody goes on from. */
void contribute_outcome(Ortho *o)
{
    struct outcome outcome = {distance(o, o->s), larger(o->asymmetric, asymmetry(o)),
                              bits_of(o->s, o->count * options.states)};

    skua_contribute(o, outcome_op, SKUA_DOUBLE, &outcome, 3, Main_checked_done(boss));
}

/* ---- Main -------------------------------------------------------------------------------------
 */

static const char *const way_name[] = {"messages", "channels"};

int64_t pairs_in_all(void)
{
    return options.planes * options.blocks * (options.blocks + 1) / 2 * options.chunks;
}

void insert_pairs(void)
{
    int64_t count = 0;

    for (int w = 0; w < options.planes; w++)
        for (int x = 0; x < options.blocks; x++)
            for (int y = x; y < options.blocks; y++)
                for (int z = 0; z < options.chunks; z++)
                    Pair_insert(Pair_at(pairs, w, x, y, z), (int)(count++ % skua_pes()));
}

static void start_task(struct task task)
{
    State_run_all(states, task);
    Pair_run_all(pairs, task);
    Ortho_run_all(orthos, task);
}

void start(Main *m, int way)
{
    m->started = skua_time();
    start_task((struct task){way, !options.forward, false, options.steps});
}

void start_check(int way)
{
    start_task((struct task){way, false, true, 1});
}

void stop(Main *m, int way, double bits)
{
    double seconds = skua_time() - m->started;

    if (m->best[way] == 0 || seconds < m->best[way])
        m->best[way] = seconds;
    m->bits[way] = bits;
}

void judge(Main *m, int way, struct outcome o)
{
    m->bits[way] += o.bits;
    m->outcome.away       = larger(m->outcome.away, o.away);
    m->outcome.asymmetric = larger(m->outcome.asymmetric, o.asymmetric);
}

/* How much less time channels take than messages. */
static void print_gain(const Main *m)
{
    double gain = 100 * (1 - m->best[CHANNELS] / m->best[MESSAGES]);

    printf("   %.1f %% %s", fabs(gain), gain < 0 ? "more" : "less");
}

static void report_way(const Main *m, int way)
{
    double seconds = m->best[way] / (double)options.steps;

    printf("%s  %10.1f us a step", way_name[way], 1e6 * seconds);
    if (way == CHANNELS && m->best[MESSAGES] > 0)
        print_gain(m);
    printf("\n");
    if (options.series[0])
        printf("{\"bench\":\"pairs%s\",\"series\":\"%s-%s\",\"bytes\":%lld,"
               "\"metric\":\"step-%dpe\",\"value\":%.6g}\n",
               options.forward ? "-forward" : "", options.series, way_name[way],
               (long long)options.states, skua_pes(), seconds);
}

/* Both ways give the same bits, where there were both. */
static bool same_bits(const Main *m)
{
    return !options.ways[MESSAGES] || !options.ways[CHANNELS] ||
           m->bits[MESSAGES] == m->bits[CHANNELS];
}

static bool report_checks(const Main *m)
{
    bool same = same_bits(m), unit = options.forward || m->outcome.away < LIMIT;
    bool symmetric = m->outcome.asymmetric < LIMIT;

    if (!options.forward)
        printf("|S - 1| = %.2g, %s %g; ", m->outcome.away, unit ? "below" : "NOT below", LIMIT);
    printf("|S - S^T| = %.2g, %s %g", m->outcome.asymmetric, symmetric ? "below" : "NOT below",
           LIMIT);
    if (options.ways[MESSAGES] && options.ways[CHANNELS])
        printf("; both ways: %s bits", same ? "the same" : "NOT the same");
    printf("\n");
    return same && unit && symmetric;
}

void report(const Main *m)
{
    int64_t rows = options.states * options.planes * slots();

    printf(
        "%lld states, %lld planes, %lld points; %lld pairs of blocks of %lld states, %lld chunks;"
        " %lld channels on %d PEs, %lld steps by %s\n",
        (long long)options.states, (long long)options.planes, (long long)options.points,
        (long long)pairs_in_all(), (long long)options.grain, (long long)options.chunks,
        (long long)(2 * rows), skua_pes(), (long long)options.steps, gemm_name());
    for (int way = 0; way < WAYS; way++)
        if (options.ways[way])
            report_way(m, way);
    skua_exit(report_checks(m) ? 0 : 1);
}
