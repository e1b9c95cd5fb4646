/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h - running entries of objects that are here: in a call, in a thread of their own, and
 * those that send a reply (SKUA_ENTRY_SYNC).
 */
#ifndef SKI_ENTRY_H
#define SKI_ENTRY_H

#include "objects/model/element.h"

/* The header of a message to an entry that is SKUA_ENTRY_SYNC. */
struct ski_reply_request {
    _Alignas(16) skua_completion reply;
};

/** Runs @p entry, of the table objects->run, for an object that is here; the entry consumes @p msg.
 */
void ski_entry_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg);

/** Runs @p entry, of the table objects->run and with the number @p handler, for an object that is
 *  here.  The caller still owns the data. */
void ski_entry_run_on(struct ski_object *object, const struct ski_entry *entry, uint32_t handler,
                      const void *data, size_t bytes);

/** Returns whether running an entry is calling its function that owns the message, and nothing
 * else. */
static inline bool ski_entry_is_owner(const struct ski_entry *entry)
{
    return entry->entry && !(entry->flags & (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC |
                                             SKI_ENTRY_INPLACE | SKI_ENTRY_MEASURED));
}

/** Returns whether running an entry is calling its method, and nothing else. */
static inline bool ski_entry_is_call(const struct ski_entry *entry)
{
    return entry->method &&
           !(entry->flags & (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC | SKI_ENTRY_MEASURED));
}

#endif
