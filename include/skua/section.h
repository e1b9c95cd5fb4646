/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.h - sections: subsets of a collection, with multicast and reduction.
 *
 * One PE creates a section from indices of an array or a group. The value that names it is valid
 * immediately and may be sent in messages. Messages of a section are sent along a tree of the PEs
 * on which its members were at creation, and the creator's PE. If the members are on k PEs, a
 * multicast and a reduction take about k messages each. Other PEs store nothing about the section.
 *
 * Members may migrate. The results stay correct, but each member that has moved costs an additional
 * message per multicast and reduction. When more than a share of the members have moved (setting
 * `section_rebuild`, 5 %) and multicasts have cost as many such messages as there are
 * members, the section rebuilds its tree from the PEs where the members are, between two
 * multicasts.
 *
 * Operations wait for members that do not exist yet in an open array, for example until a multicast
 * to an entry that creates them; members in an array that is SKUA_ARRAY_ON_DEMAND are created. A
 * member that is destroyed leaves its sections: multicasts go to the remaining members, and
 * reductions count what it had contributed to and continue without it. An element that is later
 * inserted at its index is not a member.
 *
 * All functions are called on a PE, not necessarily the creator's. Misuse ends the job with an
 * error that names class, index and PE: a duplicate index, an index of the wrong dimension or of an
 * element that does not exist; a contribution of an object that is not a member, or with another
 * operator, type or count than the others; a section that was destroyed.
 */
#ifndef SKUA_SECTION_H
#define SKUA_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/collection.h>
#include <skua/completion.h>
#include <skua/object.h>

SKUA_BEGIN_DECLS

/** A section of a collection: a value that is valid on every PE and may be sent in messages. */
typedef struct {
    uint64_t id;
} skua_section;

/** Creates a section of the objects with these indices, in any order. The caller may reuse the
 *  array when the call returns. The call waits for the creation of a collection that is not known
 *  on this PE yet (collection.h). */
SKUA_API skua_section skua_section_create(skua_collection of, const skua_index *indices,
                                          size_t count);

/** Creates a section of the elements in a range of an array: every stride[d]-th in dimension d, or
 *  all of them if @p stride is NULL. */
SKUA_API skua_section skua_section_create_range(skua_collection array, const skua_range *range,
                                                const int32_t *stride);

/** Destroys a section on all PEs, after the multicasts that this PE sent before. Its members
 *  continue to exist. Unfinished reductions never complete. */
SKUA_API void skua_section_destroy(skua_section section);

/** Makes a section rebuild its tree from the PEs where its members are now, for example after the
 *  program has moved them. The call returns immediately; multicasts and reductions continue
 *  meanwhile, in the same order and with the same results. It costs a few messages for each member
 *  that has moved and for each PE of the tree, and nothing changes if no member has moved. Two
 *  calls that follow each other closely may cause one rebuild. A call for a section whose
 *  destruction is known on this PE ends the job with an error; a call that reaches the root of the
 *  tree after the section was destroyed has no effect. */
SKUA_API void skua_section_rebuild(skua_section section);

/** Multicasts to a section: invokes @p entry of every member with a copy of the data. A member
 *  receives each multicast of a section once; all members receive them in the same order, and those
 *  from one PE in the order of its calls. */
SKUA_API void skua_section_invoke(skua_section section, skua_entry entry, const void *data,
                                  size_t bytes);

/** Returns a completion that multicasts the result to @p entry of a section. */
SKUA_API skua_completion skua_done_invoke_section(skua_section section, skua_entry entry);

/** Contributes to a reduction over the members of a section, of which @p self is one, as
 *  skua_contribute() does for a collection. A member's n-th call belongs to the n-th reduction of
 *  the section; several may be in flight and they complete in order. The result goes to @p done. In
 *  a section without members no reduction takes place and no completion happens. */
SKUA_API void skua_section_contribute(skua_section section, void *self,
                                      skua_contribution contribution, skua_completion done);

SKUA_END_DECLS

#endif
