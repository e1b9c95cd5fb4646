/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - see channel.h. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fd.h"

#define READ_BYTES ((size_t)65536)

void channel_open(struct channel *c, int in, int out, enum frame_way way)
{
    *c = (struct channel){.in = in, .out = out, .way = way};
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
}

void channel_close(struct channel *c)
{
    fd_close(&c->in);
    fd_close(&c->out);
    buffer_free(&c->came);
    buffer_free(&c->goes);
}

int channel_read(struct channel *c)
{
    ssize_t n = read(c->in, buffer_room(&c->came, READ_BYTES), READ_BYTES);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n <= 0)
        return -1;
    c->came.end += (size_t)n;
    return 1;
}

int channel_next(struct channel *c, struct frame *frame)
{
    int found = frame_decode(c->way, buffer_text(&c->came), buffer_bytes(&c->came), frame);

    if (found > 0)
        buffer_drop(&c->came, frame_extent(frame)); /* its bytes stay until more come */
    return found;
}

void channel_flush(struct channel *c)
{
    while (channel_waits(c)) {
        ssize_t n = write(c->out, buffer_text(&c->goes), buffer_bytes(&c->goes));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        /* The other side is gone, which reading will show. */
        buffer_drop(&c->goes, n < 0 ? buffer_bytes(&c->goes) : (size_t)n);
    }
}

void channel_send(struct channel *c, enum frame_kind kind, const void *head, size_t head_bytes,
                  const void *data, size_t bytes)
{
    struct frame_head first = {kind, (uint32_t)(head_bytes + bytes)};

    if (c->out < 0)
        return;
    buffer_add(&c->goes, &first, sizeof first);
    buffer_add(&c->goes, head, head_bytes);
    buffer_add(&c->goes, data, bytes);
    channel_flush(c);
}

void channel_say(struct channel *c, enum frame_kind kind, int number, const char *text)
{
    channel_send(c, kind, &number, sizeof number, text, text ? strlen(text) : 0);
}
