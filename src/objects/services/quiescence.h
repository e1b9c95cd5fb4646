/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiescence.h - the end of all activity, found by waves (termination.h) over what PEs have sent
 * and received (core/message/msg_counts.h).
 *
 * PE 0 keeps the requests.  One that comes while a wave is under way waits for the two
 * after it: what was found out before it came says nothing about it.
 *
 * Hidden helpers are visited along with the first PE of their process, which also answers
 * for the guest, whose traffic it reads.
 */
#ifndef SKI_QUIESCENCE_H
#define SKI_QUIESCENCE_H

#include <stdbool.h>

#include <skua/quiescence.h>

struct ski_quiet;
struct ski_text;

/**
 * Call flush(arg) on this PE whenever a wave visits it.  Whoever keeps back what it was
 * asked to send sends it then, so that the wave sees it, and returns true; it must not run
 * the scheduler.  The same pair takes the hook away again, which flush may not do.
 */
void ski_quiescence_hook(bool (*flush)(void *arg), void *arg);
void ski_quiescence_unhook(bool (*flush)(void *arg), void *arg);

/** Append to @p text that requests wait, if some do. */
void ski_quiet_explain(const struct ski_quiet *quiet, struct ski_text *text);

struct ski_quiet *ski_quiet_begin(void);
void              ski_quiet_end(struct ski_quiet *quiet);

#define SKI_QUIET_ASK_LEAST sizeof(skua_completion)

void ski_on_quiet_ask(skua_msg *msg);

#endif
