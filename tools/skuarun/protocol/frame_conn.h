/* SPDX-License-Identifier: Apache-2.0 */
/* frame_conn.h - a connection that carries frames between the launcher and an agent.  No function
 * here blocks. */
#ifndef SKUARUN_FRAME_CONN_H
#define SKUARUN_FRAME_CONN_H

#include "common/buffer.h"
#include "protocol/frame.h"

struct frame_conn {
    int                  in, out;   /* -1: closed */
    enum frame_direction direction; /* of the frames that are received */
    struct buffer        received, unsent;
};

/** Takes over two descriptors and makes them non-blocking. */
void frame_conn_open(struct frame_conn *conn, int in, int out, enum frame_direction direction);

/** Closes the descriptors and drops what is buffered. */
void frame_conn_close(struct frame_conn *conn);

/** Closes the descriptor for sending and drops what is buffered for it: the other end reads the end
 * of the connection, and what it still sends is received. */
void frame_conn_end(struct frame_conn *conn);

/** Reads once.  Returns 1 if bytes were read, 0 if there are none now, -1 at the end of the
 * connection or on an error. */
int frame_conn_read(struct frame_conn *conn);

/** Decodes the next received frame.  Returns 1 if there is one, valid until the next call of this
 * or of frame_conn_read(), 0 if it is not complete yet, -1 if the bytes are no valid frame. */
int frame_conn_next(struct frame_conn *conn, struct frame *frame);

/** Sends a frame whose payload is @p head followed by @p data, unless the connection is closed. */
void frame_conn_send(struct frame_conn *conn, enum frame_kind kind, const void *head,
                     size_t head_bytes, const void *data, size_t bytes);

/** Sends a frame whose payload is a number and, unless it is NULL, a text. */
void frame_conn_send_number(struct frame_conn *conn, enum frame_kind kind, int number,
                            const char *text);

/** Returns whether some bytes wait to be written. */
static inline bool frame_conn_has_unsent(const struct frame_conn *conn)
{
    return buffer_bytes(&conn->unsent) > 0;
}

/** Writes as much as the descriptor accepts now. */
void frame_conn_flush(struct frame_conn *conn);

#endif
