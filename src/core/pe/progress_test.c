/* SPDX-License-Identifier: Apache-2.0 */
/* progress_test.c - when a PE polls its progress source. */
#include "core/pe/progress.h"

#include "tests/tap.h"

#define BASE 100

static const struct ski_progress_source progress_test_source;

/* Records a poll, and sets its time to @p now. */
static void progress_test_poll(struct ski_progress *progress, uint64_t now, bool came)
{
    bool expected = progress->misses == 0;

    ski_progress_polled(progress, 0, came);
    progress->at = now;
    if (came || expected)
        progress->heard = now;
}

static void test_progress_interval(void)
{
    struct ski_progress p;

    ski_progress_register(&p, &progress_test_source, true, BASE);
    progress_test_poll(&p, 10000, true);
    OK(ski_progress_is_time(&p, 10000), "a poll that brought something is followed by another one");
    progress_test_poll(&p, 10001, false);
    progress_test_poll(&p, 10101, false);
    OK(ski_progress_interval(&p) == BASE, "the interval is short at first");
    progress_test_poll(&p, 10801, false);
    OK(ski_progress_interval(&p) == 200 && !ski_progress_is_time(&p, 11000) &&
           ski_progress_is_time(&p, 11001),
       "then a quarter of the silence");
    progress_test_poll(&p, 100000, false);
    OK(ski_progress_interval(&p) == SKI_PROGRESS_SILENT * BASE, "up to a limit");
    ski_progress_expect(&p);
    progress_test_poll(&p, 100001, false);
    OK(ski_progress_interval(&p) == BASE, "and short again when something is expected");
}

static void test_progress_skips(void)
{
    struct ski_progress p;
    unsigned            skipped = 0;

    ski_progress_init(&p);
    OK(!ski_progress_has_source(&p) && !ski_progress_skips(&p), "a PE without a source skips none");
    ski_progress_register(&p, &progress_test_source, true, UINT64_MAX / 100);
    ski_progress_polled(&p, 0, true);
    OK(ski_progress_wanted_idle(&p, 1), "a source that has brought something is polled again");
    ski_progress_polled(&p, 0, false);
    OK(ski_progress_wanted_idle(&p, 0), "and while nothing else arrives");
    OK(!ski_progress_wanted_idle(&p, 1), "but not at once after a message of the host");
    while (skipped < 100 && ski_progress_skips(&p))
        skipped++;
    OK(skipped == SKI_PROGRESS_PASSES - 1 && p.empty == skipped,
       "then some empty passes do nothing, and count");
    p.due = 0;
    CHECK(!ski_progress_wanted_idle(&p, 1));
    OK(p.due == 1 + SKI_PROGRESS_MESSAGES,
       "an empty pass that reads the clock lets messages wait for the next time");
    ski_progress_resume(&p);
    p.due = 100;
    CHECK(!ski_progress_skips(&p) && !ski_progress_wanted_idle(&p, 1));
    OK(p.due == 100 && ski_progress_skips(&p), "but not for a shorter time than before");
    ski_progress_expect(&p);
    OK(!ski_progress_skips(&p) && ski_progress_wanted_idle(&p, 1),
       "none does so when something is expected");
}

int main(void)
{
    test_progress_interval();
    test_progress_skips();
    return tap_end();
}
