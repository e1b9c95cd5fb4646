/* SPDX-License-Identifier: Apache-2.0 */
/* outstanding_test.c - the counts of outstanding operations against a plain array of them. */
#include "onesided/rma/outstanding.h"

#include "tests/tap.h"

#define KEYS 300
#define OPS  20000

static bool outstanding_counts_as_array(void)
{
    struct ski_outstanding_table table = {.bucket = NULL};
    struct ski_outstanding      *entry[OPS], *found;
    uint32_t                     count[KEYS] = {0};
    uint64_t                     random      = tap_seed();
    uint32_t                     open        = 0;

    for (int step = 0; step < 5 * OPS; step++) {
        uint64_t key = tap_random(&random) % KEYS;
        bool     add = open == 0 || (open < OPS && tap_random(&random) % 100 < 60);

        if (add) {
            entry[open] = ski_outstanding_add(&table, key);
            if (entry[open]->key != key || entry[open]->all != ++count[key])
                return false;
            open++;
        } else {
            uint32_t which = (uint32_t)(tap_random(&random) % open);

            count[entry[which]->key]--;
            ski_outstanding_remove(&table, entry[which]);
            entry[which] = entry[--open];
        }
        found = ski_outstanding_find(&table, key);
        if (found ? found->all != count[key] : count[key] != 0)
            return false;
    }
    ski_outstanding_end(&table);
    return true;
}

/* A key that comes and goes leaves nothing behind, and those of PEs and regions differ. */
static void outstanding_reuses_entries(void)
{
    struct ski_outstanding_table table = {.bucket = NULL};

    OK(!ski_outstanding_find(&table, 7), "an empty table has no entry");
    for (uint32_t i = 0; i < 100000; i++)
        ski_outstanding_remove(&table, ski_outstanding_add(&table, ski_outstanding_region(i)));
    OK(table.entries == 0 && table.mask < 100, "keys that come and go need no memory each");
    ski_outstanding_add(&table, ski_outstanding_pe(5));
    OK(!ski_outstanding_find(&table, ski_outstanding_region(5)) &&
           ski_outstanding_find(&table, ski_outstanding_pe(5))->all == 1,
       "PEs and regions have different keys");
    ski_outstanding_end(&table);
}

int main(void)
{
    OK(outstanding_counts_as_array(), "random operations are counted as an array counts them");
    outstanding_reuses_entries();
    return tap_end();
}
