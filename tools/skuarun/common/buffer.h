/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - a growing FIFO of bytes.
 *
 * The contents are text[begin, end).  Bytes are appended at the end and consumed at the
 * beginning; begin <= end <= room always holds.
 */
#ifndef SKUARUN_BUFFER_H
#define SKUARUN_BUFFER_H

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

struct buffer {
    char  *text;
    size_t begin, end, room;
};

/** Returns the number of bytes in the buffer. */
static inline size_t buffer_bytes(const struct buffer *b)
{
    return b->end - b->begin;
}

/** Returns the first byte of the contents. */
static inline const char *buffer_text(const struct buffer *b)
{
    return b->text + b->begin;
}

/** Makes room for @p bytes more and returns where they go; the caller then adds to end. */
static inline char *buffer_room(struct buffer *b, size_t bytes)
{
    if (b->room - b->end < bytes && b->begin > 0) {
        b->end -= b->begin;
        memmove(b->text, b->text + b->begin, b->end);
        b->begin = 0;
    }
    if (b->room - b->end < bytes) {
        b->room = 2 * b->room + bytes;
        b->text = ski_realloc(b->text, b->room);
    }
    return b->text + b->end;
}

/** Appends @p bytes of @p text. */
static inline void buffer_add(struct buffer *b, const void *text, size_t bytes)
{
    if (bytes == 0)
        return;
    memcpy(buffer_room(b, bytes), text, bytes);
    b->end += bytes;
}

/** Consumes the first @p bytes.  They stay readable until the next call that changes the buffer. */
static inline void buffer_drop(struct buffer *b, size_t bytes)
{
    ski_assert(bytes <= buffer_bytes(b));
    b->begin += bytes;
    if (b->begin == b->end)
        b->begin = b->end = 0;
}

/** Frees the memory; the buffer is empty and may be used again. */
static inline void buffer_free(struct buffer *b)
{
    free(b->text);
    *b = (struct buffer){0};
}

#endif
