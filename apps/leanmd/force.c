/* SPDX-License-Identifier: Apache-2.0 */
/*
 * force.c - see force.h.
 *
 * Of two cells, only those atoms take part that are nearer than the cutoff to the bounding box of
 * the atoms of the other cell.  For each atom of the first, one loop computes the distances to all
 * of the second, another collects those below the cutoff without a branch, a third computes the
 * forces of these.  The first and the third are loops that compilers turn into vector instructions.
 */
#include "force.h"

#include <math.h>
#include <string.h>

/* Larger forces between overlapping atoms are cut, so that no sum overflows; the check of the
 * energy reports it. */
#define FORCE_MAX  16.0
#define ENERGY_MAX 64.0

struct force_box {
    double low[3], high[3];
};

/* The atoms of a cell that take part, and the forces on them. */
struct force_side {
    int     n, *index; /* index: in the cell */
    double *x[3], *f[3];
};

/* The atoms near one atom: their indices, squared distances, and factors of the forces. */
struct force_near {
    int     n, *index;
    double *square, *factor, *all; /* all: squared distances of near and far ones */
};

/* Memory for two sides and a list of near atoms; it is contiguous, so that it occupies few pages
 * and cache lines. */
struct force_space {
    double number[15 * CELL_ATOMS_MAX];
    int    index[3 * CELL_ATOMS_MAX];
};

static struct force_side force_side_at(struct force_space *space, int side, int room)
{
    double *at = space->number + 6 * side * room;

    return (struct force_side){.index = space->index + side * room,
                               .x     = {at, at + room, at + 2 * room},
                               .f     = {at + 3 * room, at + 4 * room, at + 5 * room}};
}

static struct force_near force_near_at(struct force_space *space, int room)
{
    double *at = space->number + 12 * room;

    return (struct force_near){0, space->index + 2 * room, at, at + room, at + 2 * room};
}

static struct force_box force_box_around(const struct force_atoms *atoms, const double shift[3])
{
    struct force_box box;

    for (int d = 0; d < 3; d++) {
        const double *x   = atoms->x + d * atoms->n;
        double        low = INFINITY, high = -INFINITY;

        for (int i = 0; i < atoms->n; i++) {
            low  = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
        box.low[d]  = low + shift[d];
        box.high[d] = high + shift[d];
    }
    return box;
}

static double force_beyond(double x, double low, double high)
{
    double below = low - x, above = x - high, most = below > above ? below : above;

    return most > 0 ? most : 0;
}

/* Collects the atoms near @p box, at positions that are moved by @p shift. */
static void force_side_fill(struct force_side *side, const struct force_atoms *atoms,
                            const double shift[3], const struct force_box *box)
{
    int n = 0;

    for (int i = 0; i < atoms->n; i++) {
        double square = 0;

        for (int d = 0; d < 3; d++) {
            double x    = atoms->x[d * atoms->n + i] + shift[d],
                   away = force_beyond(x, box->low[d], box->high[d]);

            side->x[d][n] = x;
            square += away * away;
        }
        side->index[n] = i;
        n += square < CUTOFF * CUTOFF;
    }
    side->n = n;
    for (int d = 0; d < 3; d++)
        memset(side->f[d], 0, (size_t)n * sizeof(double));
}

/* Finds the atoms of @p side, from @p first on, near the position @p at. */
static void force_find_near(struct force_near *near, const struct force_side *side, int first,
                            const double at[3])
{
    const double *restrict x = side->x[0], *restrict y = side->x[1], *restrict z = side->x[2];
    double *restrict square = near->all;
    int n                   = 0;

    for (int j = first; j < side->n; j++) {
        double dx = at[0] - x[j], dy = at[1] - y[j], dz = at[2] - z[j];

        square[j] = dx * dx + dy * dy + dz * dz;
    }
    for (int j = first; j < side->n; j++) {
        near->index[n]  = j;
        near->square[n] = square[j];
        n += square[j] < CUTOFF * CUTOFF;
    }
    near->n = n;
}

static double force_energy(const struct force_near *near)
{
    double end = 1 / (CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF), sum = 0;

    for (int k = 0; k < near->n; k++) {
        double inverse = 1 / near->square[k], sixth = inverse * inverse * inverse;

        sum += (FACTOR_A * sixth - FACTOR_B) * sixth - (FACTOR_A * end - FACTOR_B) * end;
    }
    return sum;
}

/* Computes the factors of the distance vectors in the forces. */
static void force_factors(struct force_near *near)
{
    const double *restrict square = near->square;
    double *restrict factor       = near->factor;

    for (int k = 0; k < near->n; k++) {
        double inverse = 1 / square[k], sixth = inverse * inverse * inverse;

        factor[k] = (12 * FACTOR_A * sixth - 6 * FACTOR_B) * sixth * inverse;
    }
}

/* Adds the forces between atom @p i of @p a and those of @p b from @p first on.  Returns the energy
 * if the caller requests it. */
static double force_row(struct force_side *a, int i, struct force_side *b, int first,
                        struct force_near *near, bool energy)
{
    const double *x = b->x[0], *y = b->x[1], *z = b->x[2];
    double       *gx = b->f[0], *gy = b->f[1], *gz = b->f[2];
    double        at[3] = {a->x[0][i], a->x[1][i], a->x[2][i]}, f[3] = {0};

