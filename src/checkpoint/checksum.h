/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.h - checksums of images: XXH3 with 64 bits, from the header of xxHash.
 *
 * xxHash is compiled into checksum_xxhash.c from its header, so that neither the library nor a
 * program needs a library of xxHash at run time.  A build without the header has
 * checksum_none.c: files are refused then.  Images that stay in memory carry no checksums in any
 * build.
 */
#ifndef SKI_CHECKSUM_H
#define SKI_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Returns whether this build has checksums. */
bool ski_checksum_available(void);

/** Returns the checksum of @p bytes bytes at @p data, or 0 in a build without checksums. */
uint64_t ski_checksum(const void *data, size_t bytes);

#endif
