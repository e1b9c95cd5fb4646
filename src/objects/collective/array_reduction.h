/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_reduction.h - reductions over a collection whose elements are created, destroyed and
 * migrate.
 *
 * Reductions of a collection are numbered.  Each element counts the reductions it has contributed
 * to; each PE knows the first that it has not reported.  A PE reports a reduction to its parent in
 * the tree when all its elements have contributed and all its children have reported: one message
 * with the *partial result* of its subtree.
 *
 * Each report carries the number of contributions in it and the number that is *expected* on its
 * account: elements created less elements destroyed on the PEs of the subtree, wherever those
 * elements are now.  Migration changes neither.  An element takes part from the first reduction
 * that the PE which creates it has not reported; a destroyed element takes part up to its last
 * contribution.  The root completes a reduction when all its children have reported and as many
 * contributions as expected have arrived.  The contribution of an element that migrated to a PE
 * which had reported before goes to the root alone, as a late report.
 *
 * A PE without elements reports when it learns that a reduction has started.  Its parent sends a
 * *start* to each child that is not *active*, that is without an element in its subtree as far as
 * the parent knows; an active child reports unasked.
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
struct ski_text;

/** The observer of array reductions. */
extern const struct ski_lifecycle ski_array_reduction_lifecycle;

/** Handler: the partial result of a child, or at the root a late report. */
void ski_on_array_reduction_report(skua_msg *msg);

/** Handler: a reduction has started elsewhere. */
void ski_on_array_reduction_start(skua_msg *msg);

/** Handler: a child is no longer active. */
void ski_on_array_reduction_inactive(skua_msg *msg);

#define SKI_ARRAY_REDUCTION_REPORT_MIN 96 /* bytes of the smallest report */
#define SKI_ARRAY_REDUCTION_START_MIN                                                              \
    16 /* bytes of a start, and of the message that a child is not active */

#endif
