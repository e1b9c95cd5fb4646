/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.h - what the parts of this layer share: its root in the arena, and
 * what a PE remembers.
 *
 * An operation goes one of three ways, chosen by where the memory is:
 *
 *   direct    we reach it by load and store: the caller does it, at once
 *             (datatype.c copies, accumulate.c accumulates)
 *   attach    it is another process's own: the system copies (cma.c)
 *   message   the system does not let us, or a setting says so: a request goes
 *             to the process that has it, and is served by the PE or by the
 *             helper thread there (am_origin.c)
 *
 * Where no message is needed an operation is over when the call returns, and
 * handles, fences and completions have nothing to wait for.
 */
#ifndef SKI_ONESIDED_H
#define SKI_ONESIDED_H

#include <skua/onesided.h>

#include "boot/boot.h"
#include "core/pe/layer.h"

struct ski_pe;
struct ski_traffic;
struct ski_region_root;
struct ski_barrier;

/* Accumulates, and atomics that the hardware cannot do for us, hold the lock of
 * the stripe of memory they work on. */
#define SKI_STRIPES      1024
#define SKI_STRIPE_SHIFT 15 /* 32 KiB: several rows of a matrix */

struct ski_stripe {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t held;
};

struct ski_onesided_root {
    struct ski_region_root *regions;
    struct ski_stripe      *stripes;
    struct ski_barrier     *barrier; /* one a PE (notify.c) */
};

static inline struct ski_onesided_root *ski_onesided_root(const struct ski_job *job)
{
    return job->onesided;
}

/** What core calls of this layer. */
extern const struct ski_layer ski_onesided_layer;

/** Make the root in a fresh job; job->onesided is set.  A failure has been logged. */
skua_status_t ski_onesided_create(struct ski_job *job);

/** Begin and end in a process, around its PEs; and on each PE. */
void ski_onesided_open(const struct ski_boot *boot);
void ski_onesided_close(void);
void ski_onesided_begin(struct ski_pe *self);
void ski_onesided_end(struct ski_pe *self);

/** What the guest of this process has sent and received (core/message/msg_counts.h), if it has
 *  one.  Any thread.  A thread in the middle of an operation is counted as a message. */
struct ski_traffic ski_guest_traffic(void);

/** End the job with a line if we have not begun. */
void ski_onesided_check(const char *call);

/** The root, in this process. */
extern struct ski_onesided_root *ski_onesided;

#endif
