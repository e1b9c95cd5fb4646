/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iof.h - I/O forwarding: the output of the processes, and the input of process 0.
 *
 * The output of each process is collected until a line is complete and then written whole, so lines
 * of different processes never mix.
 */
#ifndef SKUARUN_IOF_H
#define SKUARUN_IOF_H

#include <stdbool.h>
#include <stddef.h>

#include "survive/output_history.h"

/** The stdout or stderr of one process. */
struct iof_output {
    int                    fd; /* the pipe to read from; -1 after its end */
    int                    to; /* STDOUT_FILENO or STDERR_FILENO          */
    char                   label[32];
    char                  *text; /* the line that is not complete yet     */
    size_t                 used, room;
    struct output_history *history; /* with --survive, else NULL */
};

/** Reads once from the pipe and writes the lines that are complete.  At the end of the pipe, set fd
 * to -1, and write the rest unless the output has a history. */
void iof_output_read(struct iof_output *output);

/** Writes what is left of an output that has a history, and frees it: the job is over. */
void iof_output_end(struct iof_output *output);

/** Closes an output that has a history, and rolls that back to @p generation.  A line that is not
 * complete is written by the next output of the process, as far as it was printed before the
 * checkpoint. */
void iof_output_rewind(struct iof_output *output, uint64_t generation);

/** Writes what has been read, whether its last line is complete or not. */
void iof_output_flush(struct iof_output *output);

/** Writes @p text as the next output of the process, with its label. */
void iof_output_write(const struct iof_output *output, const char *text, size_t bytes);

/** Sets the function that receives what is written, for all outputs of this process. */
void iof_set_sink(void (*sink)(void *arg, int to, const char *text, size_t bytes), void *arg);

/** The stdin of skuarun that is forwarded to process 0: text[begin, end) is not written yet. */
struct iof_input {
    int    from, to; /* -1: closed */
    char   text[65536];
    size_t begin, end;
};

/** Reads once from `from`; called when nothing is pending. */
void iof_input_read(struct iof_input *input);

/** Writes what the pipe accepts, without blocking. */
void iof_input_write(struct iof_input *input);

/** Accepts the next @p bytes, at most sizeof input->text, when nothing is pending; 0 bytes are the
 * end of the input. */
void iof_input_put(struct iof_input *input, const char *text, size_t bytes);

/** Returns whether some input is not written yet. */
static inline bool iof_input_pending(const struct iof_input *input)
{
    return input->begin < input->end;
}

#endif
