/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_test.c - what a PE learns of foreign PEs from its yields. */
#include "core/sched/foreign.h"

#include "tests/tap.h"

int main(void)
{
    struct ski_foreign one  = {.pes = 1, .quick = 10, .computes = 500, .alone = 1000, .busy = 5000};
    struct ski_foreign none = {.pes = 0, .quick = 10, .computes = 500, .alone = 1000};

    OK(ski_foreign_asleep(&one, 0) == 0, "foreign PEs are taken to be awake at first");
    OK(ski_foreign_yielded(&one, 100, 9) == SKI_YIELD_ALONE, "no thread has run in a quick yield");
    OK(ski_foreign_asleep(&one, 109) == 1 && ski_foreign_asleep(&one, 1099) == 1,
       "then they are taken to be asleep");
    OK(ski_foreign_asleep(&one, 1100) == 0, "for a while");
    ski_foreign_yielded(&one, 1100, 0);
    OK(ski_foreign_asleep(&one, 2099) == 1, "the next quick yield prolongs it");
    OK(ski_foreign_yielded(&one, 1200, 10) == SKI_YIELD_SHARED, "another thread has run");
    OK(ski_foreign_asleep(&one, 1210) == 0, "then they are awake at once");
    OK(ski_foreign_yielded(&one, 1300, 500) == SKI_YIELD_SHARED &&
           ski_foreign_yielded(&one, 1300, 501) == SKI_YIELD_COMPUTES,
       "it computes if the yield took long");
    OK(ski_foreign_asleep(&one, 1801) == 0, "and is awake");
    OK(ski_foreign_sleeps_at_once(&one, 1801) && ski_foreign_sleeps_at_once(&one, 6800) &&
           !ski_foreign_sleeps_at_once(&one, 6801),
       "then the PE sleeps without yields for a while");
    ski_foreign_found(&one);
    OK(!ski_foreign_sleeps_at_once(&one, 1801), "unless a message arrives before it sleeps");
    ski_foreign_yielded(&one, 2000, 600);
    ski_foreign_yielded(&one, 3000, 400);
    OK(!ski_foreign_sleeps_at_once(&one, 3401), "or the next yield is shorter");

    ski_foreign_yielded(&none, 100, 0);
    OK(ski_foreign_asleep(&none, 101) == 0, "where there are none, none is asleep");
    return tap_end();
}
