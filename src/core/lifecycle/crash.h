/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.h - a process that dies says which PE, why and where.
 *
 * Handlers for the fatal signals write what is known into the job's record of
 * the process (boot/job.h), then let the signal take its course.  The launcher
 * prints it; without a launcher the handler does.  Signals that the program or
 * a sanitizer handles itself are left alone.
 */
#ifndef SKI_CRASH_H
#define SKI_CRASH_H

#include "boot/boot.h"

/** Once a process.  Also takes the lines of ski_fatal(). */
void ski_crash_install(const struct ski_boot *boot);

/** Give the calling thread a stack to run signal handlers on, since its own
 *  may be what has overflowed; returned for ski_crash_thread_end(). */
void *ski_crash_thread_begin(void);
void  ski_crash_thread_end(void *stack);

/** The process leaves the job: from here on signals are its own affair. */
void ski_crash_uninstall(void);

#endif
