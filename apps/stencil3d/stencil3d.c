/* SPDX-License-Identifier: Apache-2.0 */
/* stencil3d.c - the blocks of stencil3d.ci; see stencil3d.h. */
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil3d.ci.h"
#include "sweep.h"

#define ERROR_MAX 1e-4
#define STAMPS    5      /* number of steps with different stamps */
#define STAMP     0.125f /* the difference of stamps of successive steps: exact in float */

/* ---- memory --------------------------------------------------------------------------------- */

int first_side(void)
{
    if (options.blocks[0] > 1)
        return WEST;
    return options.blocks[1] > 1 ? SOUTH : BELOW;
}

static size_t row(const Block *b, int y, int z)
{
    return ((size_t)z * (size_t)b->n[1] + (size_t)y) * (size_t)b->n[0];
}

static size_t cells_of(const Block *b)
{
    return row(b, 0, b->n[2]);
}

static size_t face_of(const Block *b, int side)
{
    return cells_of(b) / (size_t)b->n[side / 2];
}

/* Returns the index of a block in a direction.  The array index has z first, so that a PE gets
 * planes of blocks and faces between PEs are contiguous. */
static int grid_index(const Block *b, int d)
{
    Block_position at = Block_index(b);

    return d == 0 ? at.k : d == 1 ? at.j : at.i;
}

static int wrap(int i, int64_t n)
{
    return (int)((i + n) % n);
}

static Block_element neighbour(const Block *b, int side)
{
    int at[3], d = side / 2;

    for (int i = 0; i < 3; i++)
        at[i] = grid_index(b, i);
    at[d] = wrap(at[d] + (side & 1 ? 1 : -1), options.blocks[d]);
    return Block_at(Block_of(b), at[2], at[1], at[0]);
}

/* Returns the bytes of both sets. */
static size_t bytes_of(const Block *b)
{
    size_t each = cells_of(b);

    for (int side = 0; side < SIDES; side++)
        each += face_of(b, side);
    return 2 * each * sizeof(float);
}

/* Both sets are one allocation, which spreads pages and cache lines of blocks evenly. */
void Block_on_create(Block *b)
{
    float *at;

    for (int d = 0; d < 3; d++)
        b->n[d] = (int)(options.size[d] / options.blocks[d]);
    for (int side = 0; side < SIDES; side++)
        b->neighbour[side] = neighbour(b, side);
    b->self  = Block_self(b);
    b->first = grid_index(b, 0) == 0 && grid_index(b, 1) == 0 && grid_index(b, 2) == 0;
    b->cells = at = skua_channel_alloc(bytes_of(b));
    memset(at, 0, bytes_of(b));
    for (struct stencil_set *set = b->set; set < b->set + 2; set++, at += cells_of(b)) {
        set->of    = b;
        set->sweep = set - b->set;
        set->u     = at;
    }
    for (struct stencil_set *set = b->set; set < b->set + 2; set++)
        for (int side = 0; side < SIDES; at += face_of(b, side++))
            set->side[side].ghost = at;
}

/* Channels are not packed: see reconnect(). */
void Block_on_pup(skua_pup *p, Block *b)
{
    if (skua_pup_unpacking(p))
        Block_on_create(b);
    skua_pup_value(p, &b->sweep);
    skua_pup_value(p, &b->steps);
    skua_pup_value(p, &b->shown);
    skua_pup_value(p, &b->set[0].sweep);
    skua_pup_value(p, &b->set[1].sweep);
    skua_pup_bytes(p, b->cells, bytes_of(b));
}

void Block_on_destroy(Block *b)
{
    for (struct stencil_set *set = b->set; set < b->set + 2; set++) {
        for (int side = first_side(); side < SIDES; side++) {
            skua_channel_close(set->side[side].out);
            skua_channel_close(set->side[side].loan);
            skua_channel_destroy(set->side[side].in);
        }
    }
    skua_channel_free(b->cells);
}

/* ---- initial values and check -------------------------------------------------------------- */

/* Returns the cosine of one direction at a cell. */
static double cosine(const Block *b, int d, int i)
{
    return cos(2 * M_PI * (double)(grid_index(b, d) * b->n[d] + i) / (double)options.size[d]);
}

