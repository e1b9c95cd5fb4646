/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - a PE that has nothing to run.
 *
 * After some empty passes of its loop (scheduler.c) a PE runs the idle callbacks of the program. If
 * these have nothing to do either, it spins, then yields its CPU, then sleeps until something
 * arrives, depending on how long it has been idle and on what else wants the CPU (foreign.h,
 * patience.h, docs/decisions/0004-waiting.md).
 */
#ifndef SKI_IDLE_H
#define SKI_IDLE_H

#include <stdint.h>

struct ski_pe;

/** Decides, once in a number of empty passes, whether to spin, yield or sleep, and does so. */
void ski_idle_consider(struct ski_pe *self);

/** Restarts the idle time of @p self. */
void ski_idle_begin(struct ski_pe *self);

/** Ends the idle time of @p self: a loop that has waited returns to its caller, which may
 *  compute. */
void ski_idle_end(struct ski_pe *self);

/** Returns how many times neither the loop of @p self nor one of its idle callbacks had work. */
uint64_t ski_idle_count(const struct ski_pe *self);

/** Returns the address of the count of ticks that @p self has been idle. */
const uint64_t *ski_idle_ticks(const struct ski_pe *self);

/** Prepares the idle state of a new PE. */
void ski_idle_init(struct ski_pe *self);

/** Frees the idle state of a PE. */
void ski_idle_destroy(struct ski_pe *self);

#endif
