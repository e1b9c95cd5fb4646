/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe_tree.h - spanning trees over the PEs of a job that enter each host once.
 *
 * The hosts form a k-ary tree from the host of the root on, and the PEs of each host form one from
 * the *entry* of the host on: the root on its own host, the first PE on any other.  An entry is
 * linked to the entry of the parent host.  So a message to or from all PEs crosses the network once
 * for each host but the first, however PEs are numbered over the hosts:
 *
 *      hosts {0 1 2} {3} {4 5 6 7}, root 5, k = 4      5: 0 3  6 7 4      0: 1 2
 *
 * On one host, and where each host has one PE, this is the tree of tree.h.  No PE keeps a table;
 * the list of the hosts belongs to the job (boot/job.h).
 */
#ifndef SKI_PE_TREE_H
#define SKI_PE_TREE_H

#include "boot/job.h"
#include "core/collective/tree.h"

/* The position of one PE in the tree of a root. */
struct ski_pe_tree {
    const struct ski_job *job; /* NULL: the tree has one level, `local`, of PEs                 */
    int                   root;
    int                   children; /* number of its children; those on other hosts come first  */
    struct ski_tree       hosts;    /* over hosts, without children unless the PE is an entry; all 0
                                     * in a tree of one level */
    struct ski_tree local;          /* over the local indices of the PEs of this host           */
};

/** Returns the PE through which messages from @p root enter @p host. */
static inline int ski_pe_tree_entry(const struct ski_job *job, int host, int root)
{
    return ski_job_host_of(job, root) == host ? root : ski_job_host_pe(job, host, 0);
}

/** Returns the position of @p pe, which is a PE of this host, in a tree of two levels. */
static inline struct ski_pe_tree ski_pe_tree_mixed(const struct ski_job *job, int pe, int root,
                                                   int arity)
{
    struct ski_pe_tree tree  = {.job = job, .root = root};
    int                entry = ski_pe_tree_entry(job, job->host_number, root);

    ski_assert(ski_job_index(job, pe) >= 0 && pe < job->pes);
    tree.local =
        ski_tree_at(ski_job_index(job, pe), job->local_pes, ski_job_index(job, entry), arity);
    tree.hosts = ski_tree_at(job->host_number, job->hosts, ski_job_host_of(job, root), arity);
    if (pe != entry)
        tree.hosts.children = 0;
    tree.children = tree.hosts.children + tree.local.children;
    return tree;
}

/** Returns the position of @p pe, which is a PE of this host, in the tree of @p root. */
static inline struct ski_pe_tree ski_pe_tree_at(const struct ski_job *job, int pe, int root,
                                                int arity)
{
    struct ski_pe_tree tree;

    if (__builtin_expect(ski_job_is_mixed(job), false))
        return ski_pe_tree_mixed(job, pe, root, arity);
    tree = (struct ski_pe_tree){.root = root, .local = ski_tree_at(pe, job->pes, root, arity)};
    tree.children = tree.local.children;
    return tree;
}

/** Returns the PE that is child @p i of the PE of @p tree. */
static inline int ski_pe_tree_child(const struct ski_pe_tree *tree, int i)
{
    if (__builtin_expect(!tree->job, true))
        return ski_tree_child(&tree->local, i);
    if (i < tree->hosts.children)
        return ski_job_host_pe(tree->job, ski_tree_child(&tree->hosts, i), 0);
    return ski_job_pe_at(tree->job, ski_tree_child(&tree->local, i - tree->hosts.children));
}

/** Returns the parent of the PE of @p tree, which is not the root. */
static inline int ski_pe_tree_parent(const struct ski_pe_tree *tree)
{
    if (__builtin_expect(!tree->job, true))
        return ski_tree_parent(&tree->local);
    if (tree->local.rank > 0)
        return ski_job_pe_at(tree->job, ski_tree_parent(&tree->local));
    return ski_pe_tree_entry(tree->job, ski_tree_parent(&tree->hosts), tree->root);
}

/** Returns whether the PE of @p tree is its root. */
static inline bool ski_pe_tree_is_root(const struct ski_pe_tree *tree)
{
    return tree->local.rank == 0 && tree->hosts.rank == 0;
}

#endif
