/* SPDX-License-Identifier: Apache-2.0 */
/* outlet.c - see outlet.h.
 *
 * The descriptor may be shared with others, a terminal perhaps, so it is left in the
 * mode it is in: poll() promises that a small piece can be written. */
#include "outlet.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

void outlet_add(struct outlet *outlet, const char *text, size_t bytes)
{
    if (!outlet->error)
        buffer_add(&outlet->text, text, bytes);
}

static bool takes_some(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};

    return poll(&out, 1, 0) > 0;
}

bool outlet_write(struct outlet *outlet)
{
    bool wrote = false;

    while (buffer_bytes(&outlet->text) && takes_some(outlet->fd)) {
        size_t  bytes = buffer_bytes(&outlet->text);
        ssize_t n =
            write(outlet->fd, buffer_text(&outlet->text), bytes < PIPE_BUF ? bytes : PIPE_BUF);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return wrote;
        if (n < 0)
            outlet->error = errno;
        buffer_drop(&outlet->text, n < 0 ? bytes : (size_t)n);
        wrote = true;
    }
    return wrote;
}
