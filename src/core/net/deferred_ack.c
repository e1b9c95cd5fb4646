/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_ack.c - see deferred_ack.h. */
#include "core/net/deferred_ack.h"

#include "base/assert.h"

#include <stddef.h>

static void deferred_ack_none(struct ski_deferred_ack *ack)
{
    ack->calls   = NULL;
    ack->awaited = false;
    ack->passes  = 0;
    ack->oldest  = 0;
}

/* Sends the acknowledgements that wait. */
static void deferred_ack_send(struct ski_deferred_ack *ack, struct ski_pe *self)
{
    const struct ski_deferred_ack_calls *calls = ack->calls;

    deferred_ack_none(ack);
    if (calls)
        calls->send(self);
}

/* Acknowledgements have been looked for; @p more: others are left. */
static void deferred_ack_settle(struct ski_deferred_ack *ack, struct ski_pe *self, bool more)
{
    if (!more)
        deferred_ack_none(ack);
    else if (ack->oldest && ski_ticks() - ack->oldest > ack->policy.limit)
        deferred_ack_send(ack, self);
}

void ski_deferred_ack_taken(struct ski_deferred_ack *ack, struct ski_pe *self, bool more)
{
    if (ack->policy.since)
        ski_ack_policy_return(&ack->policy, ski_ticks());
    deferred_ack_settle(ack, self, more);
}

struct skua_msg *ski_deferred_ack_take(struct ski_deferred_ack *ack, struct ski_pe *self, int pe)
{
    bool             more = false;
    struct skua_msg *msg;

    if (!ack->calls)
        return NULL;
    msg = ack->calls->take(self, pe, &more);
    if (msg)
        ski_deferred_ack_taken(ack, self, more);
    else
        deferred_ack_settle(ack, self, more);
    return msg;
}

/* Sending re-enters this function, so the absence is ended first. */
void ski_deferred_ack_return(struct ski_deferred_ack *ack, struct ski_pe *self)
{
    ski_ack_policy_return(&ack->policy, ski_ticks());
    deferred_ack_send(ack, self);
}

/* Returns whether a PE that is back at @p now, and has messages to run, keeps them for later. */
static bool deferred_ack_may_wait(const struct ski_deferred_ack *ack, uint64_t now)
{
    return ski_ack_policy_expects(&ack->policy) && now - ack->oldest <= ack->policy.limit;
}

void ski_deferred_ack_consider(struct ski_deferred_ack *ack, struct ski_pe *self, bool idle)
{
    if (ack->policy.since) {
        uint64_t now = ski_ticks();

        ski_ack_policy_return(&ack->policy, now);
        ack->passes = 0;
        if (idle || !deferred_ack_may_wait(ack, now))
            deferred_ack_send(ack, self);
    } else if (ack->calls && (idle || ack->passes++ > 0))
        deferred_ack_send(ack, self);
}

void ski_deferred_ack_depart(struct ski_deferred_ack *ack, struct ski_pe *self)
{
    uint64_t now = ski_ticks();

    ski_assert(ack->calls);
    if (ack->awaited && !ski_ack_policy_expects(&ack->policy))
        deferred_ack_send(ack, self);
    else if (!ack->oldest)
        ack->oldest = now;
    ski_ack_policy_leave(&ack->policy, now);
}
