/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.c - see lists.h.
 *
 * The walk goes down from the root.  At each box it keeps two lists on a stack: the boxes of the
 * same level that are not separated from the box, and the larger leaves that are not. The lists of
 * a child are selected from these and their children.
 */
#include "lists.h"

#include <stdlib.h>
#include <string.h>

#define IMAGES_SIDE 5 /* images from -2 to 2 widths */

struct list_walk {
    struct lists            *lists;
    const struct tree       *tree;
    const struct list_rule  *rule;
    const struct translator *translator;
    int32_t                  first, end; /* the leaves of this PE */
    struct list_entry       *stack;
    int32_t                  top, room;
    int                      shift[IMAGES_SIDE * IMAGES_SIDE * IMAGES_SIDE][3]; /* of each image */
};

/* A range of the stack. */
struct list_range {
    int32_t begin, end;
};

int list_image_shift(int image, int d)
{
    for (; d > 0; d--)
        image /= IMAGES_SIDE;
    return image % IMAGES_SIDE - IMAGES_SIDE / 2;
}

static int16_t list_image(int x, int y, int z)
{
    int half = IMAGES_SIDE / 2;

    return (int16_t)(((z + half) * IMAGES_SIDE + y + half) * IMAGES_SIDE + x + half);
}

/* Makes room for @p needed entries. */
static bool list_grow(struct comm *comm, struct list_entry **at, int32_t *room, int32_t needed)
{
    int32_t            more = *room + *room / 2 > needed ? *room + *room / 2 : needed + 4096;
    struct list_entry *grown;

    if (needed <= *room)
        return true;
    grown = comm_grow(comm, *at, (size_t)*room * sizeof *grown, (size_t)more * sizeof *grown);
    if (!grown)
        return false;
    *at   = grown;
    *room = more;
    return true;
}

static void list_add(struct list_walk *w, enum list list, struct list_entry entry)
{
    struct lists *l = w->lists;

    if (l->failed || !list_grow(l->comm, &l->entry[list], &l->room[list], l->entries[list] + 1)) {
        l->failed = true;
        return;
    }
    l->entry[list][l->entries[list]++] = entry;
}

static void list_push(struct list_walk *w, struct list_entry entry)
{
    if (w->lists->failed || !list_grow(w->lists->comm, &w->stack, &w->room, w->top + 1)) {
        w->lists->failed = true;
        return;
    }
    w->stack[w->top++] = entry;
}

static bool list_is_far(const struct list_walk *w, const int distance[3])
{
    int most = w->rule->separation;

    return abs(distance[0]) > most || abs(distance[1]) > most || abs(distance[2]) > most;
}

/* Returns true if a box is separated from a larger leaf; their displacement is @p sign times the
 * image of an entry. */
static bool list_fine_is_far(const struct list_walk *w, const struct node *fine,
                             const struct node *leaf, int image, int sign)
{
    int shift = fine->level - leaf->level, distance[3];

    if (fine->count <= w->rule->few)
        return false;
    for (int d = 0; d < 3; d++) {
        int at  = fine->at[d] + sign * w->shift[image][d] * (1 << fine->level);
        int low = leaf->at[d] << shift, high = low + (1 << shift) - 1;

        distance[d] = at < low ? low - at : at > high ? at - high : 0;
    }
    return list_is_far(w, distance);
}

/* Adds the interactions of a leaf with a box that is not separated from it, and with the box's
 * children. */
static void list_descend(struct list_walk *w, const struct node *leaf, struct list_entry entry)
{
    const struct node *from = &w->tree->node[entry.node];

    if (from->children == 0)
        list_add(w, LIST_NEAR, entry);
    for (int i = 0; i < from->children; i++) {
        struct list_entry child = {from->child + i, entry.image, 0};

        if (list_fine_is_far(w, &w->tree->node[child.node], leaf, child.image, 1))
            list_add(w, LIST_FINE, child);
        else
            list_descend(w, leaf, child);
    }
}

static void list_leaf(struct list_walk *w, const struct node *leaf, struct list_range near,
                      struct list_range larger)
{
    for (int32_t i = near.begin; i < near.end; i++)
        list_descend(w, leaf, w->stack[i]);
    for (int32_t i = larger.begin; i < larger.end; i++)
        list_add(w, LIST_NEAR, w->stack[i]);
}

/* Adds a larger leaf to the list of a box or, if they are not separated, pushes it on the stack. */
static void list_larger(struct list_walk *w, const struct node *node, struct list_entry entry)
{
    if (list_fine_is_far(w, node, &w->tree->node[entry.node], entry.image, -1))
        list_add(w, LIST_COARSE, entry);
    else
        list_push(w, entry);
}

/* Makes room for the children of @p n boxes in LIST_FAR and on the stack. */
static bool list_reserve(struct list_walk *w, int32_t n)
{
    struct lists *l = w->lists;

    if (!l->failed)
        l->failed = !list_grow(l->comm, &l->entry[LIST_FAR], &l->room[LIST_FAR],
                               l->entries[LIST_FAR] + 8 * n) ||
                    !list_grow(l->comm, &w->stack, &w->room, w->top + 8 * n);
    return !l->failed;
}

