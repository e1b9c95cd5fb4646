/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_ack_test.c - which absences are expected to be short, and when acknowledgements leave.
 */
#include "core/net/deferred_ack.h"

#include "base/clock.h"
#include "tests/tap.h"

static struct ski_deferred_ack ack;
static int                     sent;

static void count_send(struct ski_pe *self)
{
    sent += self == NULL;
}

/* A call returns with an acknowledgement to send; returns whether it was sent before. */
static bool sends_before_leaving(void)
{
    sent     = 0;
    ack.send = count_send;
    ski_deferred_ack_leave(&ack, NULL);
    return sent == 1;
}

static void come_back(bool soon)
{
    if (!soon)
        ack.policy.since = 1; /* when the machine was started */
    ski_deferred_ack_sent(&ack, NULL);
}

/* Leaves and comes back soon until it is expected back; returns how often that took. */
static int times_until_expected(void)
{
    int times = 0;

    while (sends_before_leaving() && times < 100000) {
        times++;
        come_back(true);
    }
    return times;
}

static void test_expected(void)
{
    OK(times_until_expected() == 8, "after eight short absences a ninth is expected");
    OK(sent == 0 && ack.send, "nothing is sent before such a call returns");
    come_back(true);
    OK(sent == 1 && !ack.send, "it is sent behind the next packet");
    come_back(true);
    OK(sent == 1, "and once");
    OK(!sends_before_leaving(), "the next absence is expected as well");
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 1, "it is sent when the scheduler runs next");
}

static void test_pass(void)
{
    sent     = 0;
    ack.send = count_send;
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 0, "a message of the queue goes first");
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 1, "but only one");
    sent     = 0;
    ack.send = count_send;
    ski_deferred_ack_pass(&ack, NULL, true);
    OK(sent == 1, "an idle PE sends at once");
}

static void test_long_absences(void)
{
    int needed = 8, times;

    for (int i = 0; i < 20; i++) {
        sends_before_leaving();
        come_back(false);
        times  = times_until_expected();
        needed = needed < 4096 ? 2 * needed : 4096;
        if (times != needed)
            break;
        come_back(true);
    }
    OK(times == 4096 && needed == 4096, "each long absence doubles what is needed, up to 4096");
}

static void test_setting(void)
{
    ack.policy.limit = 0;
    OK(sends_before_leaving(), "a limit of 0 expects no absence to be short");
}

int main(void)
{
    ack.policy = ski_ack_policy_make(UINT64_MAX / 2);
    test_expected();
    test_pass();
    /* What is long ago must be so also for a machine that was just started. */
    ack.policy.limit = ski_ticks() / 2;
    test_long_absences();
    test_setting();
    return tap_end();
}
