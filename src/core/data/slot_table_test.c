/* SPDX-License-Identifier: Apache-2.0 */
/* slot_table_test.c - handles that are added, found and removed at random. */
#include "core/data/slot_table.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tests/tap.h"

#define ITEMS 1000
#define STEPS 100000

/* Against a plain list of the names that were given and taken back. */
static void slots_test_test_names(void)
{
    struct ski_slots slots       = {0};
    uint64_t         name[ITEMS] = {0}, gone[ITEMS] = {0}, seed = tap_seed();
    void            *item[ITEMS] = {NULL};

    for (int i = 0; i < STEPS; i++) {
        size_t k = tap_random(&seed) % ITEMS;

        if (item[k]) {
            CHECK(ski_slots_find(&slots, name[k]) == item[k]);
            ski_slots_remove(&slots, name[k]);
            free(item[k]);
            item[k] = NULL;
            gone[k] = name[k];
        } else {
            item[k] = ski_malloc(1);
            name[k] = ski_slots_add(&slots, item[k]);
            CHECK(name[k] != 0);
        }
        CHECK(!gone[k] || !ski_slots_find(&slots, gone[k]));
    }
    CHECK(!ski_slots_find(&slots, 0));
    CHECK(!ski_slots_find(&slots, UINT64_MAX));
    CHECK(!ski_slots_find(&slots, (uint64_t)1 << 32 | UINT32_MAX));
    CHECK(slots.room <= 2 * ITEMS);
    ski_slots_end(&slots, free);
}

int main(void)
{
    slots_test_test_names();
    return 0;
}
