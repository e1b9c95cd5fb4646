/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy.h - sending, forwarding and freeing messages with nocopy arguments (skua/nocopy.h).
 *
 * A message carries its arguments, or buffers that describe them (nocopy_msg.h).  A PE that does
 * not reach the memory of a buffer fetches it before the message is delivered (nocopy_fetch.h).
 *
 * To all PEs: the sender sends the message to one PE of each host, which makes the arguments
 * reachable for all PEs of its host and then sends the message to each; a *share* counts the PEs
 * that still use an argument.
 *
 * To all elements of an array, and to sections, messages go as broadcasts do (array_broadcast.h,
 * section_multicast.h), after a header of those modules.  No PE knows the number of elements.  So
 * each PE *holds* the message that it gets: a share of its own counts the copies that it makes, for
 * its elements or to be sent on, and notifies the PE that sent the message when the last is freed.
 */
#ifndef SKI_NOCOPY_H
#define SKI_NOCOPY_H

#include <skua/object.h>

#include "objects/model/lifecycle.h"
#include "objects/zerocopy/nocopy_fetch.h"

struct ski_entry;
struct ski_object;
struct ski_pe;

/* Bytes of the smallest message to a host. */
#define SKI_NOCOPY_MIN (sizeof(struct ski_nocopy_route) + sizeof(struct ski_nocopy_trailer))

/** Handler on one PE of a host: makes the arguments reachable, and passes the message on. */
void ski_on_nocopy(skua_msg *msg);

/** Returns @p msg, which it consumes, with @p bytes of @p head, a multiple of 16, before it. */
skua_msg *ski_nocopy_prepend(const void *head, size_t bytes, skua_msg *msg);

/** Sends @p msg to @p handler on all PEs; the PEs of a host reach the same arguments then. */
void ski_nocopy_broadcast(struct ski_pe *self, uint32_t handler, skua_msg *msg);

/** Invokes an entry of all members of group @p all; @p processes: of a process group. */
void ski_nocopy_invoke_group(struct ski_pe *self, skua_collection all, skua_entry entry,
                             bool processes, skua_msg *msg);

/** Returns whether elements get @p msg with its buffers.  A method gets plain data, as it frees no
 *  arguments; so does any entry when all data is in the message. */
bool ski_nocopy_goes_as_is(const skua_msg *msg, const struct ski_entry *entry);

/** Returns whether all PEs of this host reach the arguments.  If not they are fetched, and then @p
 * msg is queued on this PE again. */
bool ski_nocopy_reachable(skua_msg *msg);

/** Counts the copies of @p msg, which has arrived on this PE: its arguments are released when it
 * and all copies are freed. */
void ski_nocopy_hold(skua_msg *msg);

/** Counts one more copy of a message that is held; skua_nocopy_free() frees it. */
void ski_nocopy_count_copy(const void *data, size_t bytes);

/** Runs the entry with the number @p handler for an object that is here, with the @p bytes of data
 *  behind @p head.  The caller still owns them; if they have @p nocopy arguments, they belong to a
 *  message that is held, and the entry gets a counted copy. */
void ski_nocopy_run_on(struct ski_object *object, uint32_t handler, const void *head,
                       size_t head_bytes, size_t bytes, bool nocopy);

/** Returns a copy of @p msg, which may have nocopy arguments, for an object that migrates: data
 * that the program has in memory of the object are in the copy.  NULL: there are none. */
skua_msg *ski_nocopy_copy_posted(const skua_msg *msg);

/** Frees a message that will not be delivered; its sender is notified unless the job ends. */
void ski_nocopy_drop(skua_msg *msg);

/** The observer of this module: messages to entries that will not be delivered. */
extern const struct ski_lifecycle ski_nocopy_lifecycle;

/** Frees a message of the runtime, which may have @p nocopy arguments. */
static inline void ski_nocopy_free_any(skua_msg *msg, bool nocopy)
{
    if (SKI_UNLIKELY(nocopy))
        ski_nocopy_drop(msg);
    else
        skua_msg_free(msg);
}

/** Counts one more copy of a message of the runtime, which may have @p nocopy arguments. */
static inline void ski_nocopy_count_copy_any(const void *data, size_t bytes, bool nocopy)
{
    if (SKI_UNLIKELY(nocopy))
        ski_nocopy_count_copy(data, bytes);
}

#endif
