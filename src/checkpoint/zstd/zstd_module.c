/* SPDX-License-Identifier: Apache-2.0 */
/* zstd_module.c - skua-zstd.so: see compressor.h. */
#include <zstd.h>

#include "checkpoint/compressor.h"

static size_t zstd_pack(void *to, size_t room, const void *from, size_t bytes, int level)
{
    size_t packed = ZSTD_compress(to, room, from, bytes, level);

    return ZSTD_isError(packed) || packed >= bytes ? 0 : packed;
}

static bool zstd_unpack(void *to, size_t bytes, const void *from, size_t packed_bytes)
{
    size_t found = ZSTD_decompress(to, bytes, from, packed_bytes);

    return !ZSTD_isError(found) && found == bytes;
}

extern const struct ski_compressor                                 ski_compressor_module;
__attribute__((visibility("default"))) const struct ski_compressor ski_compressor_module = {
    .version = SKI_COMPRESSOR_VERSION,
    .bound   = ZSTD_compressBound,
    .pack    = zstd_pack,
    .unpack  = zstd_unpack,
};
