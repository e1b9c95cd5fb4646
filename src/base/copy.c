/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - see copy.h. */
#include "base/copy.h"

#define COPY_CHUNK ((size_t)256)
#define COPY_AHEAD ((size_t)2048)

void ski_copy_ahead(char *to, const char *from, size_t bytes)
{
    size_t done = 0;

    for (; done + COPY_AHEAD + COPY_CHUNK <= bytes; done += COPY_CHUNK) {
        for (size_t line = 0; line < COPY_CHUNK; line += SKI_CACHE_LINE)
            __builtin_prefetch(from + done + COPY_AHEAD + line);
        memcpy(to + done, from + done, COPY_CHUNK);
    }
    memcpy(to + done, from + done, bytes - done);
}
