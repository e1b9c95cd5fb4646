/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_reduction.h - reductions over the members of a section.
 *
 * Reductions are numbered by each member in the order of its calls.  A station knows who
 * gives to it: the members whose station it is, wherever they are, and its children in the
 * tree.  A reduction is reported to the parent, in one message, when all have given;
 * reductions are reported, and at the root finished, in their order.
 *
 * A member that is deleted gives no more from a number on, a child neither when all of
 * its givers are such.
 */
#ifndef SKI_SECTION_REDUCTION_H
#define SKI_SECTION_REDUCTION_H

#include <stddef.h>
#include <stdint.h>

#include <skua/object.h>

struct ski_collection;
struct ski_enrolled;
struct ski_section;
struct ski_subtotal;
struct ski_text;

struct ski_gather {
    uint32_t             first;     /* not reported yet                    */
    struct ski_subtotal *subtotals; /* from there on, as far as known      */
    size_t               givers;    /* members and children                */
    uint32_t            *quits;     /* from when on some of them no longer give */
    size_t               quitters;
};

void ski_gather_free(struct ski_gather *gather);

/** A member that is here was deleted. */
void ski_gather_died(struct ski_section *section, struct ski_enrolled *member);

/** One was deleted before it was enrolled: tell its station. */
void ski_gather_lost(struct ski_collection *all, const skua_index *index, uint64_t id, int station);

/** Append to @p text which members here a reduction of @p section that is under way waits for, or
 *  that it waits for contributions from elsewhere. */
void ski_gather_explain(const struct ski_section *section, struct ski_text *text);

/* Handlers. */
void ski_on_section_part(skua_msg *msg);
void ski_on_section_fewer(skua_msg *msg);

#define SKI_SECTION_PART_LEAST  80
#define SKI_SECTION_FEWER_LEAST 16

#endif
