/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiescence.h - finding out that a program has nothing left to do.
 *
 * A program of messages that set off messages does not know by itself when the last of
 * them has been worked off.  *Quiescence* is the state in which no message is queued or
 * on its way anywhere, no handler runs and no user thread is ready.
 */
#ifndef SKUA_QUIESCENCE_H
#define SKUA_QUIESCENCE_H

#include <skua/api.h>
#include <skua/completion.h>

SKUA_BEGIN_DECLS

/**
 * Let @p done happen once there is quiescence; not before the caller has returned to the
 * scheduler.  Any PE, in a handler, in start or in a user thread; any number at a time,
 * each of which happens once.
 *
 * Activity is: messages of all kinds, also those of broadcasts, reductions, completions
 * and one-sided operations; user threads that are ready; handlers and start on any PE,
 * also while they call skua_poll(); threads of the program's own inside of one-sided
 * operations.
 *
 * No activity is: user threads that are blocked; handlers and start while they wait
 * (skua_counter_wait(), skua_run_until(), skua_run() and the like: these may well wait
 * for the quiescence); timers that have not fired; idle callbacks; detectors that have
 * not come to their end.  Whoever needs a timer to be over asks after it.
 *
 * It costs nothing until it is asked for.  While the program works, all PEs are asked how
 * they stand at most once a millisecond, and each answers when it has nothing else to do.
 */
SKUA_API void skua_quiescence(skua_completion done);

SKUA_END_DECLS

#endif
