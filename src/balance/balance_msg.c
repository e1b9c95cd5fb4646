/* SPDX-License-Identifier: Apache-2.0 */
/* balance_msg.c - messages along the tree of the balancer (balance_pe.h). */
#include "balance/balance_pe.h"

#include "base/config.h"
#include "core/net/net.h"

void ski_balance_connect(struct ski_balance *balance)
{
    if (!balance->tree.child)
        ski_balance_tree_init(&balance->tree, balance->self->pe, (int)ski_config.tree_arity);
}

void ski_balance_send_down(struct ski_balance *balance, uint32_t handler, const void *data,
                           size_t bytes)
{
    ski_balance_connect(balance);
    for (int i = 0; i < balance->tree.children; i++)
        skua_send_copy(balance->tree.child[i], (skua_handler){handler}, data, bytes);
}

/* Returns @p balance, or drops @p msg and returns NULL if @p valid is false. */
static struct ski_balance *balance_accept_if(struct ski_balance *balance, skua_msg *msg, bool valid)
{
    if (balance && valid)
        return balance;
    ski_net_drop(ski_self, msg);
    return NULL;
}

/* Returns the state of this PE, which has its neighbours in the tree; NULL: no class takes part. */
static struct ski_balance *balance_active(void)
{
    struct ski_balance *balance = ski_balance_of(ski_self);

    return balance && balance->active ? balance : NULL;
}

struct ski_balance *ski_balance_accept(skua_msg *msg)
{
    return balance_accept_if(ski_balance_of(ski_self), msg, true);
}

struct ski_balance *ski_balance_accept_down(skua_msg *msg)
{
    struct ski_balance *balance = balance_active();

    return balance_accept_if(balance, msg, balance && msg->source == balance->tree.parent);
}

struct ski_balance *ski_balance_accept_up(skua_msg *msg, int *child)
{
    struct ski_balance *balance = balance_active();

    *child = balance ? ski_balance_tree_child(&balance->tree, msg->source) : -1;
    return balance_accept_if(balance, msg, *child >= 0);
}
