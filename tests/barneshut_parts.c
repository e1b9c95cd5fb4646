/* SPDX-License-Identifier: Apache-2.0 */
/* barneshut_parts.c - the kernel, the keys and the tree of apps/barneshut, also with bodies at the
 * same position, against direct formulas. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "forces.h"
#include "plummer.h"

#define BODIES     700
#define COINCIDENT 50 /* the last bodies, which are at the position of body 0 */
#define LEAF       8
#define EPS        0.05

static struct body      body[BODIES];
static struct field     field[BODIES], direct;
static struct tree      tree;
static struct tree_rule rule = {.theta = 0.5, .leaf = LEAF};
static int              failures;

static void expect(bool holds, const char *what)
{
    if (!holds)
        printf("wrong: %s\n", what);
    failures += !holds;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-13 * (fabs(a) + fabs(b) + 1);
}

static void fill_bodies(void)
{
    struct bounds bounds = BOUNDS_EMPTY;

    plummer_fill(body, 0, BODIES, BODIES, 7);
    for (int k = BODIES - COINCIDENT; k < BODIES; k++)
        for (int i = 0; i < 3; i++)
            body[k].at[i] = body[0].at[i];
    for (int k = 0; k < BODIES; k++)
        bounds_add(&bounds, body[k].at);
    rule.cube = cube_of(&bounds);
    keys_set(body, BODIES, &rule.cube);
}

/* ---- keys ------------------------------------------------------------------------------ */

static bool is_in_cell(const struct body *b, int depth)
{
    double centre[3];
    bool   inside = true;

    keys_centre(&rule.cube, b->key, depth, centre);
    for (int i = 0; i < 3; i++)
        inside &= fabs(b->at[i] - centre[i]) <= 0.5000001 * keys_side(&rule.cube, depth);
    return inside;
}

static void test_keys(void)
{
    int64_t ids = 0;

    for (int k = 0; k < BODIES; k++)
        for (int depth = 0; depth <= KEY_BITS; depth++)
            expect(is_in_cell(&body[k], depth), "a body is in the cell of its key");
    expect(keys_sort(body, BODIES) && keys_sort(body, 0), "bodies can be sorted");
    for (int k = 1; k < BODIES; k++)
        expect(body[k - 1].key < body[k].key ||
                   (body[k - 1].key == body[k].key && body[k - 1].id < body[k].id),
               "bodies are sorted by key and id");
    for (int k = 0; k < BODIES; k++)
        ids += body[k].id;
    expect(ids == (int64_t)BODIES * (BODIES - 1) / 2, "no body is lost");
    expect(keys_common(0, KEY_END >> 1) == 0 && keys_common(5, 4) == KEY_BITS - 1 &&
               keys_common(9, 9) == KEY_BITS,
           "keys have bits in common");
    expect(keys_find(body, BODIES, 0) == 0 && keys_find(body, BODIES, KEY_END) == BODIES,
           "a key beyond all others is found");
}

/* ---- forces ---------------------------------------------------------------------------- */

static void add_direct(const struct point *to, const struct point *from)
{
    double d[3]    = {from->x - to->x, from->y - to->y, from->z - to->z};
    double inverse = 1 / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + EPS * EPS);

    direct.potential += from->mass * inverse;
    for (int i = 0; i < 3; i++)
        direct.a[i] += from->mass * inverse * inverse * inverse * d[i];
}

static bool is_direct(const struct field *f)
{
    return is_close(f->a[0], direct.a[0]) && is_close(f->a[1], direct.a[1]) &&
           is_close(f->a[2], direct.a[2]) && is_close(f->potential, direct.potential);
}

/* Tests lists of all lengths around the number of lanes. */
static void test_kernel(void)
{
    static struct forces_list list;
    struct point              to = {0.25, -1, 3, 0};

    for (int count = 0; count < 3 * FORCES_LANES; count++) {
        struct field f = {{0, 0, 0}, 0};

        direct = f;
        for (list.count = 0; list.count < count; list.count++) {
            forces_put(&list, &tree.point[list.count]);
            add_direct(&to, &tree.point[list.count]);
        }
        forces_kernel(&list, &to, EPS, &f);
        expect(is_direct(&f), "the kernel computes the field");
    }
}

/* ---- the tree -------------------------------------------------------------------------- */

/* Checks a node and those below.  Returns the number of bodies. */
static int64_t check_node(const struct node *node)
{
    const struct bounds *bounds = &tree.bounds[node->index];

    expect(node_is_near(node, bounds), "bodies open the cells that contain them");
    if (node->count > 0) {
        expect(node->count <= LEAF || memcmp(bounds->low, bounds->high, sizeof bounds->low) == 0,
               "the bodies of a leaf with many bodies are at one position");
        return node->count;
    }
    expect(is_close(node->sum.mass, node->child[0].sum.mass + node->child[1].sum.mass),
           "masses are summed");
    return check_node(&node->child[0]) + check_node(&node->child[1]);
}

/* With theta = 0 all nodes are opened: that is direct summation. */
static void test_forces(double theta)
{
    int64_t all = BODIES;

    rule.theta = theta;
    tree_free(&tree);
    expect(tree_build(&tree, &rule, body, &all, 1), "a tree is built");
    expect(check_node(tree.node) == BODIES, "the tree has all bodies");
    for (int32_t i = 0; i < tree.nodes; i++)
        if (tree.node[i].count > 0)
            forces_of_leaf(tree.node, &tree.node[i], &tree.bounds[i], EPS,
                           field + (tree.node[i].point - tree.point));
    for (int k = 0; k < BODIES && theta == 0; k++) {
        direct = (struct field){{0, 0, 0}, 0};
        for (int j = 0; j < BODIES; j++)
            add_direct(&tree.point[k], &tree.point[j]);
        direct.potential = tree.point[k].mass / EPS - direct.potential;
        expect(is_direct(&field[k]), "a tree that is opened gives direct summation");
    }
}

int main(void)
{
    fill_bodies();
    test_keys();
    test_forces(1);
    test_forces(0.5);
    test_forces(0);
    test_kernel();
    tree_free(&tree);
    return failures > 0;
}
