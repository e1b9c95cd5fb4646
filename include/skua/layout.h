/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - where the bytes of some data are: contiguous, strided, indexed, or in a list of
 * blocks.
 *
 * One type describes the memory of one-sided operations (onesided.h), of channels (channel.h) and
 * of in-place delivery (inplace.h). A layout has an order of its bytes: the blocks one after
 * another, in the order in which the layout lists them. Data move from one layout to another in
 * that order, so two layouts fit each other if they have the same number of bytes, whatever their
 * kinds.
 *
 * @code
 *     double    matrix[ROWS][COLUMNS];
 *     size_t    count  = ROWS;
 *     ptrdiff_t stride = sizeof matrix[0];
 *
 *     skua_layout row    = skua_layout_contiguous(matrix[3], sizeof matrix[3]);
 *     skua_layout column = skua_layout_strided(&matrix[0][3], sizeof(double), 1, &count, &stride);
 * @endcode
 *
 * A layout is a plain value, without a `size` member. It may be initialised by one of the functions
 * below or by designators. The functions check nothing: a call that uses a layout checks it, and
 * its error names the fault. The lists of indexed and list layouts are not copied into the
 * value; they must exist while it is used. A channel copies what it needs when it is created or
 * opened.
 */
#ifndef SKUA_LAYOUT_H
#define SKUA_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** The largest number of levels of a strided layout. */
#define SKUA_LAYOUT_LEVELS 8

/** The kinds of layouts, which determine the member of the union of a skua_layout that is used. */
typedef enum {
    SKUA_LAYOUT_CONTIGUOUS, /* one block; no member of the union */
    SKUA_LAYOUT_STRIDED,    /* blocks of one size at constant distances, over several levels */
    SKUA_LAYOUT_INDEXED,    /* blocks of one size at a list of offsets */
    SKUA_LAYOUT_LIST,       /* blocks of any size at a list of offsets */
} skua_layout_kind;

/** One block of a list layout: `bytes` of memory, `offset` bytes after the base. */
typedef struct {
    ptrdiff_t offset;
    size_t    bytes;
} skua_block;

/** The repetitions of a strided layout: a block is repeated count[0] times at distances of
 *  stride[0] bytes, all of that count[1] times at distances of stride[1], and so on. Strides may be
 *  negative. With levels 0 the layout is one block. Where it is written, levels must not overlap or
 *  interleave: each stride must lead past all that the levels of smaller strides span. */
typedef struct {
    int       levels; /* 0 to SKUA_LAYOUT_LEVELS */
    size_t    count[SKUA_LAYOUT_LEVELS];
    ptrdiff_t stride[SKUA_LAYOUT_LEVELS];
} skua_strides;

/** The blocks of an indexed layout: `count` of them, block i at offset[i] bytes after the base. */
typedef struct {
    size_t           count;
    const ptrdiff_t *offset;
} skua_offsets;

/** The blocks of a list layout: `count` of them. */
typedef struct {
    size_t            count;
    const skua_block *block;
} skua_blocks;

/** A layout of data. For remote memory the base is the global address of the call, which is in the
 *  region even if no block begins there, and `at` is not used. */
typedef struct {
    skua_layout_kind kind;
    void            *at; /* the base */
    size_t bytes;        /* contiguous: of all data; strided, indexed: of a block; list: unused */
    union {
        skua_strides strided;
        skua_offsets indexed;
        skua_blocks  list;
    };
} skua_layout;

/** Returns the layout of @p bytes of contiguous memory at @p at. */
static inline skua_layout skua_layout_contiguous(const void *at, size_t bytes)
{
    skua_layout layout;

    layout.kind  = SKUA_LAYOUT_CONTIGUOUS;
    layout.at    = (void *)(uintptr_t)at;
    layout.bytes = bytes;
    return layout;
}

/** Returns the layout of blocks of @p bytes from @p at on that repeat over @p levels levels:
 *  @p count[i] times at distances of @p stride[i] bytes. Both arrays have @p levels entries, and
 *  are copied. */
static inline skua_layout skua_layout_strided(const void *at, size_t bytes, int levels,
                                              const size_t *count, const ptrdiff_t *stride)
{
    skua_layout layout;

    layout.kind           = SKUA_LAYOUT_STRIDED;
    layout.at             = (void *)(uintptr_t)at;
    layout.bytes          = bytes;
    layout.strided.levels = levels;
    for (int i = 0; i < levels && i < SKUA_LAYOUT_LEVELS; i++) {
        layout.strided.count[i]  = count[i];
        layout.strided.stride[i] = stride[i];
    }
    return layout;
}

/** Returns the layout of @p count blocks of @p bytes each, block i at @p offset[i] bytes after
 *  @p at.  The offsets are not copied. */
static inline skua_layout skua_layout_indexed(const void *at, size_t bytes, size_t count,
                                              const ptrdiff_t *offset)
{
    skua_layout layout;

    layout.kind           = SKUA_LAYOUT_INDEXED;
    layout.at             = (void *)(uintptr_t)at;
    layout.bytes          = bytes;
    layout.indexed.count  = count;
    layout.indexed.offset = offset;
    return layout;
}

/** Returns the layout of the @p count blocks of the list @p block, whose offsets are relative to
 *  @p at. The list is not copied. */
static inline skua_layout skua_layout_list(const void *at, size_t count, const skua_block *block)
{
    skua_layout layout;

    layout.kind       = SKUA_LAYOUT_LIST;
    layout.at         = (void *)(uintptr_t)at;
    layout.bytes      = 0;
    layout.list.count = count;
    layout.list.block = block;
    return layout;
}

/** Returns the number of bytes of all data of @p layout. It returns 0 for a layout that is empty,
 *  is not valid, or has more bytes than memory can have. Any thread may call it. */
SKUA_API size_t skua_layout_bytes(const skua_layout *layout);

/** Copies all data of @p from to @p to. Both have the same number of bytes, which may be 0, and do
 *  not overlap. If both describe the same memory, nothing is copied. Layouts that are not valid,
 *  and those of different sizes, end the job with an error. Any thread may call it. */
SKUA_API void skua_layout_copy(const skua_layout *to, const skua_layout *from);

SKUA_END_DECLS

#endif
