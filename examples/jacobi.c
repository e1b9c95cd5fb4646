/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jacobi.c - the blocks of jacobi.ci.
 *
 * A block has n x n cells and a border of one cell around them: cells of its neighbours, or
 * boundary values at the edge of the square.  The boundary condition is u = x^2 - y^2, which is
 * also the exact solution inside, on the grid as in the plane.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jacobi.ci.h"

enum { LEFT, RIGHT, DOWN, UP };

static const int direction[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

/* Returns cell (x, y) of a block; coordinates 0 and n + 1 are its border. */
static double *cell(const Block *b, double *u, int x, int y)
{
    return &u[y * (b->n + 2) + x];
}

/* Returns the exact solution at a cell. */
static double solution(const Block *b, int x, int y)
{
    Block_position at = Block_index(b);
    double         h  = 1.0 / (blocks * b->n + 1);
    double         X = (at.i * b->n + x) * h, Y = (at.j * b->n + y) * h;

    return X * X - Y * Y;
}

static bool has_neighbour(const Block *b, int side)
{
    Block_position at = Block_index(b);
    int            i = at.i + direction[side][0], j = at.j + direction[side][1];

    return i >= 0 && i < blocks && j >= 0 && j < blocks;
}

/* Returns the i-th cell along a side, @p depth cells inside the border. */
static double *along(const Block *b, double *u, int side, int i, int depth)
{
    int opposite = b->n + 1 - depth;

    switch (side) {
    case LEFT: return cell(b, u, depth, i);
    case RIGHT: return cell(b, u, opposite, i);
    case DOWN: return cell(b, u, i, depth);
    default: return cell(b, u, i, opposite);
    }
}

void set_boundary(Block *b)
{
    for (int side = 0; side < 4; side++) {
        if (has_neighbour(b, side)) {
            b->neighbours++;
            continue;
        }
        for (int i = 1; i <= b->n; i++) {
            double *u = along(b, b->u, side, i, 0);

            *u = solution(b, (int)((u - b->u) % (b->n + 2)), (int)((u - b->u) / (b->n + 2)));
            *along(b, b->v, side, i, 0) = *u;
        }
    }
}

void send_edges(Block *b)
{
    Block_position at = Block_index(b);
    double        *x  = malloc((size_t)b->n * sizeof *x);

    for (int side = 0; side < 4; side++) {
        if (!has_neighbour(b, side))
            continue;
        for (int i = 1; i <= b->n; i++)
            x[i - 1] = *along(b, b->u, side, i, 1);
        Block_edge(Block_at(Block_of(b), at.i + direction[side][0], at.j + direction[side][1]),
                   b->step, side ^ 1, b->n, x);
    }
    free(x);
}

void receive_edge(Block *b, int side, const double *x)
{
    for (int i = 1; i <= b->n; i++)
        *along(b, b->u, side, i, 0) = x[i - 1];
}

double relax(Block *b)
{
    double change = 0, *swap = b->u;

    for (int y = 1; y <= b->n; y++)
        for (int x = 1; x <= b->n; x++) {
            double *u = cell(b, b->u, x, y), *v = cell(b, b->v, x, y);

            *v     = 0.25 * (u[-1] + u[1] + u[-b->n - 2] + u[b->n + 2]);
            change = fmax(change, fabs(*v - *u));
        }
    b->u = b->v;
    b->v = swap;
    return change;
}

struct jacobi_outcome outcome_of(const Block *b)
{
    struct jacobi_outcome o = {0, b->step};

    for (int y = 1; y <= b->n; y++)
        for (int x = 1; x <= b->n; x++)
            o.error = fmax(o.error, fabs(*cell(b, b->u, x, y) - solution(b, x, y)));
    return o;
}

bool read_options(int argc, char **argv)
{
    if (argc > 1)
        blocks = atoi(argv[1]);
    if (argc > 2)
        cells = atoi(argv[2]);
    if (argc <= 3 && blocks >= 1 && blocks <= 1000 && cells >= 1 && cells <= 10000)
        return true;
    fprintf(stderr, "usage: jacobi [blocks along a side] [cells along a side of a block]\n");
    skua_exit(2);
    return false;
}

void Main_on_pause(Main *self)
{
    (void)self;
    skua_checkpoint_if_due(Main_saved_done(main_proxy));
}

void Main_on_saved(Main *self, skua_checkpoint_result result)
{
    if (result.restarted)
        self->started = skua_time(); /* the clock restarts with each job */
    Block_go_on_all(self->all);
}

void report(struct jacobi_outcome o, double seconds)
{
    printf("%d x %d blocks of %d x %d cells on %d PEs: %.0f steps in %.3f s, largest error %.2g\n",
           blocks, blocks, cells, cells, skua_pes(), o.steps, seconds, o.error);
    skua_exit(o.error < 1e-4 ? 0 : 1);
}
