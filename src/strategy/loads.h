/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads.h - the time of each PE while a strategy moves objects, and the ideal time.
 *
 * The time of a PE is its background plus the loads of its objects divided by its speed.  Objects
 * without a measured load count nothing and stay where they are, unless no movable object has a
 * load: then each movable object counts 1, so that objects are balanced by number.
 */
#ifndef SKI_LOADS_H
#define SKI_LOADS_H

#include <stdbool.h>

#include <skua/strategy.h>

/* The times of the PEs of a problem. */
struct ski_loads {
    int32_t  pes;
    uint32_t objects;
    double  *time; /* of each PE                                                    */
    double  *rate; /* of each PE: seconds a unit of load, the reciprocal of its speed */
    double  *load; /* of each object                                                */
};

/* What ski_loads_init() counts. */
enum ski_loads_of {
    SKI_LOADS_ALL,     /* all objects, where they are                                          */
    SKI_LOADS_FIXED,   /* objects that stay: immovable ones, and those without a load          */
    SKI_LOADS_MEASURED /* all objects by their loads, also if all are 0: of a local strategy,
                          whose caller knows whether the job has measured any                  */
};

/** Computes the loads of a problem. */
void ski_loads_init(struct ski_loads *loads, const skua_strategy_problem *problem,
                    enum ski_loads_of which);

/** Frees the memory of loads. */
void ski_loads_destroy(struct ski_loads *loads);

/** Returns whether a strategy may move object @p i and gains something by it. */
static inline bool ski_loads_movable(const struct ski_loads      *loads,
                                     const skua_strategy_problem *problem, uint32_t i)
{
    return problem->object[i].flags & SKUA_OBJECT_MOVABLE && loads->load[i] > 0;
}

/** Adds object @p i to the time of a PE. */
static inline void ski_loads_add(struct ski_loads *loads, int32_t pe, uint32_t i)
{
    loads->time[pe] += loads->load[i] * loads->rate[pe];
}

/** Subtracts object @p i from the time of a PE. */
static inline void ski_loads_subtract(struct ski_loads *loads, int32_t pe, uint32_t i)
{
    loads->time[pe] -= loads->load[i] * loads->rate[pe];
}

/** Returns the speed of a PE; 0 stands for 1. */
static inline double ski_pe_speed(const skua_strategy_pe *pe)
{
    return pe->speed > 0 ? pe->speed : 1;
}

/** Returns the largest time of a PE. */
double ski_loads_max(const struct ski_loads *loads);

/** Returns the ideal time of a problem, to which movable load, if it could be divided at will,
 * would fill all PEs that are below it.  PEs whose fixed work takes longer are left out. */
double ski_loads_ideal(const skua_strategy_problem *problem);

/** Allocates and fills an array with the numbers of the movable objects that have a load, by
 *  descending load, equal ones by number.  Sets their number. */
uint32_t *ski_loads_sorted(const struct ski_loads *loads, const skua_strategy_problem *problem,
                           uint32_t *count);

/** Allocates and fills an array as ski_loads_sorted() does, with the objects of PEs whose time is
 *  longer than @p above. */
uint32_t *ski_loads_sorted_above(const struct ski_loads      *loads,
                                 const skua_strategy_problem *problem, double above,
                                 uint32_t *count);

#endif
