/* SPDX-License-Identifier: Apache-2.0 */
/* ortho.c - the chare Ortho; see pairs.ci. */
#include <math.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.ci.h"

#define ROUNDS_MAX 100  /* largest number of iterations per step */
#define CONVERGED  1e-8 /* convergence is quadratic: the change after this one is below rounding */

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
        skua_abort("cannot allocate the overlap matrix; use fewer --states");
}

void Ortho_on_destroy(Ortho *o)
{
    free(o->s);
}

/* Tiles are added in the order of their positions, so the first one of a block is copied. */
void add_tile(Ortho *o, int64_t position, const double *tile)
{
    int64_t each = options.planes * options.chunks, block = position / each;
    int64_t columns = states_in(block);

    for (int64_t i = 0; i < o->count; i++) {
        double *to = o->s + i * options.states + block * options.grain;

        if (position % each == 0)
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

void broadcast_rows(Ortho *o)
{
    o->change = 0;
    Ortho_rows_all(orthos,
                   numbers_of(o->round, Ortho_index(o), o->mine, 2 * o->count * options.states));
}

void receive_rows(Ortho *o, const Numbers *rows)
{
    int64_t       first = rows->from * options.grain * options.states;
    size_t        count = rows->at_count / 2;
    const double *z     = rows->at + count;

    for (size_t i = 0; i < count; i++)
        o->change = larger(o->change, fabs(z[i] - o->z[first + (int64_t)i]));
    memcpy(o->y + first, rows->at, count * sizeof *o->y);
    memcpy(o->z + first, z, count * sizeof *o->z);
}

/* At this point Y contains all rows of S. */
static void check_symmetry(Ortho *o)
{
    int64_t all = options.states;

    for (int64_t i = o->first; i < o->first + o->count; i++)
        for (int64_t j = 0; j < all; j++)
            o->asymmetric = larger(o->asymmetric, fabs(o->y[i * all + j] - o->y[j * all + i]));
}

/* Returns the maximum norm of Y. */
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

/* Scales Y so that the iteration converges. */
static void scale(Ortho *o)
{
    int64_t all = options.states;

    o->scale = norm(o);
    for (int64_t i = 0; i < all * all; i++)
        o->y[i] /= o->scale;
    for (int64_t i = 0; i < o->count * all; i++)
        o->mine[i] /= o->scale;
}

/* Computes this block's rows of (3 a - a b a) / 2. */
static void improve_one(Ortho *o, double *mine, const double *a, const double *b)
{
    int         all   = (int)options.states;
    struct gemm shape = {(int)o->count, all, all, false, false, 1, 0};

    gemm_double(&shape, mine, b, o->product);
    shape.alpha = -0.5;
    shape.beta  = 1.5;
    gemm_double(&shape, o->product, a, mine);
}

/* All Orthos have the same rows, so all of them make the same decision. */
void improve(Ortho *o, struct pairs_task task)
{
    o->round++;
    if (++o->rounds > ROUNDS_MAX)
        skua_abort("the overlap matrix has no root: states are not independent");
    if (o->rounds == 1)
        check_symmetry(o);
    o->done = o->rounds == 1 ? task.check : o->change < CONVERGED;
    if (o->done)
        return;
    if (o->rounds == 1)
        scale(o);
    improve_one(o, o->mine, o->y, o->z);
    improve_one(o, o->mine + o->count * options.states, o->z, o->y);
}

/* Sends the Pairs of x and y >= x, on all planes, their tile of T = Z / sqrt(c). */
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

/* Returns the largest element of |S - 1| in this block's rows. */
static double distance(const Ortho *o)
{
    double most = 0;

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < options.states; j++)
            most = larger(most, fabs(o->s[i * options.states + j] - (o->first + i == j)));
    return most;
}

/* Contributes the result of a check. */
void contribute_outcome(Ortho *o)
{
    struct pairs_outcome outcome = {distance(o), o->asymmetric};
    uint64_t             bits    = bits_of(o->s, o->count * options.states);

    skua_contribute(o, SKUA_SUM, SKUA_UINT64, &bits, 1, Main_finished_done(main_proxy));
    skua_contribute(o, SKUA_MAX, SKUA_DOUBLE, &outcome, 2, Main_checked_done(main_proxy));
}
