/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - see stream.h. */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fd.h"

#define READ_BYTES ((size_t)65536)
#define LINE_MOST  ((size_t)1 << 20) /* a longer line is written in pieces */

static void (*sink)(void *arg, int to, const char *text, size_t bytes);
static void *sink_arg;

/* The stream whose unfinished line is the last thing on our stdout or stderr:
 * another one begins a new line first.  Both usually end on one terminal. */
static const struct stream *mid_line;

void stream_on_write(void (*takes)(void *arg, int to, const char *text, size_t bytes), void *arg)
{
    sink     = takes;
    sink_arg = arg;
}

/* @p fresh: the text begins a line. */
static void write_labelled(const struct stream *stream, const char *text, size_t bytes, bool fresh)
{
    size_t label = strlen(stream->label);
    size_t lines = 1;
    char  *out, *at;

    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    out = at = ski_malloc(bytes + lines * label);
    while (bytes > 0) {
        const char *end = memchr(text, '\n', bytes);
        size_t      n   = end ? (size_t)(end - text) + 1 : bytes;

        at    = fresh ? mempcpy(at, stream->label, label) : at;
        fresh = true;
        at    = mempcpy(at, text, n);
        text += n;
        bytes -= n;
    }
    sink(sink_arg, stream->to, out, (size_t)(at - out));
    free(out);
}

void stream_write(const struct stream *stream, const char *text, size_t bytes)
{
    if (bytes == 0)
        return;
    if (mid_line && mid_line != stream)
        sink(sink_arg, mid_line->to, "\n", 1);
    if (stream->label[0])
        write_labelled(stream, text, bytes, mid_line != stream);
    else
        sink(sink_arg, stream->to, text, bytes);
    mid_line = text[bytes - 1] == '\n' ? NULL : stream;
}

/* Writes the first @p bytes of the text and keeps the rest. */
static void put(struct stream *stream, size_t bytes)
{
    stream_write(stream, stream->text, bytes);
    stream->used -= bytes;
    memmove(stream->text, stream->text + bytes, stream->used);
}

void stream_flush(struct stream *stream)
{
    put(stream, stream->used);
}

void stream_read(struct stream *stream)
{
    const char *end;
    ssize_t     n;

    if (stream->room - stream->used < READ_BYTES) {
        stream->room += stream->room + READ_BYTES;
        stream->text = ski_realloc(stream->text, stream->room);
    }
    n = read(stream->fd, stream->text + stream->used, READ_BYTES);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        stream_flush(stream);
        close(stream->fd);
        stream->fd = -1;
        free(stream->text);
        stream->text = NULL;
        stream->room = 0;
        return;
    }
    stream->used += (size_t)n;
    end = memrchr(stream->text, '\n', stream->used);
    if (end)
        put(stream, (size_t)(end - stream->text) + 1);
    else if (stream->used >= LINE_MOST)
        stream_flush(stream);
}

static void close_feed(struct feed *feed)
{
    feed->from = -1;
    fd_close(&feed->to);
}

void feed_take(struct feed *feed, const char *text, size_t bytes)
{
    memcpy(feed->text, text, bytes);
    feed->begin = 0;
    feed->end   = bytes;
    if (bytes == 0)
        close_feed(feed);
    feed_write(feed);
}

void feed_read(struct feed *feed)
{
    char    text[sizeof feed->text];
    ssize_t n = read(feed->from, text, sizeof text);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    /* Its end; also EIO, when we are in the background of a terminal. */
    feed_take(feed, text, n > 0 ? (size_t)n : 0);
}

void feed_write(struct feed *feed)
{
    while (feed->to >= 0 && feed->begin < feed->end) {
        ssize_t n = write(feed->to, feed->text + feed->begin, feed->end - feed->begin);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) { /* process 0 does not read any more */
            close_feed(feed);
            return;
        }
        feed->begin += (size_t)n;
    }
}
