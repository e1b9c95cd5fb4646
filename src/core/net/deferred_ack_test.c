/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_ack_test.c - which absences are expected to be short, and when acknowledgements leave.
 */
#include "core/net/deferred_ack.h"

#include "tests/tap.h"

static struct ski_deferred_ack ack;
static int                     sent;

static void ack_test_count_send(struct ski_pe *self)
{
    sent += self == NULL;
}

/* Acknowledgements for PEs 1 and 2 wait. */
static bool ack_test_waits[3];

static struct skua_msg *ack_test_take(struct ski_pe *self, int pe, bool *more)
{
    static int one;
    bool       had = self == NULL && ack_test_waits[pe];

    ack_test_waits[pe] = false;
    *more              = ack_test_waits[1] || ack_test_waits[2];
    return had ? (struct skua_msg *)(void *)&one : NULL;
}

static const struct ski_deferred_ack_calls ack_test_calls = {ack_test_count_send, ack_test_take};

/* A call returns with an acknowledgement to send; returns whether it was sent before. */
static bool ack_test_sends_before_leaving(void)
{
    sent        = 0;
    ack.calls   = &ack_test_calls;
    ack.awaited = true;
    ski_deferred_ack_leave(&ack, NULL);
    return sent == 1;
}

static void ack_test_come_back(void)
{
    ski_deferred_ack_sent(&ack, NULL);
}

/* Leaves and comes back soon until it is expected back; returns how often that took. */
static int ack_test_times_until_expected(void)
{
    int times = 0;

    while (ack_test_sends_before_leaving() && times < 100000) {
        times++;
        ack_test_come_back();
    }
    return times;
}

static void ack_test_test_expected(void)
{
    OK(ack_test_times_until_expected() == 8, "after eight short absences a ninth is expected");
    OK(sent == 0 && ack.calls, "nothing is sent before such a call returns");
    ack_test_come_back();
    OK(sent == 1 && !ack.calls, "it is sent after the next packet");
    ack_test_come_back();
    OK(sent == 1, "and once");
    OK(!ack_test_sends_before_leaving(), "the next absence is expected as well");
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 0, "it waits while the scheduler has messages");
    ski_deferred_ack_leave(&ack, NULL);
    ski_deferred_ack_pass(&ack, NULL, true);
    OK(sent == 1 && !ack.oldest, "it is sent when the scheduler has none");
    OK(!ack_test_sends_before_leaving(), "the next absence is expected, too");
    ack.policy.limit = ski_ticks() - ack.policy.since / 2; /* longer than the absence */
    ack.oldest       = 1;                                  /* when the machine was started */
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 1, "it is sent before messages if it has waited for long");
    ack.policy.limit = UINT64_MAX / 2;
}

static void ack_test_test_pass(void)
{
    sent      = 0;
    ack.calls = &ack_test_calls;
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 0, "a message of the queue goes first");
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 1, "but only one");
    sent      = 0;
    ack.calls = &ack_test_calls;
    ski_deferred_ack_pass(&ack, NULL, false);
    ski_deferred_ack_uncount(&ack);
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 0, "a reply does not count");
    ski_deferred_ack_pass(&ack, NULL, false);
    OK(sent == 1, "the message after it does");
    sent      = 0;
    ack.calls = &ack_test_calls;
    ski_deferred_ack_pass(&ack, NULL, true);
    OK(sent == 1, "an idle PE sends at once");
}

static void ack_test_test_take(void)
{
    uint64_t limit = ack.policy.limit;

    sent              = 0;
    ack.calls         = &ack_test_calls;
    ack_test_waits[1] = ack_test_waits[2] = true;
    OK(!ski_deferred_ack_take(&ack, NULL, 0) && ack.calls, "a packet to another PE takes none");
    OK(ski_deferred_ack_take(&ack, NULL, 1) && ack.calls, "a packet takes those for its receiver");
    OK(!ski_deferred_ack_take(&ack, NULL, 1) && ack.calls, "once");
    OK(ski_deferred_ack_take(&ack, NULL, 2) && !ack.calls, "none is left");
    OK(!ski_deferred_ack_take(&ack, NULL, 2) && sent == 0, "and none was sent alone");
    ack.calls         = &ack_test_calls;
    ack.oldest        = 1; /* when the machine was started */
    ack.policy.limit  = ski_ticks() / 2;
    ack_test_waits[1] = ack_test_waits[2] = true;
    OK(ski_deferred_ack_take(&ack, NULL, 1) && sent == 1 && !ack.calls,
       "those for others are sent if they have waited for long");
    ack.policy.limit = limit;
}

/* The layer above has written acknowledgements into a packet. */
static void ack_test_test_taken(void)
{
    sent      = 0;
    ack.calls = &ack_test_calls;
    ski_ack_policy_leave(&ack.policy, ski_ticks());
    ski_deferred_ack_taken(&ack, NULL, true);
    OK(ack.calls && !ack.policy.since && sent == 0,
       "a packet with acknowledgements ends the absence, and those for others wait");
    ski_deferred_ack_taken(&ack, NULL, false);
    OK(!ack.calls && sent == 0, "with the last of them nothing waits, and none was sent alone");
}

/* Acknowledgements that no origin waits for are kept although the PE may be away for long. */
static void ack_test_test_relaxed(void)
{
    uint32_t needed = ack.policy.needed;

    sent              = 0;
    ack.policy.needed = UINT32_MAX;
    ack.calls         = &ack_test_calls;
    ski_deferred_ack_leave(&ack, NULL);
    OK(ack.calls && sent == 0, "a PE that leaves keeps acknowledgements that no origin waits for");
    ack.awaited = true;
    ski_deferred_ack_leave(&ack, NULL);
    OK(!ack.calls && !ack.awaited && sent == 1, "but not what an origin may wait for");
    ack.policy.needed = needed;
    ack.policy.since  = 0;
}

/* Returns how many short absences follow a long one of so many ticks before one is expected. */
static int ack_test_needed_after(uint64_t absence)
{
    struct ski_ack_policy policy = ski_ack_policy_make(1600);
    int                   times  = 0;

    ski_ack_policy_leave(&policy, 1001);
    ski_ack_policy_return(&policy, 1001 + absence);
    while (!ski_ack_policy_expects(&policy) && times < 100000) {
        times++;
        ski_ack_policy_leave(&policy, 1001);
        ski_ack_policy_return(&policy, 1002);
    }
    return times;
}

static void ack_test_test_long_absences(void)
{
    OK(ack_test_needed_after(1601) == 15, "an absence just too long needs a few short ones");
    OK(ack_test_needed_after(101000) == 1000, "a long one as many as make up for it");
    OK(ack_test_needed_after(UINT64_MAX / 4) == 4096, "up to 4096");
    OK(ack_test_needed_after(1) == 7, "a short one counts itself");
}

static void ack_test_test_setting(void)
{
    ack.policy.limit = 0;
    OK(ack_test_sends_before_leaving(), "a limit of 0 expects no absence to be short");
}

int main(void)
{
    ack.policy = ski_ack_policy_make(UINT64_MAX / 2);
    ack_test_test_expected();
    ack_test_test_pass();
    ack_test_test_take();
    ack_test_test_taken();
    ack_test_test_relaxed();
    ack_test_test_long_absences();
    ack_test_test_setting();
    return tap_end();
}
