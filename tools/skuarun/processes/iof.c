/* SPDX-License-Identifier: Apache-2.0 */
/* iof.c - see iof.h. */
#include "processes/iof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/memory.h"
#include "fd.h"

#define READ_BYTES     ((size_t)65536)
#define LINE_MAX_BYTES ((size_t)1 << 20) /* a longer line is written in several parts */

static void (*sink)(void *arg, int to, const char *text, size_t bytes);
static void *sink_arg;

/* The output whose incomplete line was written last, or NULL.  Another output then starts a new
 * line first: stdout and stderr usually end on one terminal. */
static const struct iof_output *mid_line;

void iof_set_sink(void (*takes)(void *arg, int to, const char *text, size_t bytes), void *arg)
{
    sink     = takes;
    sink_arg = arg;
}

/* Writes the label before each line; before the first one only if @p fresh. */
static void iof_write_labelled(const struct iof_output *output, const char *text, size_t bytes,
                               bool fresh)
{
    size_t label = strlen(output->label);
    size_t lines = 1;
    char  *out, *at;

    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    out = at = ski_malloc(bytes + lines * label);
    while (bytes > 0) {
        const char *end = memchr(text, '\n', bytes);
        size_t      n   = end ? (size_t)(end - text) + 1 : bytes;

        at    = fresh ? mempcpy(at, output->label, label) : at;
        fresh = true;
        at    = mempcpy(at, text, n);
        text += n;
        bytes -= n;
    }
    sink(sink_arg, output->to, out, (size_t)(at - out));
    free(out);
}

void iof_output_write(const struct iof_output *output, const char *text, size_t bytes)
{
    if (bytes == 0)
        return;
    if (mid_line && mid_line != output)
        sink(sink_arg, mid_line->to, "\n", 1);
    if (output->label[0])
        iof_write_labelled(output, text, bytes, mid_line != output);
    else
        sink(sink_arg, output->to, text, bytes);
    mid_line = text[bytes - 1] == '\n' ? NULL : output;
}

/* Writes the first @p bytes of the collected text and keeps the rest. */
static void iof_output_emit(struct iof_output *output, size_t bytes)
{
    iof_output_write(output, output->text, bytes);
    ski_assert(bytes <= output->used);
    output->used -= bytes;
    memmove(output->text, output->text + bytes, output->used);
}

void iof_output_flush(struct iof_output *output)
{
    iof_output_emit(output, output->used);
}

void iof_output_read(struct iof_output *output)
{
    const char *end;
    ssize_t     n;

    if (output->room - output->used < READ_BYTES) {
        output->room += output->room + READ_BYTES;
        output->text = ski_realloc(output->text, output->room);
    }
    n = read(output->fd, output->text + output->used, READ_BYTES);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        iof_output_flush(output);
        close(output->fd);
        output->fd = -1;
        free(output->text);
        output->text = NULL;
        output->room = 0;
        return;
    }
    output->used += (size_t)n;
    end = memrchr(output->text, '\n', output->used);
    if (end)
        iof_output_emit(output, (size_t)(end - output->text) + 1);
    else if (output->used >= LINE_MAX_BYTES)
        iof_output_flush(output);
}

static void iof_input_close(struct iof_input *input)
{
    input->from = -1;
    fd_close(&input->to);
}

void iof_input_put(struct iof_input *input, const char *text, size_t bytes)
{
    ski_assert(!iof_input_pending(input) && bytes <= sizeof input->text);
    memcpy(input->text, text, bytes);
    input->begin = 0;
    input->end   = bytes;
    if (bytes == 0)
        iof_input_close(input);
    iof_input_write(input);
}

void iof_input_read(struct iof_input *input)
{
    char    text[sizeof input->text];
    ssize_t n = read(input->from, text, sizeof text);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    /* The end of the input, or EIO in the background of a terminal. */
    iof_input_put(input, text, n > 0 ? (size_t)n : 0);
}

void iof_input_write(struct iof_input *input)
{
    while (input->to >= 0 && input->begin < input->end) {
        ssize_t n = write(input->to, input->text + input->begin, input->end - input->begin);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) { /* process 0 has closed its stdin */
            iof_input_close(input);
            return;
        }
        input->begin += (size_t)n;
    }
}
