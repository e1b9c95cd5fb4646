/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domain.c - the chare Domain: the decomposition and the top of the tree; see barneshut.ci.
 *
 * Cells are divided three levels at a time: a reduction counts the bodies in the eight parts of
 * each cell that has too many.  All Domains get the same counts and therefore divide the cells in
 * the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "barneshut.ci.h"

#define LEVELS 3
#define PARTS  (1 << LEVELS)

void Domain_on_create(Domain *d)
{
    (void)d;
}

void Domain_on_pup(skua_pup *p, Domain *d)
{
    skua_pup_value(p, &d->times);
    skua_pup_value(p, &d->step);
    skua_pup_value(p, &d->mark);
}

void Domain_on_destroy(Domain *d)
{
    cache_clear(d);
    free(d->cells.at);
    free(d->top);
    free(d->request);
    free(d->wait);
    free(d->branch);
}

static void domain_mark(Domain *d, double *phase)
{
    double now = skua_time();

    *phase += now - d->mark;
    d->mark = now;
}

/* ---- decomposition --------------------------------------------------------------------- */

int64_t cell_of_key(const Domain *d, uint64_t key)
{
    int64_t low = 0, high = d->cells.count;

    while (high - low > 1) {
        int64_t middle = (low + high) / 2;

        if (d->cells.at[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool cell_is_active(const struct cell *cell)
{
    return cell->bodies > options.per_piece && cell->depth < KEY_BITS;
}

static void cell_add(struct cells *cells, struct cell cell)
{
    if (cell.bodies == 0)
        return;
    cells->at                 = grow(cells->at, cells->count + 1, &cells->room, sizeof cell);
    cells->at[cells->count++] = cell;
}

static void sort_piece(void *piece, void *domain)
{
    sort_bodies(piece, &((Domain *)domain)->rule.cube);
}

void begin_cells(Domain *d, struct bounds bounds)
{
    struct cell all = {0, 0, options.particles};

    domain_mark(d, &d->times.forces);
    if (d->step++ == 1)
        d->times = (struct domain_times){0};
    for (int i = 0; i < 3; i++)
        bounds.high[i] = -bounds.high[i];
    d->rule        = (struct tree_rule){cube_of(&bounds), options.theta, options.leaf};
    d->cells.count = 0;
    cell_add(&d->cells, all);
    d->active = cell_is_active(&d->cells.at[0]);
    cache_clear(d);
    skua_collection_each(pieces.all, sort_piece, d);
    d->times.busy += skua_time() - d->mark;
}

/* Counts the bodies of a Piece in the parts of a cell. */
static void count_cell(const Piece *p, const struct cell *cell, int64_t *count)
{
    uint64_t step  = KEY_END >> (cell->depth + LEVELS);
    size_t   begin = keys_find(p->body, (size_t)p->bodies, cell->key);

    for (int i = 0; i < PARTS && begin < (size_t)p->bodies; i++) {
        uint64_t next = cell->key + (uint64_t)(i + 1) * step;
        size_t   end  = begin + keys_find(p->body + begin, (size_t)p->bodies - begin, next);

        count[i] += (int64_t)(end - begin);
        begin = end;
    }
}

struct domain_count {
    const Domain *domain;
    int64_t      *count;  /* number of bodies, by active cell and part */
    int64_t      *active; /* number of active cells before each cell */
};

static void count_piece(void *piece, void *arg)
{
    const Piece         *p = piece;
    struct domain_count *c = arg;
    int64_t              last;

    if (p->bodies == 0)
        return;
    last = cell_of_key(c->domain, p->body[p->bodies - 1].key);
    for (int64_t i = cell_of_key(c->domain, p->body[0].key); i <= last; i++)
        if (cell_is_active(&c->domain->cells.at[i]))
            count_cell(p, &c->domain->cells.at[i], c->count + PARTS * c->active[i]);
}

void count_bodies(Domain *d)
{
    struct domain_count c = {d, allocate(PARTS * d->active, sizeof *c.count),
                             allocate(d->cells.count + 1, sizeof *c.active)};

    for (int64_t i = 0; i < d->cells.count; i++)
        c.active[i + 1] = c.active[i] + cell_is_active(&d->cells.at[i]);
    skua_collection_each(pieces.all, count_piece, &c);
    skua_contribute(d, SKUA_SUM, SKUA_INT64, c.count, (size_t)(PARTS * d->active),
                    Domain_counted_done_all(domains));
    free(c.count);
    free(c.active);
}

/* Adds a cell or, if it has too many bodies, its halves; @p parts are the counted parts of the
 * cell. */
static void divide_cell(struct cells *to, struct cell cell, const int64_t *count, int parts)
{
    struct cell half = cell;

    cell.bodies = 0;
    for (int i = 0; i < parts; i++)
        cell.bodies += count[i];
    if (parts == 1 || !cell_is_active(&cell)) {
        cell_add(to, cell);
        return;
    }
    half.depth++;
    divide_cell(to, half, count, parts / 2);
    half.key += KEY_END >> half.depth;
    divide_cell(to, half, count + parts / 2, parts / 2);
}

void divide_cells(Domain *d, const int64_t *count)
{
    struct cells to = {0};

    for (int64_t i = 0; i < d->cells.count; i++)
        if (cell_is_active(&d->cells.at[i])) {
            divide_cell(&to, d->cells.at[i], count, PARTS);
            count += PARTS;
        } else {
            cell_add(&to, d->cells.at[i]);
        }
    free(d->cells.at);
    d->cells  = to;
    d->active = 0;
    for (int64_t i = 0; i < d->cells.count; i++)
        d->active += cell_is_active(&d->cells.at[i]);
}

static void tell_piece(void *piece, void *arg)
{
    (void)arg;
    Piece_divided(Piece_self(piece));
}

void end_cells(Domain *d)
{
    domain_mark(d, &d->times.decompose);
    skua_collection_each(pieces.all, tell_piece, NULL);
}

/* ---- the top of the tree --------------------------------------------------------------- */

/* Builds the tree above the cells [first, end), whose roots are known. */
static void join_cells(Domain *d, struct node *node, const struct cell_root *const *root,
                       int64_t first, int64_t end)
{
    int      depth = keys_common(d->cells.at[first].key, d->cells.at[end - 1].key);
    uint64_t bit;
    int64_t  half;

    if (end - first == 1) {
        const Piece *p = Piece_here(Piece_at(pieces, root[first]->node.piece));

        *node = p ? p->tree.node[root[first]->node.index] : root[first]->node;
        return;
    }
    bit   = KEY_END >> (depth + 1);
    half  = cell_of_key(d, (d->cells.at[end - 1].key & ~(bit - 1)) - 1) + 1;
    *node = (struct node){.child = d->top + d->top_count, .request = NODE_UNREQUESTED};
    d->top_count += 2;
    join_cells(d, node->child, root, first, half);
    join_cells(d, node->child + 1, root, half, end);
    node_join(node, &d->rule, d->cells.at[first].key, depth);
}

static void start_walk(void *piece, void *arg)
{
    (void)arg;
    Piece_walk_prio(Piece_self(piece), PRIORITY_WALK);
}

void Domain_on_joined(Domain *d, int n, const struct cell_root *root)
{
    const struct cell_root **of = allocate(n, sizeof(struct cell_root *));

    free(d->top);
    d->top = allocate(2 * n, sizeof *d->top);
    domain_mark(d, &d->times.build);
    for (int i = 0; i < n; i++)
        of[root[i].cell] = &root[i];
    d->top_count = 1;
    join_cells(d, d->top, of, 0, n);
    free(of);
    d->times.busy += skua_time() - d->mark;
    skua_collection_each(pieces.all, start_walk, NULL);
}

/* ---- checks, report -------------------------------------------------------------------- */

struct domain_direct {
    Samples *samples;
    double  *sum;
};

static void add_piece(void *piece, void *arg)
{
    const Piece          *p = piece;
    struct domain_direct *a = arg;

    check_add_direct(a->sum, a->samples->sample, (int64_t)a->samples->sample_count, p->tree.point,
                     p->bodies, options.eps);
}

void Domain_on_direct(Domain *d, Samples *samples)
{
    size_t               count = 3 * samples->sample_count;
    struct domain_direct a     = {samples, allocate((int64_t)count, sizeof *a.sum)};

    skua_collection_each(pieces.all, add_piece, &a);
    skua_contribute(d, SKUA_SUM, SKUA_DOUBLE, a.sum, count, Main_summed_done(main_proxy));
    free(a.sum);
    Samples_free(samples);
}

void Domain_on_report(Domain *d)
{
    domain_mark(d, &d->times.forces);
    skua_contribute(d, SKUA_SUM, SKUA_DOUBLE, &d->times, DOMAIN_TIMES, Main_timed_done(main_proxy));
}
