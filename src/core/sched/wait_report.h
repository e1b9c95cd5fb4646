/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_report.h - what waits on a PE, in words, for a job that makes no progress
 * (objects/services/idle_report.h).
 *
 * A message makes each PE call these functions on its own state, while the job is idle.  Texts are
 * bounded: what does not fit is left out.
 */
#ifndef SKI_WAIT_REPORT_H
#define SKI_WAIT_REPORT_H

#include <stddef.h>

struct ski_pe;

/* Where a text is being written. */
struct ski_text {
    char  *start;
    size_t length, room; /* room: with the final 0 */
};

/** Appends to @p text. */
void ski_text_add(struct ski_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Appends an item of a list: after "; ", unless it is the first. */
void ski_text_item(struct ski_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Appends which calls of the program block, on the PE's own stack and in user threads. */
void ski_report_blocked_calls(const struct ski_pe *self, struct ski_text *text);

#endif
