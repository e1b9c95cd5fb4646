/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.h - objects that may be created on any PE, by work stealing: idle PEs steal their seeds.
 *
 * A *seed* is the message that will create an object.  It waits in a deque of the PE that submitted
 * it; for each seed there is a message in the queue that creates the object of the newest one:
 * depth first, so that a tree of objects does not fill memory.
 *
 * An idle PE tries to steal the older half of the deque of a random victim: first of its host, then
 * of any.  After a few refusals it informs its *neighbours*, the PEs whose number differs from its
 * own in one bit, that it is idle, and stops stealing: a PE that submits seeds gives the oldest to
 * an idle neighbour, and a PE that received some passes on all but one.  Neighbours make the PEs
 * one connected graph, so work spreads to all PEs, and where there is none no PE asks forever.
 *
 * Progress.  A seed leaves the deque of a PE in two ways only: the PE creates its object, or the PE
 * sends it to another PE and keeps at least one.  (A seed that is being submitted may go to an idle
 * neighbour immediately; the object that submits it is the progress.)  For each seed in the deque
 * there is at least one message in the queue that creates an object, so every PE that has seeds
 * creates one after a bounded number of messages, whatever requests arrive in between.  Without
 * that rule the only seed of a job could move back and forth between two idle PEs: where PEs share
 * a CPU, the seed and the next request of the PE that sent it arrive together.
 *
 * The home of the object of a seed is the PE that submitted it; the PE that creates the object
 * notifies the home.
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

/** Handler: creates the object of the newest seed of the deque. */
void ski_on_seed_create(skua_msg *msg);

/** Handler: an idle PE requests seeds. */
void ski_on_seed_request(skua_msg *msg);

/** Handler: the victim has no seeds. */
void ski_on_seed_none(skua_msg *msg);

/** Handler: there are seeds in the job; @p msg is NULL on the PE that submits the first. */
void ski_on_seed_known(skua_msg *msg);

#define SKI_SEED_REQUEST_MIN 4

#endif
