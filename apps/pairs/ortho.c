/* SPDX-License-Identifier: Apache-2.0 */
/* ortho.c - what an Ortho does; see pairs.ci. */
#include <math.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.ci.h"

#define ROUNDS_MOST 100  /* of the iteration */
#define NEAR        1e-8 /* of |Y Z - 1|: the next round makes it less than can be seen */

static double *numbers(int64_t count)
{
    double *memory = calloc((size_t)count, sizeof *memory);

    if (!memory)
        skua_abort("no memory for the overlap matrix; see --states");
    return memory;
}

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
