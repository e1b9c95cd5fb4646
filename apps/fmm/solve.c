/* SPDX-License-Identifier: Apache-2.0 */
/* solve.c - see solve.h. */
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lattice.h"
#include "near.h"

/* Times of the kernels in nanoseconds, to divide the work: a pair of bodies, a coefficient of a
 * body, and a translation, which takes (order + 1)^3 times as long. */
#define TIME_PAIR        4.2
#define TIME_COEFFICIENT 3.3
#define TIME_TRANSLATION 0.6

#define CHUNK 256 /* targets whose expansions stay in the cache */

/* The blocks that one PE gets in a transfer. */
struct solve_parcel {
    skua_block *block;
    size_t      n, room, bytes;
};

struct solve_work {
    const double      **multipole_of; /* of each box: where its multipoles are, or NULL           */
    const struct body **bodies_of; /* of each leaf, by its number: its bodies, or NULL          */
    bool               *mine;      /* of each box: all of its leaves are ours                  */
    int32_t            *target_of; /* of each box: its target, or -1                           */
    double             *multipole, *local; /* of each target                                      */
    double             *total;             /* multipoles of shared boxes                          */
    int32_t            *shared;            /* the boxes of several PEs                            */
    int32_t             shareds;
    struct solve_parcel *parcel[TRANSFERS]; /* for each PE                                        */
    void                *window[TRANSFERS];
    size_t               window_bytes[TRANSFERS];
    int32_t             *by_level; /* targets, sorted by level */
    int32_t              level_first[LEVELS_MOST + 2];
};

static void solve_require(const struct solver *s, bool good)
{
    if (!good)
        s->comm->fail(s->comm, "there is not enough memory; use fewer --particles or more PEs");
}

static void *solve_alloc(const struct solver *s, size_t n, size_t bytes)
{
    void *at = calloc(n + 1, bytes);

    solve_require(s, at != NULL);
    return at;
}

static int solve_stride(const struct solver *s)
{
    return expansion_stride(s->rule.order);
}

/* ---- transfers ------------------------------------------------------------------------------ */

static void solve_add_block(const struct solver *s, struct solve_parcel *p, size_t offset,
                            size_t bytes)
{
    skua_block *last = p->n ? &p->block[p->n - 1] : NULL;

    p->bytes += bytes;
    if (last && (size_t)last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return;
    }
    if (p->n == p->room) {
        p->room  = p->room ? 2 * p->room : 64;
        p->block = realloc(p->block, p->room * sizeof *p->block);
        solve_require(s, p->block != NULL);
    }
    p->block[p->n++] = (skua_block){(ptrdiff_t)offset, bytes};
}

static void solve_clear_parcels(struct solver *s)
{
    for (int t = 0; t < TRANSFERS; t++)
        for (int pe = 0; pe < s->comm->pes; pe++)
            s->work->parcel[t][pe].n = s->work->parcel[t][pe].bytes = 0;
}

/* Bytes that each PE (rows) puts to each PE (columns) in a transfer.  The ranges that a PE gets lie
 * in the order of the PEs that they come from. */
struct solve_sizes {
    int64_t *at;
    int      pes;
};

static struct solve_sizes solve_exchange_sizes(struct solver *s, enum transfer transfer)
{
    int                pes   = s->comm->pes;
    struct solve_sizes sizes = {solve_alloc(s, (size_t)pes * (size_t)pes, sizeof(int64_t)), pes};

    for (int pe = 0; pe < pes; pe++)
        sizes.at[s->comm->pe * pes + pe] = (int64_t)s->work->parcel[transfer][pe].bytes;
    s->comm->sum_counts(s->comm, sizes.at, (size_t)pes * (size_t)pes);
    return sizes;
}

static size_t solve_offset(const struct solve_sizes *sizes, int from, int to)
{
    int64_t sum = 0;

    for (int pe = 0; pe < from; pe++)
        sum += sizes->at[pe * sizes->pes + to];
    return (size_t)sum;
}

/* Provides a window for what any PE gets. */
static void solve_make_window(struct solver *s, enum transfer transfer, size_t bytes)
{
    struct solve_work *w = s->work;

    if (bytes <= w->window_bytes[transfer])
        return;
    bytes += bytes / 4;
    w->window[transfer]       = s->comm->window(s->comm, transfer, bytes);
    w->window_bytes[transfer] = bytes;
    solve_require(s, w->window[transfer] != NULL);
}

