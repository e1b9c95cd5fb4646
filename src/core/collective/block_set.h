/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_set.h - partial results of a reduction over any set of PEs, as few as its order allows.
 *
 * A reduction combines blocks with their siblings, the lower one first (reduction_order.h).  The
 * PEs of a host need not be a block: hosts may have any number of PEs, numbered in any way.  Their
 * contributions are a set of blocks, each with its partial result.  A block that is added is
 * combined with its sibling as soon as both are complete, so a set has the fewest blocks, and the
 * result does not depend on the order in which they are added:
 *
 *      PEs 0 1 2 of 8       (0 1) 2            three contributions are two partial results
 *      PEs 4 5 6 7 of 8     (4 5 6 7)          a host that is a block has one
 *
 * The set of all PEs has one block, with the result.
 */
#ifndef SKI_BLOCK_SET_H
#define SKI_BLOCK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/collective.h>

/* A block of a set, also on the wire. */
struct ski_set_block {
    int32_t  first, level; /* see reduction_order.h */
    uint64_t zero;
};

/* The blocks of some PEs, in ascending order, and their partial results. */
struct ski_block_set {
    int                   pes;    /* of the job */
    int                   levels; /* of the block of all PEs */
    int                   count, room;
    size_t                bytes, stride; /* of a partial result, and from one to the next */
    skua_op_fn            apply;         /* the operator */
    skua_type             type;
    size_t                elements; /* of a partial result */
    struct ski_set_block *block;
    char                 *partials;
};

/** Returns the bytes from one partial result to the next, for @p bytes each: they are aligned. */
static inline size_t ski_block_set_stride(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

/** Makes *@p set empty, for a job of @p pes PEs and contributions of @p elements elements, @p bytes
 *  in all. */
void ski_block_set_init(struct ski_block_set *set, int pes, skua_op op, skua_type type,
                        size_t elements, size_t bytes);

/** Frees the memory of a set. */
void ski_block_set_free(struct ski_block_set *set);

/** Returns whether @p block may be added: it exists, and the set has none of its PEs. */
bool ski_block_set_accepts(const struct ski_block_set *set, const struct ski_set_block *block);

/** Adds @p block, which the set accepts, with its partial result. */
void ski_block_set_add(struct ski_block_set *set, const struct ski_set_block *block,
                       const char *partial);

/** Returns the partial result of block @p i of a set. */
static inline char *ski_block_set_partial(const struct ski_block_set *set, int i)
{
    return set->partials + (size_t)i * set->stride;
}

/** Returns whether the set has all PEs: then its first partial result is the result. */
static inline bool ski_block_set_complete(const struct ski_block_set *set)
{
    return set->count == 1 && set->block[0].level == set->levels;
}

#endif
