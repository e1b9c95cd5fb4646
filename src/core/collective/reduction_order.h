/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_order.h - the order in which a reduction combines the PEs, computed by arithmetic.
 *
 * A block of level k is 2^k neighbouring PEs, from a multiple of 2^k on; the last one may be
 * shorter.  In round k each block of level k is combined with its sibling, the lower one first:
 *
 *      PEs 0 to 6       level 1          level 2               level 3
 *      0 1 2 3 4 5 6    (0 1) (2 3) (4 5) (6)    ((0 1)(2 3)) ((4 5) 6)    all of them
 *
 * so the order depends on the number of PEs alone, not on the root, the size or the algorithm.
 *
 * The *delegate* of a block, for a target, is the PE that holds the block's partial result on its
 * way to the target: the member that has the low bits of the target, as far as such members exist.
 * The target is the delegate of every block that it belongs to.  The delegate of a block is the
 * delegate of one of its halves, so a reduction to a target is a tree.  In an *exchange* every PE
 * is a target, and each PE receives from one PE in each round.  No PE keeps a table.
 *
 * In a reduction to a *root*, the target is the root in the blocks that it belongs to, and the PE
 * before the root in all others, which is therefore the delegate of its blocks.  Where the roots of
 * reductions take turns, that PE has waited for the result before and contributes last: what it
 * adds to reaches the root in one message.  With the root as the only target it would take up to
 * log2(P), each from one PE to the next.
 */
#ifndef SKI_REDUCTION_ORDER_H
#define SKI_REDUCTION_ORDER_H

#include <stdint.h>

/** Returns the number of rounds that combine all @p pes PEs. */
static inline int ski_block_levels(int pes)
{
    int levels = 0;

    while (levels < 31 && (INT64_C(1) << levels) < pes)
        levels++;
    return levels;
}

/** Returns the first PE of the block of @p level that @p pe belongs to. */
static inline int ski_block_of(int pe, int level)
{
    return pe & ~((1 << level) - 1);
}

/** Returns the first PE of the sibling of the block of @p level that @p pe belongs to.  The sibling
 *  does not exist if this is not below the number of PEs. */
static inline int ski_block_sibling(int pe, int level)
{
    return ski_block_of(pe, level) ^ (1 << level);
}

/** Returns the delegate, for @p target, of the block of @p level that begins at @p block. */
static inline int ski_block_delegate(int block, int level, int target, int pes)
{
    for (int half = level - 1; half >= 0; half--)
        if (target >> half & 1 && block + (1 << half) < pes)
            block += 1 << half;
    return block;
}

/** Returns the delegate of a block, as ski_block_delegate() does, in a reduction to @p root. */
static inline int ski_block_root_delegate(int block, int level, int root, int pes)
{
    int before = root > 0 ? root - 1 : pes - 1;

    return ski_block_delegate(block, level, ski_block_of(root, level) == block ? root : before,
                              pes);
}

/** Returns the bits in which targets may differ and still have @p pe as the delegate of its block
 *  of @p level: the bits that select halves which do not exist. */
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
