/* SPDX-License-Identifier: Apache-2.0 */
/* region_table_test.c - slots, generations and members of the table of regions. */
#include "onesided/region/region_table.h"

#include "tests/onesided_pe.h"

#define IDS 4000

static uint32_t region_table_test_add(void)
{
    static char       memory[64];
    struct ski_region like = {
        .kind = SKI_REGION_ALLOCATED, .members = 1, .bytes = 64, .base = memory, .process = -1};

    return ski_region_table_add(&like);
}

/* An id is not given again while others of its slot's age are free, and an old one is recognised.
 */
static bool region_table_ids_differ(void)
{
    static uint32_t ids[IDS];

    for (int i = 0; i < IDS; i++) {
        ids[i] = region_table_test_add();
        if (!ids[i] || !ski_region_table_find((skua_region){ids[i]}))
            return false;
        ski_region_table_remove(ski_region_table_find((skua_region){ids[i]}));
        if (test_removed != ids[i] || ski_region_table_find((skua_region){ids[i]}))
            return false;
        for (int k = 0; k < i; k++)
            if (ids[k] == ids[i])
                return false;
    }
    return true;
}

static bool region_table_keeps_live_ones(void)
{
    uint32_t live[200], random_slot;
    uint64_t random = tap_seed();

    for (int i = 0; i < 200; i++)
        live[i] = region_table_test_add();
    for (int step = 0; step < 5000; step++) {
        random_slot = (uint32_t)(tap_random(&random) % 200);
        ski_region_table_remove(ski_region_table_find((skua_region){live[random_slot]}));
        live[random_slot] = region_table_test_add();
        for (int i = 0; step % 100 == 0 && i < 200; i++)
            if (!live[i] || !ski_region_table_find((skua_region){live[i]}))
                return false;
    }
    return true;
}

static void region_table_members(void)
{
    int32_t           list[] = {1, 3, 4, 9}, local[] = {3, 9};
    struct ski_region sparse = {.members = 4, .member_list = list, .first = 1};
    struct ski_region spread = {
        .members = 4, .member_list = list, .local_list = local, .local_members = 2, .first = 3};
    struct ski_region all = {.members = 4};

    OK(ski_region_rank(&sparse, 4) == 2 && ski_region_rank(&sparse, 2) == -1, "a list of PEs");
    OK(ski_region_rank(&spread, 9) == 1 && ski_region_rank(&spread, 4) == -1 &&
           ski_region_is_member(&spread, 4) && !ski_region_is_member(&spread, 5),
       "members on another host have no piece here");
    OK(ski_region_rank(&all, 3) == 3 && ski_region_rank(&all, 4) == -1 &&
           ski_region_rank(&all, -1) == -1,
       "all PEs");
}

static void region_table_leaving(void)
{
    _Atomic uint64_t  left[2] = {0, 0};
    struct ski_region few = {.members = 3}, many = {.members = 70, .left = left};
    int               last = 0;

    OK(ski_region_leave(&few, 0) == 0 && ski_region_leave(&few, 2) == 0 &&
           ski_region_leave(&few, 2) == -1 && ski_region_leave(&few, 1) == 1,
       "the last member to free a region ends it, none frees it twice");
    for (int i = 0; i < 70; i++)
        last += ski_region_leave(&many, i) * (i + 1);
    OK(last == 70, "the last of more than 64 members ends it");
    many.freed = left[0] = left[1] = 0;
    OK(ski_region_leave(&many, 69) == 0 && ski_region_leave(&many, 69) == -1 && many.freed == 1,
       "one of more than 64 members that frees it twice is not counted twice");
}

static void region_table_uses(void)
{
    struct ski_region region = {.kind = SKI_REGION_ALLOCATED, .uses = 1};

    OK(!ski_region_close(&region), "a region in use is not closed");
    region.uses = 0;
    OK(ski_region_close(&region) && !ski_region_close(&region), "an idle one is, once");
    region.uses = 1;
    ski_region_suspend(&region);
    OK(!ski_region_drained(&region), "a region may be suspended while an operation is in flight");
    region.uses -= 1;
    OK(ski_region_drained(&region), "and has none when that has ended");
    ski_region_resume(&region);
    OK(ski_region_close(&region), "a region that was resumed is an ordinary one");
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    OK(region_table_ids_differ(), "ids of removed regions are not found and not soon given again");
    OK(region_table_keeps_live_ones(), "live ids are found while others come and go");
    region_table_members();
    region_table_leaving();
    region_table_uses();
    test_pe_end(self);
    return tap_end();
}
