/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - memcpy() variants for sizes where memcpy() itself is not the best.
 *
 * Where source and target together are about as large as the cache of a core, memcpy() is not the
 * fastest on some CPUs (SKI_COPY_*_MIN and _MAX in arch_*.h): prefetching by software saves a
 * tenth, and above SKI_COPY_HALVES_MIN two streams save some percent more if both sides have the
 * same offset in a cache line. Prefetching also helps where two cores copy parts of one buffer. On
 * other CPUs memcpy() is slow where it is a string instruction (SKI_COPY_VECTORS_MIN and _MAX). A
 * few bytes are copied inline, without a call.
 */
#ifndef SKI_COPY_H
#define SKI_COPY_H

#include <stdint.h>
#include <string.h>

#include "base/arch.h"

/** Copies a few bytes by moves of fixed sizes that may overlap; 8 bytes are the most frequent. */
static inline void ski_copy_small(void *to, const void *from, size_t bytes)
{
    char       *t = to;
    const char *f = from;
    size_t      i = 0;

    if (SKI_LIKELY(bytes == 8)) {
        memcpy(t, f, 8);
    } else if (bytes >= 32) {
        for (; i + 32 < bytes; i += 32)
            memcpy(t + i, f + i, 32);
        memcpy(t + bytes - 32, f + bytes - 32, 32);
    } else if (bytes >= 16) {
        memcpy(t, f, 16);
        memcpy(t + bytes - 16, f + bytes - 16, 16);
    } else if (bytes > 8) {
        memcpy(t, f, 8);
        memcpy(t + bytes - 8, f + bytes - 8, 8);
    } else {
        for (; i < bytes; i++)
            t[i] = f[i];
    }
}

/** Copies with software prefetch. */
void ski_copy_ahead(char *to, const char *from, size_t bytes);

/** Copies with software prefetch or as two streams, whichever is faster. */
void ski_copy_large(char *to, const char *from, size_t bytes);

/** Copies by vector moves. */
void ski_copy_vectors(char *to, const char *from, size_t bytes);

/** Copies by vector moves or by memcpy(), whichever is faster on this CPU. */
void ski_copy_medium(char *to, const char *from, size_t bytes);

/** Copies any number of bytes, by the variant that is the fastest for their number. */
static inline void ski_copy(char *to, const char *from, size_t bytes)
{
    if (SKI_UNLIKELY(bytes >= SKI_COPY_LARGE_MIN && bytes < SKI_COPY_LARGE_MAX))
        ski_copy_large(to, from, bytes);
    else if (SKI_UNLIKELY(bytes >= SKI_COPY_VECTORS_MIN && bytes < SKI_COPY_VECTORS_MAX))
        ski_copy_medium(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/** Copies a part of a large buffer while another core copies another part. */
static inline void ski_copy_part(char *to, const char *from, size_t bytes)
{
    if (SKI_COPY_LARGE_MIN < SIZE_MAX)
        ski_copy_ahead(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#endif
