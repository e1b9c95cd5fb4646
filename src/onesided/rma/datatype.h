/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.h - the four shapes of a transfer, as one type, and what can be done
 * with any of them: check it, copy it, walk through its runs.
 *
 * A *run* is a piece that is contiguous on both sides.
 */
#ifndef SKI_DATATYPE_H
#define SKI_DATATYPE_H

#include <skua/onesided.h>

enum ski_shape_kind { SKI_CONTIGUOUS, SKI_STRIDED, SKI_VECTOR, SKI_INDEXED };

struct ski_shape {
    enum ski_shape_kind kind;
    char               *local; /* what the local side is relative to       */
    size_t              bytes; /* contiguous: all; strided, indexed: a block */
    size_t              count; /* vector: segments; indexed: blocks        */
    union {
        const skua_strided *strided;
        const skua_segment *list;
        const skua_indexed *indexed;
    };
};

static inline struct ski_shape ski_shape_contiguous(const void *local, size_t bytes)
{
    return (struct ski_shape){
        .kind = SKI_CONTIGUOUS, .local = (char *)(uintptr_t)local, .bytes = bytes, .count = 1};
}

static inline struct ski_shape ski_shape_strided(const void *local, const skua_strided *strided)
{
    return (struct ski_shape){.kind    = SKI_STRIDED,
                              .local   = (char *)(uintptr_t)local,
                              .bytes   = strided->bytes,
                              .strided = strided};
}

static inline struct ski_shape ski_shape_vector(const skua_segment *list, size_t n)
{
    return (struct ski_shape){.kind = SKI_VECTOR, .count = n, .list = list};
}

static inline struct ski_shape ski_shape_indexed(const void *local, const skua_indexed *indexed)
{
    return (struct ski_shape){.kind    = SKI_INDEXED,
                              .local   = (char *)(uintptr_t)local,
                              .bytes   = indexed->bytes,
                              .count   = indexed->count,
                              .indexed = indexed};
}

/** The bytes it spans at the remote side, from *lo to *hi relative to the global
 *  address, and *grain, which all its blocks there are a multiple of and aligned
 *  to: offsets and lengths or-ed together.  @p writes says which side is
 *  written: a strided shape must not overlap itself there.
 *  SKUA_ERR_INVAL, logged for @p call. */
enum ski_side { SKI_LOCAL, SKI_REMOTE };

skua_status_t ski_shape_extent(const char *call, const struct ski_shape *shape,
                               enum ski_side writes, ptrdiff_t *lo, ptrdiff_t *hi, size_t *grain);

/** A quick look at the same, for shapes without surprises: whether it surely lies
 *  within @p room bytes when it begins @p offset bytes into them, is made of
 *  multiples of @p element (a power of two), and is sound.  False: look closer. */
bool ski_shape_fits(const struct ski_shape *shape, enum ski_side writes, uint64_t offset,
                    uint64_t room, size_t element);

/** Copy it to or from memory at @p remote. */
void ski_shape_put(const struct ski_shape *shape, char *remote);
void ski_shape_get(const struct ski_shape *shape, char *remote);

/** The same for vectors and indexed shapes that have not been looked at, from or
 *  to @p offset in a piece of @p room bytes: each entry is checked before it is
 *  moved.  False at one that is outside; those before it have been moved. */
bool ski_list_put(const struct ski_shape *shape, char *piece, uint64_t offset, uint64_t room);
bool ski_list_get(const struct ski_shape *shape, char *piece, uint64_t offset, uint64_t room);

/* ---- runs ---------------------------------------------------------------- */

struct ski_run {
    char     *local;
    ptrdiff_t remote; /* relative to the global address */
    size_t    bytes;
};

struct ski_runs {
    const struct ski_shape *shape;
    size_t                  next;                      /* contiguous, vector, indexed   */
    size_t                  repeated[SKUA_LEVELS_MAX]; /* strided: where we are         */
    struct ski_run          at;                        /* strided: the block there      */
};

void ski_runs_begin(struct ski_runs *runs, const struct ski_shape *shape);

/** The next one that is not empty; false at the end. */
bool ski_runs_next(struct ski_runs *runs, struct ski_run *run);

#endif
