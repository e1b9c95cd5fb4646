/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_step.h - what the schedules of schedule.c and schedule_reduce.c are made of. */
#ifndef SKI_SCHEDULE_STEP_H
#define SKI_SCHEDULE_STEP_H

#include "onesided/team/schedule.h"

#define SKI_SLICE_LINE 64 /* slices begin at multiples of this, which all types divide */

/** Adds a step without parameters. */
struct ski_step *ski_step_add(struct ski_schedule *s, enum ski_step_action action);

/** Adds a SEND. */
struct ski_step *ski_step_send(struct ski_schedule *s, int rank, uint32_t tag,
                               struct ski_position at, size_t bytes);

/** Adds a RECV. */
struct ski_step *ski_step_recv(struct ski_schedule *s, int rank, uint32_t tag,
                               struct ski_position at, size_t bytes);

/** Adds a COPY of contiguous memory. */
struct ski_step *ski_step_copy(struct ski_schedule *s, struct ski_position to,
                               struct ski_position from, size_t bytes);

/** Reserves temporary memory, aligned to a cache line. */
struct ski_position ski_step_temp(struct ski_schedule *s, size_t bytes);

/** Returns a position. */
static inline struct ski_position ski_position(enum ski_buffer_name buffer, size_t at)
{
    return (struct ski_position){(uint8_t)buffer, at};
}

/** Returns the rank @p distance ranks after this member, cyclically. */
static inline int ski_rank_after(const struct ski_plan *plan, int64_t distance)
{
    int64_t rank = plan->rank + distance;

    return (int)(rank < plan->size ? rank : rank - plan->size);
}

/** Returns the rank @p distance ranks before this member, cyclically. */
static inline int ski_rank_before(const struct ski_plan *plan, int64_t distance)
{
    int64_t rank = plan->rank - distance;

    return (int)(rank < 0 ? rank + plan->size : rank);
}

/** Returns the offset at which slice @p i of plan->bytes begins, or their end if @p i is the number
 *  of members. */
static inline size_t ski_slice(const struct ski_plan *plan, int i)
{
    size_t lines = (plan->bytes + SKI_SLICE_LINE - 1) / SKI_SLICE_LINE, n = (size_t)plan->size;
    size_t at = (lines / n * (size_t)i + lines % n * (size_t)i / n) * SKI_SLICE_LINE;

    return at < plan->bytes ? at : plan->bytes;
}

#endif
