/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.h - the two layouts of a transfer as one value: where its data are on both sides.
 *
 * In most pairs the blocks are the same on both sides, or one side is contiguous.  These are copied
 * by loops over blocks, one loop for each kind:
 *
 *   contiguous   one block
 *   strided      strides on both sides; those of a contiguous side are computed
 *   indexed      offsets on both sides, or on one; the other is contiguous
 *   list         lists on both sides, or on one.  Whether the blocks of two lists have the same
 *                sizes is found out by the loop over them
 *   mixed        any other pair, or one that is not valid: it has to be checked.  The blocks are
 *                split where either side has a boundary (iov.h)
 *
 * A datatype refers to the layouts of the program and to the caller's memory for computed strides;
 * it is valid during one call.
 */
#ifndef SKI_DATATYPE_H
#define SKI_DATATYPE_H

#include "onesided/rma/layout.h"

/* The kinds of pairs; see the head. */
enum ski_datatype_kind {
    SKI_DATATYPE_CONTIGUOUS,
    SKI_DATATYPE_STRIDED,
    SKI_DATATYPE_INDEXED,
    SKI_DATATYPE_LIST,
    SKI_DATATYPE_MIXED
};

/* Repetitions of a block, with strides on both sides. */
struct ski_stride_pairs {
    int              levels;
    const size_t    *count;
    const ptrdiff_t *local, *remote;
};

/* Offsets of blocks of one size; NULL: this side is contiguous. */
struct ski_offset_pairs {
    const ptrdiff_t *local, *remote;
};

/* Blocks; NULL: this side is contiguous. */
struct ski_block_pairs {
    const skua_block *local, *remote;
};

/* The layouts of both sides of a transfer. */
struct ski_datatype {
    enum ski_datatype_kind kind;
    char                  *local; /* what the local side is relative to */
    size_t                 bytes; /* contiguous: of all; strided, indexed: of a block;
                                     list: of the contiguous side, or 0 */
    size_t count;                 /* indexed, list: blocks; contiguous: 1 */
    union {
        struct ski_stride_pairs strided;
        struct ski_offset_pairs indexed;
        struct ski_block_pairs  list;
    };
    const skua_layout *layout_local, *layout_remote; /* NULL: both are `bytes` of one block */
};

/** Returns the datatype of a transfer of @p bytes that are contiguous on both sides. */
static inline struct ski_datatype ski_datatype_contiguous(const void *local, size_t bytes)
{
    return (struct ski_datatype){.kind  = SKI_DATATYPE_CONTIGUOUS,
                                 .local = (char *)(uintptr_t)local,
                                 .bytes = bytes,
                                 .count = 1};
}

/** Pairs two layouts.  The layouts, and @p packed, which is memory for computed strides, must exist
 *  as long as the pair. */
void ski_datatype_pair(struct ski_datatype *datatype, const skua_layout *local,
                       const skua_layout *remote, ptrdiff_t packed[SKUA_LAYOUT_LEVELS]);

/* One side of a transfer. */
enum ski_side { SKI_SIDE_LOCAL, SKI_SIDE_REMOTE };

/** Checks both layouts, of which side @p writes is written, and that they have the same number of
 *  bytes.  Sets *@p remote to the extent of the remote side, which includes the global address
 *  itself, and *@p sizes to the sizes of the blocks of both sides, or-ed together.  Returns
 *  SKUA_ERR_INVAL, logged for @p call, if a layout is not valid or the sizes differ. */
skua_status ski_datatype_check(const char *call, const struct ski_datatype *datatype,
                               enum ski_side writes, struct ski_extent *remote, size_t *sizes);

/** Returns true if a datatype is valid, is within @p room bytes when it begins @p offset bytes
 *  into them, and consists of multiples of @p element (a power of two).  This is a quick test:
 *  after false, ski_datatype_check() decides. */
bool ski_datatype_fits(const struct ski_datatype *datatype, enum ski_side writes, uint64_t offset,
                       uint64_t room, size_t element);

#endif
