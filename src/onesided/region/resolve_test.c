/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_test.c - global addresses at the borders of pieces, of regions that are in use and freed.
 */
#include "onesided/region/resolve.h"

#include "tests/onesided_pe.h"

static skua_status resolve_status(skua_region region, int pe, uint64_t offset, ptrdiff_t lo,
                                  ptrdiff_t hi)
{
    struct ski_resolved target;
    skua_status         status = ski_resolve(NULL, skua_at(region, pe, offset), lo, hi, &target);

    if (status == SKUA_OK)
        ski_resolved_release(&target);
    return status;
}

static void resolve_borders(skua_region region)
{
    OK(resolve_status(region, 0, 0, 0, 100) == SKUA_OK &&
           resolve_status(region, 0, 100, 0, 0) == SKUA_OK &&
           resolve_status(region, 0, 50, -50, 50) == SKUA_OK,
       "all of a piece");
    OK(resolve_status(region, 0, 0, 0, 101) == SKUA_ERR_RANGE &&
           resolve_status(region, 0, 0, -1, 1) == SKUA_ERR_RANGE &&
           resolve_status(region, 0, 101, 0, 0) == SKUA_ERR_RANGE,
       "a byte outside");
    OK(resolve_status(region, 0, UINT64_MAX, 0, 1) == SKUA_ERR_RANGE &&
           resolve_status(region, 0, 8, PTRDIFF_MIN, 0) == SKUA_ERR_RANGE &&
           resolve_status(region, 0, UINT64_MAX, PTRDIFF_MAX, PTRDIFF_MAX) == SKUA_ERR_RANGE,
       "numbers that overflow");
    OK(resolve_status(region, 1, 0, 0, 1) == SKUA_ERR_RANGE &&
           resolve_status(region, TEST_PES, 0, 0, 1) == SKUA_ERR_RANGE &&
           resolve_status(region, -1, 0, 0, 1) == SKUA_ERR_RANGE,
       "PEs without a piece");
}

/* Compares the fast path with the slow one, which checks everything. */
static bool resolve_paths_agree(skua_region region, size_t bytes)
{
    uint64_t random = tap_seed();

    for (int i = 0; i < 20000; i++) {
        skua_gaddr          at   = skua_at(region, (int)(tap_random(&random) % (TEST_PES + 2)) - 1,
                                           tap_random(&random) % (bytes + 9));
        size_t              part = tap_random(&random) % (bytes + 9);
        struct ski_resolved target;
        bool                ok   = ski_resolve(NULL, at, 0, (ptrdiff_t)part, &target) == SKUA_OK;
        char               *fast = ski_region_ptr(at, part);

        if (ok != (fast != NULL) || (ok && (fast != target.memory || target.counted)))
            return false;
    }
    return true;
}

/* A symmetric region over all PEs, as their first call makes it. */
static skua_region resolve_make_plain(struct ski_pe *self, size_t bytes)
{
    skua_region region = {0};

    for (self->pe = TEST_PES - 1; self->pe > 0; self->pe--)
        skua_region_create(bytes, &region);
    skua_region_create(bytes, &region);
    return region;
}

static void resolve_one_pe(void)
{
    skua_region         region;
    struct ski_resolved target;

    OK(skua_region_create_local(100, &region) == SKUA_OK, "a region of one PE");
    resolve_borders(region);
    OK(ski_resolve(NULL, skua_at(region, 0, 8), 0, 8, &target) == SKUA_OK && target.counted &&
           ski_resolved_is_direct(&target),
       "it counts its uses");
    OK(skua_region_destroy(region) == SKUA_ERR_BUSY, "and is not freed in use");
    ski_resolved_release(&target);
    OK(skua_region_destroy(region) == SKUA_OK &&
           resolve_status(region, 0, 0, 0, 1) == SKUA_ERR_REGION,
       "but then, and is not found any more");
}

static void resolve_registered(void)
{
    static char memory[64];
    skua_region a, b;

    OK(skua_region_create_from(memory, 64, &a) == SKUA_OK &&
           skua_region_create_from(memory, 64, &b) == SKUA_OK && a.id == b.id,
       "the same memory is registered once");
    OK(skua_region_destroy(a) == SKUA_OK && resolve_status(a, 0, 0, 0, 64) == SKUA_OK &&
           skua_region_destroy(a) == SKUA_OK && resolve_status(a, 0, 0, 0, 64) == SKUA_ERR_REGION,
       "and freed with its last user");
    OK(skua_region_destroy(a) == SKUA_ERR_REGION, "not once more");
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();
    skua_region    plain;

    ski_log_level = SKI_LOG_FATAL;
    resolve_one_pe();
    resolve_registered();
    plain = resolve_make_plain(self, 200);
    OK(plain.id && resolve_paths_agree(plain, 200), "fast and slow path agree on plain regions");
    OK(resolve_status((skua_region){0}, 0, 0, 0, 1) == SKUA_ERR_REGION, "no region");
    test_pe_end(self);
    return tap_end();
}
