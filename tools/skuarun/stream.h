/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - what the processes say, line by line, and what process 0 is told.
 *
 * The output of each process is collected until a line is complete and then
 * written whole, so that lines of different processes never mix.
 */
#ifndef SKUARUN_STREAM_H
#define SKUARUN_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Output of one process: its stdout or its stderr. */
struct stream {
    int    fd; /* to read from; -1 when it has ended */
    int    to; /* our stdout or stderr               */
    char   label[32];
    char  *text; /* the line that is not complete      */
    size_t used, room;
};

/** Read what is there and write the lines that are complete.  At the end of
 *  the stream fd becomes -1. */
void stream_read(struct stream *stream);

/** Write what is left, complete or not. */
void stream_flush(struct stream *stream);

/** Write @p text, which is the next that the stream says. */
void stream_write(const struct stream *stream, const char *text, size_t bytes);

/** Who takes what is written: @p sink(arg, to, text, bytes), for all streams. */
void stream_on_write(void (*sink)(void *arg, int to, const char *text, size_t bytes), void *arg);

/* Our stdin on its way to process 0. */
struct feed {
    int    from, to; /* -1 when closed */
    char   text[65536];
    size_t begin, end;
};

/** Read more, if all has been written; write what can be, without waiting. */
void feed_read(struct feed *feed);
void feed_write(struct feed *feed);

/** The next that is to be written, at most sizeof feed->text; nothing: its end. */
void feed_take(struct feed *feed, const char *text, size_t bytes);

/** Whether there is something to be written. */
static inline bool feed_full(const struct feed *feed)
{
    return feed->begin < feed->end;
}

#endif
