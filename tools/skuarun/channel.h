/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - frames to and from the other side.  Nothing here ever waits.
 */
#ifndef SKUARUN_CHANNEL_H
#define SKUARUN_CHANNEL_H

#include "buffer.h"
#include "frame.h"

struct channel {
    int            in, out; /* -1: closed */
    enum frame_way way;     /* of the frames that are read */
    struct buffer  came, goes;
};

/** The descriptors become the channel's, and do not block any more. */
void channel_open(struct channel *channel, int in, int out, enum frame_way way);
void channel_close(struct channel *channel);

/** Read what there is, or a good part of it.  0: nothing now; -1: nothing any more. */
int channel_read(struct channel *channel);

/** The next frame, good until the next call of channel_read() or of this: 1; none
 *  yet: 0; what came is no frame: -1. */
int channel_next(struct channel *channel, struct frame *frame);

/** Send a frame of two parts. */
void channel_send(struct channel *channel, enum frame_kind kind, const void *head,
                  size_t head_bytes, const void *data, size_t bytes);

/** A frame that is a number and perhaps a text. */
void channel_say(struct channel *channel, enum frame_kind kind, int number, const char *text);

/** Whether something waits to be written, and to write what can be. */
static inline bool channel_waits(const struct channel *channel)
{
    return buffer_bytes(&channel->goes) > 0;
}

void channel_flush(struct channel *channel);

#endif
