/* SPDX-License-Identifier: Apache-2.0 */
/* doorbell_queue.c - doorbells that a PE rings itself (channel_pe.h), also for packets whose
 * data the driver has brought: a ring that grows. */
#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "onesided/channel/channel.h"
#include "onesided/channel/channel_pe.h"

static SKI_COLD void doorbell_queue_grow(struct ski_doorbell_queue *queue)
{
    uint32_t             room = queue->room ? 2 * queue->room : 64;
    struct ski_doorbell *at   = ski_malloc(room * sizeof *at);

    for (uint32_t i = queue->first; i != queue->end; i++)
        at[i & (room - 1)] = queue->at[i & (queue->room - 1)];
    free(queue->at);
    queue->at   = at;
    queue->room = room;
}

static inline void doorbell_queue_push(struct ski_pe *self, uint64_t key,
                                       struct ski_zcopy_desc *zcopy)
{
    struct ski_doorbell_queue *queue = &ski_channel_pe(self)->doorbells;

    ski_assert(queue->end - queue->first <= queue->room);
    if (SKI_UNLIKELY(queue->end - queue->first == queue->room))
        doorbell_queue_grow(queue);
    queue->at[queue->end++ & (queue->room - 1)] = (struct ski_doorbell){key, zcopy};
    self->queue.events |= SKI_EVENT_DOORBELLS;
}

void ski_doorbell_push(struct ski_pe *self, uint64_t key, struct ski_zcopy_desc *zcopy)
{
    doorbell_queue_push(self, key, zcopy);
    self->stats.sent_inline++;
}

void ski_doorbell_push_arrived(struct ski_pe *self, uint64_t key)
{
    doorbell_queue_push(self, key, NULL);
}
