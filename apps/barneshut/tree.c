/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - see tree.h. */
#include "tree.h"

#include <math.h>
#include <stdlib.h>

/* ---- moments --------------------------------------------------------------------------- */

static void node_set_open(struct node *node, const struct tree_rule *rule, uint64_t key, int depth)
{
    double centre[3], *com = &node->sum.x, off = 0, side = keys_side(&rule->cube, depth), radius;

    keys_centre(&rule->cube, key, depth, centre);
    for (int i = 0; i < 3; i++)
        off += (com[i] - centre[i]) * (com[i] - centre[i]);
    radius     = fmax(side / rule->theta, sqrt(off) + 0.5 * sqrt(3) * side);
    node->open = radius * radius;
}

static struct point point_join(struct point a, struct point b)
{
    double mass = a.mass + b.mass;

    return (struct point){(a.mass * a.x + b.mass * b.x) / mass,
                          (a.mass * a.y + b.mass * b.y) / mass,
                          (a.mass * a.z + b.mass * b.z) / mass, mass};
}

void node_join(struct node *node, const struct tree_rule *rule, uint64_t key, int depth)
{
    node->sum = point_join(node->child[0].sum, node->child[1].sum);
    node_set_open(node, rule, key, depth);
}

/* ---- building -------------------------------------------------------------------------- */

struct tree_builder {
    struct tree            *tree;
    const struct tree_rule *rule;
    const struct body      *body; /* array of all bodies */
    int32_t                 next; /* index of the next node */
};

static bool tree_is_leaf(const struct tree_rule *rule, int64_t count, int depth)
{
    return count <= rule->leaf || depth == KEY_BITS;
}

/* Returns the number of bodies in the first half of a cell. */
static int64_t tree_half(const struct body *body, int64_t count, int depth)
{
    uint64_t bit = KEY_END >> (depth + 1);

    return (int64_t)keys_find(body, (size_t)count, (body->key & ~(bit - 1)) | bit);
}

/* Returns the number of nodes below the node of these bodies. */
static int32_t tree_count(const struct tree_rule *rule, const struct body *body, int64_t count)
{
    int     depth = keys_common(body[0].key, body[count - 1].key);
    int64_t half;

    if (tree_is_leaf(rule, count, depth))
        return 0;
    half = tree_half(body, count, depth);
    return 2 + tree_count(rule, body, half) + tree_count(rule, body + half, count - half);
}

static void tree_set_leaf(struct tree_builder *b, struct node *node, const struct body *body,
                          int64_t count)
{
    struct bounds bounds = BOUNDS_EMPTY;

    node->count = (int32_t)count;
    node->point = b->tree->point + (body - b->body);
    for (int64_t k = 0; k < count; k++) {
        node->point[k] = (struct point){body[k].at[0], body[k].at[1], body[k].at[2], body[k].mass};
        node->sum      = k > 0 ? point_join(node->sum, node->point[k]) : node->point[k];
        bounds_add(&bounds, body[k].at);
    }
    b->tree->bounds[node - b->tree->node] = bounds;
}

static void tree_set_node(struct tree_builder *b, int32_t index, const struct body *body,
                          int64_t count);

static void tree_set_children(struct tree_builder *b, int32_t index, const struct body *body,
                              int64_t count, int depth)
{
    struct tree   *tree  = b->tree;
    struct bounds *all   = &tree->bounds[index];
    int32_t        first = b->next;
    int64_t        half  = tree_half(body, count, depth);

    b->next += 2;
    tree->node[index].child = tree->node + first;
    tree_set_node(b, first, body, half);
    tree_set_node(b, first + 1, body + half, count - half);
    node_join(&tree->node[index], b->rule, body->key, depth);
    *all = tree->bounds[first];
    bounds_add(all, tree->bounds[first + 1].low);
    bounds_add(all, tree->bounds[first + 1].high);
}

static void tree_set_node(struct tree_builder *b, int32_t index, const struct body *body,
                          int64_t count)
{
    int          depth = keys_common(body[0].key, body[count - 1].key);
    struct node *node  = &b->tree->node[index];

    *node = (struct node){.index = index, .request = NODE_LOCAL};
    if (tree_is_leaf(b->rule, count, depth)) {
        tree_set_leaf(b, node, body, count);
        node_set_open(node, b->rule, body->key, depth);
    } else {
        tree_set_children(b, index, body, count, depth);
    }
}

static bool tree_alloc(struct tree *tree, int32_t nodes, int64_t bodies)
{
    tree->nodes  = nodes;
    tree->node   = malloc((size_t)nodes * sizeof *tree->node);
    tree->bounds = malloc((size_t)nodes * sizeof *tree->bounds);
    tree->point  = malloc((size_t)bodies * sizeof *tree->point);
    return tree->node && tree->bounds && tree->point;
}

bool tree_build(struct tree *tree, const struct tree_rule *rule, const struct body *body,
                const int64_t *count, int32_t roots)
{
    struct tree_builder b      = {tree, rule, body, roots};
    int64_t             bodies = 0;
    int32_t             nodes  = roots;

    for (int32_t i = 0; i < roots; bodies += count[i++])
        nodes += tree_count(rule, body + bodies, count[i]);
    if (nodes == 0)
        return true;
    if (!tree_alloc(tree, nodes, bodies))
        return false;
    for (int32_t i = 0; i < roots; body += count[i++])
        tree_set_node(&b, i, body, count[i]);
    return true;
}

void tree_free(struct tree *tree)
{
    free(tree->node);
    free(tree->bounds);
    free(tree->point);
    *tree = (struct tree){0};
}
