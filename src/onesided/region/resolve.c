/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - from a global address to memory, where it is not plain (region.h). */
#include <inttypes.h>

#include "base/log.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/onesided.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region_table.h"

/* Without a call nothing is said: that is left to the caller. */

static skua_status_t outside(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                             uint64_t bytes)
{
    char text[SKI_REGION_TEXT];

    if (!call)
        return SKUA_ERR_RANGE;
    return ski_refuse(SKUA_ERR_RANGE,
                      "%s: bytes %" PRId64 " to %" PRId64 " are outside of the %" PRIu64
                      " bytes that %s has on PE %d",
                      call, (int64_t)(at.offset + (uint64_t)lo),
                      (int64_t)(at.offset + (uint64_t)hi), bytes,
                      ski_region_text(at.region.id, text), at.pe);
}

static skua_status_t no_piece(const char *call, skua_gaddr at)
{
    char text[SKI_REGION_TEXT];

    if (!call)
        return SKUA_ERR_RANGE;
    return ski_refuse(SKUA_ERR_RANGE, "%s: PE %d has no piece of %s", call, at.pe,
                      ski_region_text(at.region.id, text));
}

/* Whether lo .. hi from an offset lie in a piece; in 128 bits nothing overflows. */
static bool within(uint64_t offset, ptrdiff_t lo, ptrdiff_t hi, uint64_t bytes)
{
    __int128 begin = (__int128)offset + lo, end = (__int128)offset + hi;

    return begin >= 0 && end >= begin && end <= (__int128)bytes;
}

static skua_status_t no_region(const char *call, skua_gaddr at)
{
    char text[SKI_REGION_TEXT];

    if (!call)
        return SKUA_ERR_REGION;
    ski_onesided_check(call);
    return ski_refuse(SKUA_ERR_REGION, "%s: there is no %s (freed already?)", call,
                      ski_region_text(at.region.id, text));
}

void ski_region_hold(struct ski_region *region)
{
    atomic_fetch_add_explicit(&region->uses, 1, memory_order_acquire);
}

void ski_region_release(struct ski_region *region)
{
    /* Release: pairs with the acquire in deregister(). */
    atomic_fetch_sub_explicit(&region->uses, 1, memory_order_release);
}

/* Whether there is such a PE; before skua_main() nobody knows. */
static bool is_pe(int pe)
{
    const struct ski_job *job = ski_origin_job();
    return !job || (uint32_t)pe < (uint32_t)job->pes;
}

/* Whether a PE is on another host. */
static bool is_far(int pe)
{
    const struct ski_job *job = ski_origin_job();
    return job && is_pe(pe) && ski_job_index(job, pe) < 0;
}

static skua_status_t ask_size(skua_gaddr at, uint64_t *bytes, uint64_t *base)
{
    struct ski_actor               actor;
    const struct ski_known_region *known;
    skua_status_t                  status = SKUA_OK;

    if (!ski_act_begin(&actor))
        return SKUA_ERR_EXIT;
    known = ski_known(actor.self, at, &status);
    if (known)
        *bytes = known->bytes, *base = known->base;
    ski_act_end(&actor);
    return status;
}

/* A place on another host.  What we know of the region is checked here, the rest there. */
static skua_status_t locate_far(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                                struct ski_place *place)
{
    struct ski_region *region = ski_table_common(at.region.id) ? ski_table_find(at.region) : NULL;
    uint64_t           bytes = 0, base = 0;
    skua_status_t      status = SKUA_OK;

    if (!at.region.id)
        return no_region(call, at);
    if (region && !ski_region_member(region, at.pe))
        return no_piece(call, at);
    if (region)
        bytes = region->bytes;
    else
        status = ask_size(at, &bytes, &base);
    if (status != SKUA_OK)
        return status == SKUA_ERR_EXIT ? status : no_region(call, at);
    if (!within(at.offset, lo, hi, bytes))
        return outside(call, at, lo, hi, bytes);
    *place = (struct ski_place){.region  = region,
                                .memory  = (char *)(uintptr_t)(base + at.offset),
                                .process = -1,
                                .pe      = at.pe,
                                .far     = true};
    return SKUA_OK;
}

skua_status_t ski_locate(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                         struct ski_place *place)
{
    struct ski_region *region  = ski_table_find(at.region);
    bool               counted = region && region->kind != SKI_REGION_SYMMETRIC;
    int64_t            rank;

    if (is_far(at.pe))
        return locate_far(call, at, lo, hi, place);
    if (!region)
        return is_pe(at.pe) ? no_region(call, at) : no_piece(call, at);
    if (counted) {
        ski_region_hold(region); /* from now on it stays, if it is still there */
        if (ski_table_find(at.region) != region ||
            atomic_load_explicit(&region->uses, memory_order_relaxed) & SKI_REGION_CLOSED) {
            ski_region_release(region);
            return no_region(call, at);
        }
    }
    rank = ski_region_rank(region, at.pe);
    if (rank < 0 || !within(at.offset, lo, hi, region->bytes)) {
        uint64_t bytes = region->bytes;

        if (counted)
            ski_region_release(region);
        return rank < 0 ? no_piece(call, at) : outside(call, at, lo, hi, bytes);
    }
    *place =
        (struct ski_place){.region  = region,
                           .memory  = region->base + (uint64_t)rank * region->stride + at.offset,
                           .process = region->process,
                           .pid     = region->pid,
                           .pe      = at.pe,
                           .counted = counted};
    return SKUA_OK;
}

void ski_place_drop(const struct ski_place *place)
{
    if (place->counted)
        ski_region_release(place->region);
}

size_t skua_region_size(skua_region id)
{
    struct ski_region *region = ski_table_find(id);
    return region ? region->bytes : 0;
}

void *skua_region_mine(skua_region id)
{
    struct ski_region *region = (ski_onesided_check(__func__), ski_table_find(id));
    int64_t            rank   = region ? ski_region_rank(region, ski_caller_pe()) : -1;

    return rank < 0 ? NULL : region->base + (uint64_t)rank * region->stride;
}

void *skua_local(skua_gaddr at)
{
    char              *memory = ski_reach(at, 0);
    struct ski_region *region = ski_table_find(at.region);
    int64_t            rank;

    if (memory || !region || is_far(at.pe))
        return memory;
    rank = ski_region_rank(region, at.pe);
    if (rank < 0 || at.offset > region->bytes ||
        (region->process >= 0 && region->process != ski_regions.process))
        return NULL;
    return region->base + (uint64_t)rank * region->stride + at.offset;
}
