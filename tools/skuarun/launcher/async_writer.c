/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_writer.c - see async_writer.h.
 *
 * The descriptor may be shared with other programs, as a terminal is, so it is not made
 * non-blocking: poll() guarantees that PIPE_BUF bytes can be written without blocking.
 */
#include "launcher/async_writer.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

void async_writer_add(struct async_writer *writer, const char *text, size_t bytes)
{
    if (!writer->error)
        buffer_add(&writer->unsent, text, bytes);
}

static bool async_writer_is_ready(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};

    return poll(&out, 1, 0) > 0;
}

bool async_writer_flush(struct async_writer *writer)
{
    bool wrote = false;

    while (buffer_bytes(&writer->unsent) && async_writer_is_ready(writer->fd)) {
        size_t  bytes = buffer_bytes(&writer->unsent);
        ssize_t n =
            write(writer->fd, buffer_text(&writer->unsent), bytes < PIPE_BUF ? bytes : PIPE_BUF);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return wrote;
        if (n < 0)
            writer->error = errno;
        buffer_drop(&writer->unsent, n < 0 ? bytes : (size_t)n);
        wrote = true;
    }
    return wrote;
}
