/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.h - load balancing: the runtime migrates array elements to balance the load of PEs.
 *
 * The runtime measures the time that the entries of each element run and the messages between
 * elements. Time is CPU time: the elapsed time multiplied by the share of a CPU that the PE had. A
 * *balancing* passes the measurements to a *strategy* (skua/strategy.h, SKUA_BALANCE), which
 * decides which elements move, and moves them as skua_migrate() does.
 *
 * A class takes part after skua_class_set_balance(). There are two ways:
 *
 * - At a sync point (SKUA_BALANCE_AT_SYNC): every element of these classes calls skua_at_sync(),
 *   for example every hundred steps. When the last one has called it, elements move; then the entry
 *   `resume` of each is invoked, on the PE where it is now. Elements that are inserted before that
 *   have to call it as well, elements that are destroyed need not, and all may migrate meanwhile. A
 *   waiting element receives messages as usual. A sync point does not wait for messages: one that
 *   was sent to an element before it may arrive after `resume`.
 * - Asynchronously: elements of the other classes move at the end of an entry, while others run,
 *   every SKUA_BALANCE_PERIOD seconds or when skua_balance_now() is called.
 *
 * A program chooses the strategy by the setting SKUA_BALANCE or by skua_balance_set_strategy().
 * With `none`, the default, a sync point is passed and no element moves. `auto` balances only at
 * those sync points where it pays off; `auto:NAME` does so with the strategy NAME.
 */
#ifndef SKUA_BALANCE_H
#define SKUA_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/object.h>

SKUA_BEGIN_DECLS

/* ---- classes ---------------------------------------------------------------- */

/** Flags of skua_balance_params. */
enum {
    SKUA_BALANCE_AT_SYNC = 1 /* elements move only at sync points: they call skua_at_sync() */
};

/** How the elements of a class take part in balancing. */
typedef struct {
    size_t     size;   /* sizeof(skua_balance_params); 0: its size in version 1.0 */
    unsigned   flags;  /* SKUA_BALANCE_AT_SYNC, or 0: elements move at the end of any entry */
    skua_entry resume; /* with SKUA_BALANCE_AT_SYNC: invoked, without data, after a sync point */
    void (*position)(const void *self, double xyz[3]); /* where an element is, for strategies that
                                                          use positions; NULL: unknown */
    double (*load)(const void *self); /* the load of an element in seconds; NULL: as measured */
} skua_balance_params;

/** Lets the elements of the arrays of class @p of take part in balancing. Called before
 *  skua_main(), in the same way in every process, after the entry `resume` was registered.
 *  @p params is copied. The functions `position` and `load` are called during a balancing and may
 *  only read the element; so is `pup` of its class, to find its size. They may be called while a
 *  threaded entry of the element waits. An element in which an entry waits that cannot move with it
 *  stays. Misuse ends the job: a class that was never registered or is given twice, an entry
 *  `resume` of another class, SKUA_BALANCE_AT_SYNC without `resume`. Elements of a class without
 *  `pup` are measured and do not move. */
SKUA_API void skua_class_set_balance(skua_class of, const skua_balance_params *params);

/* ---- balancing -------------------------------------------------------------- */

/** Declares that the element @p self has reached a sync point. When all elements of the arrays of
 * all SKUA_BALANCE_AT_SYNC classes have called this function once, elements move as the strategy
 *  decides, and the entry `resume` of each is invoked. @p self is the pointer that its entries get.
 *  A call ends the job if the class of @p self is not SKUA_BALANCE_AT_SYNC, if @p self is not an
 *  array element, or if it waits at a sync point already; the error names class and index. */
SKUA_API void skua_at_sync(void *self);

/** Starts an asynchronous balancing, of the elements whose class is not SKUA_BALANCE_AT_SYNC, and
 *  returns. The elements move at the end of an entry, while others run. May be called on any PE; a
 *  call while a balancing runs starts another one after it, and several such calls start one.
 *  Measurements of SKUA_BALANCE_AT_SYNC elements are kept for their next sync point. In a program
 *  without other classes that take part, a call has no effect. */
SKUA_API void skua_balance_now(void);

/** Chooses the strategy of the following balancings by its name: a name that skua_strategy_find()
 *  accepts, `auto` or `auto:NAME`. Called before skua_main(), in the same way in every process, it
 *  replaces the default of SKUA_BALANCE, which takes precedence if it is set; called on a PE, it
 *  applies to the whole job from the next balancing that has not begun. A name that does not exist
 *  ends the job with an error that lists the names. */
SKUA_API void skua_balance_set_strategy(const char *name);

/** Returns the name of the selected strategy as it is known on this PE: that of
 *  skua_balance_set_strategy() or SKUA_BALANCE. The string is valid until the next call of
 *  skua_balance_set_strategy(). */
SKUA_API const char *skua_balance_strategy(void);

/** The last balancing, for skua_balance_stats_get(). Loads are seconds that a PE was not
 *  idle, by the clock. */
typedef struct {
    uint64_t rounds;      /* balancings so far, also those in which no element moved          */
    uint64_t sync_points; /* sync points passed so far                                        */
    uint64_t objects;     /* elements that were considered                                     */
    uint64_t moved;       /* elements that moved                                              */
    uint64_t bytes;       /* their size                                                       */
    double   max_before;  /* the largest load of a PE before                                  */
    double   mean;        /* the mean load of the PEs                                         */
    double   max_after;   /* the largest load of a PE after, as the strategy predicts         */
    double   idle_before; /* mean share of the time that a PE was idle since the balancing
                             before, 0 to 1                                                    */
    double seconds;       /* from the last element's call of skua_at_sync() to the first resume;
                             of an asynchronous one, from its start to the last arrival        */
    double   decide;      /* seconds of them in the strategy                                   */
    uint64_t refused;     /* results of strategies that were refused so far                    */
} skua_balance_stats;

/** Writes the statistics of the last balancing known on this PE to @p stats, of @p bytes:
 *  sizeof(skua_balance_stats) as the program was compiled. Before the first one, all is 0. */
SKUA_API void skua_balance_stats_get(skua_balance_stats *stats, size_t bytes);

/* ---- measurement ------------------------------------------------------------ */

/** What was measured of an element since the last balancing or skua_measure_reset(). */
typedef struct {
    double   seconds;  /* of CPU time that its entries have run        */
    uint64_t messages; /* messages that it has sent to objects, if they are counted */
    uint64_t bytes;    /* data of these messages                       */
} skua_element_load;

/** Starts to measure the time that the entries of all objects run, on all PEs. May be called on any
 *  PE. A program that balances is measured unless its strategy is `none`; SKUA_MEASURE=1 measures
 *  from the start. */
SKUA_API void skua_measure_start(void);

/** Measures as skua_measure_start() does, and counts the messages between objects as well, which
 *  costs more. With a strategy that uses messages they are counted in any case;
 *  SKUA_MEASURE_GRAPH=1 counts from the start. */
SKUA_API void skua_measure_graph_start(void);

/** Stops measuring, on all PEs. The measurements are kept, and strategies use them. */
SKUA_API void skua_measure_stop(void);

/** Clears the measurements, on all PEs. */
SKUA_API void skua_measure_reset(void);

/** Writes what was measured of a local object to @p load. @p self is the pointer that its entries
 *  get. Returns false, and writes nothing, if its PE has never measured. The running entry is
 *  counted when it has returned. */
SKUA_API bool skua_balance_load(const void *self, skua_element_load *load);

SKUA_END_DECLS

#endif