/* Expects and puts all parcels of a transfer. */
static void solve_transfer(struct solver *s, enum transfer transfer,
                           const struct solve_sizes *sizes, const void *base)
{
    struct comm *comm = s->comm;
    size_t       most = 0;

    for (int pe = 0; pe < comm->pes; pe++)
        if (solve_offset(sizes, comm->pes, pe) > most)
            most = solve_offset(sizes, comm->pes, pe);
    solve_make_window(s, transfer, most);
    for (int pe = 0; pe < comm->pes; pe++) {
        size_t bytes = (size_t)sizes->at[pe * comm->pes + comm->pe];

        if (bytes > 0)
            comm->expect(comm, transfer, pe, solve_offset(sizes, pe, comm->pe), bytes);
    }
    for (int i = 1; i <= comm->pes; i++) {
        int                        pe = (comm->pe + i) % comm->pes;
        const struct solve_parcel *p  = &s->work->parcel[transfer][pe];

        if (p->bytes > 0)
            comm->put(comm, transfer, pe, solve_offset(sizes, comm->pe, pe), base, p->block, p->n);
    }
}

static void solve_wait(struct solver *s, enum transfer transfer)
{
    double from = s->comm->time();

    s->comm->wait(s->comm, transfer);
    s->seconds[PHASE_WAIT] += s->comm->time() - from;
}

/* ---- tree and division ---------------------------------------------------------------------- */

/* The smallest cube around the bodies of all PEs; with periodic boundaries the unit cube. */
static struct cube solve_cube(const struct solver *s, const struct traveller *body, int64_t n)
{
    struct cube cube    = {{0.5, 0.5, 0.5}, 1};
    double      most[6] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};

    if (s->rule.periodic)
        return cube;
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            most[d]     = fmax(most[d], body[i].body.at[d]);
            most[3 + d] = fmax(most[3 + d], -body[i].body.at[d]);
        }
    s->comm->max(s->comm, most, 6);
    cube.width = 1e-300;
    for (int d = 0; d < 3; d++) {
        cube.centre[d] = 0.5 * (most[d] - most[3 + d]);
        cube.width     = fmax(cube.width, (most[d] + most[3 + d]) * (1 + 1e-12));
    }
    return cube;
}

static void solve_find_lists(struct solver *s)
{
    int              pe = s->comm->pe, count = expansion_count(s->rule.order);
    struct list_rule rule = {s->rule.separation, s->rule.periodic, count / 2};

    lists_free(&s->lists);
    solve_require(s, lists_build(&s->lists, &s->tree, &rule, &s->translator, s->tree.first_of[pe],
                                 s->tree.first_of[pe + 1]));
}

/* The time that the lists of a target will take. */
static double solve_cost(const struct solver *s, int32_t target)
{
    const struct lists *l    = &s->lists;
    const struct node  *node = &s->tree.node[l->target[target].node];
    double              n = (double)node->count, cost = 0;
    double              count = expansion_count(s->rule.order);

    cost += TIME_TRANSLATION * pow(s->rule.order + 1, 3) *
            (l->target[target].end[LIST_FAR] - list_begin(l, target, LIST_FAR) + 2);
    cost += node->children == 0 ? TIME_COEFFICIENT * count * n : 0;
    for (int32_t i = list_begin(l, target, LIST_NEAR); i < l->target[target].end[LIST_NEAR]; i++)
        cost += TIME_PAIR * n * (double)s->tree.node[l->entry[LIST_NEAR][i].node].count;
    cost += TIME_COEFFICIENT * count * n *
            (l->target[target].end[LIST_FINE] - list_begin(l, target, LIST_FINE));
    for (int32_t i = list_begin(l, target, LIST_COARSE); i < l->target[target].end[LIST_COARSE];
         i++)
        cost +=
            TIME_COEFFICIENT * count * (double)s->tree.node[l->entry[LIST_COARSE][i].node].count;
    return cost;
}

/* Divides the leaves by their bodies, then by the times that the PEs have found for them. */
static void solve_divide(struct solver *s)
{
    struct tree *tree = &s->tree;
    double      *cost = solve_alloc(s, (size_t)tree->leaves, sizeof *cost);
    int          pe   = s->comm->pe;

    for (int32_t i = 0; i < tree->leaves; i++)
        cost[i] = (double)tree->node[tree->leaf[i]].count;
    tree_divide(tree, s->comm->pes, cost);
    if (s->comm->pes > 1) {
        solve_find_lists(s);
        memset(cost, 0, (size_t)tree->leaves * sizeof *cost);
        for (int32_t t = 0; t < s->lists.targets; t++) {
            int32_t leaf = tree->node[s->lists.target[t].node].leaf;

            if (leaf >= tree->first_of[pe]) /* the others belong to the PE before */
                cost[leaf] += solve_cost(s, t);
        }
        s->comm->sum(s->comm, cost, (size_t)tree->leaves);
        tree_divide(tree, s->comm->pes, cost);
    }
    free(cost);
}

