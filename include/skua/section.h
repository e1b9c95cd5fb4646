/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.h - some of the objects of a collection: multicast to them, reduction over them.
 *
 * A section is created by one PE, from indices of an array or a group; the value that
 * names it is good at once and may be sent.  Messages of a section run along a tree of the
 * PEs where its members were when it was created, and the creator's: with members on k PEs
 * of many, a multicast and a reduction take about k messages each.  Other PEs neither hear
 * of the section nor store anything.
 *
 * Members may move.  All stays right, but each member that is not where it was costs a
 * message of its own per multicast and reduction: after many moves, create a new section
 * and delete the old one.
 *
 * Members that do not exist yet, of an array that is open, are waited for, until a multicast
 * to an entry that creates them, say; those of an array that is SKUA_ARRAY_ON_DEMAND are
 * created.  A member that is deleted leaves its
 * sections: multicasts go to the others, and reductions count what it had contributed to
 * and go on without it.  An element inserted later under its index is no member.
 *
 * All calls belong on a PE, which need not be the creator's.  Misuse ends the job with a
 * line that names class, index and PE: an index that is twice in a section, or of the
 * wrong dimension, or of an element that does not exist; contributions of one who is no
 * member, or of another shape than the others'; a section that was deleted.
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

typedef struct {
    uint64_t id;
} skua_section;

/** The objects of these indices, in any order, which the caller may reuse at once.  The call
 *  waits for the creation of a collection which this PE has not heard of (collection.h). */
SKUA_API skua_section skua_section_create(skua_collection of, const skua_index *indices,
                                          size_t count);

/** Those in a range of an array, every stride[d]-th in dimension d; NULL: all of them. */
SKUA_API skua_section skua_section_range(skua_collection array, const skua_range *range,
                                         const int32_t *stride);

/** Delete it on all PEs, after the multicasts that were sent before from here; the objects
 *  stay.  Reductions that are not finished never will be. */
SKUA_API void skua_section_delete(skua_section section);

/**
 * Multicast: let @p entry of every member run, each with data of its own.  A member has
 * all multicasts of a section once, in one order, the same for all members; those from
 * one PE are in the order of its calls.
 */
SKUA_API void skua_section_invoke(skua_section section, skua_entry entry, const void *data,
                                  size_t bytes);

/** A completion that does so with the result. */
SKUA_API skua_completion skua_done_invoke_section(skua_section section, skua_entry entry);

/**
 * Contribute to a reduction over the members, of which @p self is one, as with
 * skua_contribute(): a member's n-th call belongs to the n-th reduction of the section,
 * several may be in flight, they end in their order, and the result goes to `done`.  In a section
 * without members no reduction takes place, and no completion happens.
 */
SKUA_API void skua_section_contribute(skua_section section, void *self, skua_op op, skua_type type,
                                      const void *data, size_t count, skua_completion done);

SKUA_END_DECLS

#endif
