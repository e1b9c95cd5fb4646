/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iov.h - the common blocks of the two sides of a transfer.
 *
 * A common block, or iov, is contiguous on both sides.  An iterator visits them in order.  Where
 * the blocks of the sides differ it splits them at the boundaries of either side.
 */
#ifndef SKI_IOV_H
#define SKI_IOV_H

#include "onesided/rma/datatype.h"

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

/* A position among the common blocks of a datatype. */
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

/** Sets *@p iov to the next common block, which is not empty.  Returns false at the end. */
bool ski_iov_iter_next(struct ski_iov_iter *iter, struct ski_iov *iov);

#endif
