/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - copying from one layout (skua/channel.h) to another with as many bytes.
 *
 * Layouts are first brought to their simplest form: levels that repeat once are dropped, and
 * those that only continue what is below them are joined with it.  A *path* is what is worked
 * out once about a pair, so that copying, which happens again and again, need not think:
 *
 *   block      both are one piece
 *   strided    the same pattern of blocks on both sides, perhaps packed on one of them
 *   pieces     anything else: both are walked through, and what is contiguous on both is
 *              copied
 */
#ifndef SKI_LAYOUT_H
#define SKI_LAYOUT_H

#include <skua/channel.h>

#include "onesided/rma/datatype.h"

enum ski_path_kind { SKI_PATH_BLOCK, SKI_PATH_STRIDED, SKI_PATH_PIECES };

struct ski_path {
    enum ski_path_kind kind;
    size_t             bytes;   /* in all */
    skua_strided       strided; /* local is the side that is read; PIECES: its pattern */
    skua_strided       other;   /* PIECES: that of the side that is written            */
};

/** All of them; 0: that is no size. */
size_t ski_layout_bytes(const skua_layout *layout);

/** Copy a description, without the levels that it does not have. */
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

/** Whether both have the same shape, wherever they are. */
bool ski_layout_same(const skua_layout *a, const skua_layout *b);

/** Simplify @p layout; *bytes is how many it has in all.  SKUA_ERR_INVAL, logged for @p call:
 *  it makes no sense, or, if it is @p written, overlaps itself. */
skua_status_t ski_layout_check(const char *call, const skua_layout *layout, bool written,
                               skua_layout *simple, size_t *bytes);

/** As a shape, both of whose sides it is. */
skua_strided ski_layout_strided(const skua_layout *layout);

/** Describe a simple layout with the blocks and counts of @p like, which has as many bytes; false:
 *  no strides do that. */
bool ski_layout_reshape(const skua_layout *like, const skua_layout *simple, skua_layout *as);

/** The path from a layout to another; both are simple and have as many bytes.  NULL: packed. */
void ski_path_make(struct ski_path *path, const skua_layout *to, const skua_layout *from);

/** Copy. */
void ski_path_copy(const struct ski_path *path, char *to, const char *from);

/** The lowest address of a layout, and the bytes from there to its end. */
char *ski_layout_begin(const skua_layout *layout, size_t *span);

#endif
