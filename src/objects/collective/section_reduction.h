/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_reduction.h - reductions over the members of a section.
 *
 * Each member numbers reductions in the order of its calls.  A delegate knows its contributors: its
 * own members, wherever they are, and its children in the tree.  It reports a reduction to its
 * parent, in one message, when all contributors have contributed; reductions are reported, and
 * completed at the root, in their order.
 *
 * A deleted member leaves: it contributes to no reduction from a number on.  A child leaves when
 * all its contributors have.
 *
 * In a later generation (section_rebuild.h) an own member *joins*: it contributes from a number on,
 * and no reduction is reported before all own members have said which.  Its children contribute
 * from the first reduction of the generation on, if need be with a report that has no data.  The
 * root of the generation before is one more contributor of the root, until it leaves.
 */
#ifndef SKI_SECTION_REDUCTION_H
#define SKI_SECTION_REDUCTION_H

#include "objects/collective/section.h"

struct ski_text;

/** Frees all that is combined. */
void ski_section_reduction_free(struct ski_section_reduction *reduction);

/** A member on this PE is deleted: it leaves. */
void ski_section_reduction_deleted(struct ski_section *section, struct ski_section_member *member);

/** A member on this PE leaves a generation for the next: it contributes to none of the following
 *  reductions in this one. */
void ski_section_reduction_switched(struct ski_section *section, struct ski_section_member *member);

/** A member on this PE joins a generation: it contributes to this one from its next reduction on.
 */
void ski_section_reduction_joined(struct ski_section *section, struct ski_section_member *member);

/** The order to switch has arrived: members that have left do not join the next generation. */
void ski_section_reduction_switch_gone(struct ski_section *section);

/** At the root: the results of @p section are contributions to @p next, the next generation. */
void ski_section_reduction_succeed(struct ski_section *section, struct ski_section *next);

/** Returns whether all contributors of @p section have left and all its reductions are reported. */
bool ski_section_reduction_over(const struct ski_section *section);

/** Tells PE @p delegate that a member was deleted before the order that enrolls it came. */
void ski_section_reduction_lost(struct ski_collection *all, const skua_index *index, uint64_t id,
                                int delegate);

/** At the root of a section that was restored, whose partial results are there: the member of index
 *  @p index has contributed to the reductions before @p number. */
void ski_section_reduction_late(struct ski_section *section, const skua_index *index,
                                uint32_t number);

/** Appends to @p text which members here a reduction of @p section in progress waits for, or that
 * it waits for contributions from other PEs. */
void ski_section_reduction_explain(const struct ski_section *section, struct ski_text *text);

/** Handler: the contribution of a member, or the report of a child. */
void ski_on_section_reduction_report(skua_msg *msg);

/** Handler: a contributor leaves. */
void ski_on_section_reduction_leave(skua_msg *msg);

#define SKI_SECTION_REDUCTION_REPORT_LEAST 80 /* bytes of the smallest contribution or report */
#define SKI_SECTION_REDUCTION_LEAVE_LEAST                                                          \
    24 /* bytes of the message of a contributor that leaves                                        \
        */

#endif
