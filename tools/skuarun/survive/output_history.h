/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_history.h - the output of a process since its last checkpoints, so that a program that is
 * rolled back does not print it again (skuarun --survive).
 *
 * A process marks its checkpoints in its output (boot/image_slots.h).  The history removes the
 * marks, and keeps the bytes after the last two of them.  After a rollback to a
 * generation the output is compared with the bytes after its mark: bytes that are equal have been
 * printed before and are dropped.  At the first line that differs the comparison ends with a notice
 * on stderr, and that line and all that follow are printed.
 */
#ifndef SKUARUN_OUTPUT_HISTORY_H
#define SKUARUN_OUTPUT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

#define OUTPUT_HISTORY_MAX  ((size_t)4 << 20) /* bytes that are kept */
#define OUTPUT_HISTORY_MARK 64                /* the most bytes of a mark */

/** Where the output of a generation begins in the kept bytes. */
struct output_mark {
    uint64_t generation;
    size_t   at;
};

struct output_history {
    struct buffer      kept;    /* printed since mark[0]                                     */
    struct output_mark mark[2]; /* the last two, ascending                                   */
    int                marks;
    size_t             position;   /* of the next byte; below the end while it repeats       */
    bool               overflowed; /* more was printed than is kept                          */
    char               part[OUTPUT_HISTORY_MARK]; /* the beginning of a mark, not complete yet */
    size_t             part_bytes;
    struct buffer      unprinted; /* the beginning of a line that an earlier epoch left           */
};

/** Filters the next @p bytes of output and appends what has to be printed to @p to.  Returns false
 *  if the output begins to differ from what was printed before. */
bool output_history_filter(struct output_history *history, const char *text, size_t bytes,
                           struct buffer *to);

/** Rolls back to the mark of @p generation; 0 is the beginning.  What was printed after it is
 * expected again.  The last @p unprinted bytes, of a line that is not complete, were not printed:
 * returns how many of them are before the mark and have to be printed still. */
size_t output_history_rewind(struct output_history *history, uint64_t generation, size_t unprinted);

/** Frees the memory; the history is empty and may be used again. */
void output_history_free(struct output_history *history);

#endif
