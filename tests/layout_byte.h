/* SPDX-License-Identifier: Apache-2.0 */
/* layout_byte.h - the positions of the bytes of a layout, computed in the simplest way. */
#ifndef LAYOUT_BYTE_H
#define LAYOUT_BYTE_H

#include <skua/skua.h>

/** Returns the offset of byte @p i of a layout from its base. */
static inline ptrdiff_t test_layout_offset(const skua_layout *layout, size_t i)
{
    size_t    block = layout->bytes ? i / layout->bytes : 0;
    ptrdiff_t at    = layout->bytes ? (ptrdiff_t)(i % layout->bytes) : 0;

    switch (layout->kind) {
    case SKUA_LAYOUT_CONTIGUOUS: return (ptrdiff_t)i;
    case SKUA_LAYOUT_INDEXED: return layout->indexed.offset[block] + at;
    case SKUA_LAYOUT_STRIDED:
        for (int k = 0; k < layout->strided.levels; k++) {
            at += (ptrdiff_t)(block % layout->strided.count[k]) * layout->strided.stride[k];
            block /= layout->strided.count[k];
        }
        return at;
    case SKUA_LAYOUT_LIST: break;
    }
    for (block = 0; i >= layout->list.block[block].bytes; block++)
        i -= layout->list.block[block].bytes;
    return layout->list.block[block].offset + (ptrdiff_t)i;
}

/** Returns the address of byte @p i of a layout. */
static inline char *test_layout_byte(const skua_layout *layout, size_t i)
{
    return (char *)layout->at + test_layout_offset(layout, i);
}

/** Returns the number of bytes of a layout that lie together from byte @p i, which exists. */
static inline size_t test_layout_run(const skua_layout *layout, size_t i)
{
    if (layout->kind != SKUA_LAYOUT_LIST)
        return layout->bytes - i % layout->bytes;
    for (const skua_block *block = layout->list.block;; i -= block++->bytes)
        if (i < block->bytes)
            return block->bytes - i;
}

#endif
