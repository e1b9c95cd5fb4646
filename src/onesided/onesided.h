/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.h - the layer as the program's start and the layers above see it.
 *
 * Sub-folders, each of which uses only those above it in this list:
 *
 *   pe         the root in the arena, per-PE states, external threads
 *   region     memory that other PEs may access; from a global address to memory
 *   sync       notifications, barriers, locks
 *   rma        put, get, accumulate, atomics
 *   buffer     zero-copy transfers between two buffers, each set up for one use
 *   channel    persistent one-way paths between two buffers
 *   team       collectives over a subset of the PEs
 *
 * buffer, channel and team do not use each other.
 */
#ifndef SKI_ONESIDED_H
#define SKI_ONESIDED_H

#include <skua/onesided.h>

#include "boot/boot.h"
#include "core/pe/layer.h"
#include "onesided/pe/external_thread.h"

struct ski_pe;

/** The stages and calls of this layer. */
extern const struct ski_layer ski_onesided_layer;

/** Creates the root of the layer in the arena of a new job; job->onesided is set.  A failure has
 *  been logged. */
skua_status ski_onesided_create(struct ski_job *job);

/** Begins on a PE: creates its states. */
void ski_onesided_begin(struct ski_pe *self);

/** Returns whether no operation of this PE uses memory of its callers. */
bool ski_onesided_is_idle(const struct ski_pe *self);

/** Ends on a PE: frees its states. */
void ski_onesided_end(struct ski_pe *self);

#endif
