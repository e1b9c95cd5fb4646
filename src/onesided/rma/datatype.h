/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.h - the four datatypes of a transfer as one type: contiguous, strided, vector, indexed.
 *
 * A datatype is checked, copied, or iterated over.  The iterator returns an iov for each block that
 * is contiguous on both sides.
 */
#ifndef SKI_DATATYPE_H
#define SKI_DATATYPE_H

#include <skua/onesided.h>

enum ski_datatype_kind {
    SKI_DATATYPE_CONTIGUOUS,
    SKI_DATATYPE_STRIDED,
    SKI_DATATYPE_VECTOR,
    SKI_DATATYPE_INDEXED
};

struct ski_datatype {
    enum ski_datatype_kind kind;
    char                  *local; /* what the local side is relative to */
    size_t                 bytes; /* contiguous: of all; strided, indexed: of a block */
    size_t                 count; /* vector: segments; indexed: blocks        */
    union {
        const skua_strided *strided;
        const skua_segment *list;
        const skua_indexed *indexed;
    };
};

static inline struct ski_datatype ski_datatype_contiguous(const void *local, size_t bytes)
{
    return (struct ski_datatype){.kind  = SKI_DATATYPE_CONTIGUOUS,
                                 .local = (char *)(uintptr_t)local,
                                 .bytes = bytes,
                                 .count = 1};
}

static inline struct ski_datatype ski_datatype_strided(const void         *local,
                                                       const skua_strided *strided)
{
    return (struct ski_datatype){.kind    = SKI_DATATYPE_STRIDED,
                                 .local   = (char *)(uintptr_t)local,
                                 .bytes   = strided->bytes,
                                 .strided = strided};
}

static inline struct ski_datatype ski_datatype_vector(const skua_segment *list, size_t n)
{
    return (struct ski_datatype){.kind = SKI_DATATYPE_VECTOR, .count = n, .list = list};
}

static inline struct ski_datatype ski_datatype_indexed(const void         *local,
                                                       const skua_indexed *indexed)
{
    return (struct ski_datatype){.kind    = SKI_DATATYPE_INDEXED,
                                 .local   = (char *)(uintptr_t)local,
                                 .bytes   = indexed->bytes,
                                 .count   = indexed->count,
                                 .indexed = indexed};
}

/** Computes the extent at the remote side, from *lo to *hi relative to the global address, and
 *  *grain, offsets and lengths or-ed together: all blocks there are multiples of, and aligned to,
 *  the same powers of two as *grain.  @p writes is the side that is written: a strided datatype
 *  must not overlap itself there.  SKUA_ERR_INVAL, logged for @p call. */
enum ski_side { SKI_SIDE_LOCAL, SKI_SIDE_REMOTE };

skua_status ski_datatype_extent(const char *call, const struct ski_datatype *datatype,
                                enum ski_side writes, ptrdiff_t *lo, ptrdiff_t *hi, size_t *grain);

/** Checks quickly whether a datatype surely lies within @p room bytes when it begins @p offset
 *  bytes into them, consists of multiples of @p element (a power of two), and is valid.  False: not
 *  known, ski_datatype_extent() tells. */
bool ski_datatype_fits(const struct ski_datatype *datatype, enum ski_side writes, uint64_t offset,
                       uint64_t room, size_t element);

/** Copies the local data to @p remote. */
void ski_datatype_put(const struct ski_datatype *datatype, char *remote);

/** Copies the data at @p remote into the local memory. */
void ski_datatype_get(const struct ski_datatype *datatype, char *remote);

/** Copies a vector or indexed datatype that has not been checked to @p offset in a piece of @p room
 *  bytes; each entry is checked before it is copied.  False at one that is outside; those before it
 *  have been copied. */
bool ski_datatype_list_put(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room);

/** Copies in the other direction, as ski_datatype_list_put(). */
bool ski_datatype_list_get(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room);

/* ---- runs ---------------------------------------------------------------- */

struct ski_iov {
    char     *local;
    ptrdiff_t remote; /* relative to the global address */
    size_t    bytes;
};

struct ski_iov_iter {
    const struct ski_datatype *datatype;
    size_t                     next; /* index of the next block: contiguous, vector, indexed */
    size_t                     repeated[SKUA_LEVELS_MAX]; /* strided: position in each level */
    struct ski_iov             at;                        /* strided: the block at that position */
};

/** Begins to iterate over the blocks of a datatype. */
void ski_iov_iter_begin(struct ski_iov_iter *runs, const struct ski_datatype *datatype);

/** Returns the next block that is not empty; false at the end. */
bool ski_iov_iter_next(struct ski_iov_iter *runs, struct ski_iov *run);

#endif
