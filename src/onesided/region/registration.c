/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration.c - see registration.h.
 *
 * One hash table in the process has all registrations, by address; one lock guards it and the
 * lists of kept registrations, one list for each PE in the order of their last use.  Regions are
 * removed from the table of regions after the lock is released: observers run then.
 */
#include "base/params_check.h"
#include "onesided/region/registration.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "onesided/region/region_pe.h"
#include "onesided/region/rkey_cache.h"

#define REGISTRATION_BUCKETS 256

struct registration {
    struct registration      *next;          /* in its bucket                            */
    struct registration      *newer, *older; /* kept registrations, by their last use */
    char                     *base;
    size_t                    bytes;
    struct ski_region        *region;
    int32_t                   pe;
    uint32_t                  refs;    /* uses by the program               */
    uint32_t                  holders; /* buffers and transfers             */
    struct ski_registrations *kept;    /* without users, in this list; else NULL */
};

/* The registrations of one PE: how many buffers use, and those that are kept. */
struct ski_registrations {
    struct registration *newest, *oldest;
    size_t               used, kept;
    size_t               kept_bytes; /* of memory */
    size_t               stale;      /* kept, of memory whose pages may change */
    size_t               bytes_max;  /* of kept_bytes */
};

/* What a PE keeps at most. */
struct ski_registration_limit {
    size_t count, bytes;
    bool   pinned; /* the driver pins memory, so that of which the pages may change is not kept */
};

static struct ski_lock      registration_lock;
static struct registration *registration_bucket[REGISTRATION_BUCKETS];

bool ski_registration_pins(void)
{
    const struct ski_driver *driver = ski_net_driver();
    return driver && ski_rma_driver_enabled(driver);
}

/* Returns whether the pages of registered memory may change while the registration is kept: those
 * of the arena stay where a driver pins memory (ski_arena_keep_all()). */
static bool registration_may_stale(const struct registration *r)
{
    return r->region->process >= 0;
}

/* Returns how many bytes a PE keeps pinned for registrations without users: its part of a half of
 * what the process may lock. */
static size_t registration_pinned_max(void)
{
    struct rlimit limit;
    size_t        pes = (size_t)ski_job_pes_of(ski_onesided_job(), ski_regions.process);

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur / 2 / (pes > 0 ? pes : 1);
}

static struct ski_registrations *registrations_of(struct ski_pe *self)
{
    struct ski_region_pe *pe = ski_region_pe(self);

    if (!pe->registrations) {
        pe->registrations            = ski_calloc(1, sizeof *pe->registrations);
        pe->registrations->bytes_max = SIZE_MAX;
        if (ski_registration_pins()) {
            pe->registrations->bytes_max = registration_pinned_max();
            ski_arena_keep_all(self->job->arena);
        }
    }
    return pe->registrations;
}

/* ---- the hash table: the caller holds the lock --------------------------------------------- */

static struct registration **registration_find(const char *base, size_t bytes, int32_t pe)
{
    uint64_t              hash = ((uintptr_t)base >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    struct registration **at   = &registration_bucket[hash >> 32 & (REGISTRATION_BUCKETS - 1)];

    while (*at && ((*at)->base != base || (*at)->bytes != bytes || (*at)->pe != pe))
        at = &(*at)->next;
    return at;
}

/* Creates a registration and its region.  Returns NULL if the table of regions is full. */
static struct registration *registration_new(char *base, size_t bytes, int32_t pe)
{
    struct ski_job       *job  = ski_onesided_job();
    struct ski_region     like = {.kind    = SKI_REGION_REGISTERED,
                                  .first   = pe,
                                  .members = 1,
                                  .bytes   = bytes,
                                  .base    = base,
                                  .process =
                                  ski_arena_contains(job->arena, base) ? -1 : ski_regions.process,
                                  .pid = getpid()};
    uint32_t              id   = ski_region_table_add(&like);
    struct registration **at, *r;

