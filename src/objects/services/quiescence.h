/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiescence.h - quiescence detection: the end of all activity, found by termination detection
 * (termination.h) over the messages that PEs have sent and received (core/message/msg_counts.h).
 *
 * PE 0 keeps the requests.  A request that arrives during a wave waits for the two waves after it:
 * counts from before its arrival are of no use to it.
 *
 * A progress thread is visited along with the first PE of its process, which also counts for the
 * external threads of the process.
 */
#ifndef SKI_QUIESCENCE_H
#define SKI_QUIESCENCE_H

#include <stdbool.h>

#include <skua/quiescence.h>

#include "objects/model/lifecycle.h"

/** Calls flush(arg) on this PE whenever a wave visits it.  A module that delays what it was asked
 * to send sends it then, so that the wave counts it, and returns true. flush must not run the
 * scheduler, nor call ski_quiescence_unhook(). */
void ski_quiescence_hook(bool (*flush)(void *arg), void *arg);

/** Undoes ski_quiescence_hook() with these arguments. */
void ski_quiescence_unhook(bool (*flush)(void *arg), void *arg);

/** The observer of this module (model/lifecycle.h): the requests and hooks of a PE. */
extern const struct ski_lifecycle ski_quiescence_lifecycle;

#define SKI_QUIESCENCE_REQUEST_MIN sizeof(skua_completion)

/** Handler: a request for quiescence, on PE 0. */
void ski_on_quiescence_request(skua_msg *msg);

#endif
