/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_rebuild.h - a section rebuilds its tree when members have moved away from their
 * delegates.
 *
 * A member that is not on the PE of its delegate costs a message for each multicast and each
 * reduction.  The tree that follows, of the PEs where the members are now, is the next *generation*
 * of the section.  A PE has a record of each generation it takes part in, with tree, numbers of
 * multicasts, members and reductions of its own; at most two generations of a section are in use.
 *
 * When.  A delegate whose multicasts have cost as many such messages as it has members, and that
 * misses more than a share of them (setting section_rebuild), reports to the root how many it
 * misses.  The root begins when those are more than that share of all members, so a rebuild costs
 * no more than a few times what the moves have cost before; or when skua_section_rebuild() is
 * called.  It begins one at a time: the generation before last has ended.
 *
 * How.
 *   1. The root asks for the members, down the tree.  Each delegate chooses a successor for each of
 *      its own members, the last known PE of the member, and records the choice.  What all have
 *      chosen goes up the tree.
 *   2. The root sends itself the order to switch, which is ordered after the earlier multicasts.
 *      When it runs, the root creates the next generation (section_tree.h), and the order goes down
 *      the old tree as its last multicast.  All later multicasts go down the new tree.
 *   3. A delegate gives its members the order as it does any multicast, with their successors.  A
 *      member that gets it leaves the old generation and joins the new one: it informs its old
 *      delegate that it contributes to no reduction from its next one on, and its successor that it
 *      does.  A member that is destroyed earlier informs its old delegate, which then informs the
 *      successor that the member never joins.
 *   4. A delegate leaves the old tree when all its contributors have left and all its reductions
 *      are reported.
 *
 * Why it is right.
 *   Multicasts: the order is the last of the old generation and makes the new one begin for a
 *   member, in one step; before, multicasts of the new one wait at the member (`seen` is
 *   SKI_SECTION_UNSEEN).  Each generation delivers once and in order, so both together do, and the
 *   root gives all members the same order.
 *   Reductions: a live member contributes to each reduction once, in the old generation before the
 *   number at which it switches and in the new one from there on.  The root of the old generation
 *   is a contributor of the new one, with the same numbers, until all have left it.  A delegate of
 *   the new one reports no reduction before it knows the number of each own member (`unjoined`),
 *   which each member, or its old delegate, reports exactly once.  So the new root completes a
 *   reduction when every member has contributed in one generation or the other, or was destroyed.
 *   Numbers are those of before: the new generation begins with the first reduction that the root
 *   had not completed when it was created, to which no member was past contributing there.
 *   Ending: the order to end a section goes to the latest generation, and reaches a member after
 *   the order to switch.
 */
#ifndef SKI_SECTION_REBUILD_H
#define SKI_SECTION_REBUILD_H

#include "objects/collective/section.h"

/** Records that a multicast has found @p away own members on other PEs. */
void ski_section_rebuild_away(struct ski_section *section, size_t away);

/** At the root: creates the next generation from @p lists, the data of the order to switch. Returns
 * false if there is nothing to rebuild. */
bool ski_section_rebuild_succeed(struct ski_section *section, const void *lists, size_t bytes);

/** Records that the generation before @p next has ended on this PE; @p next may be NULL. */
void ski_section_rebuild_ended(struct ski_section *next);

/** Handler: a request to rebuild, a report of members that are away, a query for the locations of
 *  members, and the reply. */
void ski_on_section_rebuild(skua_msg *msg);

#define SKI_SECTION_REBUILD_MIN 24 /* bytes of the smallest message */

#endif