/* Returns the factor by which all steps so far have reduced the cosine of one direction. */
static double factor(const Block *b, int d)
{
    double each = (5 + 2 * cos(2 * M_PI / (double)options.size[d])) / 7;

    return pow(each, (double)b->steps);
}

/* Returns the stamp that all cells contain after a number of steps. */
static float stamp(int64_t steps)
{
    return STAMP * (float)(steps % STAMPS);
}

/* Returns the exact result along one direction; a cell is the sum of the three and the stamp. */
static double *exact(const Block *b, int d)
{
    double *at = malloc((size_t)b->n[d] * sizeof *at), f = factor(b, d);

    for (int i = 0; i < b->n[d]; i++)
        at[i] = (1 + f * cosine(b, d, i)) / 3;
    return at;
}

/* Calls @p fn for each row with the exact result along x and the sum of those along y and z. */
static void for_each_row(Block *b,
                         void (*fn)(Block *b, float *u, const double *x, double yz, void *arg),
                         void *arg)
{
    double *x = exact(b, 0), *y = exact(b, 1), *z = exact(b, 2);
    float  *u = b->set[b->sweep % 2].u;

    for (int k = 0; k < b->n[2]; k++)
        for (int j = 0; j < b->n[1]; j++)
            fn(b, u + row(b, j, k), x, y[j] + z[k], arg);
    free(x);
    free(y);
    free(z);
}

static void fill_row(Block *b, float *u, const double *x, double yz, void *arg)
{
    (void)arg;
    for (int i = 0; i < b->n[0]; i++)
        u[i] = (float)(x[i] + yz);
}

void Block_on_fill(Block *b)
{
    b->steps = 0;
    for_each_row(b, fill_row, NULL);
    skua_contribute_nothing(b, Main_ready_done(main_proxy));
}

static void compare_row(Block *b, float *u, const double *x, double yz, void *arg)
{
    struct stencil_outcome *o      = arg;
    const float            *before = b->set[(b->sweep + 1) % 2].u + (u - b->set[b->sweep % 2].u);
    float                   now = stamp(b->steps), added = now - stamp(b->steps - 1);

    for (int i = 0; i < b->n[0]; i++) {
        o->error    = fmax(o->error, fabs(u[i] - now - x[i] - yz));
        o->residual = fmax(o->residual, fabsf(u[i] - added - before[i]));
        o->sum += u[i] - now;
    }
}

/* Combines two outcomes: the largest errors and residuals, the sum of cells. */
static void combine(void *to, const void *from, size_t count, skua_type type)
{
    struct stencil_outcome       *a = to;
    const struct stencil_outcome *b = from;

    (void)count, (void)type;
    a->error    = fmax(a->error, b->error);
    a->residual = fmax(a->residual, b->residual);
    a->sum += b->sum;
}

static skua_op outcome_op;

void register_operator(void)
{
    outcome_op = skua_op_register("outcome", combine);
}

void Block_on_compare(Block *b)
{
    struct stencil_outcome o = {0};

    for_each_row(b, compare_row, &o);
    skua_contribute(b, outcome_op, SKUA_DOUBLE, &o, 3, Main_compared_done(main_proxy));
}

/* ---- faces ---------------------------------------------------------------------------------- */

/* Returns the layout of a face at @p at; planes are @p plane bytes apart. */
static skua_layout face_at(const Block *b, int side, float *at, ptrdiff_t plane)
{
    size_t x = (size_t)b->n[0] * sizeof *at, y = (size_t)b->n[1], z = (size_t)b->n[2];

    if (side <= EAST)
        return skua_layout_strided(at, sizeof *at, 2, (size_t[]){y, z},
                                   (ptrdiff_t[]){(ptrdiff_t)x, plane});
    if (side <= NORTH)
        return skua_layout_strided(at, x, 1, &z, &plane);
    return skua_layout_contiguous(at, x * y);
}