/* Moves bodies to the PEs that own their leaves. */
static void solve_move_bodies(struct solver *s, struct traveller *body, int64_t n)
{
    const struct tree *tree = &s->tree;
    struct comm       *comm = s->comm;
    struct solve_sizes sizes;
    int64_t            at = 0;

    if (comm->pes == 1) {
        s->traveller = body;
        s->n         = n;
        return;
    }
    for (int pe = 0; pe < comm->pes; pe++) {
        int32_t end  = tree->first_of[pe + 1];
        int64_t from = at;

        while (at < n &&
               (end == tree->leaves || body[at].key < tree_key(&tree->node[tree->leaf[end]])))
            at++;
        if (at > from)
            solve_add_block(s, &s->work->parcel[TRANSFER_BODIES][pe], (size_t)from * sizeof *body,
                            (size_t)(at - from) * sizeof *body);
    }
    sizes = solve_exchange_sizes(s, TRANSFER_BODIES);
    solve_transfer(s, TRANSFER_BODIES, &sizes, body);
    s->n         = (int64_t)(solve_offset(&sizes, comm->pes, comm->pe) / sizeof *body);
    s->traveller = solve_alloc(s, (size_t)s->n, sizeof *body);
    solve_wait(s, TRANSFER_BODIES);
    memcpy(s->traveller, s->work->window[TRANSFER_BODIES], (size_t)s->n * sizeof *body);
    comm->done(comm); /* the bodies have left */
    free(body);
    free(sizes.at);
    solve_require(s, tree_sort(&s->traveller, (size_t)s->n));
}

/* ---- what this PE has ----------------------------------------------------------------------- */

/* Finds the boxes whose leaves belong to several PEs. */
static void solve_find_shared(struct solver *s)
{
    struct solve_work *w = s->work;

    w->shared  = solve_alloc(s, (size_t)s->tree.nodes, sizeof *w->shared);
    w->mine    = solve_alloc(s, (size_t)s->tree.nodes, sizeof *w->mine);
    w->shareds = 0;
    for (int32_t i = 0; i < s->tree.nodes; i++) {
        const struct node *node  = &s->tree.node[i];
        int                owner = tree_owner(&s->tree, node, s->comm->pes);

        if (tree_shared(&s->tree, node, owner))
            w->shared[w->shareds++] = i;
        else
            w->mine[i] = owner == s->comm->pe;
    }
}

/* Sorts the targets by level. */
static void solve_sort_targets(struct solver *s)
{
    struct solve_work  *w                      = s->work;
    const struct lists *l                      = &s->lists;
    int32_t             place[LEVELS_MOST + 2] = {0};

    w->by_level = solve_alloc(s, (size_t)l->targets, sizeof *w->by_level);
    for (int32_t t = 0; t < l->targets; t++)
        place[s->tree.node[l->target[t].node].level + 1]++;
    for (int level = 0; level <= LEVELS_MOST; level++)
        place[level + 1] += place[level];
    memcpy(w->level_first, place, sizeof place);
    for (int32_t t = 0; t < l->targets; t++)
        w->by_level[place[s->tree.node[l->target[t].node].level]++] = t;
}

static void solve_set_up(struct solver *s)
{
    struct solve_work *w      = s->work;
    size_t             stride = (size_t)solve_stride(s);

    solve_find_shared(s);
    solve_sort_targets(s);
    w->multipole_of = solve_alloc(s, (size_t)s->tree.nodes, sizeof *w->multipole_of);
    w->bodies_of    = solve_alloc(s, (size_t)s->tree.leaves, sizeof *w->bodies_of);
    w->target_of    = solve_alloc(s, (size_t)s->tree.nodes, sizeof *w->target_of);
    w->multipole    = solve_alloc(s, (size_t)s->lists.targets * stride, sizeof *w->multipole);
    w->local        = solve_alloc(s, (size_t)s->lists.targets * stride, sizeof *w->local);
    w->total        = solve_alloc(s, (size_t)w->shareds * stride, sizeof *w->total);
    s->body         = solve_alloc(s, (size_t)s->n, sizeof *s->body);
    s->field        = solve_alloc(s, (size_t)s->n, sizeof *s->field);
    for (int64_t i = 0; i < s->n; i++)
        s->body[i] = s->traveller[i].body;
    for (int32_t i = 0; i < s->tree.nodes; i++)
        w->target_of[i] = -1;
    for (int32_t t = 0; t < s->lists.targets; t++) {
        int32_t node = s->lists.target[t].node;

        w->target_of[node]    = t;
        w->multipole_of[node] = w->mine[node] ? w->multipole + (size_t)t * stride : NULL;
    }
}

