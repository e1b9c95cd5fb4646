/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_contributors.h - which contributors of a delegate contribute to which reductions.
 *
 * The contributors of a delegate are its own members and its children in the tree
 * (section_reduction.h).  Most contribute to every reduction and are only counted.  The others are
 * in two lists of numbers: a contributor that has left contributes to no reduction from its number
 * on, one that begins late contributes to none before its number.  A contributor may be in both.
 * Numbers wrap around (seqnum.h).
 */
#ifndef SKI_SECTION_CONTRIBUTORS_H
#define SKI_SECTION_CONTRIBUTORS_H

#include "base/assert.h"
#include "objects/collective/section.h"
#include "objects/model/seqnum.h"

/** Returns how many contributors contribute to reduction @p number. */
static inline size_t ski_section_contributors_expected(
    const struct ski_section_reduction *reduction, uint32_t number)
{
    size_t count = reduction->contributors;

    ski_assert(reduction->left <= reduction->contributors);
    for (size_t i = 0; i < reduction->left; i++)
        count -= !ski_seqnum_before(number, reduction->left_from[i]);
    for (size_t i = 0; i < reduction->late; i++)
        count -= ski_seqnum_before(number, reduction->late_from[i]);
    return count;
}

/** Returns whether every contributor has left. */
static inline bool ski_section_contributors_all_left(const struct ski_section_reduction *reduction)
{
    return reduction->left == reduction->contributors;
}

/** Records that a contributor contributes to no reduction from @p number on. */
void ski_section_contributors_leave(struct ski_section_reduction *reduction, uint32_t number);

/** Records that a contributor contributes to no reduction before @p number. */
void ski_section_contributors_begin_late(struct ski_section_reduction *reduction, uint32_t number);

/** Removes the late contributors that contribute to `first` from their list. */
SKI_COLD void ski_section_contributors_prune_late(struct ski_section_reduction *reduction);

/** Returns the number from which on no contributor contributes; every contributor has left. */
uint32_t ski_section_contributors_last(const struct ski_section_reduction *reduction);

#endif
