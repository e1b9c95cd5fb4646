/* SPDX-License-Identifier: Apache-2.0 */
/* piece.c - the chare Piece; see barneshut.ci. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "barneshut.ci.h"

#define INTERACTIONS_PER_SECOND 3e7 /* rough number of interactions per second of a core */

#define LEAVES 8 /* number of leaves between two returns to the scheduler */

/* ---- creation, migration --------------------------------------------------------------- */

void Piece_on_create(Piece *p)
{
    int64_t all = options.particles, pieces_all = pieces_of_job(), i = Piece_index(p);
    int64_t first = all * i / pieces_all;

    p->bodies = all * (i + 1) / pieces_all - first;
    p->body   = grow(NULL, p->bodies, &p->room, sizeof *p->body);
    plummer_fill(p->body, first, p->bodies, all, (uint64_t)options.seed);
}

void Piece_on_destroy(Piece *p)
{
    free(p->body);
    free(p->field);
    tree_free(&p->tree);
}

/* A Piece migrates when its bodies have moved, so that its forces and its tree are of no use. */
void Piece_on_pup(skua_pup *pup, Piece *p)
{
    skua_pup_value(pup, &p->step);
    skua_pup_value(pup, &p->bodies);
    skua_pup_memory(pup, &p->body, (size_t)p->bodies * sizeof *p->body);
    if (skua_pup_unpacking(pup))
        p->room = p->bodies;
}

void Piece_on_position(const Piece *p, double at[3])
{
    for (int i = 0; i < 3; i++) {
        at[i] = 0;
        for (int64_t k = 0; k < p->bodies; k++)
            at[i] += p->body[k].at[i] / (double)p->bodies;
    }
}

/* The number of interactions predicts the load of the next steps better than measured time, which
 * includes cache misses and the effect of other programs.  The unit is about one second. */
double Piece_on_load(const Piece *p)
{
    return (double)p->interactions / INTERACTIONS_PER_SECOND;
}

void choose_strategy(void)
{
    skua_balance_set_strategy("orb");
}

/* The first step shows the cost of each Piece, so the load is balanced after it, and then every few
 * steps. */
bool is_balance_due(const Piece *p)
{
    return options.balance > 0 && (p->step == 1 || (p->step > 0 && p->step % options.balance == 0));
}

/* ---- motion ---------------------------------------------------------------------------- */

void contribute_means(Piece *p)
{
    struct body_sums sums = {0};

    bodies_add_means(&sums, p->body, p->bodies, options.particles);
    skua_contribute(p, SKUA_SUM, SKUA_INT64, &sums, BODY_SUMS, Piece_centre_done_all(pieces));
}

void advance(Piece *p)
{
    if (p->step == 0)
        return;
    bodies_kick(p->body, p->field, p->bodies, 0.5 * options.dt);
    bodies_drift(p->body, p->bodies, options.dt);
}

/* The upper bounds are negated, since a reduction computes one kind of extremum. */
void contribute_bounds(Piece *p)
{
    struct bounds bounds = BOUNDS_EMPTY;

    for (int64_t k = 0; k < p->bodies; k++)
        bounds_add(&bounds, p->body[k].at);
    for (int i = 0; i < 3; i++)
        bounds.high[i] = -bounds.high[i];
    skua_contribute(p, SKUA_MIN, SKUA_DOUBLE, &bounds, 6, Domain_decompose_done_all(domains));
}

static void contribute_samples(Piece *p)
{
    struct check_sample *sample = NULL;
    int64_t              count = 0, room = 0;

    for (int64_t k = 0; k < p->bodies; k++)
        if (check_is_sample(p->body[k].id)) {
            sample          = grow(sample, count + 1, &room, sizeof *sample);
            sample[count++] = check_sample_of(&p->body[k], &p->field[k]);
        }
    skua_contribute(p, SKUA_CONCAT, SKUA_BYTE, sample, (size_t)count * sizeof *sample,
                    Main_sampled_done(main_proxy));
    free(sample);
}

void end_step(Piece *p)
{
    struct body_sums sums = {.interactions = p->interactions};

    if (p->step > 0)
        bodies_kick(p->body, p->field, p->bodies, 0.5 * options.dt);
    bodies_add(&sums, p->body, p->field, p->bodies);
    skua_contribute(p, SKUA_SUM, SKUA_INT64, &sums, BODY_SUMS, Main_measured_done(main_proxy));
    if (p->step == options.steps && !options.no_check)
        contribute_samples(p);
}

/* ---- exchange -------------------------------------------------------------------------- */

void sort_bodies(Piece *p, const struct cube *cube)
{
    keys_set(p->body, (size_t)p->bodies, cube);
    if (!keys_sort(p->body, (size_t)p->bodies))
        skua_abort("cannot allocate memory to sort bodies; use fewer --particles");
}