/* The bodies of a leaf of this PE. */
static struct body *solve_bodies(const struct solver *s, const struct node *node)
{
    int32_t first = s->tree.first_of[s->comm->pe];

    return s->body + (node->first - s->tree.node[s->tree.leaf[first]].first);
}

static struct field *solve_fields(const struct solver *s, const struct node *node)
{
    return s->field + (solve_bodies(s, node) - s->body);
}

static void solve_free(struct solver *s)
{
    struct solve_work *w = s->work;

    tree_free(&s->tree);
    lists_free(&s->lists);
    free(s->traveller);
    free(s->body);
    free(s->field);
    free(w->multipole_of);
    free(w->bodies_of);
    free(w->mine);
    free(w->target_of);
    free(w->multipole);
    free(w->local);
    free(w->total);
    free(w->shared);
    free(w->by_level);
}

/* ---- what other PEs need, and what they send ---------------------------------------------------
 */

/* Adds a block to the parcels of the PEs that own leaves of a box, but once for each: @p last is
 * the last block that each PE got. */
static void solve_add_for(struct solver *s, enum transfer transfer, const struct node *to,
                          size_t offset, size_t bytes, size_t *last)
{
    int pe = tree_owner(&s->tree, to, s->comm->pes);

    for (; pe < s->comm->pes && s->tree.first_of[pe] < to->leaf_end; pe++)
        if (pe != s->comm->pe && tree_owns(&s->tree, to, pe) && last[pe] != offset + 1) {
            last[pe] = offset + 1;
            solve_add_block(s, &s->work->parcel[transfer][pe], offset, bytes);
        }
}

static void solve_add_list(struct solver *s, int32_t target, enum list list, enum transfer transfer,
                           size_t offset, size_t bytes, size_t *last)
{
    for (int32_t i = list_begin(&s->lists, target, list); i < s->lists.target[target].end[list];
         i++)
        solve_add_for(s, transfer, &s->tree.node[s->lists.entry[list][i].node], offset, bytes,
                      last);
}

/* Finds what each PE needs of the boxes of this one. */
static void solve_pack(struct solver *s)
{
    size_t *ghosts     = solve_alloc(s, (size_t)s->comm->pes, sizeof *ghosts);
    size_t *multipoles = solve_alloc(s, (size_t)s->comm->pes, sizeof *multipoles);
    size_t  each       = (size_t)solve_stride(s) * sizeof(double);

    for (int32_t t = 0; t < s->lists.targets; t++) {
        const struct node *node = &s->tree.node[s->lists.target[t].node];

        if (!s->work->mine[s->lists.target[t].node])
            continue;
        solve_add_list(s, t, LIST_FAR, TRANSFER_MULTIPOLES, (size_t)t * each, each, multipoles);
        solve_add_list(s, t, LIST_COARSE, TRANSFER_MULTIPOLES, (size_t)t * each, each, multipoles);
        if (node->children == 0) {
            size_t offset = (size_t)(solve_bodies(s, node) - s->body) * sizeof *s->body;
            size_t bytes  = (size_t)node->count * sizeof *s->body;

            solve_add_list(s, t, LIST_NEAR, TRANSFER_GHOSTS, offset, bytes, ghosts);
            solve_add_list(s, t, LIST_FINE, TRANSFER_GHOSTS, offset, bytes, ghosts);
        }
    }
    free(ghosts);
    free(multipoles);
}

/* Boxes of other PEs that this one needs, in the order in which they come. */
struct solve_needs {
    const struct tree *tree;
    int32_t           *node;
    int32_t            n;
    bool              *known;
};

static void solve_need(struct solver *s, struct solve_needs *needs, int32_t target, enum list list)
{
    for (int32_t i = list_begin(&s->lists, target, list); i < s->lists.target[target].end[list];
         i++) {
        int32_t            at   = s->lists.entry[list][i].node;
        const struct node *node = &s->tree.node[at];

        if (s->work->mine[at] || needs->known[at] ||
            tree_shared(&s->tree, node, tree_owner(&s->tree, node, s->comm->pes)))
            continue;
        needs->known[at]        = true;
        needs->node[needs->n++] = at;
    }
}

/* Along the curve, parents before children: so along the PEs. */
static int solve_compare(const void *a, const void *b, void *arg)
{
    const struct tree *tree = arg;
    const struct node *x = &tree->node[*(const int32_t *)a], *y = &tree->node[*(const int32_t *)b];

    return x->leaf != y->leaf ? (x->leaf > y->leaf) - (x->leaf < y->leaf) : x->level - y->level;
}

