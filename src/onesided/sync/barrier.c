/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - see barrier.h. */
#include "onesided/sync/barrier.h"

#include "base/assert.h"
#include "core/pe/handler.h"
#include "onesided/sync/notify.h"
#include "onesided/sync/sync_pe.h"

static skua_notify *barrier_counter(int index, uint32_t round)
{
    ski_assert(index >= 0 && round < SKI_BARRIER_ROUNDS);
    return &ski_onesided->barrier[index].round[round];
}

static void barrier_signal(struct ski_pe *self, int pe, uint32_t round)
{
    int index = ski_job_index(self->job, pe);

    if (index >= 0)
        ski_notify_raise(barrier_counter(index, round), pe, 1);
    else
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_BARRIER_ROUND}, &round, sizeof round);
}

void skua_sync(void)
{
    struct ski_pe      *self  = SKI_SELF();
    struct ski_sync_pe *sync  = ski_sync_pe(self);
    uint32_t            round = 0;

    skua_flush_all();
    sync->barriers++;
    for (int64_t step = 1; step < self->pes; step *= 2, round++) {
        int peer = (int)((self->pe + step) % self->pes);

        barrier_signal(self, peer, round);
        if (!ski_notify_wait(self, barrier_counter(self->index, round), sync->barriers, SKI_CALL))
            return;
    }
}

void ski_on_barrier_round(skua_msg *msg)
{
    uint32_t round = *(uint32_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (round < SKI_BARRIER_ROUNDS)
        ski_notify_raise(barrier_counter(ski_self->index, round), ski_self->pe, 1);
}
