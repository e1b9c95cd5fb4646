/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compressor.h - compression of image files, and the contract of skua-zstd.so.
 *
 * The module (base/module.h) is loaded when the setting checkpoint_compress is above 0, or when a
 * compressed checkpoint is read.  Programs that use neither need no zstd.
 */
#ifndef SKI_COMPRESSOR_H
#define SKI_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>

#define SKI_COMPRESSOR_VERSION 1
#define SKI_COMPRESSOR_SYMBOL  "ski_compressor_module"

/* The functions of the module.  Each function may be called by several threads at once. */
struct ski_compressor {
    unsigned version; /* SKI_COMPRESSOR_VERSION */

    /** Returns the largest size of @p bytes bytes when they are compressed. */
    size_t (*bound)(size_t bytes);

    /** Compresses @p bytes bytes at @p from to @p to, which has @p room bytes, with effort
     *  @p level.  Returns the bytes written, or 0 if they are not smaller or the library fails. */
    size_t (*pack)(void *to, size_t room, const void *from, size_t bytes, int level);

    /** Restores exactly @p bytes bytes to @p to from @p packed_bytes bytes at @p from, which are
     *  not trusted.  Returns false if they are not what pack() wrote of that many bytes. */
    bool (*unpack)(void *to, size_t bytes, const void *from, size_t packed_bytes);
};

/** Returns the compressor, or NULL with @p reason written, of @p size bytes, if this installation
 *  has none.  Uses ski_config; call it first while the process has one thread or on a PE. */
const struct ski_compressor *ski_compressor_load(char *reason, size_t size);

#endif
