/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ack_policy.h - whether a PE that leaves the runtime is expected back soon.
 *
 * A PE is expected back if each of its last `needed` absences was shorter than `limit`.  A short
 * absence saves a system call; a long one may have delayed the peers of the PE for as long as it
 * lasted.  `needed` is set after each long absence, to the number of short absences whose savings
 * make up for it.  So the average delay of the peers of a PE that alternates between short absences
 * and computing is at most a system call for each absence, the cost of an acknowledgement before
 * each; and a PE that was away just too long is soon expected back again.
 */
#ifndef SKI_ACK_POLICY_H
#define SKI_ACK_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

#define SKI_ACK_NEEDED_FIRST 8
#define SKI_ACK_NEEDED_MAX   4096
#define SKI_ACK_SAVING       16 /* system calls in the default limit of an absence */

struct ski_ack_policy {
    uint32_t prompt; /* short absences in a row                            */
    uint32_t needed; /* of them before the PE is expected back             */
    uint64_t since;  /* ticks: absent since then; 0: the PE is not absent  */
    uint64_t limit;  /* ticks of a short absence; 0: none is expected back */
};

/** Makes a policy whose short absences last at most @p limit ticks. */
static inline struct ski_ack_policy ski_ack_policy_make(uint64_t limit)
{
    return (struct ski_ack_policy){.needed = SKI_ACK_NEEDED_FIRST, .limit = limit};
}

/** Begins an absence at @p now, in ticks. */
static inline void ski_ack_policy_leave(struct ski_ack_policy *policy, uint64_t now)
{
    policy->since = now | 1;
}

/** Returns how many short absences make up for a long one of @p absence ticks. */
static inline uint32_t ski_ack_policy_needed(const struct ski_ack_policy *policy, uint64_t absence)
{
    uint64_t saving = policy->limit / SKI_ACK_SAVING + 1;
    uint64_t needed = absence / saving;

    if (needed < SKI_ACK_NEEDED_FIRST)
        return SKI_ACK_NEEDED_FIRST;
    return needed < SKI_ACK_NEEDED_MAX ? (uint32_t)needed : SKI_ACK_NEEDED_MAX;
}

/** Ends the absence that has begun, and judges it. */
static inline void ski_ack_policy_return(struct ski_ack_policy *policy, uint64_t now)
{
    uint64_t absence = now - policy->since;

    ski_assert(policy->since != 0);
    if ((int64_t)absence <= (int64_t)policy->limit) {
        policy->prompt++;
    } else {
        policy->prompt = 0;
        policy->needed = ski_ack_policy_needed(policy, absence);
    }
    policy->since = 0;
}

/** Returns whether the PE is expected back soon. */
static inline bool ski_ack_policy_expects(const struct ski_ack_policy *policy)
{
    return policy->prompt >= policy->needed && policy->limit > 0;
}

#endif
