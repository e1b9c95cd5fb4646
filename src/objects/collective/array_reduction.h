/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_reduction.h - reductions over a collection whose objects come, go and move.
 *
 * Reductions of a collection are numbered.  Each object knows the number of its next;
 * each PE the first that it has not reported.  A PE reports a reduction to its parent in
 * the tree when all its objects have contributed and all its children have reported: one
 * message, the *part*, with what was combined so far.
 *
 * How many are to contribute?  Every part says, besides how many contributions it has
 * combined, how many objects are *expected* on its account: births less deaths on that PE
 * (subtree), no matter where those objects are now.  A move changes neither.  An object
 * born on a PE takes part from the first reduction which that PE has not reported; one
 * that dies no longer from its next on.  The root is done when all parts are in and as
 * many contributions as expected have come.  Those of an object that moved to a PE which
 * had reported before go to the root alone, as late parts.
 *
 * A PE with no object reports when it hears that a reduction is under way.  It hears it
 * from its parent (*start*), which sends that to children who are *quiet*: without an
 * object in their subtree, as far as the parent knows.
 */
#ifndef SKI_ARRAY_REDUCTION_H
#define SKI_ARRAY_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/completion.h>
#include <skua/message.h>

#include "objects/model/lifecycle.h"

struct ski_collection;
struct ski_object;
struct ski_sum;
struct ski_text;

struct ski_reducing {
    uint32_t        first;    /* not reported yet                                  */
    int64_t         expected; /* births less deaths here, that concern it          */
    struct ski_sum *sums;     /* from `first` on, as far as known; at the root also
                                 before, those that wait for late parts            */
    uint64_t busy;            /* children, by bit, that report unasked             */
    bool     unasked;         /* we have told our parent that we do                */
};

extern const struct ski_lifecycle ski_array_reduction_lifecycle;

/* Handlers. */
void ski_on_part(skua_msg *msg);
void ski_on_start(skua_msg *msg);
void ski_on_fewer(skua_msg *msg);

#define SKI_PART_LEAST  96
#define SKI_START_LEAST 16

#endif