/* Returns the layer of cells inside a side, which the neighbour needs. */
static skua_layout inner_layer(const Block *b, const struct stencil_set *set, int side)
{
    int last = side & 1 ? b->n[side / 2] - 1 : 0, x = 0, y = 0, z = 0;

    if (side <= EAST)
        x = last;
    else if (side <= NORTH)
        y = last;
    else
        z = last;
    return face_at(b, side, set->u + row(b, y, z) + x, (ptrdiff_t)(row(b, 0, 1) * sizeof(float)));
}

/* Returns the ghost layer beyond a side. */
static skua_layout ghost(const Block *b, const struct stencil_set *set, int side)
{
    if (side <= EAST)
        return skua_layout_contiguous(set->side[side].ghost, face_of(b, side) * sizeof(float));
    return face_at(b, side, set->side[side].ghost, b->n[0] * (ptrdiff_t)sizeof(float));
}

/* ---- messages ------------------------------------------------------------------------------- */

static int cells_in(const skua_layout *l)
{
    return (int)(skua_layout_bytes(l) / sizeof(float));
}

void send_faces(Block *b)
{
    for (int side = first_side(); side < SIDES; side++) {
        skua_layout from = inner_layer(b, &b->set[b->sweep % 2], side);

        Block_face(b->neighbour[side], b->sweep, side ^ 1, cells_in(&from), &from);
    }
}

void receive_face(Block *b, int side, const skua_layout *x)
{
    skua_layout to = ghost(b, &b->set[b->sweep % 2], side);

    skua_layout_copy(&to, x);
}

/* Provides the destination of a face.  While a sweep reads its ghost layers, those of the next
 * sweep are free, and those of later sweeps are not. */
bool Block_land_face(Block *b, int64_t sweep, int side, int n, skua_layout *x)
{
    (void)n;
    if (sweep > b->sweep + 1)
        return false;
    *x = ghost(b, &b->set[sweep % 2], side);
    return true;
}

/* ---- channels ------------------------------------------------------------------------------- */

/* Callback: a ghost layer has arrived. The last one of a set resumes the block. */
static void on_face(void *arg)
{
    struct stencil_set *set = arg;

    if (++set->filled < SIDES - first_side())
        return;
    set->filled = 0;
    Block_filled(set->of->self, set->sweep);
}

void create_channels(Block *b)
{
    for (int s = 0; s < 2; s++)
        for (int side = first_side(); side < SIDES; side++) {
            skua_layout to = ghost(b, &b->set[s], side);

            if (skua_channel_create_view(&to, on_face, &b->set[s], "face",
                                         &b->set[s].side[side].in))
                skua_abort("cannot create a channel for a face");
            Block_open(b->neighbour[side], s, side ^ 1, b->set[s].side[side].in);
        }
}

void open_channel(Block *b, int s, int side, skua_channel channel)
{
    skua_layout          from = inner_layer(b, &b->set[s], side);
    struct stencil_side *to   = &b->set[s].side[side];

    to->out  = skua_channel_open(channel, &from);
    to->loan = skua_channel_lend(channel, &from);
    if (!to->out || !to->loan)
        skua_abort("cannot open the channel to a neighbour");
}

void put_faces(Block *b, bool lent)
{
    struct stencil_set *set = &b->set[b->sweep % 2];

    for (int side = first_side(); side < SIDES; side++)
        skua_channel_put(lent ? set->side[side].loan : set->side[side].out);
}

/* Marks the ghost layers that the last sweep has read as writable again. */
void release_ghosts(Block *b)
{
    for (int side = first_side(); side < SIDES; side++)
        skua_channel_ready(b->set[(b->sweep + 1) % 2].side[side].in);
}

/* ---- the stencil ------------------------------------------------------------------- */

/* Rows of a neighbour: all rows of a plane, or one in each plane. */
struct stencil_rows {
    const char *at;
    ptrdiff_t   stride;
};

static const float *row_of(const struct stencil_rows *rows, int i)
{
    return (const float *)(const void *)(rows->at + i * rows->stride);
}

/* Returns the rows beyond a side. If y is not divided, they are rows of this block at the opposite
 * end. */
static struct stencil_rows rows_beyond(const Block *b, const struct stencil_set *set, int side,
                                       bool lent)
{
    skua_layout l;

    if (side < first_side())
        l = inner_layer(b, set, side ^ 1);
    else
        l = lent ? *skua_channel_view(set->side[side].in) : ghost(b, set, side);

    return (struct stencil_rows){l.at, side <= NORTH ? l.strided.stride[0]
                                                     : b->n[0] * (ptrdiff_t)sizeof(float)};
}

