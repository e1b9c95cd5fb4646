/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_saved.h - reductions of sections in a checkpoint.
 *
 * A checkpoint is made while no message is in flight, but members of a section may have contributed
 * to reductions that others have not reached.  The partial results are on the delegates of a tree
 * that a restarted job does not have.  The restarted job continues from a state without a tree: all
 * partial results are at the root, and each member knows its next reduction.
 *
 * Numbers of reductions continue.  The new tree begins with the first one that is not complete.  A
 * member that has contributed to it, and to others after it, is *late*, as one that joins a tree
 * that was rebuilt (section_reduction_member.h): its delegate expects it from its next reduction
 * on.  A delegate that has not been informed waits for a contribution of the member, so no
 * reduction completes too early.
 */
#ifndef SKI_SECTION_SAVED_H
#define SKI_SECTION_SAVED_H

#include "objects/collective/array_reduction_saved.h"
#include "objects/collective/section.h"

/** The part of an element in a checkpoint: its next reduction in each of its sections. */
extern const struct ski_saved_part ski_section_saved;

/** Calls @p fn for all that has been combined of the reductions of @p section on this PE. */
void ski_section_each_partial(const struct ski_section *section,
                              void (*fn)(const struct ski_saved_partial *partial, const void *data,
                                         void *arg),
                              void *arg);

/** At the root of a section that was restored: adds @p partial of a checkpoint, with its data,
 * before any reduction continues.  Returns false if it is not valid. */
bool ski_section_add_partial(struct ski_section *section, const struct ski_saved_partial *partial,
                             const void *data);

#endif
