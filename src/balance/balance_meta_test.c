/* SPDX-License-Identifier: Apache-2.0 */
/* balance_meta_test.c - when balancing pays, on synthetic series of loads. */
#include "balance/balance_meta.h"

#include "tests/tap.h"

/* Runs @p steps sync points with an excess that begins at @p first after each balancing and grows
 * by
 * @p drift; a balancing costs @p cost.  Returns the number of balancings. */
static int meta_run(double before, double first, double drift, double cost, int steps)
{
    struct ski_balance_meta meta   = {0};
    double                  excess = before;
    int                     count  = 0;

    for (int i = 0; i < steps; i++) {
        if (ski_balance_meta_pays(&meta, 1 + excess, 1)) {
            ski_balance_meta_balanced(&meta, cost);
            excess = first;
            count++;
        } else {
            excess += drift;
        }
    }
    return count;
}

int main(void)
{
    struct ski_balance_meta meta = {0};
    int                     slow, fast;

    OK(meta_run(0.01, 0.01, 0, 1, 200) == 0, "even loads are never balanced");
    OK(meta_run(0.5, 0.02, 0, 1, 200) == 1, "loads that do not change are balanced once");
    OK(meta_run(0.5, 0.5, 0, 1, 200) == 1, "a balancing that has not helped is not repeated");
    slow = meta_run(0.5, 0, 0.001, 1, 1000);
    fast = meta_run(0.5, 0, 0.01, 1, 1000);
    OK(slow >= 3 && fast > 2 * slow, "drifting loads: %d balancings, fast ones: %d", slow, fast);
    OK(meta_run(0.5, 0, 0.01, 100, 1000) < fast / 2, "expensive balancings are rarer");
    OK(ski_balance_meta_pays(&meta, 2, 1), "the first one is tried");
    ski_balance_meta_balanced(&meta, 10);
    OK(!ski_balance_meta_pays(&meta, 1.1, 1) && meta.rest > 0.09 && meta.rest < 0.11,
       "what it leaves is recorded");
    OK(!ski_balance_meta_pays(&meta, 3, 1), "one bad step does not pay for an expensive balancing");
    return tap_end();
}
