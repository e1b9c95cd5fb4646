/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - remote nodes of the tree on a PE; see barneshut.ci.
 *
 * Before it computes forces, a Piece walks the remote part of the tree with its own nodes as
 * targets, from its roots: a target that opens a node is replaced by its children, or the node is,
 * whichever is larger.  Bodies open no node that a target which contains them does not open, so a
 * Piece has requested all that its leaves need.  Where children are not on this PE, the walk of
 * this target records a wait; the reply resumes it.
 */
#include <stdlib.h>
#include <string.h>

#include "barneshut.ci.h"

#define LEVELS       7 /* levels of the tree in a reply: a few messages carry all of a small cell */
#define BRANCH_NODES (2 << LEVELS)

/* ---- walks ----------------------------------------------------------------------------- */

static void cache_request(Domain *d, Piece *p, int32_t target, struct node *node)
{
    if (node->request == NODE_UNREQUESTED) {
        node->request = (int32_t)d->requests;
        d->request    = grow(d->request, d->requests + 1, &d->requests_room, sizeof *d->request);
        d->request[d->requests++] = (struct cache_request){node, -1};
        Piece_request_prio(Piece_at(pieces, node->piece), PRIORITY_BRANCH, node->index, skua_pe(),
                           node->request);
        d->times.requests++;
    } else {
        d->times.merged++;
    }
    d->wait                        = grow(d->wait, d->waits + 1, &d->waits_room, sizeof *d->wait);
    d->wait[d->waits]              = (struct cache_wait){p, target, d->request[node->request].wait};
    d->request[node->request].wait = d->waits++;
    p->missing++;
}

/* A small target is not replaced by its children, since their walks would hardly differ from its
 * own. */
static bool cache_splits_target(const Piece *p, int32_t target, const struct node *node)
{
    const struct bounds *bounds = &p->tree.bounds[target];
    double               square = 0;

    for (int i = 0; i < 3; i++)
        square += (bounds->high[i] - bounds->low[i]) * (bounds->high[i] - bounds->low[i]);
    return p->tree.node[target].count == 0 && square > node->open;
}

static void cache_visit(Domain *d, Piece *p, int32_t target, struct node *node)
{
    if (node->request == NODE_LOCAL || !node_is_near(node, &p->tree.bounds[target]))
        return;
    if (!node->at) {
        cache_request(d, p, target, node);
    } else if (node->count == 0) {
        bool    split = cache_splits_target(p, target, node);
        int32_t child = split ? p->tree.node[target].child->index : target;

        cache_visit(d, p, child, split ? node : node->child);
        cache_visit(d, p, child + split, split ? node : node->child + 1);
    }
}

/* All nodes that the Piece needs are on this PE, so it can compute. */
static void cache_end_wait(Piece *p)
{
    if (--p->missing == 0)
        start_compute(p);
}

void cache_walk(Domain *d, Piece *p)
{
    double  begun = skua_time();
    int64_t self  = Piece_index(p), roots;

    roots      = piece_first_cell(d, self + 1) - piece_first_cell(d, self);
    p->missing = 1; /* counts the walk itself as one wait */
    for (int32_t i = 0; i < roots; i++)
        cache_visit(d, p, i, d->top);
    cache_end_wait(p);
    d->times.busy += skua_time() - begun;
}

/* ---- requests and replies -------------------------------------------------------------- */

/* Lists the nodes of a reply, level by level.  Returns their number. */
static int branch_list(const struct node *node, const struct node *list[])
{
    int count = 0, first = 0;

    if (node->count == 0)
        for (int i = 0; i < 2; i++)
            list[count++] = &node->child[i];
    for (int level = 1; level < LEVELS; level++) {
        int end = count;

        for (; first < end; first++)
            if (list[first]->count == 0)
                for (int i = 0; i < 2; i++)
                    list[count++] = &list[first]->child[i];
    }
    return count;
}

static void branch_add_points(Branch *b, size_t *points, const struct node *leaf)
{
    for (int32_t k = 0; k < leaf->count; k++)
        b->point[(*points)++] = leaf->point[k];
}

/* Copies nodes; the children of inner ones follow in the order of their parents. */
static void branch_fill(Branch *b, const struct node *const *list)
{
    size_t children = 2, points = 0;

    for (size_t i = 0; i < b->node_count; i++) {
        struct node *node  = &b->node[i];
        bool         inner = list[i]->count == 0, here = !inner || children < b->node_count;

        *node         = *list[i];
        node->request = here ? NODE_HERE : NODE_UNREQUESTED;
        node->offset  = (int64_t)(inner ? children : points);
        children += inner && here ? 2 : 0;
        branch_add_points(b, &points, list[i]);
    }
}

void Piece_on_request(Piece *p, int index, int pe, int request)
{
    const struct node *list[BRANCH_NODES], *node = &p->tree.node[index];
    int                count  = branch_list(node, list);
    size_t             points = (size_t)node->count;
    Branch            *b;

    for (int i = 0; i < count; i++)
        points += (size_t)list[i]->count;
    b          = Branch_new((size_t)count, points);
    b->request = request;
    if (count == 0)
        memcpy(b->point, node->point, points * sizeof *b->point);
    branch_fill(b, list);
    Domain_branch_prio(Domain_at(domains, pe), PRIORITY_BRANCH, b);
}

/* Replaces offsets by pointers, and attaches the nodes to the one that was requested. */
static void branch_attach(Branch *b, struct node *to)
{
    for (size_t i = 0; i < b->node_count; i++) {
        struct node *node = &b->node[i];

        if (node->request == NODE_UNREQUESTED)
            node->at = NULL;
        else if (node->count > 0)
            node->point = b->point + node->offset;
        else
            node->child = b->node + node->offset;
    }
    if (to->count > 0)
        to->point = b->point;
    else
        to->child = b->node;
}

void Domain_on_branch(Domain *d, Branch *b)
{
    struct node *node  = d->request[b->request].node;
    double       begun = skua_time();
    int64_t      next;

    d->branch = grow(d->branch, d->branches + 1, &d->branches_room, sizeof *d->branch);
    d->branch[d->branches++] = b;
    branch_attach(b, node);
    for (int64_t i = d->request[b->request].wait; i >= 0; i = next) {
        struct cache_wait wait = d->wait[i]; /* pointers into the list are invalid after it grows */

        next = wait.next;
        cache_visit(d, wait.piece, wait.target, node);
        cache_end_wait(wait.piece);
    }
    d->times.busy += skua_time() - begun;
}

void cache_clear(Domain *d)
{
    for (int64_t i = 0; i < d->branches; i++)
        Branch_free(d->branch[i]);
    d->branches = d->requests = d->waits = 0;
}
