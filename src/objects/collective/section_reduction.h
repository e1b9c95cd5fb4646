/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_reduction.h - reductions over the members of a section.
 *
 * Each member numbers reductions in the order of its calls.  A delegate knows its contributors: its
 * own members, wherever they are, and its children in the tree.  It reports a reduction to its
 * parent, in one message, when all contributors have contributed; reductions are reported, and
 * completed at the root, in their order.
 *
 * The contributors change while reductions are in progress: members are destroyed, and a section
 * rebuilds its tree (section_reduction_member.h).  The children in the tree of a later generation
 * (section_rebuild.h) contribute from its first reduction on, if need be with a report that has no
 * data.  The root of the generation before is one more contributor of the root, until it leaves.
 */
#ifndef SKI_SECTION_REDUCTION_H
#define SKI_SECTION_REDUCTION_H

#include "objects/collective/section.h"

struct ski_text;

/** Frees the partial results of a section and the lists of its contributors. */
void ski_section_reduction_free(struct ski_section_reduction *reduction);

/** Returns whether all contributors of @p section have left and all its reductions are reported. */
bool ski_section_reduction_over(const struct ski_section *section);

/** Reports all reductions that are complete at this delegate to its parent; at the root completes
 *  them. */
void ski_section_reduction_advance(struct ski_section *section);

/** At the root: returns the next generation, to which the results of @p section are contributions;
 *  NULL if there is none or it has ended. */
struct ski_section *ski_section_reduction_successor(const struct ski_section *section);

/** Returns whether PE @p pe is a child of this delegate in the tree of @p section. */
bool ski_section_reduction_is_child(const struct ski_section *section, int pe);

/** Returns the member that @p msg names if this PE is its delegate.  Otherwise this PE is the root;
 *  it forwards @p msg to the delegate, and NULL is returned. */
struct ski_section_member *ski_section_reduction_named_member(struct ski_section *section,
                                                              skua_msg           *msg);

/** Appends to @p text which members here a reduction of @p section in progress waits for, or that
 * it waits for contributions from other PEs. */
void ski_section_reduction_explain(const struct ski_section *section, struct ski_text *text);

/** Handler: the contribution of a member, or the report of a child. */
void ski_on_section_reduction_report(skua_msg *msg);

#define SKI_SECTION_REDUCTION_REPORT_MIN 80 /* bytes of the smallest contribution or report */

#endif
