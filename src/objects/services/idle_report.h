/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_report.h - reports a job that is idle for ever, and what waits on each PE.
 *
 * PE 0 checks for this.  When it has been idle for the setting `idle_report`, it sends a wave
 * (termination.h) that sums over all PEs what was sent and received, and how many PEs see a reason
 * why something may still happen:
 *
 *      a timer runs;
 *      idle callbacks have not all said, since the last wave, that they have nothing to do;
 *      the process has threads that are not the runtime's (base/tasks.h).
 *
 * A PE inside of a handler that computes or waits for input does not run the wave, so the wave does
 * not come back before.  If there is no such reason and all that was sent was received, a second
 * wave follows after a pause.  If its sums are those of the first, the job is idle for good: counts
 * only grow, so no PE has sent or received anything from its first visit to its second, and at the
 * moment between the waves that is true of all of them.  All messages were received, so none was in
 * flight; no timer, thread or callback is left that would send one.  Messages that the runtime
 * holds (core/message/msg_counts.h) count as received: what they wait for does not happen by
 * itself.  Waves of quiescence and of detectors, and the timers between those, are left out.
 *
 * Then PE 0 asks each PE what waits there, and prints the answers, equal ones together, once in a
 * job. Modules add what they know to the answer of a PE (collection_report and pe_report of
 * model/lifecycle_defs.h).  If something happens after all, PE 0 checks again after the same time,
 * and after twice the time each time that no message has moved, so that a job that sleeps is woken
 * less and less often.  A PE that never sleeps (setting idle_spin) does not check.
 *
 * None of this happens while PE 0 has something to do.
 *
 * Besides, each PE that is idle for a dozen times as long, while the same packets or operations of
 * its driver are in flight, logs that once: not all drivers report all failures.
 */
#ifndef SKI_IDLE_REPORT_H
#define SKI_IDLE_REPORT_H

#include <skua/message.h>

#include "objects/model/lifecycle.h"

/** The observer of this module (model/lifecycle.h): the idle report of a PE. */
extern const struct ski_lifecycle ski_idle_report_lifecycle;

struct ski_pe;

/** Checks, before PE 0 sleeps, whether the job is idle for good.  Returns the nanoseconds until the
 *  next check; 0: something was sent. */
uint64_t ski_idle_before_sleep(struct ski_pe *self);

#define SKI_IDLE_TEXT_MIN 8

/** Handler: PE 0 asks what waits on this PE. */
void ski_on_idle_report_request(skua_msg *msg);

/** Handler: the answer of a PE, on PE 0. */
void ski_on_idle_text(skua_msg *msg);

#endif
