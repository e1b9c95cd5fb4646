/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invoke.h - sending messages to objects (invoke.c), and delivering them (delivery.c).
 *
 * A message to an object that is here names it by address (SKI_MSG_HERE).  A message to another PE
 * names collection and index (msg_target.h), and so does every message to an object of a class by
 * pointer.
 *
 * The reason for the latter: when an object that messages in this PE's queue name by address
 * migrates, its memory stays here until those messages have run, and a copy migrates.  An object
 * that migrates by pointer leaves no memory behind, and the messages, which may have any priority,
 * cannot be found in the queue.  Names in place of addresses avoid both, at the cost of a second
 * lookup in the directory when such a message runs.
 */
#ifndef SKI_INVOKE_H
#define SKI_INVOKE_H

#include "objects/model/msg_target.h"
#include "objects/chare/entry.h"

/** Ends the job: @p call was given an entry that is none of the class of @p all; @p index names the
 * element, NULL: all of them. */
SKI_COLD _Noreturn void ski_entry_wrong_class(const char *call, const struct ski_collection *all,
                                              const struct ski_entry *entry,
                                              const skua_index       *index);

/** Ends the job if @p entry does not belong to the class of @p all.  @p index names the element
 * that @p call is about, NULL: all of them. */
static inline void ski_check_entry(const char *call, const struct ski_collection *all,
                                   const struct ski_entry *entry, const skua_index *index)
{
    if (SKI_UNLIKELY(entry->of != all->class))
        ski_entry_wrong_class(call, all, entry, index);
}

/** Returns the header word that small messages to objects of PE @p pe have in common (invoke.c). */
uint64_t ski_invoke_stamp(int pe);

/** Queues a new message for an object that is here. */
void ski_invoke_here(struct ski_pe *self, struct ski_object *object, skua_entry entry,
                     skua_msg *msg);

/** Sends a new message to an object that is on PE @p pe, whatever this PE has recorded of it. */
void ski_invoke_at(struct ski_pe *self, int pe, const skua_ref *ref, skua_entry entry,
                   skua_msg *msg);

/** The handler function of all entries. */
void ski_on_invoke(skua_msg *msg);

/** The handler function of all entries on a PE that measures (measure/measure.h). */
void ski_on_invoke_measured(skua_msg *msg);

#endif
