/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_share.h - reports when the memory of a buffer is no longer used.
 *
 * A client of buffers that forwards, copies or broadcasts their descriptions replaces the
 * completion of a buffer by one of these.  Any PE of any host may call them, any number of times,
 * so a completion carries a handle (core/data/slot_table.h) instead of an address, and a call with
 * a handle that has ended does nothing.
 *
 *      once     calls a function of this PE at the first call, and never again
 *      share    counts its users; the last one calls the completion that the buffer had before
 */
#ifndef SKI_BUFFER_SHARE_H
#define SKI_BUFFER_SHARE_H

#include "onesided/buffer/buffer.h"

/** Returns a completion that calls @p fn on this PE with the handle of @p item. */
skua_completion ski_buffer_once(struct ski_pe *self, skua_done_fn fn, void *item);

/** Returns the item of the handle that a completion of ski_buffer_once() was called with, and ends
 *  the handle.  NULL: it has ended before. */
void *ski_buffer_once_take(struct ski_pe *self, void *handle);

/** Returns a completion that frees @p block, memory of skua_buffer_alloc(), at its first call. */
skua_completion ski_buffer_free_once(struct ski_pe *self, void *block);

/** Replaces the completion of @p buffer: the former one is called when @p users have called the new
 *  one. */
void ski_buffer_share(struct ski_pe *self, skua_buffer *buffer, uint32_t users);

/** Counts one more user of @p buffer, which this PE shares and which has a user left. */
void ski_buffer_share_add(struct ski_pe *self, const skua_buffer *buffer);

/** Returns whether every PE of this host reaches the memory of @p buffer by load and store. */
bool ski_buffer_is_shared(const struct ski_pe *self, const skua_buffer *buffer);

#endif
