/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_report.h - the record of a process that died, for people.
 */
#ifndef SKI_CRASH_REPORT_H
#define SKI_CRASH_REPORT_H

#include "boot/job.h"

#define SKI_CRASH_LINE 2048

/** "PE 3 (process 1) died of signal 11 (Segmentation fault) at address ...", and the
 *  frames, if there are any, on indented lines below.  False: @p process left no
 *  record. */
bool ski_crash_text(struct ski_job *job, int process, char text[SKI_CRASH_LINE]);

/** Where @p frame is: "function at file.c:12", if @p lines and addr2line is installed; else its
 *  symbol, or the module and the offset.  Of a frame that is not @p innermost the address is one
 *  that a call returns to. */
void ski_frame_text(const struct ski_frame *frame, bool innermost, bool lines, char *text,
                    size_t size);

/** Print that on stderr, after "SPEAKER: ". */
bool ski_crash_print(struct ski_job *job, int process, const char *speaker);

/** "PE 3 (process 3)" or "PEs 4-7 (process 1)". */
void ski_process_text(const struct ski_job *job, int process, int pe, char *text, size_t size);

#endif