static struct solve_needs solve_find_needs(struct solver *s, enum list first, enum list second)
{
    size_t             nodes = (size_t)s->tree.nodes;
    struct solve_needs needs = {&s->tree, solve_alloc(s, nodes, sizeof *needs.node), 0,
                                solve_alloc(s, nodes, sizeof *needs.known)};

    for (int32_t t = 0; t < s->lists.targets; t++) {
        solve_need(s, &needs, t, first);
        solve_need(s, &needs, t, second);
    }
    qsort_r(needs.node, (size_t)needs.n, sizeof *needs.node, solve_compare, &s->tree);
    free(needs.known);
    return needs;
}

/* Notes where the multipoles and ghosts of other PEs will be. */
static void solve_place(struct solver *s)
{
    struct solve_work *w         = s->work;
    struct solve_needs needs     = solve_find_needs(s, LIST_FAR, LIST_FINE);
    const double      *multipole = w->window[TRANSFER_MULTIPOLES];
    const struct body *body      = w->window[TRANSFER_GHOSTS];

    for (int32_t i = 0; i < needs.n; i++, multipole += solve_stride(s))
        w->multipole_of[needs.node[i]] = multipole;
    free(needs.node);
    needs = solve_find_needs(s, LIST_NEAR, LIST_COARSE);
    for (int32_t i = 0; i < needs.n; i++) {
        const struct node *node = &s->tree.node[needs.node[i]];

        w->bodies_of[node->leaf] = body;
        body += node->count;
    }
    free(needs.node);
    for (int32_t leaf = s->tree.first_of[s->comm->pe]; leaf < s->tree.first_of[s->comm->pe + 1];
         leaf++)
        w->bodies_of[leaf] = solve_bodies(s, &s->tree.node[s->tree.leaf[leaf]]);
}

/* Puts the parts of shared boxes that this PE has to all PEs, this one included: all add them in
 * the order of PEs. */
static struct solve_sizes solve_put_shared(struct solver *s)
{
    struct solve_work *w     = s->work;
    size_t             each  = (size_t)solve_stride(s) * sizeof(double);
    struct solve_sizes sizes = {
        solve_alloc(s, (size_t)s->comm->pes * (size_t)s->comm->pes, sizeof(int64_t)), s->comm->pes};

    for (int32_t i = 0; i < w->shareds; i++)
        for (int pe = 0; pe < s->comm->pes; pe++) {
            int32_t t = w->target_of[w->shared[i]];

            for (int from = 0; from < s->comm->pes; from++)
                if (tree_owns(&s->tree, &s->tree.node[w->shared[i]], from))
                    sizes.at[from * s->comm->pes + pe] += (int64_t)each;
            if (t >= 0)
                solve_add_block(s, &w->parcel[TRANSFER_SHARED][pe], (size_t)t * each, each);
        }
    solve_transfer(s, TRANSFER_SHARED, &sizes, w->multipole);
    return sizes;
}

static void solve_add_shared(struct solver *s, const struct solve_sizes *sizes)
{
    struct solve_work *w      = s->work;
    int                stride = solve_stride(s);

    for (int32_t i = 0; i < w->shareds; i++)
        w->multipole_of[w->shared[i]] = w->total + (size_t)i * (size_t)stride;
    for (int pe = 0; pe < s->comm->pes && w->shareds > 0; pe++) {
        const double *from = (const double *)((const char *)w->window[TRANSFER_SHARED] +
                                              solve_offset(sizes, pe, s->comm->pe));

        for (int32_t i = 0; i < w->shareds; i++) {
            double *to = w->total + (size_t)i * (size_t)stride;

            if (!tree_owns(&s->tree, &s->tree.node[w->shared[i]], pe))
                continue;
            for (int k = 0; k < stride; k++)
                to[k] += from[k];
            from += stride;
        }
    }
}

/* ---- passes --------------------------------------------------------------------------------- */

static int solve_octant(const struct node *node)
{
    return (node->at[0] & 1) | (node->at[1] & 1) << 1 | (node->at[2] & 1) << 2;
}

/* Translations that go together. */
struct solve_batch {
    const double *from[LANES];
    double       *to[LANES];
    int           n;
};

