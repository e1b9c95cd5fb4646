/* SPDX-License-Identifier: Apache-2.0 */
/* checksum_xxhash.c - see checksum.h: XXH3 from the header of xxHash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checkpoint/checksum.h"

bool ski_checksum_available(void)
{
    return true;
}

uint64_t ski_checksum(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}
