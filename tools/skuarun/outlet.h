/* SPDX-License-Identifier: Apache-2.0 */
/* outlet.h - our stdout or stderr, written without ever waiting for the reader. */
#ifndef SKUARUN_OUTLET_H
#define SKUARUN_OUTLET_H

#include <poll.h>
#include <stdbool.h>

#include "buffer.h"

struct outlet {
    int           fd;
    int           error; /* why nothing can be written any more, or 0 */
    struct buffer text;
};

void outlet_add(struct outlet *outlet, const char *text, size_t bytes);

/** Write what the reader takes now; whether that was anything. */
bool outlet_write(struct outlet *outlet);

static inline struct pollfd outlet_poll(const struct outlet *outlet)
{
    return (struct pollfd){.fd = buffer_bytes(&outlet->text) ? outlet->fd : -1, .events = POLLOUT};
}

#endif
