/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shutdown.h - how a job ends, and what the loss of a peer means.
 *
 * On one host PEs see a flag in the arena.  The processes of a distributed job form a tree with
 * process 0 at its root; the first PE of each process sends and receives three messages for it:
 *
 * - EXIT: the job ends, with this code.  It travels from the process that called skua_exit() to
 *   process 0, and from each process that ends to its children.
 * - STOPPED: from a process to its parent.  All PEs of the process and of the processes below it
 *   have stopped running handlers.
 * - RELEASE: from the root down, once all have stopped.  No PE sends anything after it.
 *
 * A port is closed only after RELEASE, so no PE sends to a port that is closed.
 */
#ifndef SKI_SHUTDOWN_H
#define SKI_SHUTDOWN_H

#include "base/arch.h"

struct ski_pe;

/** Takes part in the end of the job, after the scheduler of a PE has returned; returns after
 * RELEASE. */
void ski_shutdown(struct ski_pe *self);

/** Resets the state of the end of a job, in a process that joins another one. */
void ski_shutdown_reset(void);

/** Handles the loss of peer @p pe: ends the job unless it ends already. */
SKI_COLD void ski_shutdown_peer_lost(struct ski_pe *self, int pe, const char *why);

#endif
