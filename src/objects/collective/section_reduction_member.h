/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_reduction_member.h - contributors that leave the reductions of a section, or join them.
 *
 * A delegate counts its contributors (section_contributors.h) and waits for each of them in every
 * reduction.  So a contributor that stops contributing *leaves*: it names the first reduction that
 * it does not contribute to.  A member leaves when it is destroyed, or when it switches to the next
 * generation of its section; a child leaves when all its contributors have, and the root of a
 * generation leaves the root of the next one in the same way.
 *
 * In a later generation (section_rebuild.h) an own member *joins*: it names the first reduction
 * that it contributes to.  For a member that was destroyed before it joined, its delegate of the
 * former generation reports that it does not join.
 *
 * A member on another PE than its delegate sends this by a message to the delegate.  Until the
 * member knows its delegate, the message goes to the root, which forwards it.
 */
#ifndef SKI_SECTION_REDUCTION_MEMBER_H
#define SKI_SECTION_REDUCTION_MEMBER_H

#include "objects/collective/section.h"

/** Makes a member on this PE, which is being destroyed, leave the reductions of @p section. Returns
 * false if it does not leave: the next element of its index may be the member. */
bool ski_section_reduction_deleted(struct ski_section *section, struct ski_section_member *member);

/** Makes a member on this PE leave the reductions of a generation because it switches to the next
 *  one. */
void ski_section_reduction_switched(struct ski_section *section, struct ski_section_member *member);

/** Makes a member on this PE join the reductions of a generation, from its next reduction on. */
void ski_section_reduction_joined(struct ski_section *section, struct ski_section_member *member);

/** Marks a delegate as switched, since the order to switch has arrived, and informs the next
 *  generation which own members do not join because they have left. */
void ski_section_reduction_switch_gone(struct ski_section *section);

/** At the root: makes the results of @p section contributions to @p next, the next generation. */
void ski_section_reduction_succeed(struct ski_section *section, struct ski_section *next);

/** Notifies PE @p delegate that a member was destroyed before the order that enrolls it arrived. */
void ski_section_reduction_lost(struct ski_collection *all, const skua_index *index, uint64_t id,
                                int delegate);

/** At the root of a section that was restored, with its partial results: records that the member of
 *  index @p index has contributed to the reductions before @p number. */
void ski_section_reduction_late(struct ski_section *section, const skua_index *index,
                                uint32_t number);

/** Handler: a contributor leaves or joins. */
void ski_on_section_reduction_leave(skua_msg *msg);

/* Bytes of the message of a contributor that leaves or joins. */
#define SKI_SECTION_REDUCTION_LEAVE_MIN 24

#endif
