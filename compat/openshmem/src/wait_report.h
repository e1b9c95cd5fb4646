/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_report.h - reports a job in which all PEs wait for ever, and where.
 *
 * A wait polls, so a PE never looks idle to Skua, which reports other programs that hang. Instead a
 * PE that has waited for the setting `idle_report` completes its operations, tells PE 0 where it
 * waits, and then sends a *beat* from time to time as long as the same wait lasts.
 *
 * PE 0, if it waits itself, notes the last beat of each PE once all have sent one. If all send
 * several more beats in the same waits, then all PEs waited at the moment at which it noted them,
 * for all of them wait still. Nothing was in flight, as they had completed their operations before,
 * so no wait can end: PE 0 prints where they wait, once in a job.
 *
 * Other threads of a program may end the wait of one, so there is only a report if the program has
 * none: with SHMEM_THREAD_SINGLE. Neither is there one if SKUA_PROGRESS_THREAD is 0, because then
 * a PE that computes would delay the operations, and so the wait that completes them.
 */
#ifndef SHMEMI_WAIT_REPORT_H
#define SHMEMI_WAIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "wait.h"

/** Returns the bytes of the report's memory on a PE. */
size_t shmemi_wait_report_bytes(int pes);

/** Prepares the report; its memory begins at @p memory, which is aligned to 8 bytes. Returns false
 *  if there is no memory. */
bool shmemi_wait_report_open(char *memory);

/** Ends the reports of this PE: waits send no more beats. */
void shmemi_wait_report_end(void);

/** Frees the memory of shmemi_wait_report_open(). */
void shmemi_wait_report_close(void);

/** Called from time to time by a wait that lasts. */
void shmemi_wait_report(struct shmemi_wait *wait);

#endif
