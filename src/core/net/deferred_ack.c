/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_ack.c - see deferred_ack.h. */
#include "core/net/deferred_ack.h"

#include "base/config.h"

void ski_late_init(struct ski_pe *self)
{
    self->late_trust = ski_trust(ski_ns_to_ticks((uint64_t)(ski_config.ack_delay * 1e3)));
}

void ski_late_settle(struct ski_pe *self)
{
    void (*late)(struct ski_pe *) = self->late;

    self->late        = NULL;
    self->late_passes = 0;
    if (late)
        late(self);
}

/* What is sent here comes here again: since when we were out is forgotten before. */
void ski_late_back(struct ski_pe *self)
{
    ski_trust_back(&self->late_trust, ski_ticks());
    ski_late_settle(self);
}

void ski_late_look(struct ski_pe *self)
{
    if (self->late_trust.since)
        ski_late_back(self);
    else if (self->late && (self->queue.pushed == self->queue.popped || self->late_passes++ > 0))
        ski_late_settle(self);
}

void ski_late_out(struct ski_pe *self)
{
    if (!ski_trusted(&self->late_trust))
        ski_late_settle(self);
    ski_trust_out(&self->late_trust, ski_ticks());
}
