/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.h - objects that may be created on any PE: an idle PE takes them.
 *
 * A *seed* is the message that will create an object.  It waits on the PE that submitted it, in a
 * row with others; for each there is a message in the queue that creates the object of the newest
 * seed when its turn comes: depth first, so that a tree of objects does not fill memory.
 *
 * A PE that is idle asks another one, at random, for the older half of its row: first PEs of its
 * host, then any.  After a few refusals it tells its *neighbours*, the PEs whose number differs
 * from its own in one bit, that it is idle, and asks no more: a PE that submits seeds gives the
 * oldest to an idle neighbour, and a PE that was given some passes on all but one.  Neighbours
 * make the PEs one connected graph, so work spreads to all PEs, and where there is none no PE asks
 * forever.
 *
 * Progress.  A seed leaves the row of a PE in two ways only: the PE creates its object, or the PE
 * gives it away and keeps another one.  (A seed that is being submitted may go to an idle neighbour
 * immediately; the object that submits it is the progress.)  For each seed in the row there is at
 * least one message in the queue that creates an object, so every PE that has seeds creates one
 * after a bounded number of messages, whatever requests come in between.  Without that rule the
 * only seed of a job goes to and fro between two idle PEs: where PEs share a CPU the seed and the
 * next request of the PE that gave it arrive together.
 *
 * The home of the object of a seed is the PE that submitted it; the PE that creates the object
 * tells the home.
 */
#ifndef SKI_SEED_H
#define SKI_SEED_H

#include <skua/object.h>

#include "objects/model/lifecycle.h"

struct ski_objects;

/** Submits a seed: the object of @p ref will be created on some PE. */
void ski_seed_submit(struct ski_objects *objects, const skua_ref *ref, const void *data,
                     size_t bytes);

/** Keeps @p msg, which is being delivered, until the objects of all seeds of this PE are known to
 * be created.  Returns false, and does not keep it, if they are. */
bool ski_seeds_awaited(struct ski_objects *objects, skua_msg *msg);

/** The observer of this module (model/lifecycle.h): the seeds of a PE. */
extern const struct ski_lifecycle ski_seed_lifecycle;

/** Handler: the PE that the message names has created the object of a seed of this PE. */
void ski_on_seed_created(skua_msg *msg);

/** Handler: a seed comes from another PE. */
void ski_on_seed(skua_msg *msg);

/** Handler: creates the object of the newest seed of the row. */
void ski_on_seed_create(skua_msg *msg);

/** Handler: another PE asks for seeds. */
void ski_on_seed_request(skua_msg *msg);

/** Handler: the PE that was asked has no seeds. */
void ski_on_seed_none(skua_msg *msg);

/** Handler: there are seeds in the job; @p msg is NULL on the PE that submits the first. */
void ski_on_seed_known(skua_msg *msg);

#define SKI_SEED_REQUEST_LEAST 4

#endif
