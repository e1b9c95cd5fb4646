/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - see tree.h. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/huge_pages.h"
#include "common/morton.h"

#define DIGIT 12 /* bits of a key that one pass of the sort looks at */

/* ---- keys ----------------------------------------------------------------------------------- */

void tree_set_keys(struct traveller *body, size_t n, const struct cube *cube)
{
    double scale = (double)(1 << LEVELS_MAX) / cube->width;

    for (size_t i = 0; i < n; i++) {
        uint64_t at[3];

        for (int d = 0; d < 3; d++) {
            double x = (body[i].body.at[d] - cube->centre[d] + 0.5 * cube->width) * scale;

            at[d] = x <= 0 ? 0 : (uint64_t)x;
            /* The position is on the upper face, or beyond it by rounding. */
            if (at[d] >> LEVELS_MAX)
                at[d] = (1 << LEVELS_MAX) - 1;
        }
        body[i].key = morton_key(at);
    }
}

uint64_t tree_key(const struct node *node)
{
    uint64_t at[3];

    for (int d = 0; d < 3; d++)
        at[d] = (uint64_t)node->at[d];
    return morton_key(at) << 3 * (LEVELS_MAX - node->level);
}

struct cube tree_cube(const struct tree *tree, const struct node *node)
{
    struct cube cube = {.width = tree->cube.width / (1 << node->level)};

    for (int d = 0; d < 3; d++)
        cube.centre[d] =
            tree->cube.centre[d] - 0.5 * tree->cube.width + (node->at[d] + 0.5) * cube.width;
    return cube;
}

/* A key and the index of its body. */
struct tree_item {
    uint64_t key, from;
};

