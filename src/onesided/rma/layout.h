/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - copies from one layout (skua/channel.h) to another of as many bytes.
 *
 * A layout is first simplified: levels of one repetition are dropped, and levels that continue the
 * one below are joined with it.  A *copy plan* is what is computed once about a pair of layouts, so
 * that the copy, which happens many times, decides nothing:
 *
 *   block      both are one block
 *   strided    the same pattern of blocks on both sides, perhaps packed on one of them
 *   pieces     anything else: both are iterated over, and what is contiguous on both is copied
 */
#ifndef SKI_LAYOUT_H
#define SKI_LAYOUT_H

#include <skua/channel.h>

#include "onesided/rma/datatype.h"

enum ski_copy_kind { SKI_COPY_BLOCK, SKI_COPY_STRIDED, SKI_COPY_PIECES };

struct ski_copy_plan {
    enum ski_copy_kind kind;
    size_t             bytes;   /* of all data */
    skua_strided       strided; /* local is the side that is read; PIECES: its pattern */
    skua_strided       other;   /* PIECES: the pattern of the side that is written */
};

/** Returns the bytes of all data; 0: the layout is not valid. */
size_t ski_layout_bytes(const skua_layout *layout);

/** Copies a layout, without the levels that it does not have. */
static inline void ski_layout_assign(skua_layout *to, const skua_layout *from)
{
    to->at     = from->at;
    to->bytes  = from->bytes;
    to->levels = from->levels;
    for (int i = 0; i < from->levels; i++) {
        to->count[i]  = from->count[i];
        to->stride[i] = from->stride[i];
    }
}

/** Returns whether both have the same pattern of blocks and strides, at any address. */
bool ski_layout_same(const skua_layout *a, const skua_layout *b);

/** Checks and simplifies @p layout; *bytes is the size of all data.  SKUA_ERR_INVAL, logged for @p
 *  call: it is not valid or, if it is @p written, overlaps itself. */
skua_status ski_layout_check(const char *call, const skua_layout *layout, bool written,
                             skua_layout *simple, size_t *bytes);

/** Returns a layout as a strided datatype, for both of its sides. */
skua_strided ski_layout_strided(const skua_layout *layout);

/** Describes a simplified layout with the blocks and counts of @p like, which has as many bytes;
 *  false: no strides do that. */
bool ski_layout_reshape(const skua_layout *like, const skua_layout *simple, skua_layout *as);

/** Computes the plan of a copy from a layout to another; both are simplified and have as many
 * bytes.  NULL: packed into one block. */
void ski_copy_plan_make(struct ski_copy_plan *plan, const skua_layout *to, const skua_layout *from);

/** Copies data as planned. */
void ski_copy_plan_run(const struct ski_copy_plan *plan, char *to, const char *from);

/** Returns the lowest address of a layout, and the bytes from there to its end. */
char *ski_layout_begin(const skua_layout *layout, size_t *span);

#endif
