/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h - running entries of objects that are here: called, in a thread of their own, and
 * those that owe an answer.
 */
#ifndef SKI_ENTRY_H
#define SKI_ENTRY_H

#include "objects/chare/object.h"

/* What a message to a SKUA_ENTRY_SYNC begins with. */
struct ski_asked {
    _Alignas(16) skua_completion reply;
};

/** Run an entry of an object that is here; @p msg is used up. */
void ski_entry_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg);

/** The same with data that stays the caller's. */
void ski_entry_run_on(struct ski_object *object, const struct ski_entry *entry, uint32_t handler,
                      const void *data, size_t bytes);

/** Whether to run an entry is to call its method. */
static inline bool ski_entry_is_call(const struct ski_entry *entry)
{
    return entry->method && !(entry->flags & (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC));
}

#endif
