/* SPDX-License-Identifier: Apache-2.0 */
/* rkey_table_test.c - what the PEs of a host share of regions elsewhere; the four PEs of the test
 * stand for a process of another host. */
#include "onesided/region/rkey_table.h"

#include "tests/onesided_pe.h"

#define TABLE_TEST_ID(slot) (UINT32_C(5) << SKI_REGION_INDEX_BITS | (slot))

static skua_gaddr table_test_at(uint32_t slot, int pe)
{
    return skua_at((skua_region){TABLE_TEST_ID(slot)}, pe, 0);
}

/* A reply about the pieces of all four PEs, asked for that of PE 2. */
static struct ski_rkey_info table_test_reply(void)
{
    return (struct ski_rkey_info){
        .bytes = 100, .base = 10000, .stride = 128, .first = 0, .count = TEST_PES, .key_bytes = 3};
}

/* Creates the region of @p slot, which all hosts have agreed on. */
static void table_test_create(uint32_t slot)
{
    struct ski_region like = {.kind = SKI_REGION_SYMMETRIC, .members = TEST_PES, .process = -1};

    ski_lock_acquire(&ski_region_root->lock);
    if (!ski_region_table_publish_as(TABLE_TEST_ID(slot), &like))
        abort();
    ski_lock_release(&ski_region_root->lock);
}

static bool table_test_finds(const struct ski_pe *self, uint32_t slot, int pe, uint64_t base)
{
    struct ski_rkey_info info;

    return ski_rkey_table_find(self, table_test_at(slot, pe), &info) && info.base == base &&
           info.bytes == 100 && info.key_bytes == 3;
}

static void table_test_shared(struct ski_pe *self)
{
    struct ski_rkey_info info = table_test_reply();

    OK(!table_test_finds(self, 1, 2, 10000), "nothing is known before a query");
    ski_rkey_table_store(self, table_test_at(1, 2), &info);
    OK(table_test_finds(self, 1, 2, 10000) && table_test_finds(self, 1, 0, 10000 - 2 * 128) &&
           table_test_finds(self, 1, 3, 10000 + 128),
       "one reply describes the pieces of a process");
    OK(!table_test_finds(self, 2, 2, 10000), "of one region");
    info.count = 1;
    info.first = 3;
    ski_rkey_table_store(self, table_test_at(2, 3), &info);
    OK(table_test_finds(self, 2, 3, 10000) && !table_test_finds(self, 2, 2, 10000), "or one piece");
    ski_rkey_table_remove(TABLE_TEST_ID(1));
    OK(!table_test_finds(self, 1, 2, 10000) && table_test_finds(self, 2, 3, 10000),
       "a region that is removed is not found");
    ski_rkey_table_store(self, table_test_at(9, 2), &info);
    OK(!table_test_finds(self, 9, 2, 10000), "a region that this host does not know is not stored");
}

/* Returns whether the reply is not stored. */
static bool table_test_refuses(struct ski_pe *self, const struct ski_rkey_info *info)
{
    struct ski_rkey_info found;

    ski_rkey_table_store(self, table_test_at(3, 2), info);
    for (int pe = 0; pe < TEST_PES; pe++)
        if (ski_rkey_table_find(self, table_test_at(3, pe), &found))
            return false;
    return true;
}

/* Replies of a process that is not trusted. */
static void table_test_refused(struct ski_pe *self)
{
    struct ski_rkey_info info[9];
    bool                 refused = true;

    for (int i = 0; i < 9; i++)
        info[i] = table_test_reply();
    info[0].count  = TEST_PES + 1;
    info[1].count  = 0;
    info[2].count  = -3;
    info[3].first  = -1;
    info[4].first  = 3;
    info[5].count  = INT32_MAX;
    info[6].stride = 99;
    info[7].stride = UINT64_MAX / 2;
    info[8].base   = UINT64_MAX - 200;
    for (int i = 0; i < 9; i++)
        refused = refused && table_test_refuses(self, &info[i]);
    OK(refused, "replies that cannot be are not stored");
}

/* More entries than the table has: some are replaced, none is wrong. */
static void table_test_full(struct ski_pe *self)
{
    int  found = 0;
    bool right = true;

    for (uint32_t slot = 10; slot < 10 + 2 * SKI_RKEY_TABLE_ENTRIES; slot++) {
        struct ski_rkey_info info = table_test_reply();

        info.base += 1000 * slot;
        table_test_create(slot);
        ski_rkey_table_store(self, table_test_at(slot, 2), &info);
    }
    for (uint32_t slot = 10; slot < 10 + 2 * SKI_RKEY_TABLE_ENTRIES; slot++) {
        struct ski_rkey_info info;

        if (!ski_rkey_table_find(self, table_test_at(slot, 2), &info))
            continue;
        found++;
        right = right && info.base == 10000 + 1000 * slot;
    }
    OK(right && found > 0 && found <= SKI_RKEY_TABLE_ENTRIES, "%d of %d entries stay", found,
       2 * SKI_RKEY_TABLE_ENTRIES);
}

/* A reply arrives when the entries of a region have been removed. */
static void table_test_on_removed(uint32_t id)
{
    struct ski_rkey_info info = table_test_reply();

    ski_rkey_table_remove(id);
    ski_rkey_table_store(ski_self, skua_at((skua_region){id}, 2, 0), &info);
}

static void table_test_late(struct ski_pe *self)
{
    static const struct ski_region_observer observers[] = {{.removed = table_test_on_removed},
                                                           {.removed = NULL}};
    struct ski_rkey_info                    info        = table_test_reply();

    ski_regions_open(self->job, 0, ski_region_root, observers);
    ski_rkey_table_store(self, table_test_at(3, 2), &info);
    OK(table_test_finds(self, 3, 2, 10000), "a reply about a region is stored ...");
    ski_region_table_remove(ski_region_table_find((skua_region){TABLE_TEST_ID(3)}));
    OK(!table_test_finds(self, 3, 2, 10000), "... but not a late one, when it has been removed");
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    ski_region_root->common = ski_region_root->fresh = ski_region_root->slots / 2;
    for (uint32_t slot = 1; slot < 4; slot++)
        table_test_create(slot);
    table_test_shared(self);
    table_test_refused(self);
    table_test_late(self);
    table_test_full(self);
    test_pe_end(self);
    return tap_end();
}
