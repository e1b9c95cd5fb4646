/* SPDX-License-Identifier: Apache-2.0 */
/* registration_test.c - registrations that buffers share, keep and evict, against a plain model. */
#include "onesided/region/registration.h"

#include <sys/resource.h>

#include "core/net/net_process.h"
#include "onesided/region/region_pe.h"
#include "onesided/region/resolve.h"
#include "tests/onesided_pe.h"

#define PLACES 40
#define KEPT   8
#define STEPS  20000

#define UNITS      24 /* buffers of a unit of the arena each ...              */
#define UNITS_KEPT 6  /* ... of which so many may stay registered and locked  */

/* What the model knows of a place in memory. */
struct registration_model {
    uint32_t holders;
    uint32_t id;      /* of its region; 0: it is not registered */
    uint64_t left_at; /* the step in which the last holder released it */
};

static char                      registration_memory[PLACES][64];
static struct registration_model registration_place[PLACES];

static uint32_t registration_test_acquire(struct ski_pe *self, int i)
{
    skua_gaddr where = {0};
    uint64_t   room  = 0;

    if (ski_registration_acquire(self, registration_memory[i], 64, &where, &room) != SKUA_OK ||
        room != 64 || where.offset != 0 || where.pe != self->pe)
        return 0;
    return where.region.id;
}

/* Evicts, in the model, the place that was released longest ago, if too many are kept. */
static void registration_test_evict(void)
{
    int kept = 0, oldest = -1;

    for (int i = 0; i < PLACES; i++) {
        const struct registration_model *m = &registration_place[i];

        if (!m->id || m->holders > 0)
            continue;
        kept++;
        if (oldest < 0 || m->left_at < registration_place[oldest].left_at)
            oldest = i;
    }
    if (kept > KEPT)
        registration_place[oldest].id = 0;
}

static bool registration_test_stats_hold(void)
{
    skua_registration_stats stats;
    size_t                  used = 0, kept = 0;

    skua_registration_stats_get(&stats, sizeof stats);
    for (int i = 0; i < PLACES; i++) {
        used += registration_place[i].holders > 0;
        kept += registration_place[i].id && registration_place[i].holders == 0;
    }
    return stats.used == used && stats.kept == kept;
}

/* Buffers come and go at random: the same region while it is used or kept, another one after it was
 * evicted. */
static bool registration_test_random(struct ski_pe *self)
{
    uint64_t random = tap_seed();

    for (uint64_t step = 1; step <= STEPS; step++) {
        int                        i = (int)(tap_random(&random) % PLACES);
        struct registration_model *m = &registration_place[i];

        if (m->holders == 0 || (m->holders < 3 && tap_random(&random) % 3 == 0)) {
            uint32_t id = registration_test_acquire(self, i);

            if (!id || (m->id && m->id != id))
                return false;
            m->id = id;
            m->holders++;
        } else {
            ski_registration_release(self, registration_memory[i], 64);
            m->left_at = step;
            if (--m->holders == 0)
                registration_test_evict();
        }
        if (!registration_test_stats_hold())
            return false;
    }
    return true;
}

/* The program and a buffer share a region; it stays until both have finished. */
static void registration_test_shared(struct ski_pe *self)
{
    static char memory[64];
    skua_region region = {0};
    skua_gaddr  where  = {0};
    uint64_t    room;
    bool        fresh;

    OK(ski_registration_add(memory, 64, &region, &fresh) == SKUA_OK && fresh, "a new region");
    OK(ski_registration_acquire(self, memory, 64, &where, &room) == SKUA_OK &&
           where.region.id == region.id,
       "a buffer at the same memory shares it");
    OK(ski_registration_remove(ski_region_table_find(region)) == SKUA_OK &&
           ski_region_table_find(region),
       "the program removes it, and the buffer keeps it");
    OK(ski_registration_remove(ski_region_table_find(region)) == SKUA_ERR_REGION,
       "which the program cannot remove again");
    ski_registration_release(self, memory, 64);
    OK(ski_region_table_find(region) != NULL, "it is kept for the next buffer");
}

/* A region is the memory of its buffer alone, also where blocks of the arena are contiguous. */
static void registration_test_extent(struct ski_pe *self)
{
    char               *block = ski_pool_alloc(&self->pool, 256);
    skua_gaddr          at    = {0};
    struct ski_resolved target;
    uint64_t            room = 0;

    OK(ski_registration_acquire(self, block, 64, &at, &room) == SKUA_OK && room == 64 &&
           at.offset == 0,
       "a region is as large as its buffer");
    OK(ski_resolve(NULL, at, 0, 65, &target) == SKUA_ERR_RANGE &&
           ski_resolve(NULL, at, -1, 1, &target) == SKUA_ERR_RANGE,
       "no byte beside it is reached");
    ski_registration_release(self, block, 64);
    ski_pool_free(&self->pool, block);
}

