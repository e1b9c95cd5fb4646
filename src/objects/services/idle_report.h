/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_report.h - a job in which nothing can happen any more says so, and what waits where.
 *
 * PE 0 looks for it.  When it has been idle for the setting `idle_report`, it sends a wave
 * (termination.h) that sums over all PEs what was sent and received, and how many PEs see a reason
 * why something may still happen:
 *
 *      a timer runs;
 *      idle callbacks have not all said, since the last wave, that they have nothing to do;
 *      the process has threads that are not the runtime's (base/tasks.h).
 *
 * A PE inside of a handler that computes or waits for input does not run the wave, so the wave
 * does not come back before.  If there is no such reason and all that was sent was received, a
 * second wave follows after a pause.  If its sums are those of the first, the job is idle for
 * good:  counts only grow, so no PE has sent or received anything from its first visit to its
 * second, and at the moment between the waves that is true of all of them.  All messages were
 * received, so none was on its way; no timer, thread or callback is left that would send one.
 * Messages that the runtime holds (core/message/msg_counts.h) count as received: what they wait for
 * does not happen by itself.  Waves of quiescence and of detectors, and the timers between those,
 * are left out.
 *
 * Then PE 0 asks each PE what waits there, and prints the answers, those that are the same
 * once: once in a job.  If what it found was not the end, PE 0 looks again after as long; and
 * after twice as long each time if nothing has moved, so that a job that sleeps is woken ever
 * more seldom.  A PE that never sleeps (setting idle_spin) does not look.
 *
 * Nothing of this happens while PE 0 has something to do.
 */
#ifndef SKI_IDLE_REPORT_H
#define SKI_IDLE_REPORT_H

#include <skua/message.h>

#include "objects/services/termination.h"

struct ski_idle_report *ski_idle_report_begin(void);
void                    ski_idle_report_end(struct ski_idle_report *report);

/** Looks, before PE 0 sleeps, whether the job has come to rest.  Returns the nanoseconds until it
 *  wants to look again; 0: it has sent something. */
uint64_t ski_idle_before_sleep(struct ski_pe *self);

extern const struct ski_wave_kind ski_idle_waves;

#define SKI_IDLE_TEXT_LEAST 8

void ski_on_idle_ask(skua_msg *msg);
void ski_on_idle_text(skua_msg *msg);

#endif
