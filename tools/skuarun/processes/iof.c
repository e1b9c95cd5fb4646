/* SPDX-License-Identifier: Apache-2.0 */
/* iof.c - see iof.h. */
#include "processes/iof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/memory.h"
#include "common/fd.h"

#define READ_BYTES     ((size_t)65536)
#define LINE_BYTES_MAX ((size_t)1 << 20) /* a longer line is written in several parts */

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

/* Frees the collected text. */
static void iof_output_clear(struct iof_output *output)
{
    free(output->text);
    output->text = NULL;
    output->used = output->room = 0;
}

void iof_output_end(struct iof_output *output)
{
    if (!output->history)
        return;
    fd_close(&output->fd);
    iof_output_flush(output);
    iof_output_clear(output);
}

/* Makes room for @p bytes more of text. */
static void iof_output_reserve(struct iof_output *output, size_t bytes)
{
    if (output->room - output->used >= bytes)
        return;
    output->room += output->room + bytes;
    output->text = ski_realloc(output->text, output->room);
}

void iof_output_rewind(struct iof_output *output, uint64_t generation)
{
    struct output_history *history = output->history;
    size_t                 keep    = output_history_rewind(history, generation, output->used);

    fd_close(&output->fd);
    buffer_add(&history->unprinted, output->text, keep);
    iof_output_clear(output);
    if (mid_line == output) {
        sink(sink_arg, output->to, "\n", 1);
        mid_line = NULL;
    }
}

/* Appends what the history lets pass of the last @p bytes of the text to it. */
static void iof_output_filter(struct iof_output *output, size_t bytes)
{
    static const char notice[] = "skuarun: the output of a process after the recovery differs from "
                                 "its earlier output; it is printed again from here\n";
    struct buffer     to       = {0};
    bool same = output_history_filter(output->history, output->text + output->used, bytes, &to);

    iof_output_reserve(output, buffer_bytes(&to));
    if (buffer_bytes(&to) > 0)
        memcpy(output->text + output->used, buffer_text(&to), buffer_bytes(&to));
    output->used += buffer_bytes(&to);
    buffer_free(&to);
    if (!same)
        sink(sink_arg, STDERR_FILENO, notice, sizeof notice - 1);
}

/* The pipe has reached its end.  An incomplete line of an output with a history waits: if the job
 * is rolled back, it comes again. */
static void iof_output_close(struct iof_output *output)
{
    fd_close(&output->fd);
    if (output->history)
        return;
    iof_output_flush(output);
    iof_output_clear(output);
}

void iof_output_read(struct iof_output *output)
{
    const char *end;
    ssize_t     n;

    iof_output_reserve(output, READ_BYTES);
    n = read(output->fd, output->text + output->used, READ_BYTES);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        iof_output_close(output);
        return;
    }
    if (output->history)
        iof_output_filter(output, (size_t)n);
    else
        output->used += (size_t)n;
    if (output->used == 0)
        return;
    end = memrchr(output->text, '\n', output->used);
    if (end)
        iof_output_emit(output, (size_t)(end - output->text) + 1);
    else if (output->used >= LINE_BYTES_MAX)
        iof_output_flush(output);
}

static void iof_input_close(struct iof_input *input)
{
    input->from = -1;
    fd_close(&input->to);
}

/* Begins to write the first @p bytes of the text. */
static void iof_input_begin(struct iof_input *input, size_t bytes)
{
    input->begin = 0;
    input->end   = bytes;
    if (bytes == 0)
        iof_input_close(input);
    iof_input_write(input);
}

void iof_input_put(struct iof_input *input, const char *text, size_t bytes)
{
    ski_assert(!iof_input_pending(input) && bytes <= sizeof input->text);
    memcpy(input->text, text, bytes);
    iof_input_begin(input, bytes);
}

void iof_input_read(struct iof_input *input)
{
    ssize_t n;

    ski_assert(!iof_input_pending(input));
    n = read(input->from, input->text, sizeof input->text);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    /* The end of the input, or EIO in the background of a terminal. */
    iof_input_begin(input, n > 0 ? (size_t)n : 0);
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
