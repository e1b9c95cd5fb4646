/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.h - the two layouts of a transfer as one value: where its data lie on both sides.
 *
 * Most pairs have blocks that are the same on both sides, or are contiguous on one side and take
 * the blocks of the other there.  These are copied by loops over blocks; their kind tells which:
 *
 *   contiguous   one block
 *   strided      strides on both sides; those of a contiguous side are computed
 *   indexed      offsets on both sides, or on one; the other is contiguous
 *   list         lists on both sides, or one.  Whether the blocks of two lists have the same sizes
 * is found out on the way mixed        any other pair, or one that is not valid: it has to be
 * checked.  The blocks are split where either side has a boundary (struct ski_iov_iter)
 *
 * A datatype refers to the layouts of the program and to the caller's memory for computed strides;
 * it is a value for the time of one call.
 */
#ifndef SKI_DATATYPE_H
#define SKI_DATATYPE_H

#include "onesided/rma/layout.h"

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

static inline struct ski_datatype ski_datatype_contiguous(const void *local, size_t bytes)
{
    return (struct ski_datatype){.kind  = SKI_DATATYPE_CONTIGUOUS,
                                 .local = (char *)(uintptr_t)local,
                                 .bytes = bytes,
                                 .count = 1};
}

/** Pairs two layouts, which exist as long as the pair.  @p packed is memory for strides, which
 * does, too. */
void ski_datatype_pair(struct ski_datatype *datatype, const skua_layout *local,
                       const skua_layout *remote, ptrdiff_t packed[SKUA_LAYOUT_LEVELS]);

/** Checks both layouts, one of which is written, and that they have the same number of bytes.
 *  Computes the extent of the remote side, which includes the global address itself, and the sizes
 * of the blocks of both sides, or-ed together.  SKUA_ERR_INVAL, logged for @p call. */
enum ski_side { SKI_SIDE_LOCAL, SKI_SIDE_REMOTE };

skua_status ski_datatype_check(const char *call, const struct ski_datatype *datatype,
                               enum ski_side writes, struct ski_extent *remote, size_t *sizes);

/** Checks quickly whether a datatype surely lies within @p room bytes when it begins @p offset
 *  bytes into them, consists of multiples of @p element (a power of two), and is valid.  Returns
 * false if that is not known: ski_datatype_check() tells. */
bool ski_datatype_fits(const struct ski_datatype *datatype, enum ski_side writes, uint64_t offset,
                       uint64_t room, size_t element);

/** Copies the local data to @p remote. */
void ski_datatype_put(const struct ski_datatype *datatype, char *remote);

/** Copies the data at @p remote into the local memory. */
void ski_datatype_get(const struct ski_datatype *datatype, char *remote);

/** Copies an indexed or list datatype that has not been checked to @p offset in a piece of @p room
 *  bytes; each block is checked before it is copied.  False at one that is outside, or whose size
 * is another on the other side; those before it have been copied. */
bool ski_datatype_list_put(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room);

/** Copies in the other direction, as ski_datatype_list_put(). */
bool ski_datatype_list_get(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room);

/* ---- common blocks ------------------------------------------------------- */

/* A block that is contiguous on both sides. */
struct ski_iov {
    char     *local;
    ptrdiff_t remote; /* relative to the global address */
    size_t    bytes;
};

/* The positions on both sides of a pair whose blocks are split. */
struct ski_iov_split {
    struct ski_layout_iter local, remote;
    skua_block             here, there; /* what is left of the current block of each side */
};

/* The positions in the lists of both sides. */
struct ski_iov_lists {
    size_t     local, remote; /* indices of the next blocks */
    skua_block here, there;   /* what is left of the current block of each side */
    skua_block whole;         /* the only block of a contiguous side */
};

struct ski_iov_iter {
    const struct ski_datatype *datatype;
    size_t                     next; /* index of the next block: contiguous, indexed */
    union {
        struct {
            size_t         repeated[SKUA_LAYOUT_LEVELS]; /* strided: position in each level */
            struct ski_iov at;                           /* the block at that position */
        };
        struct ski_iov_lists lists;
        struct ski_iov_split split; /* mixed */
    };
};

/** Begins to iterate over the common blocks of a datatype. */
void ski_iov_iter_begin(struct ski_iov_iter *iter, const struct ski_datatype *datatype);

/** Returns the next block that is not empty; false at the end. */
bool ski_iov_iter_next(struct ski_iov_iter *iter, struct ski_iov *iov);

#endif
