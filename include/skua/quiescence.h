/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiescence.h - detection of quiescence: a program has nothing left to do.
 *
 * A program whose messages cause further messages cannot determine by itself when the last of them
 * has been processed. *Quiescence* is the state in which no message is queued or in flight
 * anywhere, no handler runs and no user thread is ready.
 */
#ifndef SKUA_QUIESCENCE_H
#define SKUA_QUIESCENCE_H

#include <skua/api.h>
#include <skua/completion.h>

SKUA_BEGIN_DECLS

/**
 * Performs @p done once at quiescence, not before the caller has returned to the scheduler. May be
 * called on any PE, in a handler, in start or in a user thread. Any number of requests may be
 * outstanding; each completes once.
 *
 * Activity consists of: messages of all kinds, including those of broadcasts, reductions,
 * completions and one-sided operations; user threads that are ready; handlers and start on any PE,
 * also while they call skua_poll(); threads of the program inside one-sided operations that send a
 * message or a completion, or leave something in flight.
 *
 * The following are not activity: blocked user threads; handlers and start while they wait
 * (skua_counter_wait(), skua_run_until(), skua_run() and similar functions, which may wait for
 * quiescence itself); timers that have not fired; idle callbacks; detectors that have not
 * completed; threads of the program inside operations that they perform by load and store. A
 * program that needs a timer to have fired must check for it.
 *
 * Detection costs nothing until it is requested. While the program is busy, PEs are polled at most
 * once per millisecond, and each answers when it is idle.
 */
SKUA_API void skua_quiescence(skua_completion done);

SKUA_END_DECLS

#endif
