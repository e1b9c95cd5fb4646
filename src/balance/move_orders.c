/* SPDX-License-Identifier: Apache-2.0 */
/* move_orders.c - see move_orders.h. */
#include "balance/move_orders.h"

#include <stdlib.h>
#include <string.h>

#include "balance/load_gather.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/migration.h"
#include "objects/model/pup.h"

struct orders_head {
    uint32_t round;
    uint32_t blocks;
};

/* The orders of a PE: so many struct move_order follow. */
struct orders_block {
    int32_t  pe;
    uint32_t arrivals; /* elements that arrive there */
    uint32_t orders;
    uint32_t unused;
};

struct move_order {
    uint32_t number; /* in the snapshot of the PE */
    int32_t  to;
};

/* A subtree is done. */
struct orders_done {
    uint64_t moved, bytes; /* elements that have left, and their size            */
    uint64_t refused;      /* results of a local strategy that were refused there */
};

_Static_assert(sizeof(struct orders_head) == SKI_ORDERS_MIN &&
                   sizeof(struct orders_done) == SKI_MOVED_MIN,
               "see move_orders.h");

/* ---- done ------------------------------------------------------------------------------ */

/* Notifies the parent, or the balancer, once the elements of this subtree have arrived. */
static void orders_check(struct ski_balance *balance)
{
    struct ski_move_orders *moves = &balance->moves;

    if (!moves->ordered || moves->done || moves->open > 0 || moves->arrived < moves->expected)
        return;
    ski_assert(moves->arrived == moves->expected);
    moves->done = true;
    if (balance->tree.parent < 0)
        balance->root->moved(balance);
    else
        skua_send_copy(balance->tree.parent, (skua_handler){SKI_HANDLER_BALANCE_MOVED},
                       &(struct orders_done){moves->moved, moves->bytes, moves->refused},
                       sizeof(struct orders_done));
}

void ski_move_orders_arrived(struct ski_balance *balance)
{
    balance->moves.arrived++;
    if (balance->on_arrived)
        balance->on_arrived(balance);
    orders_check(balance);
}

void ski_move_orders_settle(struct ski_balance *balance)
{
    balance->moves.ordered = true;
    balance->moves.open += balance->tree.children;
    orders_check(balance);
}

static void orders_send_void(int pe)
{
    skua_send_copy(pe, (skua_handler){SKI_HANDLER_BALANCE_VOID}, NULL, 0);
}

void ski_move_orders_void(struct ski_object *object)
{
    struct ski_element_load *load = ski_element_load(object);
    int                      pe   = load->ordered - 1;

    load->ordered = 0;
    if (pe >= 0)
        orders_send_void(pe);
}

