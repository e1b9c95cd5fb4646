/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_hosts.h - hierarchical schedules: collectives inside each host, and between hosts.
 *
 * They are for teams on several hosts of which some have several members (plan->hosts).  Each host
 * has an *entry*, the root or the first member of the host.  A schedule consists of *parts*:
 * collectives among the members of a host, and among the entries.  So hosts exchange as many
 * messages as a team of one member for each host would.  A part is an algorithm of schedule.h with
 * ranks, tags and buffers of its own (struct ski_view):
 *
 *      barrier      gather of nothing in the host, barrier of the entries, broadcast in the host
 *      broadcast    of the entries, then in the host
 *      gather       in the host, then from the entries to the root; scatter: the reverse
 *      allgather    gather in the host, allgather of the entries, broadcast in the host
 *      all-to-all   gather in the host, exchange of the entries, scatter in the host
 *
 * Reductions (schedule_hosts_reduce.c) keep the order of reduction_order.h, in which the members of
 * a host need not be neighbours.
 *
 * Blocks of the members of a host travel in the order of their ranks.  Where those are not
 * consecutive the entries sort blocks in temporary memory.
 *
 * Each function returns false, and adds nothing, if the algorithms of schedule.h take less time:
 * for large blocks, which an entry would copy once more, and which all members can send at once.
 * So do a gather, a scatter and an all-to-all of more than 64 hosts (HOSTS_FLAT), with all of which
 * the entry of the root, or each entry, would exchange messages; and reductions as
 * schedule_hosts_reduce.c says.
 */
#ifndef SKI_SCHEDULE_HOSTS_H
#define SKI_SCHEDULE_HOSTS_H

#include "onesided/team/schedule_step.h"
#include "onesided/team/team_hosts.h"

/* The common data of the parts of a schedule. */
struct ski_parts {
    const struct ski_plan       *plan;
    const struct ski_team_hosts *hosts;
    int32_t                      host, root_host; /* of this member, and of the root          */
    int32_t                      locals, index;   /* members of this host; this one's index   */
    int32_t                      entry;           /* index of the entry of this host          */
    int32_t                     *local, *entries; /* ranks: of this host; of all entries      */
    struct ski_view              view;            /* of the part that is being added           */
};

/** Begins the parts of a schedule.  @p root is a rank whose host is entered there, or -1. */
void ski_parts_begin(struct ski_parts *parts, const struct ski_plan *plan, int root);

/** Ends the parts of a schedule. */
void ski_parts_end(struct ski_parts *parts);

/** Returns whether this member is the entry of its host. */
static inline bool ski_parts_enter(const struct ski_parts *parts)
{
    return parts->index == parts->entry;
}

/** Begins part @p number among the members of this host, on @p from and @p to; its root is the
 * entry.  Returns its plan, for @p bytes. */
struct ski_plan ski_part_local(struct ski_schedule *s, struct ski_parts *parts, uint32_t number,
                               struct ski_position from, struct ski_position to, size_t bytes);

/** Ends a part: the next steps have the ranks and buffers of the whole schedule. */
void ski_part_end(struct ski_schedule *s);

#endif
