/* SPDX-License-Identifier: Apache-2.0 */
/* round_trip.c - see round_trip.h. */
#include "onesided/buffer/round_trip.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"

#define ROUND_TRIP_PROBES 16
#define ROUND_TRIP_MAX                                                                             \
    UINT64_C(1000000000) /* nanoseconds; a longer one measures something else                      \
                          */

static struct {
    _Atomic uint64_t shortest; /* nanoseconds; 0: none yet */
    _Atomic uint32_t probes;   /* sent so far */
    _Atomic bool     away;     /* one is in flight */
} round_trip;                  /* of this process */

uint64_t ski_round_trip_ns(void)
{
    return atomic_load_explicit(&round_trip.shortest, memory_order_relaxed);
}

static void round_trip_send(struct ski_pe *self, int pe, const struct ski_round_trip *packet)
{
    ski_msg_post(self, pe, SKI_HANDLER_ROUND_TRIP,
                 ski_msg_copy(self, SKI_HANDLER_ROUND_TRIP, packet, sizeof *packet));
}

void ski_round_trip_probe(struct ski_pe *self, int pe)
{
    ski_assert(ski_job_index(self->job, pe) < 0);
    if (atomic_load_explicit(&round_trip.probes, memory_order_relaxed) >= ROUND_TRIP_PROBES ||
        atomic_exchange_explicit(&round_trip.away, true, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&round_trip.probes, 1, memory_order_relaxed);
    round_trip_send(self, pe, &(struct ski_round_trip){.sent = ski_ticks_to_ns(ski_ticks())});
}

/* A time that cannot be is ignored: the reply came from another host. */
static void round_trip_measured(uint64_t sent)
{
    uint64_t took = ski_ticks_to_ns(ski_ticks()) - sent, least = ski_round_trip_ns();

    if (took > 0 && took < ROUND_TRIP_MAX && (least == 0 || took < least))
        atomic_store_explicit(&round_trip.shortest, took, memory_order_relaxed);
    atomic_store_explicit(&round_trip.away, false, memory_order_relaxed);
}

void ski_on_round_trip(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    struct ski_round_trip packet;

    memcpy(&packet, skua_msg_data(msg), sizeof packet);
    if (msg->bytes != sizeof packet || packet.returned > 1) {
        ski_net_drop(self, msg);
        return;
    }
    if (packet.returned) {
        round_trip_measured(packet.sent);
    } else {
        packet.returned = 1;
        round_trip_send(self, msg->source, &packet);
    }
    skua_msg_free(msg);
}

void ski_round_trip_reset(void)
{
    round_trip.shortest = 0;
    round_trip.probes   = 0;
    round_trip.away     = false;
}
