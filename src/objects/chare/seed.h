/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.h - objects that may be created on any PE: who has nothing to do takes them.
 *
 * A *seed* is the message that will create an object.  It waits on the PE that planted it,
 * in a row with others; for each there is a message in the queue that creates the newest
 * when its turn comes: depth first, so that a tree of objects does not fill memory.
 *
 * A PE that is idle asks another one, at random, for the older half of its row.  After a
 * few refusals it tells its *neighbours*, those whose number differs in one bit, that it
 * is hungry, and asks no more: a PE that plants seeds gives the oldest to a hungry
 * neighbour, and one that was given some does so with all but one.  Neighbours make the PEs one
 * graph, so work spreads to all, and where there is none nobody asks for ever.
 *
 * Progress.  A seed leaves the row of a PE in two ways only: it grows there, or another one
 * stays behind, which will.  (A seed that is being planted may go to a hungry neighbour at once;
 * the object that plants it is the progress.)  For each seed in the row there is at least one
 * message in the queue that lets one grow, so every PE that has seeds lets one grow after a
 * bounded number of messages, whatever requests come in between.  Without that rule the only
 * seed of a job goes to and fro between two hungry PEs: where PEs share a CPU the seed and the
 * next request of its giver arrive together.
 *
 * The home of such an object is the PE that planted it; it is told where the object grew.
 */
#ifndef SKI_SEED_H
#define SKI_SEED_H

#include <skua/object.h>

struct ski_objects;

/** Begin and end with a PE. */
struct ski_seeds *ski_seeds_begin(void);
void              ski_seeds_end(struct ski_seeds *seeds);

/** Let the object of @p ref be created somewhere. */
void ski_seed_plant(struct ski_objects *objects, const skua_ref *ref, const void *data,
                    size_t bytes);

/** One that was planted on this PE has grown: here, or where skua.seed-grew comes from. */
void ski_seed_grew(struct ski_objects *objects);

/** Keep @p msg, which is being delivered, until all that were planted on this PE are known to
 *  have grown; false: they are. */
bool ski_seeds_awaited(struct ski_objects *objects, skua_msg *msg);

/* Handlers. */
void ski_on_seed_grew(skua_msg *msg);
void ski_on_seed(skua_msg *msg);
void ski_on_seed_grow(skua_msg *msg);
void ski_on_seed_ask(skua_msg *msg);
void ski_on_seed_none(skua_msg *msg);
void ski_on_seed_known(skua_msg *msg);

#define SKI_SEED_ASK_LEAST 4

#endif
