/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callback_table.h - references that do not fit into a completion .
 *
 * A completion may happen never, once or often, so nobody can tell when its reference is
 * of no more use.  Therefore there is one errand for each object and entry, however often
 * completions for it are made, and it stays as long as its PE.
 */
#ifndef SKI_CALLBACK_TABLE_H
#define SKI_CALLBACK_TABLE_H

#include <skua/object.h>

#include "objects/chare/hash_table.h"

struct ski_objects;

struct ski_errand {
    struct ski_link link; /* first */
    skua_ref        ref;
    skua_entry      entry;
};

/** The errand to invoke @p entry of @p ref, which this PE keeps. */
struct ski_errand *ski_errand(struct ski_objects *objects, const skua_ref *ref, skua_entry entry);

void ski_errands_end(struct ski_objects *objects);

#endif
