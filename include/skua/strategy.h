/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy.h - load balancing strategies: functions that map objects to PEs.
 *
 * A strategy is a function on one plain structure, a problem. It does not depend on the runtime:
 * the balancer calls it at a sync point of a job, and `skua balance` calls it on a recorded
 * problem. This page is its whole contract.
 *
 *   It sees      PEs (work that cannot move, idle time, speed, host), objects (PE, load, size,
 *                position) and edges (messages and bytes between objects), as measured since the
 *                last balancing. Objects and PEs are numbered by their index in the problem.
 *   It changes   to[i], the PE of object i after the balancing. On entry this is its present PE, so
 *                an object that it does not touch stays. An object without SKUA_OBJECT_MOVABLE
 *                stays in any case: to[i] keeps its value.
 *   It returns   SKUA_OK, or a failure, in which case nothing moves.
 *   Determinism  The result depends on the problem alone; randomness comes from problem->seed. It
 *                keeps no state between calls, and may run on several threads concurrently.
 *   Cost         The PEs of the job may wait for it: O(n log n) for n objects and edges.
 *   Memory       It frees what it allocates. The problem and to[] belong to the caller and are
 *                valid until it returns. It calls no function of the runtime and does not block.
 *
 * A result that breaks the contract (a PE out of range, an object moved that must stay, a failure)
 * is refused: the balancing is skipped, and a line names the strategy, the object and the value.
 *
 * The time of a PE is its background + (the sum of the loads of its objects) / (its speed). A
 * strategy makes the largest time small; most also avoid moves, or messages between PEs and hosts.
 *
 * A strategy with SKUA_STRATEGY_LOCAL sees a neighbourhood instead of the job. Every PE calls it
 * with a problem in which pe[0] is itself, pe[1] and up are at most SKUA_NEIGHBOURS_MAX neighbours,
 * whose background is all their time, and the objects are its own (so to[i] is 0 on entry; messages
 * to objects elsewhere are not shown). A job repeats this for `rounds` rounds, at most 64, each
 * with another seed. Time and memory per PE therefore do not grow with the number of PEs. An object
 * without a load stays. `skua balance` has the whole problem: it ends earlier when no PE moves an
 * object, and sets all loads to 1 where none was recorded.
 *
 * `skua balance --plugin=FILE` tries a strategy of a shared library on recorded loads.
 */
#ifndef SKUA_STRATEGY_H
#define SKUA_STRATEGY_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** The largest number of neighbours of a PE in the problem of a local strategy. */
#define SKUA_NEIGHBOURS_MAX 6

/** A PE of a problem. */
typedef struct {
    double  background; /* seconds of work that belongs to no object of the problem */
    double  idle;       /* seconds that it was idle                                  */
    double  speed;      /* how fast it runs objects; 1 is typical, 0 means 1      */
    int32_t host;       /* 0 .. hosts-1                                              */
    int32_t pe;         /* its number in the job                                     */
} skua_strategy_pe;

/** Properties of an object of a problem. */
enum {
    SKUA_OBJECT_MOVABLE    = 1, /* a strategy may move it          */
    SKUA_OBJECT_POSITIONED = 2  /* its member `position` is valid  */
};

/** An object of a problem. */
typedef struct {
    int32_t  pe;          /* where it is: an index of skua_strategy_problem.pe  */
    uint32_t flags;       /* SKUA_OBJECT_MOVABLE, SKUA_OBJECT_POSITIONED         */
    double   load;        /* seconds that its entries run on a PE of speed 1     */
    uint64_t bytes;       /* its size when it moves; 0 is unknown                */
    double   position[3]; /* coordinates that the program provides                   */
} skua_strategy_object;

/** Messages from one object of a problem to another. */
typedef struct {
    uint32_t from, to; /* indices of skua_strategy_problem.object                */
    uint64_t messages; /* their number                                           */
    uint64_t bytes;    /* their total size                                       */
} skua_strategy_edge;

/** What a strategy decides on. Edges are sorted by `from`, then by `to`, without duplicates and
 *  without edges from an object to itself. */
typedef struct {
    size_t                      size;    /* sizeof(skua_strategy_problem) of the caller       */
    int32_t                     pes;     /* number of PEs, at least 1                         */
    int32_t                     hosts;   /* number of hosts, at least 1                       */
    uint32_t                    objects; /* number of objects                                 */
    uint32_t                    edges;   /* number of edges                                   */
    const skua_strategy_pe     *pe;      /* the PEs                                           */
    const skua_strategy_object *object;  /* the objects                                       */
    const skua_strategy_edge   *edge;    /* the edges; none without SKUA_STRATEGY_NEEDS_GRAPH */
    int (*hops)(const void *arg, int a, int b); /* distance of two hosts (skua_host_hops());
                                                   NULL: all are at distance 1 */
    const void *hops_arg;                       /* its first argument                         */
    double      seconds_per_message; /* cost of a message between PEs; 0 is unknown           */
    double      seconds_per_byte;    /* cost of a byte between PEs; 0 is unknown              */
    uint64_t    seed;                /* for strategies that decide at random                  */
} skua_strategy_problem;

/** What a strategy needs, and how it is called. */
enum {
    SKUA_STRATEGY_NEEDS_GRAPH     = 1, /* it reads the edges: messages have to be measured     */
    SKUA_STRATEGY_NEEDS_POSITIONS = 2, /* it reads the positions of objects                    */
    SKUA_STRATEGY_LOCAL           = 4  /* every PE calls it with its neighbourhood, in rounds  */
};

/** A function that sets to[i] for every object i that is to move, under the contract above. */
typedef skua_status (*skua_strategy_fn)(const skua_strategy_problem *problem, int32_t *to);

/** A strategy: its name, what it needs, and its function. */
typedef struct {
    size_t           size;   /* sizeof(skua_strategy), or 0                                      */
    const char      *name;   /* of lower-case letters, digits and hyphens                        */
    const char      *about;  /* one line for users                                               */
    unsigned         flags;  /* SKUA_STRATEGY_NEEDS_GRAPH, _NEEDS_POSITIONS, _LOCAL              */
    int              rounds; /* of a local strategy: 1 to 64 rounds; 0 means 1              */
    skua_strategy_fn decide; /* the function                                                     */
} skua_strategy;

/** Registers a strategy of the program, before skua_main(), in the same order in all processes.
 *  @p strategy is copied; its strings must stay valid for the life of the program. A name that
 *  exists, is empty or has other characters, or a strategy without a function, ends the program
 *  with an error. */
SKUA_API void skua_strategy_register(const skua_strategy *strategy);

/** Returns the strategy of a name, or NULL if there is none, or if it needs a library that is not
 *  installed. May be called at any time and from any thread, but not during
 *  skua_strategy_register(). */
SKUA_API const skua_strategy *skua_strategy_find(const char *name);

/** Returns the @p i-th strategy: first those of Skua, then those of the program in the order of
 *  their registration. Returns NULL if @p i is not less than their number. A strategy that needs a
 *  library that is not installed is not counted. */
SKUA_API const skua_strategy *skua_strategy_at(int i);

SKUA_END_DECLS

#endif