    if (!id)
        return NULL;
    at = registration_find(base, bytes, pe);
    r  = ski_malloc(sizeof *r);
    *r = (struct registration){
        .base = base, .bytes = bytes, .pe = pe, .region = ski_region_table_find((skua_region){id})};
    *at = r;
    return r;
}

static void registration_unlink(struct registration *r)
{
    struct registration **at = registration_find(r->base, r->bytes, r->pe);

    ski_assert(*at == r && !r->kept);
    *at = r->next;
}

/* ---- kept registrations: the caller holds the lock ------------------------------------------- */

static void registration_keep(struct ski_registrations *all, struct registration *r)
{
    ski_assert(!r->kept && r->refs == 0 && r->holders == 0);
    ski_region_suspend(r->region);
    r->kept  = all;
    r->newer = NULL;
    r->older = all->newest;
    if (all->newest)
        all->newest->newer = r;
    else
        all->oldest = r;
    all->newest = r;
    all->kept++;
    all->kept_bytes += r->bytes;
    all->stale += registration_may_stale(r);
}

static void registration_unlist(struct registration *r)
{
    struct ski_registrations *all = r->kept;

    ski_assert(all && all->kept > 0);
    r->kept                                       = NULL;
    *(r->newer ? &r->newer->older : &all->newest) = r->older;
    *(r->older ? &r->older->newer : &all->oldest) = r->newer;
    all->kept--;
    all->kept_bytes -= r->bytes;
    all->stale -= registration_may_stale(r);
}

/* Makes a kept registration usable again. */
static void registration_unkeep(struct registration *r)
{
    if (!r->kept)
        return;
    registration_unlist(r);
    ski_region_resume(r->region);
}

/* Returns whether kept registrations are too many, or hold too many bytes. */
static bool registration_overfull(const struct ski_registrations      *all,
                                  const struct ski_registration_limit *limit)
{
    return all->kept > limit->count || all->kept_bytes > limit->bytes;
}

/* Moves kept registrations to the list @p evicted, the oldest first: those whose pages may change,
 * or as many as exceed @p limit.  Those that operations use have their turn later.  Returns the
 * list. */
static struct registration *registration_evict(struct ski_registrations            *all,
                                               const struct ski_registration_limit *limit,
                                               bool stale, struct registration *evicted)
{
    struct registration *newer;

    for (struct registration *r                                               = all->oldest;
         r && (stale ? all->stale > 0 : registration_overfull(all, limit)); r = newer) {
        newer = r->newer;
        if ((stale && !registration_may_stale(r)) || !ski_region_drained(r->region))
            continue;
        registration_unlist(r);
        registration_unlink(r);
        r->next = evicted;
        evicted = r;
    }
    return evicted;
}

/* Evicts what must not be kept, then what exceeds @p limit. */
static void registration_trim(struct ski_registrations            *all,
                              const struct ski_registration_limit *limit)
{
    struct registration *evicted = NULL;

    ski_lock_acquire(&registration_lock);
    if (limit->pinned)
        evicted = registration_evict(all, limit, true, evicted);
    evicted = registration_evict(all, limit, false, evicted);
    ski_lock_release(&registration_lock);
    while (evicted) {
        struct registration *next = evicted->next;

        ski_region_table_remove(evicted->region);
        free(evicted);
        evicted = next;
    }
}

/* Evicts what exceeds the limits of the job. */
static void registration_trim_all(struct ski_registrations *all)
{
    struct ski_registration_limit limit = {.count  = ski_config.registration_cache,
                                           .bytes  = all->bytes_max,
                                           .pinned = ski_registration_pins()};

    registration_trim(all, &limit);
}

/* ---- the program ---------------------------------------------------------------------------- */

skua_status ski_registration_add(void *memory, size_t bytes, skua_region *region, bool *fresh)
{
    int32_t              pe = ski_caller_pe();
    struct registration *r;

    ski_lock_acquire(&registration_lock);
    r      = *registration_find(memory, bytes, pe);
    *fresh = !r;
    if (!r)
        r = registration_new(memory, bytes, pe);
    if (r) {
        registration_unkeep(r);
        r->refs++;
        region->id = atomic_load_explicit(&r->region->id, memory_order_relaxed);
    }
    ski_lock_release(&registration_lock);
    return r ? SKUA_OK : SKUA_ERR_NOMEM;
}

skua_status ski_registration_remove(struct ski_region *region)
{
    struct registration *r;
    bool                 last, closed = false;

    ski_lock_acquire(&registration_lock);
    r    = *registration_find(region->base, region->bytes, region->first);
    last = r && r->refs == 1 && r->holders == 0;
    if (last)
        closed = ski_region_close(region);
    else if (r && r->refs > 0)
        r->refs--;
    else
        r = NULL;
    if (closed)
        registration_unlink(r);
    ski_lock_release(&registration_lock);
    if (!r)
        return SKUA_ERR_REGION;
    if (last && !closed)
        return SKUA_ERR_BUSY;
    if (closed) {
        ski_region_table_remove(region);
        free(r);
    }
    return SKUA_OK;
}

/* ---- buffers -------------------------------------------------------------------------------- */

/* Returns what is registered for a buffer; where a driver pins memory that is at least a byte. */
static void registration_extent(const struct ski_pe *self, const void *at, size_t bytes,
                                char **base, size_t *length)
{
    bool      pins  = ski_registration_pins();
    uintptr_t first = (uintptr_t)at, end = first + (bytes == 0 && pins ? 1 : bytes);

    if (pins && ski_arena_contains(self->job->arena, at)) {
        first &= ~(uintptr_t)(SKI_UNIT_BYTES - 1);
        end = (end + SKI_UNIT_BYTES - 1) & ~(uintptr_t)(SKI_UNIT_BYTES - 1);
    }
    *base   = (char *)first;
    *length = end - first;
}

/* Adds a buffer to the users of a registration and returns it; NULL: there is none, and no slot for
 * a new one. */
static struct registration *registration_use(struct ski_registrations *all, char *base,
                                             size_t bytes, int32_t pe)
{
    struct registration *r;

    ski_lock_acquire(&registration_lock);
    r = *registration_find(base, bytes, pe);
    if (!r)
        r = registration_new(base, bytes, pe);
    if (r) {
        registration_unkeep(r);
        all->used += r->holders++ == 0;
    }
    ski_lock_release(&registration_lock);
    return r;
}

skua_status ski_registration_acquire(struct ski_pe *self, const void *at, size_t bytes,
                                     skua_gaddr *where, uint64_t *room)
{
    struct ski_registrations *all = registrations_of(self);
    struct registration      *r;
    char                     *base;
    size_t                    length;

    registration_extent(self, at, bytes, &base, &length);
    ski_assert(base <= (const char *)at && (size_t)((const char *)at - base) + bytes <= length);
    r = registration_use(all, base, length, self->pe);
    if (!r) { /* make room */
        registration_trim(all, &(struct ski_registration_limit){.count = 0});
        r = registration_use(all, base, length, self->pe);
    }
    if (!r)
        return SKUA_ERR_NOMEM;
    *where = skua_at((skua_region){atomic_load_explicit(&r->region->id, memory_order_relaxed)},
                     self->pe, (uint64_t)((const char *)at - base));
    *room  = length;
    return SKUA_OK;
}

void ski_registration_release(struct ski_pe *self, const void *at, size_t bytes)
{
    struct ski_registrations *all = registrations_of(self);
    struct registration      *r;
    char                     *base;
    size_t                    length;

    registration_extent(self, at, bytes, &base, &length);
    ski_lock_acquire(&registration_lock);
    r = *registration_find(base, length, self->pe);
    if (!r || r->holders == 0)
        ski_misuse("a buffer at %p was deregistered that has no registration", at);
    ski_assert(!r->kept && all->used > 0);
    if (--r->holders == 0) {
        all->used--;
        if (r->refs == 0)
            registration_keep(all, r);
    }
    ski_lock_release(&registration_lock);
    registration_trim_all(all);
}

void skua_registration_stats_get(skua_registration_stats *to, size_t bytes)
{
    const struct ski_registrations *all = registrations_of(SKI_SELF());
    skua_registration_stats         count;

    ski_lock_acquire(&registration_lock);
    count = (skua_registration_stats){all->used, all->kept};
    ski_lock_release(&registration_lock);
    ski_params_give(to, bytes, &count, sizeof count);
}

void ski_registrations_end(struct ski_pe *self)
{
    ski_lock_acquire(&registration_lock);
    for (int i = 0; i < REGISTRATION_BUCKETS; i++) {
        struct registration **at = &registration_bucket[i];

        while (*at) {
            struct registration *r = *at;

            if (r->pe != self->pe) {
                at = &r->next;
                continue;
            }
            *at = r->next;
            free(r);
        }
    }
    ski_lock_release(&registration_lock);
    free(ski_region_pe(self)->registrations);
}
