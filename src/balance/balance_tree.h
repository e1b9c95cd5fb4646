/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance_tree.h - the tree in which the balancer sums and distributes: by host first.
 *
 * The PEs of a host form a tree of SKUA_TREE_ARITY children each, whose root is the first PE of the
 * host; these first PEs form another one over the hosts, whose root is PE 0.  So what the PEs of a
 * host report crosses the network once, and no PE has more than twice the arity as children.
 */
#ifndef SKI_BALANCE_TREE_H
#define SKI_BALANCE_TREE_H

/* The neighbours of this PE in the tree. */
struct ski_balance_tree {
    int  parent;   /* -1: this PE is the root */
    int  children; /* number of children      */
    int *child;    /* their PEs               */
};

/** Finds the neighbours of PE @p pe; the launcher may have to be asked for the hosts of the job. */
void ski_balance_tree_init(struct ski_balance_tree *tree, int pe, int arity);

/** Frees the list of children. */
void ski_balance_tree_destroy(struct ski_balance_tree *tree);

/** Returns the number of the child that is PE @p pe, or -1. */
int ski_balance_tree_child(const struct ski_balance_tree *tree, int pe);

/** Returns the number of the child whose subtree contains PE @p pe, or -1 if it is in the subtree
 * of no child. */
int ski_balance_tree_route(const struct ski_balance_tree *tree, int pe, int arity);

#endif
