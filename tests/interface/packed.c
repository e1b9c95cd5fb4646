/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - see packed.ci. */
#include "packed.ci.h"

#include <stdlib.h>

/* ---- trees ---------------------------------------------------------------------------------- */

struct tree_node {
    int               value;
    struct tree_node *left, *right;
};

static struct tree_node **tree_place(struct tree_node **at, int value)
{
    while (*at)
        at = value < (*at)->value ? &(*at)->left : &(*at)->right;
    return at;
}

void tree_add(tree *to, int value)
{
    struct tree_node **at = tree_place(&to->root, value);

    *at          = calloc(1, sizeof **at);
    (*at)->value = value;
    to->size++;
}

/* A node is preceded by a byte that says whether it exists. */
static void node_pup(skua_pup *p, struct tree_node **node)
{
    char there = *node != NULL;

    skua_pup_value(p, &there);
    if (!there)
        return;
    if (skua_pup_unpacking(p))
        *node = calloc(1, sizeof **node);
    skua_pup_value(p, &(*node)->value);
    node_pup(p, &(*node)->left);
    node_pup(p, &(*node)->right);
}

void tree_pup(skua_pup *p, tree *of)
{
    CHECK(!skua_pup_unpacking(p) || !of->root); /* zeroed before */
    skua_pup_value(p, &of->size);
    node_pup(p, &of->root);
}

static void node_free(struct tree_node *node)
{
    if (!node)
        return;
    node_free(node->left);
    node_free(node->right);
    free(node);
}

void tree_free(tree *of)
{
    node_free(of->root);
}

static int node_check(const struct tree_node *node, int from, int to)
{
    if (!node)
        return 0;
    CHECK(from <= node->value && node->value < to);
    return 1 + node_check(node->left, from, node->value) + node_check(node->right, node->value, to);
}

void check_tree(const tree *of, int size)
{
    CHECK(of->size == size && node_check(of->root, 0, 100) == size);
}

static tree tree_new(int size)
{
    tree made = {0, NULL};

    for (int i = 0; i < size; i++)
        tree_add(&made, i * 37 % 100);
    return made;
}

const tree *tree_of(int size)
{
    static _Thread_local tree made;

    tree_free(&made);
    made = tree_new(size);
    return &made;
}

/* ---- leaves and forests ---------------------------------------------------------------------- */

static leaf leaf_new(int n)
{
    leaf made = {strdup("leaf"), n, n ? calloc((size_t)n, sizeof *made.x) : NULL};

    for (int i = 0; i < n; i++)
        made.x[i] = n + i;
    return made;
}

static void check_leaf(const leaf *of, int n)
{
    CHECK(of->name && !strcmp(of->name, "leaf") && of->n == n);
    for (int i = 0; i < n; i++)
        CHECK(of->x[i] == n + i);
}

static forest forest_new(int n)
{
    forest made = {leaf_new(n), n, calloc((size_t)n, sizeof *made.trees), tree_new(7)};

    for (int i = 0; i < n; i++)
        made.trees[i] = tree_new(i + 1);
    return made;
}

void check_forest(const forest *all, int n)
{
    check_leaf(&all->first, n);
    CHECK(all->n == n);
    for (int i = 0; i < n; i++)
        check_tree(&all->trees[i], i + 1);
    check_tree(&all->last, 7);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The argument `first` has become a field of the state. */
void Block_on_create(Block *self, leaf *first, int size, tree *start)
{
    CHECK(!first->name && !first->x);
    check_leaf(&self->first, 300);
    check_tree(start, size);
    self->seen++;
}

/* The block takes the tree and owns it afterwards. */
void Block_on_take(Block *self, tree *grown)
{
    check_tree(grown, 90);
    tree_free(&self->kept);
    self->kept = *grown;
    *grown     = (tree){0, NULL};
    self->seen += 2;
}

void Block_on_many(Block *self, int n, tree *grown, const char *name, leaf *leaves)
{
    CHECK(n == 3 && !strcmp(name, "many"));
    for (int i = 0; i < n; i++)
        check_tree(&grown[i], i + 1);
    check_leaf(&leaves[0], 0);
    check_leaf(&leaves[1], 5);
    self->seen++;
}

void Block_on_soon(Block *self, tree *grown)
{
    check_tree(grown, 2);
    self->seen++;
}

void Block_on_at_once(Block *self, int size, tree *grown)
{
    check_tree(grown, size);
    CHECK(Block_size(Block_self(self), grown) == size + 1);
    CHECK(grown->size == size + 1); /* a local entry gets the struct itself */
    self->seen++;
}

int Block_on_size(Block *self, tree *grown)
{
    tree_add(grown, 50);
    (void)self;
    return grown->size;
}

int Block_on_ask(Block *self, forest *all)
{
    check_forest(all, 3);
    (void)self;
    return all->n;
}

void Block_on_slow(Block *self, tree *grown)
{
    check_tree(grown, 90);
    skua_thread_yield();
    check_tree(grown, 90);
    self->seen++;
}

void Block_on_finish(Block *self)
{
    check_leaf(&self->first, 300);
    check_tree(&self->kept, 90);
    skua_contribute(self, SKUA_SUM, SKUA_INT32, &self->seen, 1, Main_finished_done(boss));
}

/* ---- senders --------------------------------------------------------------------------------- */

void Asker_on_ask(Asker *self, Block_proxy blocks, int n)
{
    forest three = forest_new(3);
    int    sum   = 0;

    for (int i = 0; i < n; i++)
        sum += Block_ask(Block_at(blocks, i), &three);
    forest_free(&three);
    Main_asked(boss, sum);
    (void)self;
}

static void send_many(Block_proxy blocks)
{
    skua_index    some[]    = {skua_index1(0), skua_index1(1), skua_index1(3)};
    tree          trees[]   = {tree_new(1), tree_new(2), tree_new(3)};
    leaf          leaves[2] = {leaf_new(0), leaf_new(5)};
    Block_section section   = Block_section_of(blocks, some, 3);

    Block_many_section(section, 3, trees, "many", leaves);
    for (int i = 0; i < 3; i++)
        tree_free(&trees[i]);
    for (int i = 0; i < 2; i++)
        leaf_free(&leaves[i]);
}

void start_blocks(Main *self)
{
    leaf        first = leaf_new(300);
    forest      three = forest_new(3), four = forest_new(4);
    Block_proxy blocks = Block_new(self->count, &first, 20, tree_of(20));

    self->blocks = blocks;
    Block_next_all(blocks, 1, &three); /* sent before a block waits for it */
    Block_run_all(blocks, 3, &four);
    for (int i = 0; i < self->count; i++) {
        Block_take(Block_at(blocks, i), tree_of(90));
        Block_soon_prio(Block_at(blocks, i), -1, tree_of(2));
        Block_at_once(Block_at(blocks, i), 9, tree_of(9));
        Block_slow(Block_at(blocks, i), tree_of(90));
        Block_next(Block_at(blocks, i), 2, &three);
        Block_next(Block_at(blocks, i), 0, &three);
    }
    send_many(blocks);
    Asker_ask(Asker_new(), blocks, self->count);
    leaf_free(&first);
    forest_free(&three);
    forest_free(&four);
}
