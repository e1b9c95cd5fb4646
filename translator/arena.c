/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - see arena.h.  Memory is cut off large pieces; what is larger than a quarter of
 * one has a piece of its own, behind the first in the list, so that the first goes on. */
#include "arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE     ((size_t)64 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct arena_piece {
    struct arena_piece *next;
    _Alignas(max_align_t) char bytes[];
};

static struct arena_piece *pieces;
static char               *at, *end; /* what is left of the first piece */

static _Noreturn void out_of_memory(void)
{
    fputs("skuac: out of memory\n", stderr);
    exit(2);
}

static struct arena_piece *piece_new(size_t bytes)
{
    struct arena_piece *piece = calloc(1, sizeof *piece + bytes);

    if (!piece)
        out_of_memory();
    return piece;
}

static void *alloc_alone(size_t bytes)
{
    struct arena_piece *piece = piece_new(bytes);

    if (pieces) {
        piece->next  = pieces->next;
        pieces->next = piece;
    } else {
        pieces = piece;
    }
    return piece->bytes;
}

static void grow(void)
{
    struct arena_piece *piece = piece_new(PIECE);

    piece->next = pieces;
    pieces      = piece;
    at          = piece->bytes;
    end         = at + PIECE;
}

void *arena_alloc(size_t bytes)
{
    void *memory;

    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > PIECE / 4)
        return alloc_alone(bytes);
    if (bytes > (size_t)(end - at))
        grow();
    memory = at;
    at += bytes;
    return memory;
}

char *arena_print(const char *format, ...)
{
    va_list args;
    int     length;
    char   *string, *copy;

    va_start(args, format);
    length = vasprintf(&string, format, args);
    va_end(args);
    if (length < 0)
        out_of_memory();
    copy = arena_string((struct text){string, (size_t)length});
    free(string);
    return copy;
}

char *arena_string(struct text text)
{
    char *string = arena_alloc(text.length + 1);

    if (text.length)
        memcpy(string, text.at, text.length);
    return string;
}

void arena_free(void)
{
    for (struct arena_piece *next; pieces; pieces = next) {
        next = pieces->next;
        free(pieces);
    }
    at = end = NULL;
}
