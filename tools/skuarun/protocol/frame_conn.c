/* SPDX-License-Identifier: Apache-2.0 */
/* frame_conn.c - see frame_conn.h. */
#include "protocol/frame_conn.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "common/fd.h"
#include "protocol/job_spec.h"

#define READ_BYTES ((size_t)65536)

void frame_conn_open(struct frame_conn *c, int in, int out, enum frame_direction direction)
{
    *c = (struct frame_conn){.in = in, .out = out, .direction = direction};
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
}

void frame_conn_close(struct frame_conn *c)
{
    fd_close(&c->in);
    fd_close(&c->out);
    buffer_free(&c->received);
    buffer_free(&c->unsent);
}

void frame_conn_end(struct frame_conn *c)
{
    fd_close(&c->out);
    buffer_free(&c->unsent);
}

int frame_conn_read(struct frame_conn *c)
{
    ssize_t n = read(c->in, buffer_room(&c->received, READ_BYTES), READ_BYTES);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n <= 0)
        return -1;
    c->received.end += (size_t)n;
    return 1;
}

int frame_conn_next(struct frame_conn *c, struct frame *frame)
{
    int found =
        frame_decode(c->direction, buffer_text(&c->received), buffer_bytes(&c->received), frame);

    if (found > 0)
        buffer_drop(&c->received, frame_size(frame)); /* its bytes stay until the next read */
    return found;
}

void frame_conn_flush(struct frame_conn *c)
{
    while (frame_conn_has_unsent(c)) {
        ssize_t n = write(c->out, buffer_text(&c->unsent), buffer_bytes(&c->unsent));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        /* An error means that the peer has closed the connection; frame_conn_read() reports that.
         */
        buffer_drop(&c->unsent, n < 0 ? buffer_bytes(&c->unsent) : (size_t)n);
    }
}

void frame_conn_send(struct frame_conn *c, enum frame_kind kind, const void *head,
                     size_t head_bytes, const void *data, size_t bytes)
{
    struct frame_head first = {kind, (uint32_t)(head_bytes + bytes)};

    ski_assert(head_bytes + bytes <= JOB_SPEC_MAX); /* the largest payload */
    if (c->out < 0)
        return;
    buffer_add(&c->unsent, &first, sizeof first);
    buffer_add(&c->unsent, head, head_bytes);
    buffer_add(&c->unsent, data, bytes);
    frame_conn_flush(c);
}

void frame_conn_send_number(struct frame_conn *c, enum frame_kind kind, int number,
                            const char *text)
{
    frame_conn_send(c, kind, &number, sizeof number, text, text ? strlen(text) : 0);
}
