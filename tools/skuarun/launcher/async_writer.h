/* SPDX-License-Identifier: Apache-2.0 */
/* async_writer.h - skuarun's stdout or stderr, written without ever blocking on its reader. */
#ifndef SKUARUN_ASYNC_WRITER_H
#define SKUARUN_ASYNC_WRITER_H

#include <poll.h>
#include <stdbool.h>

#include "common/buffer.h"

struct async_writer {
    int           fd;
    int           error; /* errno of the write that failed, or 0; then nothing more is queued */
    struct buffer unsent;
};

/** Queues @p text.  It is dropped if an earlier write has failed. */
void async_writer_add(struct async_writer *writer, const char *text, size_t bytes);

/** Writes as much as the reader accepts now.  Returns whether anything was written or dropped. */
bool async_writer_flush(struct async_writer *writer);

/** Returns what to poll for: the descriptor while something is queued, else -1. */
static inline struct pollfd async_writer_pollfd(const struct async_writer *writer)
{
    return (struct pollfd){.fd     = buffer_bytes(&writer->unsent) ? writer->fd : -1,
                           .events = POLLOUT};
}

#endif
