/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast_tree.h - the spanning tree of a broadcast, computed by arithmetic: no PE keeps a table.
 *
 * The tree has two *levels*: one over the hosts, and one over the PEs of each host, as in
 * pe_tree.h; on one host, and where each host has one PE, it has one.  The rank of a member in the
 * level of a root is (member - root) modulo the number of members.  Rank 1, the member after the
 * root, is the first child of the root and has no children.  The other members form a tree of k
 * children each, in the order of a heap: node 0 is the root, node n has the children k*n + 1 to
 * k*n + k.  If k is 1 or 2, node n is rank n + 1.  Otherwise the nodes that have children are the
 * last ranks, from the last one down, and the others are the ranks from 2 on:
 *
 *      10 PEs, k = 3       0: 1 9 8 2      9: 3 4 5      8: 6 7
 *      8 PEs, k = 1        0: 1 2          2: 3          3: 4      ...     a chain
 *
 * Where the roots of broadcasts take turns, as in a factorization by panels, rank 1 is the next
 * root: it receives first and begins without having to forward anything.  Nor do the roots after it
 * while they wait for their turn: those that forward have been the root just before.  A chain or a
 * tree of two children is for messages that are so long that all members forward them.
 */
#ifndef SKI_BROADCAST_TREE_H
#define SKI_BROADCAST_TREE_H

#include <stdint.h>

#include "core/collective/pe_tree.h"

#define SKI_BROADCAST_WIDE 3 /* children from which on the last ranks have them */

/* The position of one member in a level. */
struct ski_broadcast_level {
    int     pes, root, arity;
    int     rank;     /* of the member                                                  */
    int     inner;    /* nodes but the root that have children and are the last ranks   */
    int     children; /* number of its children                                         */
    int64_t first;    /* node of the first child; at the root, of the second one        */
};

/** Returns the position of member @p pe in the level of @p root over @p pes members. */
static inline struct ski_broadcast_level ski_broadcast_level_at(int pe, int pes, int root,
                                                                int arity)
{
    struct ski_broadcast_level tree = {
        .pes = pes, .root = root, .arity = arity, .rank = pe < root ? pe - root + pes : pe - root};
    int64_t node = tree.rank - 1, left;

    if (arity >= SKI_BROADCAST_WIDE && pes - 2 > arity) {
        tree.inner = (pes - 3) / arity;
        node       = tree.rank >= pes - tree.inner ? pes - tree.rank : node + tree.inner;
    }
    node          = tree.rank == 0 ? 0 : node;
    tree.first    = arity * node + 1;
    left          = tree.rank == 1 || tree.first > pes - 2 ? 0 : pes - 1 - tree.first;
    tree.children = (int)(left < arity ? left : arity) + (tree.rank == 0 && pes > 1);
    return tree;
}

/** Returns the member that is child @p i of the member of @p tree. */
static inline int ski_broadcast_level_child(const struct ski_broadcast_level *tree, int i)
{
    int64_t node = tree->first + i - (tree->rank == 0), pe;

    if (node == 0)
        pe = 1; /* rank 1 is no node */
    else
        pe = node <= tree->inner ? tree->pes - node : node - tree->inner + 1;
    pe += tree->root;
    return (int)(pe < tree->pes ? pe : pe - tree->pes);
}

/** Returns the parent of the member of @p tree, which is not the root. */
static inline int ski_broadcast_level_parent(const struct ski_broadcast_level *tree)
{
    int64_t node = tree->rank == 1 ? 0 : (tree->first - 1) / tree->arity, pe = 0;

    node = node == 0 ? 0 : (node - 1) / tree->arity;
    if (node > 0)
        pe = node <= tree->inner ? tree->pes - node : node + 1;
    return (int)((pe + tree->root) % tree->pes);
}

/* The position of one PE in the tree of a root. */
struct ski_broadcast_tree {
    const struct ski_job *job;   /* NULL: the tree has one level, `local`, of PEs              */
    int                   root;  /* the PE that broadcasts                                     */
    int                   arity; /* arity that the root has chosen                             */
    int                   children;
    struct ski_broadcast_level hosts; /* over hosts; its children come before those of `local` */
    struct ski_broadcast_level local; /* over the local indices of the PEs of this host */
};

/** Returns the position of @p pe, which is a PE of this host, in a tree of two levels; @p local is
 *  the arity inside a host. */
static inline struct ski_broadcast_tree ski_broadcast_tree_mixed(const struct ski_job *job, int pe,
                                                                 int root, int arity, int local)
{
    struct ski_broadcast_tree tree  = {.job = job, .root = root, .arity = arity};
    int                       entry = ski_pe_tree_entry(job, job->host_number, root);

    tree.local = ski_broadcast_level_at(ski_job_index(job, pe), job->local_pes,
                                        ski_job_index(job, entry), local);
    tree.hosts =
        ski_broadcast_level_at(job->host_number, job->hosts, ski_job_host_of(job, root), arity);
    if (pe != entry)
        tree.hosts.children = 0;
    tree.children = tree.hosts.children + tree.local.children;
    return tree;
}

/** Returns the position of @p pe, which is a PE of this host, in the tree of @p root; @p local is
 *  the arity inside a host of a job that has several. */
static inline struct ski_broadcast_tree ski_broadcast_tree_at(const struct ski_job *job, int pe,
                                                              int root, int arity, int local)
{
    struct ski_broadcast_tree tree;

    if (__builtin_expect(ski_job_is_mixed(job), false))
        return ski_broadcast_tree_mixed(job, pe, root, arity, local);
    tree.job      = NULL;
    tree.root     = root;
    tree.arity    = arity;
    tree.hosts    = (struct ski_broadcast_level){.children = 0};
    tree.local    = ski_broadcast_level_at(pe, job->pes, root, arity);
    tree.children = tree.local.children;
    return tree;
}

/** Returns the PE that is child @p i of the PE of @p tree. */
static inline int ski_broadcast_tree_child(const struct ski_broadcast_tree *tree, int i)
{
    if (__builtin_expect(!tree->job, true))
        return ski_broadcast_level_child(&tree->local, i);
    if (i < tree->hosts.children)
        return ski_job_host_pe(tree->job, ski_broadcast_level_child(&tree->hosts, i), 0);
    return ski_job_pe_at(tree->job,
                         ski_broadcast_level_child(&tree->local, i - tree->hosts.children));
}

/** Returns the parent of the PE of @p tree, which is not the root. */
static inline int ski_broadcast_tree_parent(const struct ski_broadcast_tree *tree)
{
    if (__builtin_expect(!tree->job, true))
        return ski_broadcast_level_parent(&tree->local);
    if (tree->local.rank > 0)
        return ski_job_pe_at(tree->job, ski_broadcast_level_parent(&tree->local));
    return ski_pe_tree_entry(tree->job, ski_broadcast_level_parent(&tree->hosts), tree->root);
}

#endif
