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

/** Call @p wait(fd, arg) before each write to our own output.  It returns when
 *  the descriptor takes something, or false to give up. */
void stream_on_wait(bool (*wait)(int fd, void *arg), void *arg);

/** Why our output could not be written (EPIPE: nobody reads it), or 0. */
int stream_error(void);

/* Our stdin on its way to process 0. */
struct feed {
    int    from, to; /* -1 when closed */
    char   text[65536];
    size_t begin, end;
};

/** Read more, if all has been written; write what can be, without waiting. */
void feed_read(struct feed *feed);
void feed_write(struct feed *feed);

#endif
