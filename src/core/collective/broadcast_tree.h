/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast_tree.h - the spanning tree of a broadcast, computed by arithmetic: no PE keeps a table.
 *
 * The tree has two *levels*: one over the hosts, and one over the PEs of each host, as in
 * pe_tree.h; on one host, and where each host has one PE, it has one.  The rank of a member in the
 * level of a root is (member - root) modulo the number of members.  Rank 1, the member after the
 * root, is the first child of the root and has no children.  The other ranks form a tree of k
 * children each, in the order of a heap:
 *
 *      10 PEs, k = 3       0: 1 2 3 4      2: 5 6 7      3: 8 9
 *      8 PEs, k = 1        0: 1 2          2: 3          3: 4      ...     a chain
 *
 * Where PEs are roots in turn, as in a factorization by panels, rank 1 is the next root: it
 * receives the data first and forwards nothing before it begins its own broadcast.
 */
#ifndef SKI_BROADCAST_TREE_H
#define SKI_BROADCAST_TREE_H

#include <stdint.h>

#include "core/collective/pe_tree.h"

/* The position of one member in a level. */
struct ski_broadcast_level {
    int     pes, root, arity;
    int     rank;     /* of the member                */
    int     children; /* number of its children       */
    int64_t first;    /* rank of the first child      */
};

/** Returns the position of member @p pe in the level of @p root over @p pes members. */
static inline struct ski_broadcast_level ski_broadcast_level_at(int pe, int pes, int root,
                                                                int arity)
{
    struct ski_broadcast_level tree = {pes, root, arity, pe < root ? pe - root + pes : pe - root,
                                       0,   0};
    int64_t most = tree.rank == 0 ? (int64_t)arity + 1 : tree.rank == 1 ? 0 : arity;

    tree.first = tree.rank == 0 ? 1 : (int64_t)arity * (tree.rank - 1) + 2;
    if (tree.first < pes)
        tree.children = (int)(pes - tree.first < most ? pes - tree.first : most);
    return tree;
}

/** Returns the member that is child @p i of the member of @p tree. */
static inline int ski_broadcast_level_child(const struct ski_broadcast_level *tree, int i)
{
    int64_t pe = tree->first + i + tree->root;

    return (int)(pe < tree->pes ? pe : pe - tree->pes);
}

/** Returns the parent of the member of @p tree, which is not the root. */
static inline int ski_broadcast_level_parent(const struct ski_broadcast_level *tree)
{
    int node   = tree->rank == 1 ? 0 : (tree->rank - 2) / tree->arity;
    int parent = node == 0 ? 0 : node + 1;

    return (int)(((int64_t)parent + tree->root) % tree->pes);
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
