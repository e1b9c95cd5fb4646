/* SPDX-License-Identifier: Apache-2.0 */
/* rkey_cache_test.c - what a PE caches of regions elsewhere, with owners that the test plays. */
#include "onesided/region/rkey_cache.h"

#include "onesided/region/region_pe.h"
#include "tests/onesided_pe.h"

#define REGIONS 3000

static int rkey_test_queries;

/* Nothing is known of a region that no buffer has described: its owner does not have it. */
static skua_status rkey_test_query(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to)
{
    (void)self, (void)at, (void)to;
    rkey_test_queries++;
    return SKUA_ERR_REGION;
}

static bool rkey_test_found(struct ski_pe *self, uint32_t id, int pe, uint64_t base)
{
    skua_status            status = SKUA_OK;
    const struct ski_rkey *rkey = ski_rkey_lookup(self, skua_at((skua_region){id}, pe, 5), &status);

    return rkey && rkey->id == id && rkey->pe == pe && rkey->bytes == id && rkey->base == base &&
           !rkey->key;
}

/* Entries by region and PE. */
static void rkey_test_entries(struct ski_pe *self)
{
    bool found = true;

    for (uint32_t id = 1; id <= 200; id++)
        for (int pe = 0; pe < 3; pe++)
            ski_rkey_insert(self, skua_at((skua_region){id}, pe, 0), id, 7 * (uint64_t)id);
    for (uint32_t id = 1; id <= 200; id++)
        for (int pe = 0; pe < 3; pe++)
            found &= rkey_test_found(self, id, pe, 7 * (uint64_t)id);
    OK(found && rkey_test_queries == 0, "regions of buffers are not queried");
    ski_rkey_insert(self, skua_at((skua_region){9}, 1, 0), 9, 1);
    OK(rkey_test_found(self, 9, 1, 63), "what is known is not replaced");
    ski_rkey_cache_end(self);
    OK(ski_region_pe(self)->rkeys == 0, "the cache ends");
}

static void rkey_test_unknown(struct ski_pe *self)
{
    skua_status status = SKUA_OK;

    OK(!ski_rkey_lookup(self, skua_at((skua_region){4}, 2, 0), &status) &&
           status == SKUA_ERR_REGION && ski_region_pe(self)->rkeys == 0,
       "a region that does not exist is not cached");
    OK(rkey_test_queries == 1, "and was queried once");
}

/* The cache is dropped when it is full, but not under an operation that uses an entry. */
static void rkey_test_full(struct ski_pe *self)
{
    bool     found = true;
    uint32_t most  = 0;

    ski_onesided_pe(self)->outstanding = 1;
    for (uint32_t id = 1; id <= REGIONS; id++)
        ski_rkey_insert(self, skua_at((skua_region){id}, 1, 0), id, 2 * (uint64_t)id);
    OK(ski_region_pe(self)->rkeys == REGIONS, "entries stay while an operation is in flight");
    ski_onesided_pe(self)->outstanding = 0;
    for (uint32_t id = 1; id <= REGIONS; id++) {
        ski_rkey_insert(self, skua_at((skua_region){id + REGIONS}, 1, 0), id + REGIONS, id);
        found &= rkey_test_found(self, id + REGIONS, 1, id);
        most = ski_region_pe(self)->rkeys > most ? (uint32_t)ski_region_pe(self)->rkeys : most;
    }
    OK(found && most < REGIONS, "and are dropped then: %u at most", most);
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    self->pes = 4;
    ski_rkey_cache_open(rkey_test_query);
    rkey_test_entries(self);
    rkey_test_unknown(self);
    rkey_test_full(self);
    test_pe_end(self);
    return tap_end();
}
