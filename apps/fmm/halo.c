/* SPDX-License-Identifier: Apache-2.0 */
/*
 * halo.c - the data that PEs need from each other: bodies of leaves (ghosts), multipoles of boxes,
 * and partial multipoles of boxes that several PEs share.
 *
 * Lists are symmetric, or come in pairs: a box is in the coarse list of those that are in its fine
 * list.  So a PE derives from its own lists the boxes that each other PE needs and the boxes that
 * it will receive, both in the order of the curve; a transfer does not name its boxes.
 */
#include "solve_work.h"

/* Adds a block once to the parcel of each PE that owns leaves of a box; @p last is the last block
 * added for each PE. */
static void solve_add_for(struct solver *s, enum transfer transfer, const struct node *to,
                          size_t offset, size_t bytes, size_t *last)
{
    int pe = tree_owner(&s->tree, to);

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
         i++) {
        int32_t to = s->lists.entry[list][i].node;

        if (!s->work->mine[to]) /* most boxes belong to this PE alone */
            solve_add_for(s, transfer, &s->tree.node[to], offset, bytes, last);
    }
}

void solve_pack(struct solver *s)
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

/* The boxes of other PEs that this PE needs, in the order of their arrival. */
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

        if (s->work->mine[at] || needs->known[at] || tree_shared(&s->tree, node))
            continue;
        needs->known[at]        = true;
        needs->node[needs->n++] = at;
    }
}

/* The order is that of the curve, parents before children, and therefore also that of the PEs. */
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

void solve_place(struct solver *s)
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

struct solve_sizes solve_put_shared(struct solver *s)
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

void solve_add_shared(struct solver *s, const struct solve_sizes *sizes)
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