/* Translates between the boxes of a level and their parents. */
static void solve_family(struct solver *s, int level, bool up)
{
    struct solve_work *w        = s->work;
    size_t             stride   = (size_t)solve_stride(s);
    struct solve_batch batch[8] = {{.n = 0}};

    for (int32_t i = w->level_first[level]; i <= w->level_first[level + 1]; i++) {
        bool                last   = i == w->level_first[level + 1];
        int32_t             child  = last ? 0 : w->by_level[i];
        const struct node  *node   = last ? NULL : &s->tree.node[s->lists.target[child].node];
        int                 octant = last ? 0 : solve_octant(node);
        struct solve_batch *b      = &batch[octant];

        for (; octant < 8 && last; octant++, b++) /* what is left */
            if (b->n > 0 && up)
                translate_to_parent(&s->translator, octant, b->from, b->to, b->n);
            else if (b->n > 0)
                translate_to_child(&s->translator, octant, b->from, b->to, b->n);
        if (last)
            break;
        b->from[b->n] = up ? w->multipole + (size_t)child * stride
                           : w->local + (size_t)w->target_of[node->parent] * stride;
        b->to[b->n++] = up ? w->multipole + (size_t)w->target_of[node->parent] * stride
                           : w->local + (size_t)child * stride;
        if (b->n < LANES)
            continue;
        if (up)
            translate_to_parent(&s->translator, octant, b->from, b->to, b->n);
        else
            translate_to_child(&s->translator, octant, b->from, b->to, b->n);
        b->n = 0;
    }
}

static void solve_up(struct solver *s)
{
    size_t stride = (size_t)solve_stride(s);

    for (int32_t t = 0; t < s->lists.targets; t++) {
        const struct node *node = &s->tree.node[s->lists.target[t].node];
        struct cube        cube = tree_cube(&s->tree, node);

        if (node->children == 0)
            expansion_add_multipole(s->work->multipole + (size_t)t * stride, &s->expansion, &cube,
                                    solve_bodies(s, node), (int)node->count);
    }
    for (int level = LEVELS_MOST; level > 0; level--)
        solve_family(s, level, true);
}

static void solve_shift(const struct solver *s, int image, double shift[3])
{
    for (int d = 0; d < 3; d++)
        shift[d] = list_image_shift(image, d) * s->tree.cube.width;
}

/* Adds the pairs of a leaf with leaves of this PE, or of others. */
static void solve_near_leaf(struct solver *s, int32_t target, bool own)
{
    const struct node  *node = &s->tree.node[s->lists.target[target].node];
    struct near_sources list[64];
    int                 n = 0, image = -1;

    for (int32_t i = list_begin(&s->lists, target, LIST_NEAR);
         i < s->lists.target[target].end[LIST_NEAR]; i++) {
        struct list_entry  e    = s->lists.entry[LIST_NEAR][i];
        const struct node *from = &s->tree.node[e.node];
        const struct body *body = s->work->bodies_of[from->leaf];

        if (s->work->mine[e.node] != own)
            continue;
        if (n > 0 && e.image == image && list[n - 1].body + list[n - 1].n == body) {
            list[n - 1].n += (int)from->count;
            continue;
        }
        if (n == 64) {
            near_add(solve_bodies(s, node), (int)node->count, solve_fields(s, node), list, n);
            n = 0;
        }
        list[n] = (struct near_sources){body, (int)from->count, {0}};
        solve_shift(s, image = e.image, list[n++].shift);
    }
    if (n > 0)
        near_add(solve_bodies(s, node), (int)node->count, solve_fields(s, node), list, n);
}

static void solve_near(struct solver *s, bool own)
{
    for (int32_t t = 0; t < s->lists.targets; t++)
        if (s->tree.node[s->lists.target[t].node].children == 0)
            solve_near_leaf(s, t, own);
}

/* A translation of LIST_FAR. */
struct solve_pair {
    int32_t from, to;
};

/* Translates the LIST_FAR of targets, sorted by direction, with boxes of this PE or of others. */
static void solve_far_chunk(struct solver *s, int32_t first, int32_t end, bool own,
                            struct solve_pair *pair, int32_t *place)
{
    const struct lists *l          = &s->lists;
    size_t              stride     = (size_t)solve_stride(s);
    int                 directions = translate_directions(&s->translator);
    const bool         *mine       = s->work->mine;

    memset(place, 0, (size_t)(directions + 1) * sizeof *place);
    for (int32_t i = list_begin(l, first, LIST_FAR); i < l->target[end - 1].end[LIST_FAR]; i++)
        place[l->entry[LIST_FAR][i].direction + 1] += mine[l->entry[LIST_FAR][i].node] == own;
    for (int d = 0; d < directions; d++)
        place[d + 1] += place[d];
    for (int32_t t = first; t < end; t++)
        for (int32_t i = list_begin(l, t, LIST_FAR); i < l->target[t].end[LIST_FAR]; i++) {
            struct list_entry e = l->entry[LIST_FAR][i];

            if (mine[e.node] == own)
                pair[place[e.direction]++] = (struct solve_pair){e.node, t};
        }
    for (int32_t d = 0, at = 0; d < directions; d++)
        for (int32_t n; at < place[d]; at += n) {
            const double *from[LANES];
            double       *to[LANES];

            n = place[d] - at < LANES ? place[d] - at : LANES;
            for (int32_t k = 0; k < n; k++) {
                from[k] = s->work->multipole_of[pair[at + k].from];
                to[k]   = s->work->local + (size_t)pair[at + k].to * stride;
            }
            translate_to_local(&s->translator, d, from, to, n);
        }
}

