/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invoke.h - messages to objects: on their way, and on arrival.
 *
 * A message to an object that is here names it by address (SKI_MSG_HERE).  One that
 * travels names collection and index, in the second half of its header (core/message/message.h).
 */
#ifndef SKI_INVOKE_H
#define SKI_INVOKE_H

#include "objects/chare/msg_target.h"
#include "objects/chare/entry.h"
#include "objects/chare/object.h"

SKI_COLD _Noreturn void ski_wrong_class(const char *call, const struct ski_collection *all,
                                        const struct ski_entry *entry, const skua_index *index);

/** Whether @p entry belongs to the class of @p all; ends the job if not.  @p index: whose it
 *  should be, NULL: everybody's. */
static inline void ski_check_entry(const char *call, const struct ski_collection *all,
                                   const struct ski_entry *entry, const skua_index *index)
{
    if (SKI_UNLIKELY(entry->of != all->class))
        ski_wrong_class(call, all, entry, index);
}

/** What the headers of small messages on PE @p pe have in common (invoke.c). */
uint64_t ski_small_stamp(int pe);

/** Queue a new message for an object that is here. */
void ski_invoke_here(struct ski_pe *self, struct ski_object *object, skua_entry entry,
                     skua_msg *msg);

/** Send a new message to a PE, whatever we believe about its object. */
void ski_invoke_at(struct ski_pe *self, int pe, const skua_ref *ref, skua_entry entry,
                   skua_msg *msg);

/** The function of all handlers that are entries. */
void ski_on_invoke(skua_msg *msg);

#endif
