/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refnum_index.h - a hash table from reference numbers to lists.
 *
 * Open addressing with linear probing, at most three quarters full.  An empty list is removed
 * immediately by moving the following slots back, so that the table does not fill up with reference
 * numbers of the past.
 */
#ifndef SKI_REFNUM_INDEX_H
#define SKI_REFNUM_INDEX_H

#include <stddef.h>
#include <stdint.h>

/** The list of one reference number.  The user of the index links its elements. */
struct ski_refnum_list {
    int64_t reference;
    void   *first, *last; /* first NULL: the slot is free */
};

/** A hash table of lists.  A zeroed index is empty. */
struct ski_refnum_index {
    struct ski_refnum_list *slot; /* NULL: nothing has been added                        */
    uint32_t                mask; /* number of slots - 1; the number is a power of two   */
    uint32_t                lists;
};

/** Returns the list of @p reference, or NULL. */
struct ski_refnum_list *ski_refnum_find(const struct ski_refnum_index *index, int64_t reference);

/** Returns the list of @p reference, which is created if there is none; the caller must make it
 *  non-empty before any other call.  Pointers to other lists become invalid. */
struct ski_refnum_list *ski_refnum_add(struct ski_refnum_index *index, int64_t reference);

/** Removes @p list, which has become empty.  Pointers to other lists become invalid. */
void ski_refnum_remove(struct ski_refnum_index *index, struct ski_refnum_list *list);

/** Frees the memory of @p index, which is empty then. */
void ski_refnum_index_destroy(struct ski_refnum_index *index);

#endif
