/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - see copy.h. */
#include "base/copy.h"

#include <stdatomic.h>

#define COPY_CHUNK ((size_t)2 * SKI_CACHE_LINE)
#define COPY_AHEAD ((size_t)2048)
#define COPY_PIECE ((size_t)2048)

/* Loads that cross cache lines cost more than stores that do, so chunks begin at lines of the
 * source; the first line is copied whole, and its last bytes a second time. */
void ski_copy_ahead(char *to, const char *from, size_t bytes)
{
    size_t done = -(uintptr_t)from % SKI_CACHE_LINE;

    if (bytes < COPY_AHEAD) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, SKI_CACHE_LINE);
    for (; done + COPY_AHEAD + COPY_CHUNK <= bytes; done += COPY_CHUNK) {
        for (size_t line = 0; line < COPY_CHUNK; line += SKI_CACHE_LINE)
            __builtin_prefetch(from + done + COPY_AHEAD + line);
        memcpy(to + done, from + done, COPY_CHUNK);
    }
    memcpy(to + done, from + done, bytes - done);
}

/* Copies pieces of the lower and of the upper half in turn, the last piece last. */
static void copy_halves(char *to, const char *from, size_t bytes)
{
    size_t half = bytes / 2 / COPY_PIECE * COPY_PIECE;

    for (size_t done = 0; done < half; done += COPY_PIECE) {
        memcpy(to + done, from + done, COPY_PIECE);
        memcpy(to + half + done, from + half + done, COPY_PIECE);
    }
    memcpy(to + 2 * half, from + 2 * half, bytes - 2 * half);
}

void ski_copy_large(char *to, const char *from, size_t bytes)
{
    if (bytes >= SKI_COPY_HALVES_MIN && ((uintptr_t)to - (uintptr_t)from) % SKI_CACHE_LINE == 0)
        copy_halves(to, from, bytes);
    else
        ski_copy_ahead(to, from, bytes);
}

/* 32 bytes at any address: one move, or two in the clone of copy_vectors() for smaller vectors. */
typedef long copy_vector __attribute__((vector_size(32), aligned(1), may_alias));

/* The loads of a chunk precede its stores.  Stores that cross cache lines cost more than loads that
 * do, so vectors begin at their multiples in the target; the first one is copied whole, and its
 * last bytes a second time. */
SKI_WIDE static void copy_vectors(char *to, const char *from, size_t bytes)
{
    const size_t chunk = 4 * sizeof(copy_vector);
    size_t       done  = -(uintptr_t)to % sizeof(copy_vector);

    if (bytes < chunk) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, sizeof(copy_vector));
    for (; done + chunk <= bytes; done += chunk) {
        const copy_vector *f     = (const copy_vector *)(from + done);
        copy_vector       *t     = (copy_vector *)(to + done);
        copy_vector        first = f[0], second = f[1], third = f[2], fourth = f[3];

        t[0] = first;
        t[1] = second;
        t[2] = third;
        t[3] = fourth;
    }
    memcpy(to + done, from + done, bytes - done);
}

/* The clones of a function that is not static would be names of the static library. */
void ski_copy_vectors(char *to, const char *from, size_t bytes)
{
    copy_vectors(to, from, bytes);
}

void ski_copy_medium(char *to, const char *from, size_t bytes)
{
    static atomic_int strings = -1; /* -1: not known, 0: slow, 1: fast */
    int               fast    = atomic_load_explicit(&strings, memory_order_relaxed);

    if (SKI_UNLIKELY(fast < 0)) {
        fast = ski_string_moves_are_fast();
        atomic_store_explicit(&strings, fast, memory_order_relaxed);
    }
    if (fast)
        memcpy(to, from, bytes);
    else
        copy_vectors(to, from, bytes);
}
