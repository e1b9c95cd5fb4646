/* SPDX-License-Identifier: Apache-2.0 */
/* termination_test.c - four counters over simulated PEs: waves visit them one by one while messages
 * are sent and received.  The end is found when nothing is in flight, and not before. */
#include "objects/services/termination.h"

#include "tests/tap.h"

#define TERMINATION_TEST_PES 6

struct termination_test {
    uint64_t sent[TERMINATION_TEST_PES], received[TERMINATION_TEST_PES];
    int      to[1000]; /* the PEs that messages in flight go to */
    int      in_flight;
    int      budget; /* messages that will still be sent */
    uint64_t seed;
};

static int termination_test_pick(struct termination_test *test, int below)
{
    return (int)(tap_random(&test->seed) % (unsigned)below);
}

static void termination_test_send(struct termination_test *test, int from)
{
    if (test->budget == 0)
        return;
    test->budget--;
    test->sent[from]++;
    test->to[test->in_flight++] = termination_test_pick(test, TERMINATION_TEST_PES);
}

/* A message in flight, any of them, is received; its PE may send others. */
static void termination_test_step(struct termination_test *test)
{
    int i, pe;

    if (test->in_flight == 0)
        return;
    i           = termination_test_pick(test, test->in_flight);
    pe          = test->to[i];
    test->to[i] = test->to[--test->in_flight];
    test->received[pe]++;
    for (int n = termination_test_pick(test, 3); n > 0; n--)
        termination_test_send(test, pe);
}

/* A wave; messages move between its visits. */
static struct ski_termination_counts termination_test_wave(struct termination_test *test)
{
    struct ski_termination_counts sum   = {0, 0, 0};
    int                           first = termination_test_pick(test, TERMINATION_TEST_PES);

    for (int i = 0; i < TERMINATION_TEST_PES; i++) {
        int pe = (first + i) % TERMINATION_TEST_PES;

        for (int n = termination_test_pick(test, 4); n > 0; n--)
            termination_test_step(test);
        sum.sent += test->sent[pe];
        sum.received += test->received[pe];
    }
    return sum;
}

/* Returns whether the end is found at the right time. */
static bool termination_test_run(uint64_t seed)
{
    struct termination_test          test      = {.budget = 300, .seed = seed};
    struct ski_termination_detection detection = {.wave = 0};
    int                              after     = 0;

    for (int pe = 0; pe < TERMINATION_TEST_PES; pe++)
        termination_test_send(&test, pe);
    for (;;) {
        bool                          over = test.in_flight == 0;
        struct ski_termination_counts sum  = termination_test_wave(&test);

        if (ski_termination_record(&detection, &sum))
            return over && test.in_flight == 0;
        after += over;
        if (after > 1) /* two waves without messages find it */
            return false;
    }
}

int main(void)
{
    int right = 0;

    for (int i = 0; i < 2000; i++)
        right += termination_test_run(UINT64_C(88172645463325252) + (uint64_t)i);
    OK(right == 2000, "the end is found when nothing is in flight, and not before");
    return tap_end();
}
