/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds.c - a tree of chares that the runtime places on any PE (seeds): each is created once and
 * answers once, and quiescence follows.
 *
 * usage: seeds [DEPTH]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

struct node {
    skua_ref parent;
    int64_t  sum;
    int      depth, missing;
};

struct birth {
    skua_ref parent;
    int      depth;
};

static skua_class   node_class;
static skua_entry   answer_entry;
static skua_handler result_handler;
static int          depth = 10;

static void answer(struct node *n)
{
    if (n->depth < depth) /* the root waits for this chare */
        skua_invoke_copy(n->parent, answer_entry, &n->sum, sizeof n->sum);
    else
        skua_send_copy(0, result_handler, &n->sum, sizeof n->sum);
    skua_object_destroy(n);
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct node *n = self;
    struct birth birth, child;

    CHECK(bytes == sizeof birth);
    memcpy(&birth, data, sizeof birth);
    n->parent = birth.parent;
    n->depth  = birth.depth;
    n->sum    = 1;
    if (n->depth == 0) {
        answer(n);
        return;
    }
    child = (struct birth){skua_ref_of(self), n->depth - 1};
    for (n->missing = 0; n->missing < 3; n->missing++)
        skua_chare_create(node_class, n->missing == 2 ? (n->depth * 5) % skua_pes() : SKUA_ANY_PE,
                          &child, sizeof child);
}

static void on_answer(void *self, const void *data, size_t bytes)
{
    struct node *n = self;
    int64_t      sum;

    CHECK(bytes == sizeof sum && n->missing > 0);
    memcpy(&sum, data, sizeof sum);
    n->sum += sum;
    if (--n->missing == 0)
        answer(n);
}

static int trees;

static void submit_tree(void)
{
    struct birth birth = {.depth = depth};

    skua_chare_create(node_class, SKUA_ANY_PE, &birth, sizeof birth);
}

static void on_result(skua_msg *msg)
{
    int64_t expected = 0, level = 1;

    for (int i = 0; i <= depth; i++, level *= 3)
        expected += level;
    CHECK(*(int64_t *)skua_msg_data(msg) == expected);
    skua_msg_free(msg);
    if (++trees < 5)
        submit_tree();
    else
        skua_quiescence(skua_done_exit(0));
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() == 0)
        submit_tree();
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name = "node", .bytes = sizeof(struct node), .construct = construct};

    if (argc > 1)
        depth = atoi(argv[1]); /* set before the PEs start, since all of them would write it */
    node_class     = skua_class_register(&def);
    answer_entry   = skua_method_register(node_class, "answer", on_answer, 0);
    result_handler = skua_handler_register("result", on_result);
    return skua_main(argc, argv, start);
}