void ski_on_balance_void(skua_msg *msg)
{
    struct ski_balance *balance = ski_balance_accept(msg);

    if (!balance)
        return;
    if (balance->gather.round == 0) { /* no balancing runs */
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    ski_move_orders_arrived(balance);
}

void ski_on_balance_moved(skua_msg *msg)
{
    struct orders_done  done = *(struct orders_done *)skua_msg_data(msg);
    int                 child;
    struct ski_balance *balance = ski_balance_accept_up(msg, &child);

    if (!balance)
        return;
    skua_msg_free(msg);
    balance->moves.moved += done.moved;
    balance->moves.bytes += done.bytes;
    balance->moves.refused += done.refused;
    balance->moves.open--; /* may be below 0 until this PE has its orders */
    orders_check(balance);
}

void ski_move_orders_end(struct ski_balance *balance)
{
    balance->moves = (struct ski_move_orders){0};
}

/* ---- orders ---------------------------------------------------------------------------- */

bool ski_move_orders_follow(struct ski_balance *balance, uint32_t number, int pe)
{
    struct ski_object *object = ski_load_gather_object(balance, number);

    if (!object || object->state != SKI_ALIVE || !ski_class_moves(object->of->class))
        return false;
    balance->moves.moved++;
    balance->moves.bytes += ski_pup_measure(object->of->class, object + 1);
    ski_element_load(object)->ordered = pe + 1;
    ski_migration_order(object, pe);
    return true;
}

/* Carries out the orders of this PE. */
static void orders_take(struct ski_balance *balance, const struct orders_block *block)
{
    const struct move_order *order = (const void *)(block + 1);

    balance->moves.ordered  = true;
    balance->moves.expected = block->arrivals;
    balance->moves.open += balance->tree.children;
    for (uint32_t i = 0; i < block->orders; i++)
        if (!ski_move_orders_follow(balance, order[i].number, order[i].to))
            orders_send_void(order[i].to);
}

static size_t orders_block_bytes(const struct orders_block *block)
{
    return sizeof *block + block->orders * sizeof(struct move_order);
}

/* Returns whether the orders of a subtree are valid. */
static bool orders_valid(const struct ski_balance *balance, const char *at, size_t bytes)
{
    const struct orders_head  *head = (const void *)at;
    const struct orders_block *block;
    const struct move_order   *order;
    size_t                     used = sizeof *head;

    for (uint32_t i = 0; i < head->blocks; i++, used += orders_block_bytes(block)) {
        block = (const void *)(at + used);
        order = (const void *)(block + 1);
        if (bytes - used < sizeof *block || bytes - used < orders_block_bytes(block) ||
            (unsigned)block->pe >= (unsigned)balance->self->pes)
            return false;
        for (uint32_t k = 0; k < block->orders; k++)
            if ((unsigned)order[k].to >= (unsigned)balance->self->pes || order[k].to == block->pe)
                return false;
    }
    return used == bytes && head->round == balance->gather.round;
}

/* Returns the child that the orders of PE @p pe go to; -1: this PE. */
static int orders_route(const struct ski_balance *balance, int pe)
{
    return pe == balance->self->pe
               ? -1
               : ski_balance_tree_route(&balance->tree, pe, (int)ski_config.tree_arity);
}

/* Sends the blocks for the subtree of child @p child, of those at @p at. */
static void orders_send(struct ski_balance *balance, const char *at, const int *route, int child)
{
    const struct orders_head  *head = (const void *)at;
    struct orders_head         part = {head->round, 0};
    size_t                     used = sizeof *head, bytes = sizeof part;
    skua_msg                  *msg;
    char                      *to;
    const struct orders_block *block;

    for (uint32_t i = 0; i < head->blocks; i++, used += orders_block_bytes(block)) {
        block = (const void *)(at + used);
        if (route[i] == child) {
            bytes += orders_block_bytes(block);
            part.blocks++;
        }
    }
    msg = skua_msg_alloc(bytes);
    to  = skua_msg_data(msg);
    memcpy(to, &part, sizeof part);
    to += sizeof part;
    used = sizeof *head;
    for (uint32_t i = 0; i < head->blocks; i++, used += orders_block_bytes(block)) {
        block = (const void *)(at + used);
        if (route[i] == child) {
            memcpy(to, block, orders_block_bytes(block));
            to += orders_block_bytes(block);
        }
    }
    skua_send(balance->tree.child[child], (skua_handler){SKI_HANDLER_BALANCE_ORDERS}, msg);
}

/* Passes on the orders at @p at, which are valid, and carries out those of this PE. */
static void orders_distribute(struct ski_balance *balance, const char *at)
{
    const struct orders_head  *head  = (const void *)at;
    int                       *route = ski_calloc(head->blocks + 1, sizeof *route);
    const struct orders_block *block, *own = NULL;
    size_t                     used = sizeof *head;

    for (uint32_t i = 0; i < head->blocks; i++, used += orders_block_bytes(block)) {
        block    = (const void *)(at + used);
        route[i] = orders_route(balance, block->pe);
        if (block->pe == balance->self->pe)
            own = block;
    }
    for (int child = 0; child < balance->tree.children; child++)
        orders_send(balance, at, route, child);
    free(route);
    if (own)
        orders_take(balance, own);
    orders_check(balance);
}

void ski_on_balance_orders(skua_msg *msg)
{
    struct ski_balance *balance = ski_balance_accept_down(msg);

    if (!balance)
        return;
    if (balance->moves.ordered || !orders_valid(balance, skua_msg_data(msg), msg->bytes)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    orders_distribute(balance, skua_msg_data(msg));
    skua_msg_free(msg);
}

/* Writes the orders of all PEs, one after the other; arrivals[pe] elements arrive at a PE. */
static void orders_write(char *at, const skua_strategy_problem *all, const int32_t *to,
                         const uint32_t *arrivals)
{
    struct orders_block *block = NULL;
    uint32_t             i     = 0, number;

    for (int32_t pe = 0; pe < all->pes; pe++) {
        block  = (void *)at;
        *block = (struct orders_block){pe, arrivals[pe], 0, 0};
        at += sizeof *block;
        for (number = 0; i < all->objects && all->object[i].pe == pe; i++, number++)
            if (to[i] != pe) {
                *(struct move_order *)at = (struct move_order){number, to[i]};
                at += sizeof(struct move_order);
                block->orders++;
            }
    }
    ski_assert(i == all->objects);
}

void ski_move_orders_start(struct ski_balance *balance, const skua_strategy_problem *all,
                           const int32_t *to)
{
    struct orders_head head     = {balance->gather.round, (uint32_t)all->pes};
    uint32_t          *arrivals = ski_calloc((size_t)all->pes, sizeof *arrivals);
    size_t             orders   = 0;
    char              *at;

    for (uint32_t i = 0; i < all->objects; i++)
        if (to[i] != all->object[i].pe) {
            arrivals[to[i]]++;
            orders++;
        }
    at = ski_malloc(sizeof head + (size_t)all->pes * sizeof(struct orders_block) +
                    orders * sizeof(struct move_order));
    memcpy(at, &head, sizeof head);
    orders_write(at + sizeof head, all, to, arrivals);
    free(arrivals);
    orders_distribute(balance, at);
    free(at);
}
