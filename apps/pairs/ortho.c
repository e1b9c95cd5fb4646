/* SPDX-License-Identifier: Apache-2.0 */
/* ortho.c - what an Ortho does; see pairs.ci. */
#include <math.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.ci.h"

#define ROUNDS_MOST 100  /* of the iteration */
#define NEAR        1e-8 /* a change after which the next could not be seen */

void Ortho_on_create(Ortho *o)
{
    int64_t all = options.states, rows;

    o->first   = Ortho_index(o) * options.grain;
    o->count   = states_in(Ortho_index(o));
    rows       = o->count * all;
    o->s       = calloc((size_t)(4 * rows + 2 * all * all), sizeof *o->s);
    o->mine    = o->s + rows;
    o->product = o->mine + 2 * rows;
    o->y       = o->product + rows;
    o->z       = o->y + all * all;
    if (!o->s)
        skua_abort("no memory for the overlap matrix; see --states");
}

void Ortho_on_destroy(Ortho *o)
{
    free(o->s);
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
            add_double(to, tile + i * columns, columns);
    }
}

void begin_iteration(Ortho *o)
{
    int64_t count = o->count * options.states;

    memcpy(o->mine, o->s, (size_t)count * sizeof *o->s);
    memset(o->mine + count, 0, (size_t)count * sizeof *o->s);
    for (int64_t i = 0; i < o->count; i++)
        o->mine[count + i * options.states + o->first + i] = 1;
    o->rounds = 0;
    o->done   = false;
}

void tell_rows(Ortho *o)
{
    o->change = 0;
    Ortho_rows_all(orthos,
                   numbers_of(o->round, Ortho_index(o), o->mine, 2 * o->count * options.states));
}

void take_rows(Ortho *o, const Numbers *rows)
{
    int64_t       first = rows->from * options.grain * options.states;
    size_t        count = rows->at_count / 2;
    const double *z     = rows->at + count;

    for (size_t i = 0; i < count; i++)
        o->change = larger(o->change, fabs(z[i] - o->z[first + (int64_t)i]));
    memcpy(o->y + first, rows->at, count * sizeof *o->y);
    memcpy(o->z + first, z, count * sizeof *o->z);
}

/* All of S is in Y. */
static void look_at_symmetry(Ortho *o)
{
    int64_t all = options.states;

    for (int64_t i = o->first; i < o->first + o->count; i++)
        for (int64_t j = 0; j < all; j++)
            o->asymmetric = larger(o->asymmetric, fabs(o->y[i * all + j] - o->y[j * all + i]));
}

/* The largest sum of sizes in a row of Y. */
static double norm(const Ortho *o)
{
    double most = 0;

    for (int64_t i = 0; i < options.states; i++) {
        double sum = 0;

        for (int64_t j = 0; j < options.states; j++)
            sum += fabs(o->y[i * options.states + j]);
        most = larger(most, sum);
    }
    return most;
}

/* So that the iteration converges. */
static void scale(Ortho *o)
{
    int64_t all = options.states;

    o->scale = norm(o);
    for (int64_t i = 0; i < all * all; i++)
        o->y[i] /= o->scale;
    for (int64_t i = 0; i < o->count * all; i++)
        o->mine[i] /= o->scale;
}

/* Our rows of one of the two: (3 a - a b a) / 2. */
static void improve_one(Ortho *o, double *mine, const double *a, const double *b)
{
    int         all   = (int)options.states;
    struct gemm shape = {(int)o->count, all, all, false, false, 1, 0};

    gemm_double(&shape, mine, b, o->product);
    shape.alpha = -0.5;
    shape.beta  = 1.5;
    gemm_double(&shape, o->product, a, mine);
}

/* All have got the same rows: all decide the same. */
void improve(Ortho *o, struct task task)
{
    o->round++;
    if (++o->rounds > ROUNDS_MOST)
        skua_abort("the overlap matrix has no root: states are not independent");
    if (o->rounds == 1)
        look_at_symmetry(o);
    o->done = o->rounds == 1 ? task.check : o->change < NEAR;
    if (o->done)
        return;
    if (o->rounds == 1)
        scale(o);
    improve_one(o, o->mine, o->y, o->z);
    improve_one(o, o->mine + o->count * options.states, o->z, o->y);
}

/* To the Pairs of x and y >= x, on all planes: our tile of T = Z / sqrt(c). */
static void send_factor(const Ortho *o, int w, int y, int z)
{
    int64_t       columns = states_in(y);
    Numbers      *factor  = numbers_of(o->turn, 0, NULL, o->count * columns);
    const double *from    = o->mine + o->count * options.states + y * options.grain;
    double        f       = 1 / sqrt(o->scale);

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < columns; j++)
            factor->at[i * columns + j] = f * from[i * options.states + j];
    Pair_factor(Pair_at(pairs, w, Ortho_index(o), y, z), factor);
}

void send_factors(Ortho *o)
{
    for (int w = 0; w < options.planes; w++)
        for (int y = Ortho_index(o); y < options.blocks; y++)
            for (int z = 0; z < options.chunks; z++)
                send_factor(o, w, y, z);
}

/* The largest element of |S - 1| in our rows. */
static double distance(const Ortho *o)
{
    double most = 0;

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < options.states; j++)
            most = larger(most, fabs(o->s[i * options.states + j] - (o->first + i == j)));
    return most;
}

/* Of a step that nobody goes on from. */
void contribute_outcome(Ortho *o)
{
    struct outcome outcome = {distance(o), o->asymmetric};
    uint64_t       bits    = bits_of(o->s, o->count * options.states);

    skua_contribute(o, SKUA_SUM, SKUA_UINT64, &bits, 1, Main_finished_done(boss));
    skua_contribute(o, SKUA_MAX, SKUA_DOUBLE, &outcome, 2, Main_checked_done(boss));
}
