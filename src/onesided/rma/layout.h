/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - one layout (skua/layout.h): what is checked about it, its simplest form, its blocks.
 *
 * A layout comes from the program, and nothing of it is trusted before ski_layout_extent() has
 * checked it.  A *simplified* layout has no levels of one repetition and no level that continues
 * the one below: it is contiguous if that is possible at all.
 */
#ifndef SKI_LAYOUT_H
#define SKI_LAYOUT_H

#include <stdbool.h>

#include <skua/layout.h>
#include <skua/status.h>

/* What the checks of a layout compute.  `grain` is offsets and strides or-ed together, `sizes` the
 * bytes of the blocks: all offsets, or all sizes, are multiples of a power of two if that is. */
struct ski_extent {
    size_t    bytes;  /* of all data                      */
    ptrdiff_t lo, hi; /* the lowest offset, and the end; both 0 if there are no data */
    size_t    grain, sizes;
};

/** Checks a layout and computes its extent.  @p side says in errors which one it is.  If it is @p
 *  written, a strided layout must not overlap itself.  SKUA_ERR_INVAL, logged for @p call. */
skua_status ski_layout_extent(const char *call, const char *side, const skua_layout *layout,
                              bool written, struct ski_extent *extent);

/** Returns whether a strided layout, whose levels are valid, has no data. */
static inline bool ski_strides_empty(size_t bytes, int levels, const size_t *count)
{
    for (int i = 0; i < levels; i++)
        if (count[i] == 0)
            return true;
    return bytes == 0;
}

/** Returns whether a layout is one block by its kind, whatever its numbers of repetitions are. */
static inline bool ski_layout_is_block(const skua_layout *layout)
{
    return layout->kind == SKUA_LAYOUT_CONTIGUOUS ||
           (layout->kind == SKUA_LAYOUT_STRIDED && layout->strided.levels == 0);
}

/** Returns whether a layout refers to a list of the program's. */
static inline bool ski_layout_has_list(const skua_layout *layout)
{
    return layout->kind == SKUA_LAYOUT_INDEXED || layout->kind == SKUA_LAYOUT_LIST;
}

/** Returns the bytes of the list that a valid layout refers to; 0: there is none. */
size_t ski_layout_list_bytes(const skua_layout *layout);

/** Copies the list of a valid layout to @p memory, which has room for it, and makes the layout
 * refer to the copy. */
void ski_layout_keep_list(skua_layout *layout, void *memory);

/** Copies a layout, without the levels that it does not have. */
static inline void ski_layout_assign(skua_layout *to, const skua_layout *from)
{
    to->kind  = from->kind;
    to->at    = from->at;
    to->bytes = from->bytes;
    if (from->kind != SKUA_LAYOUT_STRIDED) {
        to->list = from->list; /* as large as `indexed` */
        return;
    }
    to->strided.levels = from->strided.levels;
    for (int i = 0; i < from->strided.levels; i++) {
        to->strided.count[i]  = from->strided.count[i];
        to->strided.stride[i] = from->strided.stride[i];
    }
}

/** Returns whether both have the same pattern of blocks and strides, at any address.  Layouts with
 *  lists are the same if they refer to the same list. */
bool ski_layout_same(const skua_layout *a, const skua_layout *b);

/** Checks and simplifies a layout of memory of this process; *bytes is the size of all data.
 *  SKUA_ERR_INVAL, logged for @p call: it is not valid, is empty or, if it is @p written, overlaps
 *  itself. */
skua_status ski_layout_check(const char *call, const skua_layout *layout, bool written,
                             skua_layout *simple, size_t *bytes);

/** Checks and simplifies a layout that may be empty, with or without memory: contiguous then. */
skua_status ski_layout_check_any(const char *call, const skua_layout *layout, bool written,
                                 skua_layout *simple, size_t *bytes);

/** Describes a simplified layout with the blocks and counts of @p like, which has as many bytes.
 *  Returns false if no strides do that. */
bool ski_layout_reshape(const skua_layout *like, const skua_layout *simple, skua_layout *as);

/** Returns the lowest address of a simplified layout, and the bytes from there to its end. */
char *ski_layout_begin(const skua_layout *layout, size_t *span);

/* ---- blocks --------------------------------------------------------------------- */

/* A position among the blocks of a layout. */
struct ski_layout_iter {
    const skua_layout *layout;
    size_t             next;                         /* index of the next block */
    ptrdiff_t          offset;                       /* strided: of the next block ... */
    size_t             repeated[SKUA_LAYOUT_LEVELS]; /* ... and its position in each level */
};

/** Begins to iterate over the blocks of a valid layout. */
void ski_layout_iter_begin(struct ski_layout_iter *iter, const skua_layout *layout);

/** Sets *@p block to the next block that is not empty.  Returns false at the end. */
bool ski_layout_iter_next(struct ski_layout_iter *iter, skua_block *block);

#endif
