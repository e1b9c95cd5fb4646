/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bump.c - see bump.h.
 *
 * Memory is cut from large chunks.  A request of more than a quarter of a chunk gets a chunk of
 * its own, linked after the first, so that the free rest of the first chunk stays in use.
 */
#include "support/bump.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT   _Alignof(max_align_t)

struct bump_chunk {
    struct bump_chunk *next;
    _Alignas(max_align_t) char bytes[];
};

static struct bump_chunk *chunks;
static char              *at, *end; /* the free rest of the first chunk */

static _Noreturn void bump_out_of_memory(void)
{
    fputs("skuac: out of memory\n", stderr);
    exit(2);
}

static struct bump_chunk *bump_chunk_new(size_t bytes)
{
    struct bump_chunk *chunk = calloc(1, sizeof *chunk + bytes);

    if (!chunk)
        bump_out_of_memory();
    return chunk;
}

static void *bump_alloc_large(size_t bytes)
{
    struct bump_chunk *chunk = bump_chunk_new(bytes);

    if (chunks) {
        chunk->next  = chunks->next;
        chunks->next = chunk;
    } else {
        chunks = chunk;
    }
    return chunk->bytes;
}

static void bump_grow(void)
{
    struct bump_chunk *chunk = bump_chunk_new(CHUNK_BYTES);

    chunk->next = chunks;
    chunks      = chunk;
    at          = chunk->bytes;
    end         = at + CHUNK_BYTES;
}

void *bump_alloc(size_t bytes)
{
    void *memory;

    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > CHUNK_BYTES / 4)
        return bump_alloc_large(bytes);
    if (bytes > (size_t)(end - at))
        bump_grow();
    assert(bytes <= (size_t)(end - at));
    memory = at;
    at += bytes;
    return memory;
}

char *bump_printf(const char *format, ...)
{
    va_list args;
    int     length;
    char   *string, *copy;

    va_start(args, format);
    length = vasprintf(&string, format, args);
    va_end(args);
    if (length < 0)
        bump_out_of_memory();
    copy = bump_string((struct text){string, (size_t)length});
    free(string);
    return copy;
}

char *bump_string(struct text text)
{
    char *string = bump_alloc(text.length + 1);

    if (text.length)
        memcpy(string, text.at, text.length);
    return string;
}

void bump_free_all(void)
{
    for (struct bump_chunk *next; chunks; chunks = next) {
        next = chunks->next;
        free(chunks);
    }
    at = end = NULL;
}
