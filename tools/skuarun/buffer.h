/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h - bytes that come in at one end and leave at the other. */
#ifndef SKUARUN_BUFFER_H
#define SKUARUN_BUFFER_H

#include <string.h>

#include "base/memory.h"

struct buffer {
    char  *text;
    size_t begin, end, room;
};

static inline size_t buffer_bytes(const struct buffer *b)
{
    return b->end - b->begin;
}

static inline const char *buffer_text(const struct buffer *b)
{
    return b->text + b->begin;
}

/** Room for @p bytes more; where they go. */
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

static inline void buffer_add(struct buffer *b, const void *text, size_t bytes)
{
    if (bytes == 0)
        return;
    memcpy(buffer_room(b, bytes), text, bytes);
    b->end += bytes;
}

/** The first @p bytes are done with. */
static inline void buffer_drop(struct buffer *b, size_t bytes)
{
    b->begin += bytes;
    if (b->begin == b->end)
        b->begin = b->end = 0;
}

static inline void buffer_free(struct buffer *b)
{
    free(b->text);
    *b = (struct buffer){0};
}

#endif
