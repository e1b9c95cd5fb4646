/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalize.h - when a phase ends: skua_finalize() has been called in every process, and there is
 * nothing left to do.
 *
 * A PE is done when the program has called skua_finalize() on it or, on a PE whose thread Skua has
 * made, when its start function has returned.  The processes form a tree with process 0 at its
 * root. The first PE of a process notifies its parent when the PEs of the process and those of the
 * processes below it are done; at the root, quiescence (quiescence.h) then ends the job with code
 * 0.
 */
#ifndef SKI_FINALIZE_H
#define SKI_FINALIZE_H

#include "core/pe/pe.h"
#include "objects/model/lifecycle.h"

/** Records that this PE is done.  The caller runs the scheduler until the job exits. */
void ski_finalize_announce(struct ski_pe *self);

/** Handler: a PE of this process is done, or a process and those below it in the tree. */
void ski_on_finalize(skua_msg *msg);

/** The observer of this module (model/lifecycle.h): the count of a PE. */
extern const struct ski_lifecycle ski_finalize_lifecycle;

#endif
