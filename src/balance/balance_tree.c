/* SPDX-License-Identifier: Apache-2.0 */
/* balance_tree.c - see balance_tree.h. */
#include "balance/balance_tree.h"

#include <stdlib.h>

#include <skua/topology.h>

#include "base/memory.h"

/* Returns the position of a PE among those of its host, which are in ascending order. */
static int balance_tree_rank(int host, int pe)
{
    int low = 0, high = skua_host_pes(host) - 1;

    while (low < high) {
        int middle = (low + high) / 2;

        if (skua_host_pe(host, middle) < pe)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int balance_tree_parent(int pe, int arity)
{
    int host = skua_host_of(pe), rank = balance_tree_rank(host, pe);

    if (rank > 0)
        return skua_host_pe(host, (rank - 1) / arity);
    return host > 0 ? skua_host_pe((host - 1) / arity, 0) : -1;
}

void ski_balance_tree_init(struct ski_balance_tree *tree, int pe, int arity)
{
    int host = skua_host_of(pe), rank = balance_tree_rank(host, pe);

    tree->parent   = balance_tree_parent(pe, arity);
    tree->children = 0;
    tree->child    = ski_malloc(2 * (size_t)arity * sizeof *tree->child);
    for (int i = arity * rank + 1; i <= arity * rank + arity && i < skua_host_pes(host); i++)
        tree->child[tree->children++] = skua_host_pe(host, i);
    for (int i = arity * host + 1; rank == 0 && i <= arity * host + arity && i < skua_hosts(); i++)
        tree->child[tree->children++] = skua_host_pe(i, 0);
}

void ski_balance_tree_destroy(struct ski_balance_tree *tree)
{
    free(tree->child);
    tree->child = NULL;
}

int ski_balance_tree_child(const struct ski_balance_tree *tree, int pe)
{
    for (int i = 0; i < tree->children; i++)
        if (tree->child[i] == pe)
            return i;
    return -1;
}

int ski_balance_tree_route(const struct ski_balance_tree *tree, int pe, int arity)
{
    int child = -1;

    for (; pe >= 0 && child < 0; pe = balance_tree_parent(pe, arity))
        child = ski_balance_tree_child(tree, pe);
    return child;
}
