/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shutdown.h - how a job that is spread over several arenas ends, and what is done
 * when a part of it is lost.
 *
 * The processes form a tree with process 0 at its root; the first PE of each speaks
 * for it, with three messages:
 *
 *   EXIT   the job ends, with this code: from whoever called skua_exit() to process
 *          0, and from each process that ends to its children;
 *   GONE   from a process to its parent: all PEs of it and of those below it have
 *          stopped running handlers;
 *   BYE    from the root down, when all are gone: nobody will send anything any more.
 *
 * A port is closed only after BYE, so nobody is sent to who is not there.
 */
#ifndef SKI_SHUTDOWN_H
#define SKI_SHUTDOWN_H

#include "base/arch.h"

struct ski_pe;
struct ski_boot;

/** What each PE does when its scheduler has ended: until BYE. */
void ski_leave(struct ski_pe *self);

/** A PE cannot be reached any more; what that means is decided here. */
SKI_COLD void ski_peer_lost(struct ski_pe *self, int pe, const char *why);

#endif
