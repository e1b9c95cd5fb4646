/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_report.h - the crash record of a process (boot/job.h) as text.
 */
#ifndef SKI_CRASH_REPORT_H
#define SKI_CRASH_REPORT_H

#include "boot/job.h"

#define SKI_CRASH_LINE 2048

/** Writes "PE 3 (process 1) died of signal 11 (Segmentation fault) at address ...", then the stack
 *  frames, if any, on indented lines.  Returns false if @p process left no record. */
bool ski_crash_text(struct ski_job *job, int process, char text[SKI_CRASH_LINE]);

/** Writes the location of @p frame: "function at file.c:12" if @p lines is true and addr2line is
 *  installed, else its symbol, or module and offset.  The address of the frame is a return
 *  address. */
void ski_frame_text(const struct ski_frame *frame, bool lines, char *text, size_t size);

/** Writes "PE 3 (process 3)", or "PEs 4-7 (process 1)" if @p pe is -1. */
void ski_process_text(const struct ski_job *job, int process, int pe, char *text, size_t size);

#endif
