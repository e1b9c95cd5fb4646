/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - the algorithms of team collectives, as lists of steps.
 *
 * A *schedule* is what one member does in one call: a list of steps on three buffers, the input,
 * the output and temporary memory.  The functions below compute it by arithmetic from the rank of
 * the member and the number of members; they neither send nor allocate temporary memory, so a test
 * runs them for all members at once.  team_call.c executes schedules.
 *
 * Steps are executed in order.  A message is identified by its *tag*, a number that is unique among
 * the messages that a member receives in one call, so messages may arrive in any order, even before
 * the call is made.  RECV waits for its message; SEND does not wait.  A SEND may be executed by
 * lending its memory to the receiver, so a schedule does not change memory that it has sent before
 * FLUSH, which waits for the memory lent, or the end of the schedule, or if `copied` is set.
 *
 * Two members agree about the tags and sizes of their messages because they compute them from the
 * same values.  `large`, `near` and `hosts` are part of these: they must be the same on all
 * members.  Teams with several members on some of several hosts use hierarchical schedules
 * (schedule_hosts.h).
 */
#ifndef SKI_SCHEDULE_H
#define SKI_SCHEDULE_H

#include "onesided/team/schedule_step.h"

/** Adds a dissemination barrier: in round k each member receives from the one 2^k below. */
void ski_schedule_barrier(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a broadcast of plan->bytes in SKI_TO: down a binomial tree or, if large, from the root to
 *  all (near), or as a scatter and a ring (van de Geijn). */
void ski_schedule_broadcast(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a gather of equal blocks: directly if they are large or, between hosts, members are not too
 *  many; else up a binomial tree. */
void ski_schedule_gather(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a gather of different blocks, @p to at the root, plan->bytes elsewhere: directly. */
void ski_schedule_gatherv(struct ski_schedule *s, const struct ski_plan *plan,
                          const struct ski_blocks *to);

/** Adds a scatter of equal blocks: directly or down a binomial tree, as a gather. */
void ski_schedule_scatter(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a scatter of different blocks, @p from at the root, plan->bytes elsewhere: directly. */
void ski_schedule_scatterv(struct ski_schedule *s, const struct ski_plan *plan,
                           const struct ski_blocks *from);

/** Adds an allgather: directly for few members, by recursive doubling or Bruck's algorithm for
 * many, and, if large, directly (near) or in a ring. */
void ski_schedule_allgather(struct ski_schedule *s, const struct ski_plan *plan,
                            const struct ski_blocks *to);

/** Adds an all-to-all: directly; for small equal blocks of many members by Bruck's algorithm; in
 *  pairs if plan->paired. */
void ski_schedule_alltoall(struct ski_schedule *s, const struct ski_plan *plan,
                           const struct ski_blocks *from, const struct ski_blocks *to);

/** Adds a reduction to plan->root, in the order of reduction_order.h: whole contributions up a tree
 *  or, if large, slices. */
void ski_schedule_reduce(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a reduction to all members, in the order of reduction_order.h: whole contributions by
 *  recursive doubling or, if large, slices. */
void ski_schedule_allreduce(struct ski_schedule *s, const struct ski_plan *plan);

#define SKI_SCHEDULE_CHAIN_MAX 16 /* members of a scan along a chain, at most */

/** Adds a scan, or an exscan if @p exclusive: along a chain of up to SKI_SCHEDULE_CHAIN_MAX
 * members, by recursive doubling of more.  The order of operands depends on nothing but the number
 * of members. */
void ski_schedule_scan(struct ski_schedule *s, const struct ski_plan *plan, bool exclusive);

/* ---- members on several hosts, some of which have several (schedule_hosts.h) --------- */

/** Adds a hierarchical barrier. */
void ski_schedule_hosts_barrier(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a hierarchical broadcast. */
void ski_schedule_hosts_broadcast(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a hierarchical gather of equal blocks.  Returns false if it adds nothing. */
bool ski_schedule_hosts_gather(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a hierarchical scatter of equal blocks.  Returns false if it adds nothing. */
bool ski_schedule_hosts_scatter(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a hierarchical allgather of equal blocks.  Returns false if it adds nothing. */
bool ski_schedule_hosts_allgather(struct ski_schedule *s, const struct ski_plan *plan,
                                  const struct ski_blocks *to);

/** Adds a hierarchical all-to-all of equal blocks.  Returns false if it adds nothing. */
bool ski_schedule_hosts_alltoall(struct ski_schedule *s, const struct ski_plan *plan,
                                 const struct ski_blocks *from);

/** Adds a hierarchical reduction to plan->root.  Returns false if it adds nothing. */
bool ski_schedule_hosts_reduce(struct ski_schedule *s, const struct ski_plan *plan);

/** Adds a hierarchical reduction to all members.  Returns false if it adds nothing. */
bool ski_schedule_hosts_allreduce(struct ski_schedule *s, const struct ski_plan *plan);

#endif
