/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.h - the report of a process that dies: which PE, why and where.
 *
 * Handlers of the fatal signals write what is known into the job's record of the process
 * (boot/job.h), then re-raise the signal.  The launcher prints the record; without a launcher the
 * handler does.  Signals that the program or a sanitizer handles itself are left alone.
 */
#ifndef SKI_CRASH_H
#define SKI_CRASH_H

#include "boot/boot.h"

/** Installs the signal handlers, once in a process.  The lines of ski_fatal() are recorded as well.
 */
void ski_crash_install(const struct ski_boot *boot);

/** Gives the calling thread a stack for signal handlers, since its own may have overflowed. Returns
 * it for ski_crash_thread_end(). */
void *ski_crash_thread_begin(void);

/** Frees the stack for signal handlers of the calling thread. */
void ski_crash_thread_end(void *stack);

/** Stops recording: the process leaves the job. */
void ski_crash_uninstall(void);

#endif
