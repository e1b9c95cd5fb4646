/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_overtake.c - the callback of a channel runs before messages that arrived before the put
 * and wait in the queue, inside a host and between hosts.
 *
 * The last PE waits in a handler until PE 0 has sent the messages and then the put, so that all of
 * them have arrived when it returns to the scheduler.  It waits for a signal of the kernel, as the
 * runtime would not deliver anything else to a PE in a handler.
 */
#include <signal.h>
#include <skua/skua.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define MESSAGES 200
#define PATIENCE 20 /* seconds */
#define PUT_SENT (SIGRTMIN + 5)

struct offer {
    skua_channel channel;
    int64_t      process;
};

static skua_handler offer_handler, opened_handler, ready_handler;
static skua_handler wait_handler, queued_handler, sent_handler;

/* On PE 0. */
static struct offer offer;
static skua_sender *sender;
static double       source = 42;

/* On the last PE. */
static double buffer;
static bool   arrived;
static int    ran;        /* queued messages */
static int    ran_before; /* ... before the callback */

static int last(void)
{
    return skua_pes() - 1;
}

/* ---- the last PE --------------------------------------------------------------------------- */

static void on_put(void *arg)
{
    (void)arg;
    arrived    = true;
    ran_before = ran;
}

/* Accepts PE 0's sender: packets go in both directions from now on. */
static void on_opened(skua_msg *msg)
{
    skua_send(0, ready_handler, msg);
}

static void on_wait(skua_msg *msg)
{
    sigset_t        set;
    struct timespec most = {PATIENCE, 0};

    skua_msg_free(msg);
    sigemptyset(&set);
    sigaddset(&set, PUT_SENT);
    CHECK(sigtimedwait(&set, NULL, &most) == PUT_SENT);
}

static void on_queued(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++ran < MESSAGES)
        return;
    CHECK(arrived && buffer == 42);
    printf("# the callback ran after %d of %d messages\n", ran_before, MESSAGES);
    CHECK(ran_before < MESSAGES / 2);
    skua_exit(0);
}

static void offer_channel(void)
{
    skua_layout  to   = skua_layout_contiguous(&buffer, sizeof buffer);
    struct offer mine = {.process = getpid()};

    CHECK(skua_channel_create(&to, on_put, NULL, "overtaking", &mine.channel) == SKUA_OK);
    skua_send_copy(0, offer_handler, &mine, sizeof mine);
}

/* ---- PE 0 ---------------------------------------------------------------------------------- */

static void on_offer(skua_msg *msg)
{
    skua_layout from = skua_layout_contiguous(&source, sizeof source);

    offer  = *(struct offer *)skua_msg_data(msg);
    sender = skua_channel_open(offer.channel, &from);
    CHECK(sender);
    skua_send(last(), opened_handler, msg);
}

/* The last PE has looked up the channel. */
static void on_ready(skua_msg *msg)
{
    skua_send(last(), wait_handler, msg);
    for (int i = 0; i < MESSAGES; i++)
        skua_send_copy(last(), queued_handler, &i, sizeof i);
    skua_channel_put(sender);
    skua_send_copy(0, sent_handler, NULL, 0);
}

/* The scheduler of PE 0 has passed all packets to the network. */
static void on_sent(skua_msg *msg)
{
    skua_msg_free(msg);
    CHECK(kill((pid_t)offer.process, PUT_SENT) == 0);
}

/* ---- the job ------------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() == last())
        offer_channel();
}

int main(int argc, char **argv)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, PUT_SENT);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* all threads of the runtime inherit it */
    offer_handler  = skua_handler_register("offer", on_offer);
    opened_handler = skua_handler_register("opened", on_opened);
    ready_handler  = skua_handler_register("ready", on_ready);
    wait_handler   = skua_handler_register("wait", on_wait);
    queued_handler = skua_handler_register("queued", on_queued);
    sent_handler   = skua_handler_register("sent", on_sent);
    return skua_main(argc, argv, start);
}