/* Performs one pass of a radix sort, which begins with the least significant digit. */
static void tree_sort_digit(const struct tree_item *from, struct tree_item *to, size_t n, int shift)
{
    size_t place[1 << DIGIT] = {0}, sum = 0;

    for (size_t i = 0; i < n; i++)
        place[from[i].key >> shift & ((1 << DIGIT) - 1)]++;
    for (size_t digit = 0; digit < 1 << DIGIT; digit++) {
        size_t count = place[digit];

        place[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[from[i].key >> shift & ((1 << DIGIT) - 1)]++] = from[i];
}

bool tree_sort(struct traveller **body, size_t n)
{
    struct tree_item *item = huge_malloc((2 * n + 1) * sizeof *item), *other = item + n;
    struct traveller *sorted = huge_malloc((n + 1) * sizeof *sorted);

    if (!item || !sorted) {
        free(item);
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        item[i] = (struct tree_item){(*body)[i].key, i};
    for (int shift = 0; shift < 3 * LEVELS_MAX; shift += DIGIT) {
        struct tree_item *from = shift / DIGIT % 2 ? other : item;

        tree_sort_digit(from, from == item ? other : item, n, shift);
    }
    if (3 * LEVELS_MAX / DIGIT % 2 == 0)
        other = item;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (*body)[other[i].from];
    free(item);
    free(*body);
    *body = sorted;
    return true;
}

/* Merges two runs.  Returns the end. */
static struct traveller *tree_merge_two(struct tree_run a, struct tree_run b, struct traveller *to)
{
    size_t i = 0, k = 0;

    while (i < a.n && k < b.n)
        *to++ = b.body[k].key < a.body[i].key ? b.body[k++] : a.body[i++];
    while (i < a.n)
        *to++ = a.body[i++];
    while (k < b.n)
        *to++ = b.body[k++];
    return to;
}

/* Merges each run of an even number with the next one, if there is one. */
static void tree_merge_pairs(struct tree_run *run, int runs, struct traveller *to)
{
    run[runs] = (struct tree_run){NULL, 0};
    for (int i = 0; i < runs; i += 2) {
        struct traveller *end = tree_merge_two(run[i], run[i + 1], to);

        run[i / 2] = (struct tree_run){to, (size_t)(end - to)};
        to         = end;
    }
}

struct traveller *tree_merge(const struct tree_run *run, int runs, int64_t *n)
{
    struct tree_run  *left = malloc(((size_t)runs + 1) * sizeof *left); /* to be merged */
    struct traveller *merged, *spare;
    size_t            all = 0;
    bool              good;

    for (int i = 0; i < runs; i++)
        all += run[i].n;
    merged = huge_malloc((all + 1) * sizeof *merged);
    spare  = huge_malloc((runs > 2 ? all + 1 : 1) * sizeof *spare);
    good   = left && merged && spare;
    if (good)
        memcpy(left, run, (size_t)runs * sizeof *left);
    for (bool more = good; more; runs = (runs + 1) / 2) {
        struct traveller *to = merged;

        tree_merge_pairs(left, runs, to);
        more   = runs > 2;
        merged = more ? spare : to;
        spare  = more ? to : spare;
    }
    *n = (int64_t)all;
    free(left);
    free(spare);
    if (!good)
        free(merged);
    return good ? merged : NULL;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Bodies of this PE, which are sorted. */
struct tree_range {
    size_t begin, end;
};

/* The last level while its boxes are divided. */
struct tree_frontier {
    const struct traveller *body;
    struct tree_range      *range; /* the bodies of this PE in each box */
    struct tree_range      *next;  /* in each octant of the boxes that are divided */
    int64_t                *count; /* number of bodies in each of these octants */
};

/* Returns the first body whose key is not less than @p key. */
static size_t tree_find(const struct traveller *body, size_t n, uint64_t key)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (body[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds the bodies of this PE in each octant of a box. */
static void tree_count(const struct tree_frontier *f, const struct node *node,
                       struct tree_range range, int32_t divided)
{
    uint64_t key = tree_key(node), each = UINT64_C(1) << 3 * (LEVELS_MAX - node->level - 1);
    size_t   at = range.begin;

    for (int octant = 0; octant < 8; octant++) {
        size_t next = octant == 7 ? range.end
                                  : at + tree_find(f->body + at, range.end - at,
                                                   key + (uint64_t)(octant + 1) * each);

        f->next[8 * divided + octant]  = (struct tree_range){at, next};
        f->count[8 * divided + octant] = (int64_t)(next - at);
        at                             = next;
    }
}

static bool tree_reserve(struct tree *tree, int32_t more)
{
    struct node *node;
    int32_t      room = tree->room;

    while (tree->nodes + more > room)
        room = room ? 2 * room : 1024;
    if (room == tree->room)
        return true;
    node = realloc(tree->node, (size_t)room * sizeof *node);
    if (!node)
        return false;
    tree->node = node;
    tree->room = room;
    return true;
}

/* Adds the octants of a box that have bodies. */
static void tree_add_children(struct tree *tree, int32_t parent, const int64_t *count)
{
    struct node *p    = &tree->node[parent];
    int64_t      from = p->first;

    p->child = tree->nodes;
    for (int octant = 0; octant < 8; octant++) {
        struct node *child = &tree->node[tree->nodes];

        if (count[octant] == 0)
            continue;
        *child = (struct node){
            .level = p->level + 1, .parent = parent, .first = from, .count = count[octant]};
        for (int d = 0; d < 3; d++)
            child->at[d] = 2 * p->at[d] + (octant >> d & 1);
        from += count[octant];
        tree->nodes++;
        p->children++;
    }
}

static bool tree_divides(const struct node *node, int64_t most)
{
    return node->count > most && node->level < LEVELS_MAX;
}

/* Replaces the ranges of the last level by those of its children, which are the octants that have
 * bodies on some PE. */
static void tree_advance(struct tree_frontier *f, int32_t octants)
{
    int32_t children = 0;

    for (int32_t i = 0; i < octants; i++)
        if (f->count[i] > 0)
            f->next[children++] = f->next[i];
    free(f->range);
    free(f->count);
    f->range = f->next;
    f->next  = NULL;
    f->count = NULL;
}

/* Divides the boxes of the last level, from @p first on.  Returns false if there is no memory. */
static bool tree_add_level(struct tree *tree, struct comm *comm, struct tree_frontier *f,
                           int32_t first, int64_t most)
{
    int32_t last = tree->nodes, n = 0, divided = 0;

    for (int32_t i = first; i < last; i++)
        n += tree_divides(&tree->node[i], most);
    f->count = malloc((8 * (size_t)n + 1) * sizeof *f->count);
    f->next  = malloc((8 * (size_t)n + 1) * sizeof *f->next);
    if (!f->count || !f->next || !tree_reserve(tree, 8 * n))
        return false;
    for (int32_t i = first; i < last; i++)
        if (tree_divides(&tree->node[i], most))
            tree_count(f, &tree->node[i], f->range[i - first], divided++);
    if (n > 0)
        comm->sum_counts(comm, f->count, 8 * (size_t)n);
    divided = 0;
    for (int32_t i = first; i < last; i++)
        if (tree_divides(&tree->node[i], most))
            tree_add_children(tree, i, f->count + 8 * (size_t)divided++);
    tree_advance(f, 8 * n);
    return true;
}

/* Adds all levels below the root. */
static bool tree_add_levels(struct tree *tree, struct comm *comm, const struct traveller *body,
                            size_t n, int64_t most)
{
    struct tree_frontier f    = {body, malloc(sizeof *f.range), NULL, NULL};
    bool                 good = f.range != NULL;

    if (good)
        f.range[0] = (struct tree_range){0, n};
    for (int32_t first = 0; good && first < tree->nodes;) {
        int32_t last = tree->nodes;

        good  = tree_add_level(tree, comm, &f, first, most);
        first = last;
    }
    free(f.range);
    free(f.next);
    free(f.count);
    return good;
}

/* Numbers the leaves in a box. */
static void tree_number_leaves(struct tree *tree, int32_t at)
{
    struct node *node = &tree->node[at];

    node->leaf = tree->leaves;
    if (node->children == 0)
        tree->leaf[tree->leaves++] = at;
    for (int i = 0; i < node->children; i++)
        tree_number_leaves(tree, node->child + i);
    node->leaf_end = tree->leaves;
}

bool tree_build(struct tree *tree, struct comm *comm, const struct cube *cube,
                const struct traveller *body, size_t n, int64_t most)
{
    int64_t total = (int64_t)n;

    *tree = (struct tree){.cube = *cube};
    comm->sum_counts(comm, &total, 1);
    if (!tree_reserve(tree, 1))
        return false;
    tree->node[0] = (struct node){.parent = -1, .count = total};
    tree->nodes   = 1;
    if (!tree_add_levels(tree, comm, body, n, most))
        return false;
    tree->leaf     = malloc((size_t)tree->nodes * sizeof *tree->leaf);
    tree->owner    = malloc((size_t)tree->nodes * sizeof *tree->owner);
    tree->first_of = malloc((size_t)(comm->pes + 1) * sizeof *tree->first_of);
    if (!tree->leaf || !tree->owner || !tree->first_of)
        return false;
    tree_number_leaves(tree, 0);
    return true;
}

void tree_free(struct tree *tree)
{
    free(tree->node);
    free(tree->leaf);
    free(tree->owner);
    free(tree->first_of);
    *tree = (struct tree){0};
}

/* ---- division among PEs --------------------------------------------------------------------- */

void tree_divide(struct tree *tree, int pes, const double *cost, const double *speed)
{
    double  total = 0, sum = 0, speeds = 0, so_far = 0;
    int32_t leaf = 0;

    for (int32_t i = 0; i < tree->leaves; i++)
        total += cost[i];
    for (int pe = 0; pe < pes; pe++)
        speeds += speed[pe];
    for (int pe = 0; pe < pes; pe++) {
        tree->first_of[pe] = leaf;
        so_far += speed[pe];
        while (leaf < tree->leaves && sum + 0.5 * cost[leaf] < total * so_far / speeds)
            sum += cost[leaf++];
    }
    tree->first_of[0]   = 0;
    tree->first_of[pes] = tree->leaves;
    for (int pe = 0; pe < pes; pe++)
        for (leaf = tree->first_of[pe]; leaf < tree->first_of[pe + 1]; leaf++)
            tree->owner[leaf] = pe;
}