/* Finds the boxes of the level of @p node that are not separated from it, from those of its parent.
 * Most entries of all lists are made here. */
static void list_near_of(struct list_walk *w, const struct node *node, struct list_range near)
{
    struct list_entry *far, *top;

    if (!list_reserve(w, near.end - near.begin))
        return;
    far = w->lists->entry[LIST_FAR] + w->lists->entries[LIST_FAR];
    top = w->stack + w->top;
    for (int32_t i = near.begin; i < near.end; i++) {
        struct list_entry  entry = w->stack[i];
        const struct node *from  = &w->tree->node[entry.node];
        const struct node *child = &w->tree->node[from->child];
        int                zero[3]; /* position of a box at no distance */

        for (int d = 0; d < 3; d++)
            zero[d] = node->at[d] - w->shift[entry.image][d] * (1 << node->level);
        for (int k = 0; k < from->children; k++) {
            int distance[3] = {child[k].at[0] - zero[0], child[k].at[1] - zero[1],
                               child[k].at[2] - zero[2]};

            if (list_is_far(w, distance))
                *far++ = (struct list_entry){from->child + k, entry.image,
                                             (int16_t)translate_direction(w->translator, distance)};
            else
                *top++ = (struct list_entry){from->child + k, entry.image, 0};
        }
    }
    w->lists->entries[LIST_FAR] = (int32_t)(far - w->lists->entry[LIST_FAR]);
    w->top                      = (int32_t)(top - w->stack);
}

static void list_larger_of(struct list_walk *w, const struct node *node, struct list_range near,
                           struct list_range larger)
{
    for (int32_t i = near.begin; i < near.end; i++)
        if (w->tree->node[w->stack[i].node].children == 0)
            list_larger(w, node, w->stack[i]);
    for (int32_t i = larger.begin; i < larger.end; i++)
        list_larger(w, node, w->stack[i]);
}

/* Records the ends of the lists of a new target. */
static void list_add_target(struct list_walk *w, int32_t node)
{
    struct lists *l = w->lists;

    if (l->targets == l->target_room) {
        int32_t             room   = l->target_room ? 2 * l->target_room : 1024;
        struct list_target *target = comm_grow(
            l->comm, l->target, (size_t)l->targets * sizeof *target, (size_t)room * sizeof *target);

        if (!target) {
            l->failed = true;
            return;
        }
        l->target      = target;
        l->target_room = room;
    }
    l->target[l->targets].node = node;
    for (int list = 0; list < LISTS; list++)
        l->target[l->targets].end[list] = l->entries[list];
    l->targets++;
}

static void list_walk_box(struct list_walk *w, int32_t at, struct list_range near,
                          struct list_range larger)
{
    const struct node *node = &w->tree->node[at];

    if (node->children == 0)
        list_leaf(w, node, near, larger);
    list_add_target(w, at);
    for (int i = 0; i < node->children && !w->lists->failed; i++) {
        const struct node *child     = &w->tree->node[node->child + i];
        struct list_range  next_near = {w->top, w->top}, next_larger;

        if (child->leaf >= w->end || child->leaf_end <= w->first)
            continue;
        list_near_of(w, child, near);
        next_near.end     = w->top;
        next_larger.begin = w->top;
        list_larger_of(w, child, near, larger);
        next_larger.end = w->top;
        list_walk_box(w, node->child + i, next_near, next_larger);
        w->top = next_near.begin;
    }
}

/* Empties lists; their memory is used again. */
static void lists_clear(struct lists *lists)
{
    lists->targets = 0;
    lists->failed  = false;
    memset(lists->entries, 0, sizeof lists->entries);
}

bool lists_build(struct lists *lists, const struct tree *tree, const struct list_rule *rule,
                 const struct translator *translator, int32_t first, int32_t end)
{
    struct list_walk w      = {lists, tree, rule, translator, first, end, NULL, 0, 0, {{0}}};
    int              images = rule->periodic ? rule->separation : 0;

    for (int image = 0; image < IMAGES_SIDE * IMAGES_SIDE * IMAGES_SIDE; image++)
        for (int d = 0; d < 3; d++)
            w.shift[image][d] = list_image_shift(image, d);
    lists_clear(lists);
    if (first == end)
        return true;
    for (int z = -images; z <= images; z++)
        for (int y = -images; y <= images; y++)
            for (int x = -images; x <= images; x++)
                list_push(&w, (struct list_entry){0, list_image(x, y, z), 0});
    list_walk_box(&w, 0, (struct list_range){0, w.top}, (struct list_range){w.top, w.top});
    comm_free(lists->comm, w.stack);
    return !lists->failed;
}

void lists_free(struct lists *lists)
{
    for (int list = 0; list < LISTS; list++)
        comm_free(lists->comm, lists->entry[list]);
    comm_free(lists->comm, lists->target);
    *lists = (struct lists){.comm = lists->comm};
}