static void send_run(const Piece *p, int64_t to, int64_t first, int64_t end)
{
    Bodies *b = Bodies_new((size_t)(end - first));

    b->step = p->step;
    memcpy(b->body, p->body + first, (size_t)(end - first) * sizeof *p->body);
    Piece_bodies(Piece_at(pieces, (int)to), b);
}

/* Bodies and cells are sorted by the same keys, so the bodies for one Piece are consecutive. */
void send_bodies(Piece *p)
{
    const Domain *d    = domain_here();
    int64_t       self = Piece_index(p), kept_first = 0, kept = 0, end;

    p->expected = 0;
    for (int64_t c = piece_first_cell(d, self); c < piece_first_cell(d, self + 1); c++)
        p->expected += d->cells.at[c].bodies;
    for (int64_t first = 0; first < p->bodies; first = end) {
        int64_t to   = piece_of_cell(d, cell_of_key(d, p->body[first].key));
        int64_t next = piece_first_cell(d, to + 1);

        end = p->bodies;
        if (next < d->cells.count)
            end = (int64_t)keys_find(p->body, (size_t)end, d->cells.at[next].key);
        if (to == self) {
            kept_first = first;
            kept       = end - first;
        } else {
            send_run(p, to, first, end);
        }
    }
    if (kept_first > 0)
        memmove(p->body, p->body + kept_first, (size_t)kept * sizeof *p->body);
    p->bodies = kept;
    p->sorted = true;
}

void receive_bodies(Piece *p, const Bodies *b)
{
    int64_t count = (int64_t)b->body_count;

    p->body = grow(p->body, p->bodies + count, &p->room, sizeof *p->body);
    memcpy(p->body + p->bodies, b->body, (size_t)count * sizeof *p->body);
    p->bodies += count;
    p->sorted = false;
}

/* ---- the tree -------------------------------------------------------------------------- */

static void contribute_roots(Piece *p, int64_t first, int32_t count)
{
    struct cell_root *root = allocate(count, sizeof *root);

    for (int32_t i = 0; i < count; i++) {
        root[i]              = (struct cell_root){first + i, p->tree.node[i]};
        root[i].node.at      = NULL;
        root[i].node.request = NODE_UNREQUESTED;
    }
    skua_contribute(p, SKUA_CONCAT, SKUA_BYTE, root, (size_t)count * sizeof *root,
                    Domain_joined_done_all(domains));
    free(root);
}

/* Builds the trees of the cells of this Piece. */
static void build_cells(Piece *p, const Domain *d, int64_t first, int32_t count)
{
    int64_t *part = allocate(count, sizeof *part);

    for (int32_t i = 0; i < count; i++)
        part[i] = d->cells.at[first + i].bodies;
    if (!tree_build(&p->tree, &d->rule, p->body, part, count))
        skua_abort("cannot allocate memory for a tree; use fewer --particles");
    for (int32_t i = 0; i < p->tree.nodes; i++)
        p->tree.node[i].piece = Piece_index(p);
    free(part);
}

void build_tree(Piece *p)
{
    Domain *d     = domain_here();
    int64_t first = piece_first_cell(d, Piece_index(p));
    int32_t count = (int32_t)(piece_first_cell(d, Piece_index(p) + 1) - first);
    double  begun = skua_time();

    if (!p->sorted && !keys_sort(p->body, (size_t)p->bodies))
        skua_abort("cannot allocate memory to sort bodies; use fewer --particles");
    tree_free(&p->tree);
    free(p->field);
    p->field = allocate(p->bodies, sizeof *p->field);
    build_cells(p, d, first, count);
    contribute_roots(p, first, count);
    d->times.busy += skua_time() - begun;
}

/* ---- forces ---------------------------------------------------------------------------- */

void Piece_on_walk(Piece *p)
{
    p->next         = 0;
    p->interactions = 0;
    cache_walk(domain_here(), p);
}

static void compute_leaf(Piece *p, const Domain *d, int32_t i)
{
    const struct node *leaf = &p->tree.node[i];

    p->interactions += forces_of_leaf(d->top, leaf, &p->tree.bounds[i], options.eps,
                                      p->field + (leaf->point - p->tree.point));
}

/* Pieces compute one after the other in the order of their cells, since neighbours open the same
 * nodes, which are then in the CPU cache. */
void start_compute(Piece *p)
{
    Piece_compute_prio(Piece_self(p), PRIORITY_COMPUTE + Piece_index(p));
}

void Piece_on_compute(Piece *p)
{
    Domain *d     = domain_here();
    double  begun = skua_time();

    for (int leaves = 0; leaves < LEAVES && p->next < p->tree.nodes; p->next++)
        if (p->tree.node[p->next].count > 0) {
            compute_leaf(p, d, p->next);
            leaves++;
        }
    d->times.busy += skua_time() - begun;
    if (p->next < p->tree.nodes)
        start_compute(p);
    else
        Piece_computed(Piece_self(p));
}
