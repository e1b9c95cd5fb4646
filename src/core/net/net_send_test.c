/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_send_test.c - packets that a driver holds are counted, whenever it reports their end: also
 * within the call that sends them.
 *
 * The driver is one of the test, and its only peer a PE of another host that is not there.
 */
#include "core/net/net.h"

#include <stdlib.h>

#include <skua/message.h>

#include "core/net/net_process.h"
#include "tests/core_pe.h"

#define OTHER 7 /* the PE of the other host */

struct ski_peer {
    int unused;
};

static struct ski_net_port send_port;
static skua_status         send_status;  /* that the driver returns */
static bool                send_at_once; /* it reports the end of a packet within send() */
static void               *send_packet;  /* the packet that it holds */
static uint64_t            send_in_flight;

static skua_status send_test_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    (void)peer, (void)bytes;
    send_in_flight = send_port.in_flight;
    send_packet    = packet;
    if (send_at_once)
        ski_net_upcalls.sent(&send_port, packet);
    return send_status;
}

static unsigned send_test_progress(struct ski_port *port)
{
    (void)port;
    return 0;
}

static const struct ski_driver send_driver = {.send     = send_test_send,
                                              .progress = send_test_progress};

/* Sends a message with a driver that returns @p status. */
static void send_test_message(struct ski_pe *self, skua_status status, bool at_once)
{
    skua_msg *msg = skua_msg_alloc(100);

    msg->handler = CORE_HANDLER;
    send_status  = status;
    send_at_once = at_once;
    ski_net_send(self, OTHER, msg);
}

static void send_test_counts(struct ski_pe *self)
{
    send_test_message(self, SKUA_OK, false);
    OK(send_port.in_flight == 0, "a packet that is sent is not in flight");
    send_test_message(self, SKUA_PENDING, false);
    OK(send_port.in_flight == 1, "one that the driver holds is");
    ski_net_upcalls.sent(&send_port, send_packet);
    OK(send_port.in_flight == 0, "until it reports its end");
    send_test_message(self, SKUA_PENDING, true);
    OK(send_in_flight == 1 && send_port.in_flight == 0, "also within the call that sends it");
    send_test_message(self, SKUA_ERR_AGAIN, false);
    OK(send_port.in_flight == 0 && send_port.waiting, "one without room is not, and waits");
    send_status = SKUA_OK;
    ski_net_progress(self);
    OK(send_port.in_flight == 0 && !send_port.waiting, "and is sent later");
}

int main(void)
{
    static struct ski_net_peer *table[16];
    static struct ski_peer      endpoint;
    static struct ski_net_peer  other = {.pe = OTHER, .endpoint = &endpoint};
    struct ski_pe              *self;

    core_pes_begin(64);
    self      = core_pe_as(0);
    send_port = (struct ski_net_port){.self = self, .table = table, .room = 16, .count = 1};
    ski_list_init(&other.backlog);
    table[ski_net_peer_slot(&send_port, OTHER)] = &other;

    self->net             = &send_port;
    ski_net_here.driver   = &send_driver;
    ski_net_here.small    = 4096;
    ski_net_here.coalesce = 4096;
    send_test_counts(self);
    self->net           = NULL;
    ski_net_here.driver = NULL;
    core_pes_end();
    return tap_end();
}
