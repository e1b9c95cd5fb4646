/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - see late.h. */
#include "core/late.h"

#include "base/config.h"

#define NEED_FIRST 8
#define NEED_MOST  4096

void ski_late_init(struct ski_pe *self)
{
    self->late_need  = NEED_FIRST;
    self->late_ticks = ski_ns_to_ticks((uint64_t)(ski_config.linger * 1e3));
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
    if (ski_ticks() - self->late_since <= self->late_ticks) {
        self->late_quick++;
    } else {
        self->late_quick = 0;
        self->late_need  = self->late_need < NEED_MOST ? 2 * self->late_need : NEED_MOST;
    }
    self->late_since = 0;
    ski_late_settle(self);
}

void ski_late_pass(struct ski_pe *self)
{
    if (self->late_since)
        ski_late_back(self);
    else if (self->late && (self->queue.pushed == self->queue.popped || self->late_passes++ > 0))
        ski_late_settle(self);
}

void ski_late_out(struct ski_pe *self)
{
    if (self->late_quick < self->late_need || !self->late_ticks)
        ski_late_settle(self);
    self->late_since = ski_ticks() | 1; /* 0: we are not out */
}