static void show_progress(Block *b)
{
    if (b->first && b->steps % 16 == 0)
        variant_progress(&b->shown, b->steps, options.steps);
}

void compute(Block *b, bool lent)
{
    struct stencil_set *from = &b->set[b->sweep % 2], *to = &b->set[(b->sweep + 1) % 2];
    size_t              up = row(b, 0, 1), north = (size_t)b->n[0];
    int                 y = b->n[1], z = b->n[2];
    float               added = stamp(b->steps + 1) - stamp(b->steps);
    bool whole = first_side() > EAST; /* rows are not divided: their ends are neighbours */
    struct stencil_rows beyond[SIDES];

    for (int side = SOUTH; side < SIDES; side++)
        beyond[side] = rows_beyond(b, from, side, lent);
    if (b->first && b->steps + 1 == options.stale)
        beyond[ABOVE] = rows_beyond(b, to, ABOVE, false); /* the row above in the previous sweep */
    for (int k = 0; k < z; k++) {
        for (int side = SOUTH; side <= NORTH && k + 1 < z; side++)
            fetch_row(row_of(&beyond[side], k + 1), b->n[0]);
        for (int j = 0; j < y; j++) {
            const float *u   = from->u + row(b, j, k);
            size_t       end = (size_t)k * (size_t)y + (size_t)j;

            sweep_row(to->u + row(b, j, k), u, j + 1 < y ? u + north : row_of(&beyond[NORTH], k),
                      j > 0 ? u - north : row_of(&beyond[SOUTH], k),
                      k + 1 < z ? u + up : row_of(&beyond[ABOVE], j),
                      k > 0 ? u - up : row_of(&beyond[BELOW], j),
                      whole ? u[b->n[0] - 1] : from->side[WEST].ghost[end],
                      whole ? u[0] : from->side[EAST].ghost[end], added, b->n[0]);
        }
    }
    from->sweep = b->sweep + 2; /* the next sweep that reads this set */
    b->sweep++;
    b->steps++;
    show_progress(b);
}

/* ---- Main ----------------------------------------------------------------------------- */

void start(Main *m, int variant, int64_t left)
{
    int64_t steps = left < options.pause ? left : options.pause;

    if (variant == MESSAGES)
        Block_by_messages_all(m->blocks, steps);
    else
        Block_by_channels_all(m->blocks, steps, variant == LENT);
}

void reconnect(Main *m)
{
    m->started = skua_time(); /* the clock restarts with each job */
    Block_connect_all(m->blocks);
}

void add_outcome(Main *m, struct stencil_outcome o)
{
    m->outcome.error    = fmax(m->outcome.error, o.error);
    m->outcome.residual = o.residual;
    m->outcome.sum      = o.sum;
}

void report(const Main *m)
{
    double  cells  = (double)options.size[0] * (double)options.size[1] * (double)options.size[2];
    int64_t blocks = options.blocks[0] * options.blocks[1] * options.blocks[2];
    struct variant_series series = {"stencil3d", options.series, blocks / skua_pes()};

    printf("%lld x %lld x %lld cells in %lld x %lld x %lld blocks on %d PEs, %lld steps\n",
           (long long)options.size[0], (long long)options.size[1], (long long)options.size[2],
           (long long)options.blocks[0], (long long)options.blocks[1], (long long)options.blocks[2],
           skua_pes(), (long long)options.steps);
    variant_report(m->best, options.steps, &series);
    printf(
        "result stencil3d: %.0f cells, %lld steps; largest error %.2g, residual %.2g, mean %.7f: "
        "%s\n",
        cells, (long long)options.steps, m->outcome.error, m->outcome.residual,
        m->outcome.sum / cells, m->outcome.error < ERROR_MAX ? "passed" : "FAILED");
    if (m->outcome.error >= ERROR_MAX)
        printf("the error exceeds %g: some cells are wrong\n", ERROR_MAX);
    skua_exit(m->outcome.error < ERROR_MAX ? 0 : 1);
}