    force_find_near(near, b, first, at);
    force_factors(near);
    for (int k = 0; k < near->n; k++) {
        int    j  = near->index[k];
        double dx = near->factor[k] * (at[0] - x[j]), dy = near->factor[k] * (at[1] - y[j]),
               dz = near->factor[k] * (at[2] - z[j]);

        f[0] += dx;
        f[1] += dy;
        f[2] += dz;
        gx[j] -= dx;
        gy[j] -= dy;
        gz[j] -= dz;
    }
    for (int d = 0; d < 3; d++)
        a->f[d][i] += f[d];
    return energy ? force_energy(near) : 0;
}

static int64_t force_integer(double f, double most)
{
    f = f > most ? most : f;
    f = f < -most ? -most : f;
    return llrint(f * (double)(INT64_C(1) << FORCE_BITS));
}

static void force_store(int64_t *to, int n, const struct force_side *side, double energy)
{
    memset(to, 0, (size_t)force_count(n) * sizeof *to);
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < side->n; i++)
            to[d * n + side->index[i]] = force_integer(side->f[d][i], FORCE_MAX);
    to[3 * n] = force_integer(energy, ENERGY_MAX);
}

static const double none[3];

void force_within(const struct force_atoms *a, bool energy, int64_t *fa)
{
    struct force_space space;
    struct force_side  side = force_side_at(&space, 0, a->n);
    struct force_near  near = force_near_at(&space, a->n);
    struct force_box   box  = force_box_around(a, none);
    double             sum  = 0;

    force_side_fill(&side, a, none, &box);
    for (int i = 0; i < side.n; i++)
        sum += force_row(&side, i, &side, i + 1, &near, energy);
    force_store(fa, a->n, &side, sum);
}

void force_between(const struct force_atoms *a, const struct force_atoms *b, const double shift[3],
                   bool energy, int64_t *fa, int64_t *fb)
{
    struct force_space space;
    int                room   = a->n > b->n ? a->n : b->n;
    struct force_side  near_a = force_side_at(&space, 0, room), /* near the other cell */
        near_b                = force_side_at(&space, 1, room);
    struct force_near near    = force_near_at(&space, room);
    struct force_box  box_a = force_box_around(a, none), box_b = force_box_around(b, shift);
    double            sum = 0;

    force_side_fill(&near_a, a, none, &box_b);
    force_side_fill(&near_b, b, shift, &box_a);
    for (int i = 0; i < near_a.n; i++)
        sum += force_row(&near_a, i, &near_b, 0, &near, energy);
    force_store(fa, a->n, &near_a, sum);
    force_store(fb, b->n, &near_b, 0);
}
