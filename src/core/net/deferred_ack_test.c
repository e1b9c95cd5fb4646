/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_ack_test.c - who is trusted to be back soon, and what becomes of that. */
#include "core/net/deferred_ack.h"

#include "tests/tap.h"

static struct ski_pe self;
static int           sent;

static void send(struct ski_pe *pe)
{
    sent += pe == &self;
}

/* A call returns with something to send; whether that was sent before. */
static bool leaves(void)
{
    sent      = 0;
    self.late = send;
    ski_late_leave(&self);
    return sent == 1;
}

static void is_back(bool soon)
{
    if (!soon)
        self.late_trust.since = 1; /* when the machine was started */
    ski_late_sent(&self);
}

/* Returns, and is back soon, until it is trusted; how often that is. */
static int times_until_trusted(void)
{
    int times = 0;

    while (leaves() && times < 100000) {
        times++;
        is_back(true);
    }
    return times;
}

static void test_trust(void)
{
    OK(times_until_trusted() == 8, "eight times back soon are trusted");
    OK(sent == 0 && self.late, "nothing is sent before such a call returns");
    is_back(true);
    OK(sent == 1 && !self.late, "it is sent behind the next packet");
    is_back(true);
    OK(sent == 1, "and once");
    OK(!leaves(), "trust goes on");
    ski_late_pass(&self);
    OK(sent == 1, "it is sent when the scheduler runs next");
}

static void test_distrust(void)
{
    int need = 8, times;

    for (int i = 0; i < 20; i++) {
        leaves();
        is_back(false);
        times = times_until_trusted();
        need  = need < 4096 ? 2 * need : 4096;
        if (times != need)
            break;
        is_back(true);
    }
    OK(times == 4096 && need == 4096, "who was not back must prove more, each time");
}

static void test_setting(void)
{
    self.late_trust.soon = 0;
    OK(leaves(), "nobody is trusted where that is not wanted");
}

int main(void)
{
    ski_late_init(&self);
    self.late_trust.soon = UINT64_MAX / 2;
    test_trust();
    /* What is long ago must be so also for a machine that was just started. */
    self.late_trust.soon = ski_ticks() / 2;
    test_distrust();
    test_setting();
    return tap_end();
}
