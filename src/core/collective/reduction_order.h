/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_order.h - in which order the PEs of a reduction are combined, by arithmetic.
 *
 * A block of level k is 2^k neighbouring PEs, from a multiple of 2^k on; the last one may be
 * shorter.  In round k each block of level k is combined with its sibling, the lower one first:
 *
 *      PEs 0 to 6       level 1          level 2               level 3
 *      0 1 2 3 4 5 6    (0 1) (2 3) (4 5) (6)    ((0 1)(2 3)) ((4 5) 6)    all of them
 *
 * so the order depends on the number of PEs alone: not on the root, the size or the algorithm.
 *
 * The *delegate* of a block, for a target, is the PE that holds the block's partial result on its
 * way to the target: the member whose low bits are those of the target, as far as there is one.
 * The target is the delegate of every block it is in.  Only delegates of the two halves of a block
 * can be its delegate, so a reduction to a root is a tree; and where every PE is the target of
 * a reduction of its own, which is an exchange, it talks to one PE a round.  No PE keeps a table.
 */
#ifndef SKI_REDUCTION_ORDER_H
#define SKI_REDUCTION_ORDER_H

#include <stdint.h>

/** Rounds until all PEs are combined. */
static inline int ski_block_levels(int pes)
{
    int levels = 0;

    while (levels < 31 && (INT64_C(1) << levels) < pes)
        levels++;
    return levels;
}

/** The first PE of the block of @p level that @p pe is in. */
static inline int ski_block_of(int pe, int level)
{
    return pe & ~((1 << level) - 1);
}

/** The first PE of the sibling of that block; it does not exist if it is @p pes or more. */
static inline int ski_block_sibling(int pe, int level)
{
    return ski_block_of(pe, level) ^ (1 << level);
}

/** The delegate, for @p target, of the block of @p level that begins at @p block. */
static inline int ski_block_delegate(int block, int level, int target, int pes)
{
    for (int half = level - 1; half >= 0; half--)
        if (target >> half & 1 && block + (1 << half) < pes)
            block += 1 << half;
    return block;
}

/** Bits in which targets may differ and yet have @p pe as the delegate of its block of @p level:
 *  those that would choose halves which do not exist. */
static inline int ski_block_ignores(int pe, int level, int pes)
{
    int block = ski_block_of(pe, level), bits = 0;

    for (int half = level - 1; half >= 0; half--) {
        if (block + (1 << half) >= pes)
            bits |= 1 << half;
        else if (pe >> half & 1)
            block += 1 << half;
    }
    return bits;
}

#endif
