/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invoke.h - messages to objects: on their way, and on arrival.
 *
 * A message to an object that is here names it by address (SKI_MSG_HERE).  One that
 * travels names collection and index, in the second half of its header (core/message.h).
 */
#ifndef SKI_INVOKE_H
#define SKI_INVOKE_H

#include "objects/object.h"

/* In the place of the number of index bytes: all objects of the collection. */
#define SKI_TARGET_ALL     0xffu
#define SKI_TARGET_SECTION 0xfeu /* the members of a section, by its id */

static inline uint64_t ski_target(uint64_t id, uint32_t index_bytes)
{
    return id << 8 | index_bytes;
}

/** Write the reference into @p msg; a long index may need another message, which is
 *  returned then. */
skua_msg *ski_msg_address(skua_msg *msg, uint64_t id, const skua_index *index);

/** The index in a message, whose length was checked. */
skua_index ski_msg_index(skua_msg *msg);

/** A message of @p head and, behind it, a copy of @p bytes at @p data. */
skua_msg *ski_msg_headed(const void *head, size_t head_bytes, const void *data, size_t bytes);

/** Post it, addressed as it is, to @p pe. */
void ski_pass_on(struct ski_pe *self, int pe, skua_msg *msg);

/** A message with a reference and a copy of @p bytes, for one of the runtime's handlers. */
void ski_post_about(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                    const skua_index *index, const void *data, size_t bytes);

/** Run an entry of an object that is here; @p msg is used up. */
void ski_entry_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg);

/** The same with data that stays the caller's. */
void ski_entry_run_on(struct ski_object *object, const struct ski_entry *entry, uint32_t handler,
                      const void *data, size_t bytes);

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

/** Whether to run an entry is to call its method. */
static inline bool ski_entry_is_call(const struct ski_entry *entry)
{
    return entry->method && !(entry->flags & (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC));
}

/** The function of all handlers that are entries. */
void ski_on_invoke(skua_msg *msg);

#endif
