/* SPDX-License-Identifier: Apache-2.0 */
/* inbox_send.c - see inbox_send.h. */
#include "core/message/inbox_send.h"

#include "base/sanitizer.h"

void ski_inbox_wake(struct ski_pe *self, int pe)
{
    self->stats.wakeups++;
    ski_host_wake(self->host, ski_job_index(self->job, pe));
}

void ski_inbox_set_urgent(struct ski_pe *self, int pe)
{
    ski_inbox_set_urgent_mp(ski_inbox_of(self, pe));
}

void ski_inbox_wakeup(struct ski_pe *self, int pe)
{
    uint64_t         tail;
    struct ski_cell *cell;

    /* Pairs with the fence in idle_sleep(): if the receiver has not seen why it is woken, this PE
     * sees all cells that it has consumed, so that an inbox which is full keeps it awake. */
    ski_fence(memory_order_seq_cst);
    cell = ski_inbox_reserve(self, pe, &tail);
    if (!cell)
        return;
    cell->flags   = SKI_MSG_WAKEUP;
    cell->handler = 0;
    ski_inbox_publish(self, pe, cell, tail);
}
