/* SPDX-License-Identifier: Apache-2.0 */
/* registration.c - see registration.h. */
#include "onesided/region/registration.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/region/region_table.h"

#define BUCKETS 256

struct registration {
    struct registration *next;          /* of one hash value                      */
    struct registration *newer, *older; /* of those that are kept, by last use    */
    char                *base;
    size_t               bytes;
    skua_region          region;
    uint32_t             holders;
};

struct ski_registrations {
    struct registration *bucket[BUCKETS];
    struct registration *newest, *oldest; /* kept */
    size_t               used, kept;
};

bool ski_registration_pins(void)
{
    const struct ski_driver *driver = ski_far_driver();
    return driver && ski_rma_wanted(driver);
}

static struct ski_registrations *all_of(struct ski_pe *self)
{
    struct ski_origin *origin = ski_origin_of(self);

    if (!origin->registrations)
        origin->registrations = ski_calloc(1, sizeof *origin->registrations);
    return origin->registrations;
}

/* What is registered for it. */
static void extent_of(const struct ski_pe *self, const void *at, size_t bytes, char **base,
                      size_t *length)
{
    uintptr_t first = (uintptr_t)at, end = first + (bytes ? bytes : 1);

    if (ski_arena_contains(self->job->arena, at)) {
        first &= ~(uintptr_t)(SKI_UNIT_BYTES - 1);
        end = (end + SKI_UNIT_BYTES - 1) & ~(uintptr_t)(SKI_UNIT_BYTES - 1);
    }
    *base   = (char *)first;
    *length = end - first;
}

static struct registration **find(struct ski_registrations *all, const char *base, size_t bytes)
{
    uint64_t              hash = ((uintptr_t)base >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    struct registration **at   = &all->bucket[hash >> 32 & (BUCKETS - 1)];

    while (*at && ((*at)->base != base || (*at)->bytes != bytes))
        at = &(*at)->next;
    return at;
}

/* ---- those that are kept ----------------------------------------------------------------- */

static void keep(struct ski_registrations *all, struct registration *r)
{
    r->newer = NULL;
    r->older = all->newest;
    if (all->newest)
        all->newest->newer = r;
    else
        all->oldest = r;
    all->newest = r;
    all->kept++;
}

static void take_back(struct ski_registrations *all, struct registration *r)
{
    *(r->newer ? &r->newer->older : &all->newest) = r->older;
    *(r->older ? &r->older->newer : &all->oldest) = r->newer;
    all->kept--;
}

static bool is_busy(const struct registration *r)
{
    const struct ski_region *region = ski_table_find(r->region);
    return region && atomic_load_explicit(&region->uses, memory_order_relaxed) > 0;
}

/* Gives one that is kept up; false: somebody is at it. */
static bool give_up(struct ski_registrations *all, struct registration *r)
{
    if (is_busy(r) || skua_region_free(r->region) != SKUA_OK)
        return false;
    take_back(all, r);
    *find(all, r->base, r->bytes) = r->next;
    free(r);
    return true;
}

/* No more than @p most; those that are busy have their turn later. */
static void trim(struct ski_registrations *all, size_t most)
{
    struct registration *r = all->oldest, *newer;

    for (; r && all->kept > most; r = newer) {
        newer = r->newer;
        give_up(all, r);
    }
}

/* ---- holding ------------------------------------------------------------------------------ */

/* Makes one, after room was made for it if that must be. */
static struct registration *make(struct ski_registrations *all, char *base, size_t bytes)
{
    struct registration **at, *r;
    skua_region           region;
    skua_status_t         status = skua_region_register(base, bytes, &region);

    if (status != SKUA_OK && all->kept > 0) {
        trim(all, 0);
        status = skua_region_register(base, bytes, &region);
    }
    if (status != SKUA_OK)
        return NULL;
    at  = find(all, base, bytes);
    r   = ski_malloc(sizeof *r);
    *r  = (struct registration){.base = base, .bytes = bytes, .region = region};
    *at = r;
    return r;
}

skua_status_t ski_registration_hold(struct ski_pe *self, const void *at, size_t bytes,
                                    skua_gaddr *where, uint64_t *room)
{
    struct ski_registrations *all = all_of(self);
    struct registration      *r;
    char                     *base;
    size_t                    length;

    extent_of(self, at, bytes, &base, &length);
    r = *find(all, base, length);
    if (r && r->holders == 0)
        take_back(all, r);
    if (!r)
        r = make(all, base, length);
    if (!r)
        return SKUA_ERR_NOMEM;
    all->used += r->holders++ == 0;
    *where = skua_at(r->region, self->pe, (uint64_t)((const char *)at - base));
    *room  = length;
    return SKUA_OK;
}

void ski_registration_release(struct ski_pe *self, const void *at, size_t bytes)
{
    struct ski_registrations *all = all_of(self);
    struct registration      *r;
    char                     *base;
    size_t                    length;

    extent_of(self, at, bytes, &base, &length);
    r = *find(all, base, length);
    if (!r || r->holders == 0)
        ski_misuse("a buffer at %p was deregistered that has no registration", at);
    if (--r->holders > 0)
        return;
    all->used--;
    keep(all, r);
    trim(all, ski_registration_pins() ? 0 : ski_config.registration_cache);
}

skua_registration_count skua_registrations(void)
{
    const struct ski_registrations *all = all_of(SKI_SELF());
    return (skua_registration_count){all->used, all->kept};
}

/* The regions go with the table. */
void ski_registrations_end(struct ski_origin *origin)
{
    for (int i = 0; origin->registrations && i < BUCKETS; i++)
        while (origin->registrations->bucket[i]) {
            struct registration *gone        = origin->registrations->bucket[i];
            origin->registrations->bucket[i] = gone->next;
            free(gone);
        }
    free(origin->registrations);
}