/* The memory of a kept registration may have been freed. */
static void registration_test_kept(struct ski_pe *self)
{
    static char         memory[64];
    skua_gaddr          at = {0}, again = {0};
    struct ski_resolved target;
    uint64_t            room;

    OK(ski_registration_acquire(self, memory, 64, &at, &room) == SKUA_OK &&
           ski_resolve(NULL, at, 0, 64, &target) == SKUA_OK,
       "a buffer is reached while it is registered");
    ski_resolved_release(&target);
    ski_registration_release(self, memory, 64);
    OK(ski_region_table_find(at.region) && ski_resolve(NULL, at, 0, 64, &target) == SKUA_ERR_REGION,
       "and not once its registration is only kept");
    OK(ski_registration_acquire(self, memory, 64, &again, &room) == SKUA_OK &&
           again.region.id == at.region.id && ski_resolve(NULL, at, 0, 64, &target) == SKUA_OK,
       "until a buffer uses it again");
    ski_resolved_release(&target);
    ski_registration_release(self, memory, 64);
}

/* ---- memory that a driver pins ----------------------------------------------------------------
 */

/* Never called: that it exists makes the driver one that pins memory. */
static skua_status registration_test_put(struct ski_peer *peer, const void *local, size_t bytes,
                                         uint64_t remote, struct ski_driver_rkey *key, void *cookie)
{
    (void)peer, (void)local, (void)bytes, (void)remote, (void)key, (void)cookie;
    return SKUA_ERR_UNSUPPORTED;
}

/* Lets the process lock memory for UNITS_KEPT units of each PE, twice, and begins anew with a
 * driver that pins memory.  Returns false if the limit cannot be set. */
static bool registration_test_pin(struct ski_pe *self)
{
    static const struct ski_driver driver = {.name = "test", .put = registration_test_put};
    struct rlimit                  limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return false;
    limit.rlim_cur = (rlim_t)2 * TEST_PES * UNITS_KEPT * SKI_UNIT_BYTES;
    if ((limit.rlim_max != RLIM_INFINITY && limit.rlim_max < limit.rlim_cur) ||
        setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return false;
    ski_registrations_end(self);
    ski_region_pe(self)->registrations = NULL;
    ski_config.rma                     = 1;
    ski_config.registration_cache      = UNITS;
    ski_net_here.driver                = &driver;
    return ski_registration_pins();
}

/* Uses a buffer once.  Returns the id of its region; 0: it was not registered. */
static uint32_t registration_test_use(struct ski_pe *self, char *at, size_t bytes)
{
    skua_gaddr where = {0};
    uint64_t   room  = 0;

    if (ski_registration_acquire(self, at, bytes, &where, &room) != SKUA_OK)
        return 0;
    ski_registration_release(self, at, bytes);
    return where.region.id;
}

/* Of many buffers in the arena as many stay registered as the limit of locked memory allows: those
 * that were used last.  Other memory does not stay registered. */
static void registration_test_pinned(struct ski_pe *self)
{
    static char outside[64];
    char       *block = ski_pool_alloc(&self->pool, (UNITS + 1) * SKI_UNIT_BYTES), *unit;
    uint32_t    id[UNITS];
    bool        all = true, bounded = true, last = true, oldest = true;
    skua_registration_stats stats;

    if (!block || !registration_test_pin(self)) {
        OK(true, "skipped: no memory can be locked # SKIP");
        return;
    }
    unit = (char *)(((uintptr_t)block + SKI_UNIT_BYTES - 1) & ~(uintptr_t)(SKI_UNIT_BYTES - 1));
    for (int i = 0; i < UNITS; i++) {
        id[i] = registration_test_use(self, unit + (size_t)i * SKI_UNIT_BYTES, SKI_UNIT_BYTES);
        skua_registration_stats_get(&stats, sizeof stats);
        all &= id[i] != 0;
        bounded &= stats.used == 0 && stats.kept <= UNITS_KEPT;
    }
    OK(all, "%d buffers of %zu bytes are registered in turn", UNITS, SKI_UNIT_BYTES);
    OK(bounded && stats.kept == UNITS_KEPT, "and no more than %d stay", UNITS_KEPT);
    for (int i = UNITS - UNITS_KEPT; i < UNITS; i++)
        last &=
            registration_test_use(self, unit + (size_t)i * SKI_UNIT_BYTES, SKI_UNIT_BYTES) == id[i];
    OK(last, "which are those used last");
    for (int i = 0; i < UNITS_KEPT; i++)
        oldest &=
            registration_test_use(self, unit + (size_t)i * SKI_UNIT_BYTES, SKI_UNIT_BYTES) != id[i];
    OK(oldest, "and the others were evicted");
    (void)registration_test_use(self, outside, sizeof outside);
    skua_registration_stats_get(&stats, sizeof stats);
    OK(stats.kept == UNITS_KEPT,
       "memory outside of the arena does not stay registered, and evicts nothing");
    ski_net_here.driver = NULL;
    ski_pool_free(&self->pool, block);
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    ski_config.registration_cache = KEPT;
    OK(registration_test_random(self), "%d places, of which %d are kept", PLACES, KEPT);
    registration_test_shared(self);
    registration_test_extent(self);
    registration_test_kept(self);
    registration_test_pinned(self);
    test_pe_end(self);
    return tap_end();
}
