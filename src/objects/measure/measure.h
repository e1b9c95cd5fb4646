/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - the time that elements and a PE run, by the clock: what runs is charged.
 *
 * A PE that measures remembers which object runs and since when.  When another object begins or
 * ends an entry, the time since then is charged to the first: so an entry that is called inside of
 * another is charged to its own object and to no other.  The idle time of the scheduler (an entry
 * may wait) is charged to no object.  What is neither charged nor idle is the *background* of the
 * PE.
 *
 * While nothing is measured this costs nothing: a PE that measures has another table of handlers,
 * in which entries and user threads have functions that charge.  The calls of entries that do not
 * go by the table look at objects->measure.
 *
 * Times are ticks of the clock (base/clock.h) in the records of the elements (element_load.h).
 * They become CPU times when they are gathered, by the share of a CPU that the PE had
 * (cpu_share.h).
 */
#ifndef SKI_MEASURE_H
#define SKI_MEASURE_H

#include "base/clock.h"
#include "objects/measure/comm_graph.h"
#include "objects/measure/cpu_share.h"
#include "objects/model/element.h"

/* The measurement of a PE. */
struct ski_measure {
    struct ski_object *running; /* whose entry runs; NULL: none                    */
    uint64_t           since;   /* ticks when that began or continued                */
    uint64_t           idled;   /* *idle at that time                              */
    const uint64_t    *idle;    /* ticks that the scheduler has idled so far       */

    struct ski_comm_graph *graph; /* comm_graph.h; NULL: messages are not counted */

    uint64_t             reset_ticks;  /* when it was cleared last    */
    uint64_t             reset_idle;   /* *idle then                  */
    uint64_t             stopped;      /* when it was stopped; 0: not */
    uint64_t             stopped_idle; /* *idle then                  */
    struct ski_cpu_share cpu;          /* since it was cleared */

    int64_t carried; /* ticks of elements that have left since, less those of elements that
                      * have arrived: what an element was charged migrates with it */
};

/* The time, by the clock, of a PE since its measurement was cleared, in seconds. */
struct ski_measure_times {
    double wall, idle;
    double carried; /* of it, charged to elements that have left; below 0 if more was charged
                     * elsewhere to elements that have arrived */
};

/** Charges the object that runs, and makes @p next the object that runs; NULL: none does.  Returns
 *  the former. */
static inline struct ski_object *ski_measure_switch(struct ski_measure *measure,
                                                    struct ski_object  *next)
{
    struct ski_object *running = measure->running;
    uint64_t           now = ski_ticks(), idle = *measure->idle;

    if (running)
        ski_element_load(running)->ticks += now - measure->since - (idle - measure->idled);
    measure->since   = now;
    measure->idled   = idle;
    measure->running = next;
    return running;
}

/** Begins to measure an entry of @p object, which begins on this PE.  Returns what
 *  ski_measure_leave() needs. */
struct ski_object *ski_measure_enter(struct ski_object *object);

/** Ends what ski_measure_enter() began, before the object may be destroyed or migrate. */
void ski_measure_leave(struct ski_object *outer);

/** Returns whether a PE counts messages. */
static inline bool ski_measure_counts(const struct ski_pe *self)
{
    return self->objects->measure && self->objects->measure->graph;
}

/** Counts a message of @p bytes from the object that runs on this PE to @p to, if messages are
 *  counted. */
void ski_measure_count(const skua_ref *to, size_t bytes);

/** Counts a message of @p bytes from the object that runs to the one with the key @p to, whose edge
 *  is not where its search begins.  This PE counts messages. */
void ski_measure_count_search(const struct ski_measure *measure, uint64_t to, size_t bytes);

/** Counts, on a PE that counts messages, a message of @p bytes from the object that runs to the one
 *  with the key @p to. */
static inline void ski_measure_count_key(const struct ski_measure *measure, uint64_t to,
                                         size_t bytes)
{
    struct ski_element_load *load;

    if (!measure->running)
        return;
    load = ski_element_load(measure->running);
    load->bytes += bytes;
    load->messages++;
    if (SKI_UNLIKELY(!ski_comm_graph_try(measure->graph, load->key, to, bytes)))
        ski_measure_count_search(measure, to, bytes);
}

/** Counts a broadcast of @p bytes by the object that runs on this PE, if messages are counted.  It
 *  reaches every PE wherever objects are, so it is no edge of the graph. */
void ski_measure_count_all(size_t bytes);

/** Counts a multicast of @p bytes by the object that runs on this PE to @p section, if messages are
 *  counted. */
void ski_measure_count_section(uint64_t section, size_t bytes);

/** Counts that @p member gets a multicast of @p bytes to @p section on this PE, if messages are
 *  counted. */
void ski_measure_count_member(uint64_t section, const struct ski_object *member, size_t bytes);

/** Counts a put of @p bytes in a channel from @p object, which is here, to @p to, if messages are
 *  counted. */
void ski_measure_count_put(struct ski_object *object, const skua_ref *to, size_t bytes);

/** Counts a contribution of @p bytes of @p object, which is here, to a reduction, if messages are
 *  counted: over a section, as a message to the object that @p done names; over an array (@p done
 * is NULL) it reaches every PE, and is no edge. */
void ski_measure_count_contribution(struct ski_object *object, const skua_completion *done,
                                    size_t bytes);

/** Begins or resumes charging objects on this PE. */
struct ski_measure *ski_measure_begin(struct ski_pe *self);

/** Ends charging objects on this PE, which measures; what was measured is kept. */
void ski_measure_end(struct ski_pe *self);

/** Records that an element which was charged @p ticks leaves this PE; below 0: that one arrives,
 *  with -@p ticks. */
void ski_measure_carry(const struct ski_pe *self, int64_t ticks);

/** Clears what was measured of this PE and of its elements, but for those of collections that
 *  @p keeps returns true of (NULL: of none).  While such a collection has elements here the graph
 * is kept as well. */
void ski_measure_clear(struct ski_pe *self, bool (*keeps)(const struct ski_collection *all));

/** Returns the times of this PE since they were cleared; all 0 if it has never measured. */
struct ski_measure_times ski_measure_times_of(const struct ski_pe *self);

/** Returns the share of its time by the clock that this PE had a CPU since it was cleared: what
 * elements were charged, times this, is their CPU time. 1 if it has never measured. */
double ski_measure_cpu_share(const struct ski_pe *self);

/** Frees what is measured of a PE. */
void ski_measure_destroy(struct ski_pe *self);

#endif
