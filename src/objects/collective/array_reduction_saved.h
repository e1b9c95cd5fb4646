/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_reduction_saved.h - array reductions in a checkpoint.
 *
 * A checkpoint is made while no message is in flight, but elements may have contributed to
 * reductions that others have not reached.  The partial results are distributed over the PEs of the
 * tree.  A restarted job may have another tree, so it continues from a state that needs none: no PE
 * has reported a reduction from number `oldest` on, which is the first that is not complete; all
 * partial results are at the root; and each PE counts its elements, and of them those that have
 * contributed.
 *
 * Why the counts are right: a reduction is complete when there are as many contributions as
 * expected elements.  An element that was destroyed after its contribution counts on both sides, so
 * it is counted on neither; an element that exists has contributed, on some PE, to the reductions
 * before its next one.
 */
#ifndef SKI_ARRAY_REDUCTION_SAVED_H
#define SKI_ARRAY_REDUCTION_SAVED_H

#include "objects/collective/reduction_buffer.h"
#include "objects/model/collection.h"

/* The partial result of one reduction on one PE; the data follow. */
struct ski_saved_partial {
    uint64_t                  id; /* of the collection, or of the section */
    uint64_t                  bytes;
    struct ski_reduction_spec spec;
    skua_completion           to;
    uint32_t                  number;
    uint32_t                  zero;
};

/** Returns whether a restarted job can pass on the result of a reduction of @p of, the name of a
 * class or section.  If not, stores the reason in @p why, of @p room bytes. */
bool ski_saved_partial_possible(const struct ski_saved_partial *partial, const char *of, char *why,
                                size_t room);

/** Returns the number of the first reduction of @p all that is not complete, as far as this PE
 *  knows.  The number of the root is exact. */
uint32_t ski_array_reduction_oldest(const struct ski_collection *all);

/** Calls @p fn for all that has been combined on this PE, and not reported. */
void ski_array_reduction_each_saved(const struct ski_collection *all,
                                    void (*fn)(const struct ski_saved_partial *partial,
                                               const void *data, void *arg),
                                    void *arg);

/** At the root: adds @p partial of a checkpoint, with its data.  Returns false if it is invalid. */
bool ski_array_reduction_add_saved(struct ski_collection          *all,
                                   const struct ski_saved_partial *partial, const void *data);

/** Sets the first reduction of @p all that is not complete, before reductions continue. */
void ski_array_reduction_set_oldest(struct ski_collection *all, uint32_t oldest);

/** Continues the reductions of @p all, whose elements on this PE have all been restored.  Returns
 *  false if what was saved of elements and of reductions does not fit together. */
bool ski_array_reduction_restore(struct ski_collection *all);

#endif