static void solve_far(struct solver *s, bool own)
{
    int32_t *place =
        solve_alloc(s, (size_t)translate_directions(&s->translator) + 1, sizeof *place);
    int32_t            most = 0;
    struct solve_pair *pair;

    for (int32_t t = 0; t < s->lists.targets; t += CHUNK) {
        int32_t end = t + CHUNK < s->lists.targets ? t + CHUNK : s->lists.targets;
        int32_t n   = s->lists.target[end - 1].end[LIST_FAR] - list_begin(&s->lists, t, LIST_FAR);

        most = n > most ? n : most;
    }
    pair = solve_alloc(s, (size_t)most, sizeof *pair);
    for (int32_t t = 0; t < s->lists.targets; t += CHUNK)
        solve_far_chunk(s, t, t + CHUNK < s->lists.targets ? t + CHUNK : s->lists.targets, own,
                        pair, place);
    free(pair);
    free(place);
}

/* Larger leaves act on boxes. */
static void solve_coarse(struct solver *s)
{
    size_t stride = (size_t)solve_stride(s);

    for (int32_t t = 0; t < s->lists.targets; t++)
        for (int32_t i = list_begin(&s->lists, t, LIST_COARSE);
             i < s->lists.target[t].end[LIST_COARSE]; i++) {
            struct list_entry  e    = s->lists.entry[LIST_COARSE][i];
            const struct node *from = &s->tree.node[e.node];
            struct cube        cube = tree_cube(&s->tree, &s->tree.node[s->lists.target[t].node]);
            double             shift[3];

            solve_shift(s, e.image, shift);
            expansion_add_local(s->work->local + (size_t)t * stride, &s->expansion, &cube,
                                s->work->bodies_of[from->leaf], (int)from->count, shift);
        }
}

/* The bodies of a leaf get its local expansion and the multipoles of smaller boxes. */
static void solve_down_leaf(struct solver *s, int32_t target)
{
    const struct node *node = &s->tree.node[s->lists.target[target].node];
    struct cube        cube = tree_cube(&s->tree, node);

    expansion_evaluate_local(s->work->local + (size_t)target * (size_t)solve_stride(s),
                             &s->expansion, &cube, solve_bodies(s, node), (int)node->count,
                             solve_fields(s, node));
    for (int32_t i = list_begin(&s->lists, target, LIST_FINE);
         i < s->lists.target[target].end[LIST_FINE]; i++) {
        struct list_entry e    = s->lists.entry[LIST_FINE][i];
        struct cube       from = tree_cube(&s->tree, &s->tree.node[e.node]);
        double            shift[3];

        solve_shift(s, e.image, shift);
        expansion_evaluate_multipole(s->work->multipole_of[e.node], &s->expansion, &from,
                                     solve_bodies(s, node), (int)node->count, shift,
                                     solve_fields(s, node));
    }
}

/* Images of the root: those far away, and what makes the sum over cubes that over a conductor. */
static void solve_images(struct solver *s)
{
    double centre[3], dipole[3] = {0}, moment[4] = {0}, factor;

    if (!s->rule.periodic)
        return;
    if (s->lists.targets > 0)
        lattice_add(s->work->local, &s->expansion, s->rule.separation, s->work->multipole_of[0]);
    memcpy(centre, s->tree.cube.centre, sizeof centre);
    for (int64_t i = 0; i < s->n; i++)
        for (int d = 0; d < 3; d++) {
            double x = s->body[i].at[d] - centre[d];

            moment[d] += s->body[i].charge * x;
            moment[3] += s->body[i].charge * x * x;
        }
    s->comm->sum(s->comm, moment, 4);
    memcpy(dipole, moment, sizeof dipole);
    factor = 2 * M_PI / 3 / pow(s->tree.cube.width, 3);
    for (int64_t i = 0; i < s->n; i++) {
        s->field[i].potential += factor * moment[3];
        for (int d = 0; d < 3; d++) {
            s->field[i].potential -= 2 * factor * dipole[d] * (s->body[i].at[d] - centre[d]);
            s->field[i].at[d] += 2 * factor * dipole[d];
        }
    }
}

