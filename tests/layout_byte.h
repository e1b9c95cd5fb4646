/* SPDX-License-Identifier: Apache-2.0 */
/* layout_byte.h - where a byte of a layout lies, computed in the plainest way. */
#ifndef LAYOUT_BYTE_H
#define LAYOUT_BYTE_H

#include <skua/skua.h>

/** The address of byte @p i of a layout. */
static inline char *test_layout_byte(const skua_layout *layout, size_t i)
{
    char  *at    = (char *)layout->at + i % layout->bytes;
    size_t block = i / layout->bytes;

    for (int k = 0; k < layout->levels; k++) {
        at += (ptrdiff_t)(block % layout->count[k]) * layout->stride[k];
        block /= layout->count[k];
    }
    return at;
}

#endif
