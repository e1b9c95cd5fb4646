/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callback_table.h - completions that invoke an entry of an object with a long index.
 *
 * A completion has room for a short index only.  One for an object with a longer index names a
 * *callback* of the PE that made the completion.  A completion may happen any number of times, so
 * the PE cannot know when a callback is no longer needed: there is one for each object and entry,
 * however many completions name it, and it exists until the PE ends.
 */
#ifndef SKI_CALLBACK_TABLE_H
#define SKI_CALLBACK_TABLE_H

#include <skua/object.h>

#include "objects/model/hash_table.h"
#include "objects/model/lifecycle.h"

/* A callback: the object and the entry that completions invoke. */
struct ski_callback {
    struct ski_hash_link link; /* first */
    skua_ref             ref;
    skua_entry           entry;
};

/** Returns the callback of @p table that invokes @p entry of @p ref, added if there is none. */
struct ski_callback *ski_callback_get(struct ski_hash_table *table, const skua_ref *ref,
                                      skua_entry entry);

/** Frees all callbacks of @p table. */
void ski_callbacks_free(struct ski_hash_table *table);

/** The observer of this module (model/lifecycle.h): the callbacks of a PE. */
extern const struct ski_lifecycle ski_callback_lifecycle;

#endif
