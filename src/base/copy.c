/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - see copy.h. */
#include "base/copy.h"

#define PIECE ((size_t)256)
#define AHEAD ((size_t)2048)

void ski_copy_ahead(char *to, const char *from, size_t bytes)
{
    size_t done = 0;

    for (; done + AHEAD + PIECE <= bytes; done += PIECE) {
        for (size_t line = 0; line < PIECE; line += SKI_CACHE_LINE)
            __builtin_prefetch(from + done + AHEAD + line);
        memcpy(to + done, from + done, PIECE);
    }
    memcpy(to + done, from + done, bytes - done);
}