static void solve_down(struct solver *s)
{
    solve_coarse(s);
    solve_images(s);
    for (int level = 1; level <= LEVELS_MOST; level++)
        solve_family(s, level, false);
    for (int32_t t = 0; t < s->lists.targets; t++)
        if (s->tree.node[s->lists.target[t].node].children == 0)
            solve_down_leaf(s, t);
}

/* ---- a solve -------------------------------------------------------------------------------- */

/* Adds the time since *@p from, less what was spent waiting, to a phase. */
static void solve_clock(struct solver *s, enum phase phase, double *from, double *waited)
{
    double now = s->comm->time();

    s->seconds[phase] += now - *from - (s->seconds[PHASE_WAIT] - *waited);
    *from   = now;
    *waited = s->seconds[PHASE_WAIT];
}

static void solve_prepare(struct solver *s, struct traveller *body, int64_t n)
{
    struct cube cube = solve_cube(s, body, n);

    tree_set_keys(body, (size_t)n, &cube);
    solve_require(s, tree_sort(&body, (size_t)n));
    solve_require(s, tree_build(&s->tree, s->comm, &cube, body, (size_t)n, s->rule.leaf));
    solve_divide(s);
    solve_move_bodies(s, body, n);
    solve_find_lists(s);
    solve_set_up(s);
    solve_pack(s);
}

static void solve_wait_all(struct solver *s, const struct solve_sizes *shared)
{
    solve_wait(s, TRANSFER_SHARED);
    solve_wait(s, TRANSFER_GHOSTS);
    solve_wait(s, TRANSFER_MULTIPOLES);
    solve_add_shared(s, shared);
}

static void solve_passes(struct solver *s, double *from, double *waited)
{
    struct solve_sizes ghosts     = solve_exchange_sizes(s, TRANSFER_GHOSTS), shared;
    struct solve_sizes multipoles = solve_exchange_sizes(s, TRANSFER_MULTIPOLES);
    bool               first      = s->rule.no_overlap;

    solve_transfer(s, TRANSFER_GHOSTS, &ghosts, s->body);
    solve_clock(s, PHASE_TREE, from, waited);
    solve_up(s);
    shared = solve_put_shared(s);
    solve_transfer(s, TRANSFER_MULTIPOLES, &multipoles, s->work->multipole);
    solve_place(s);
    solve_clock(s, PHASE_UP, from, waited);
    if (first)
        solve_wait_all(s, &shared);
    solve_near(s, true);
    solve_clock(s, PHASE_NEAR, from, waited);
    solve_far(s, true);
    if (!first)
        solve_wait_all(s, &shared);
    solve_far(s, false);
    solve_clock(s, PHASE_FAR, from, waited);
    solve_down(s);
    solve_clock(s, PHASE_DOWN, from, waited);
    solve_near(s, false);
    solve_clock(s, PHASE_NEAR, from, waited);
    free(ghosts.at);
    free(multipoles.at);
    free(shared.at);
}

void solver_create(struct solver *s, struct comm *comm, const struct solve_rule *rule)
{
    *s = (struct solver){.comm = comm, .rule = *rule};
    expansion_init(&s->expansion, rule->order);
    s->work = solve_alloc(s, 1, sizeof *s->work);
    for (int t = 0; t < TRANSFERS; t++)
        s->work->parcel[t] = solve_alloc(s, (size_t)comm->pes, sizeof *s->work->parcel[t]);
    solve_require(s, translator_create(&s->translator, &s->expansion, rule->separation));
}

static void solve_reset(struct solver *s)
{
    struct solve_work kept = *s->work;

    solve_free(s);
    memset(s->work, 0, sizeof *s->work);
    memcpy(s->work->parcel, kept.parcel, sizeof kept.parcel);
    memcpy(s->work->window, kept.window, sizeof kept.window);
    memcpy(s->work->window_bytes, kept.window_bytes, sizeof kept.window_bytes);
    memset(s->seconds, 0, sizeof s->seconds);
    s->traveller = NULL;
    s->body      = NULL;
    s->field     = NULL;
    solve_clear_parcels(s);
}

void solver_run(struct solver *s, struct traveller *body, int64_t n)
{
    double from = s->comm->time(), waited = 0;

    solve_reset(s);
    solve_prepare(s, body, n);
    solve_passes(s, &from, &waited);
    s->comm->done(s->comm);
}

void solver_free(struct solver *s)
{
    solve_free(s);
    for (int t = 0; t < TRANSFERS; t++) {
        for (int pe = 0; pe < s->comm->pes; pe++)
            free(s->work->parcel[t][pe].block);
        free(s->work->parcel[t]);
    }
    translator_free(&s->translator);
    free(s->work);
}
