/* SPDX-License-Identifier: Apache-2.0 */
/* patience_test.c - what a PE learns from its sleeps. */
#include "core/sched/patience.h"

#include "tests/tap.h"

/* Sleeps from @p begun for @p ticks, after which a message arrives. */
static void patience_test_sleep(struct ski_patience *p, uint64_t begun, uint64_t ticks)
{
    ski_patience_slept(p, begun, begun + ticks, false);
    ski_patience_learn(p);
}

int main(void)
{
    struct ski_patience p = {.most = 1000, .first = 100}, none = {.first = 100};

    patience_test_sleep(&p, 1, 10);
    OK(p.ticks == 100, "a short sleep gives patience");
    patience_test_sleep(&p, 1000, 999);
    OK(p.ticks == 300, "each further one doubles it");
    patience_test_sleep(&p, 3000, 10);
    patience_test_sleep(&p, 4000, 10);
    OK(p.ticks == 1000, "up to the setting");
    patience_test_sleep(&p, 5000, 1001);
    OK(p.ticks == 500, "a long sleep halves it");
    ski_patience_learn(&p);
    OK(p.ticks == 500, "a message without a sleep changes nothing");

    for (uint64_t nap = 0; nap < 6; nap++)
        ski_patience_slept(&p, 10000 + 200 * nap, 10200 + 200 * nap, false);
    OK(p.ticks == 500, "naps without a message change nothing");
    ski_patience_learn(&p);
    OK(p.ticks == 250, "together they were a long sleep");

    ski_patience_slept(&p, 20000, 20010, true);
    ski_patience_learn(&p);
    OK(p.ticks == 250, "a sleep that a timer ends changes nothing");

    ski_patience_reset(&p, 31000);
    OK(p.ticks == 0, "other threads that want the CPU take it away");
    patience_test_sleep(&p, 30000, 10);
    OK(p.ticks == 0, "it does not grow again at once");
    patience_test_sleep(&p, 31000, 10);
    OK(p.ticks == 100, "but later");

    patience_test_sleep(&none, 1, 0);
    patience_test_sleep(&none, 2, 5);
    OK(none.ticks == 0, "none by setting");
    return tap_end();
}
