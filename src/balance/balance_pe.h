/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance_pe.h - the state of the balancer on a PE.
 *
 * Modules, the lowest first: balance_tree.c; sync_point.c, load_gather.c and move_orders.c, which
 * do not know of each other; balancer.c, which calls them at the root and is called back through
 * struct ski_balance_root.
 */
#ifndef SKI_BALANCE_PE_H
#define SKI_BALANCE_PE_H

#include <skua/balance.h>
#include <skua/strategy.h>

#include "balance/balance_tree.h"
#include "balance/strategy_choice.h"
#include "core/pe/pe.h"
#include "objects/measure/comm_graph.h"
#include "objects/model/element.h"

#define SKI_BALANCE_ROOT 0 /* the PE that decides */

/* The counts of the PEs of a subtree for the next sync point (sync_point.h). */
struct ski_sync_counts {
    uint64_t produced, consumed; /* units */
    uint64_t waiting;            /* elements at the sync point                     */
    double   load_max, load_sum; /* of PEs: seconds that they were not idle        */
};

/* The sync points of a PE. */
struct ski_sync_point {
    uint32_t               number;  /* of the sync point that is reached next, from 1 on       */
    uint64_t               running; /* elements here that have not reached it                  */
    struct ski_sync_counts counts;  /* of this PE; its loads are set when it reports           */
    bool                   changed; /* since the last report                                   */
    bool                   queued;  /* a message of this PE to itself that checks it is queued */

    struct ski_sync_counts *child;        /* what each child has reported last ...            */
    uint32_t               *child_number; /* ... and of which sync point                      */
};

/* A PE as it is gathered. */
struct ski_gathered_pe {
    skua_strategy_pe pe;
    uint32_t         objects; /* of it, in the order of its snapshot */
    uint32_t         unused;
    double           wall; /* seconds by the clock in which it was idle for pe.idle */
};

/* The request of a balancing to each PE. */
enum {
    SKI_GATHER_SYNC  = 1, /* it is at a sync point                            */
    SKI_GATHER_LOADS = 2, /* the PE and its objects are listed                */
    SKI_GATHER_GRAPH = 4  /* keys and edges are listed as well                */
};

/* The loads of a subtree. */
struct ski_gathered {
    struct ski_sync_counts  counts;
    uint32_t                pes, objects, edges;
    struct ski_gathered_pe *pe;
    skua_strategy_object   *object;
    uint64_t               *key; /* of each object, if SKI_GATHER_GRAPH */
    struct ski_comm_edge   *edge;
};

/* The gathering of loads on a PE (load_gather.h). */
struct ski_load_gather {
    uint32_t            round; /* of the balancing; 0: none is asked for     */
    unsigned            flags; /* SKI_GATHER_...                             */
    int                 open;  /* children that have not answered            */
    bool                told;  /* the program reports loads, in a unit of its own */
    double              speed; /* of this PE */
    struct ski_gathered sum;
    struct ski_object     *
        *snapshot; /* the objects of this PE in the order of the answer; NULL: gone */
    uint32_t listed;
};

/* The elements that a balancing moves, on a PE (move_orders.h). */
struct ski_move_orders {
    bool     ordered;      /* the orders of this balancing have arrived            */
    uint32_t expected;     /* elements that will arrive here, with them           */
    uint32_t arrived;      /* elements that have arrived, or will not              */
    int      open;         /* children whose subtrees are not done, with them      */
    bool     done;         /* this subtree is                                      */
    uint64_t moved, bytes; /* elements of this subtree that have left, and their size */
    uint64_t refused;      /* results of a local strategy that were refused           */
};

struct ski_neighbour_rounds;

struct ski_balance;

/* The callbacks of the modules at the root of the tree. */
struct ski_balance_root {
    /* All PEs have reported that their elements wait at a sync point; the report may be outdated.
     */
    void (*reported)(struct ski_balance *balance, const struct ski_sync_counts *sum);

    /* The loads of all PEs are gathered; they stay the balancer's until ski_load_gather_end(). */
    void (*gathered)(struct ski_balance *balance, struct ski_gathered *all);

    /* All elements have arrived where the orders sent them. */
    void (*moved)(struct ski_balance *balance);
};

struct ski_balancer;

/* The state of the balancer on a PE. */
struct ski_balance {
    struct ski_pe               *self;
    bool                         active; /* a class of the program takes part */
    struct ski_balance_tree      tree;   /* once it was needed                */
    struct ski_sync_point        sync;
    struct ski_load_gather       gather;
    struct ski_move_orders       moves;
    struct ski_neighbour_rounds *rounds; /* neighbour_rounds.c; NULL: it was never needed */
    void (*on_arrived)(struct ski_balance *balance); /* an element has, of local rounds; or NULL */
    const struct ski_balance_root *root;
    struct ski_balancer           *balancer; /* at the root */
    struct ski_strategy_choice     choice;   /* of the next balancing, as far as this PE knows */
    skua_balance_stats             stats;    /* of the last balancing */
};

/** Returns the state of the balancer on a PE; NULL: on a progress thread. */
static inline struct ski_balance *ski_balance_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_BALANCE];
}

/** Returns the state of the balancer on this PE, to act on @p msg; NULL: the message is invalid,
 * and was dropped. */
struct ski_balance *ski_balance_accept(skua_msg *msg);

/** Returns ski_balance_accept() of a message that only the parent in the tree may send. */
struct ski_balance *ski_balance_accept_down(skua_msg *msg);

/** Returns ski_balance_accept() of a message that only a child may send, and the child's number. */
struct ski_balance *ski_balance_accept_up(skua_msg *msg, int *child);

/** Returns whether the elements of a collection take part in balancing. */
static inline bool ski_balance_has(const struct ski_collection *all)
{
    return all->kind == SKI_ARRAY && all->class && all->class->balance;
}

/** Returns whether the elements of a collection call skua_at_sync(). */
static inline bool ski_balance_syncs(const struct ski_collection *all)
{
    return ski_balance_has(all) && all->class->balance->flags & SKUA_BALANCE_AT_SYNC;
}

/** Finds the neighbours of this PE in the tree, if that was not done. */
void ski_balance_connect(struct ski_balance *balance);

/** Sends @p bytes to each child of this PE. */
void ski_balance_send_down(struct ski_balance *balance, uint32_t handler, const void *data,
                           size_t bytes);

#endif
