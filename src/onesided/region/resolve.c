/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - see resolve.h. */
#include "onesided/region/resolve.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/log.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/rkey_cache.h"

/* ---- errors: without a call nothing is logged, the caller of ski_resolve() does that --------- */

static skua_status resolve_out_of_range(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                                        uint64_t bytes)
{
    char text[SKI_REGION_STR];

    if (!call)
        return SKUA_ERR_RANGE;
    return ski_refuse(SKUA_ERR_RANGE,
                      "%s: bytes %" PRId64 " to %" PRId64 " are outside of the %" PRIu64
                      " bytes that %s has on PE %d",
                      call, (int64_t)(at.offset + (uint64_t)lo),
                      (int64_t)(at.offset + (uint64_t)hi), bytes,
                      ski_region_str(at.region.id, text), at.pe);
}

static skua_status resolve_no_piece(const char *call, skua_gaddr at)
{
    char text[SKI_REGION_STR];

    if (!call)
        return SKUA_ERR_RANGE;
    return ski_refuse(SKUA_ERR_RANGE, "%s: PE %d has no piece of %s", call, at.pe,
                      ski_region_str(at.region.id, text));
}

static skua_status resolve_no_region(const char *call, skua_gaddr at)
{
    char text[SKI_REGION_STR];

    if (!call)
        return SKUA_ERR_REGION;
    ski_onesided_check(call);
    return ski_refuse(SKUA_ERR_REGION, "%s: there is no %s (freed already?)", call,
                      ski_region_str(at.region.id, text));
}

/* ---- checks --------------------------------------------------------------------------------- */

/* Returns whether lo .. hi from an offset are in a piece; in 128 bits nothing overflows. */
static bool resolve_in_range(uint64_t offset, ptrdiff_t lo, ptrdiff_t hi, uint64_t bytes)
{
    __int128 begin = (__int128)offset + lo, end = (__int128)offset + hi;

    return begin >= 0 && end >= begin && end <= (__int128)bytes;
}

/* Returns whether @p pe exists; before skua_main() every number passes. */
static bool resolve_is_pe(int pe)
{
    const struct ski_job *job = ski_onesided_job();
    return !job || (uint32_t)pe < (uint32_t)job->pes;
}

static bool resolve_on_other_host(int pe)
{
    const struct ski_job *job = ski_onesided_job();
    return job && resolve_is_pe(pe) && ski_job_index(job, pe) < 0;
}

void ski_region_retain(struct ski_region *region)
{
    atomic_fetch_add_explicit(&region->uses, 1, memory_order_acquire);
}

void ski_region_release(struct ski_region *region)
{
    /* Release: pairs with the acquire in ski_region_close(). */
    uint32_t before = atomic_fetch_sub_explicit(&region->uses, 1, memory_order_release);

    ski_assert((before & ~SKI_REGION_CLOSED) > 0);
    (void)before;
}

/* Counts an operation on a region that may be freed at any time. Returns false if it has been. */
static bool resolve_retain(struct ski_region *region, skua_region id)
{
    ski_region_retain(region); /* from now on it stays, if it is still there */
    if (ski_region_table_find(id) == region &&
        !(atomic_load_explicit(&region->uses, memory_order_relaxed) & SKI_REGION_CLOSED))
        return true;
    ski_region_release(region);
    return false;
}

/* ---- resolving ------------------------------------------------------------------------------ */

/* The bytes that an operation touches, from the global address. */
struct resolve_extent {
    ptrdiff_t lo, hi;
};

/* The piece of a region on another host. */
struct resolve_remote_piece {
    uint64_t bytes, base;
    bool     unknown; /* they are known on that host only, which was not asked */
};

/* Finds what is cached of a region of another host, or asks for it if @p query allows that. */
static skua_status resolve_rkey(skua_gaddr at, bool query, struct resolve_remote_piece *to)
{
    struct ski_caller      caller;
    const struct ski_rkey *rkey;
    skua_status            status = SKUA_OK;

    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    rkey = query ? ski_rkey_lookup(caller.self, at, &status) : ski_rkey_find(caller.self, at);
    if (rkey)
        to->bytes = rkey->bytes, to->base = rkey->base;
    to->unknown = !rkey;
    ski_caller_leave(&caller);
    return status;
}

/* Resolves an address of another host.  What this host knows of the region is checked here, the
 * rest there. */
static skua_status resolve_remote(const char *call, skua_gaddr at, struct resolve_extent extent,
                                  bool query, struct ski_resolved *target)
{
    struct ski_region *region =
        ski_region_table_is_common(at.region.id) ? ski_region_table_find(at.region) : NULL;
    struct resolve_remote_piece remote = {0};
    skua_status                 status = SKUA_OK;

    if (!at.region.id)
        return resolve_no_region(call, at);
    if (region && !ski_region_is_member(region, at.pe))
        return resolve_no_piece(call, at);
    if (region && !region->pieces)
        remote.bytes = region->bytes;
    else
        status = resolve_rkey(at, query, &remote);
    if (status != SKUA_OK)
        return status == SKUA_ERR_EXIT ? status : resolve_no_region(call, at);
    if (!remote.unknown && !resolve_in_range(at.offset, extent.lo, extent.hi, remote.bytes))
        return resolve_out_of_range(call, at, extent.lo, extent.hi, remote.bytes);
    *target = (struct ski_resolved){.region      = region,
                                    .memory      = (char *)(uintptr_t)(remote.base + at.offset),
                                    .process     = -1,
                                    .pe          = at.pe,
                                    .remote_host = true,
                                    .unknown     = remote.unknown};
    return SKUA_OK;
}

/* Resolves an address in a region of this host. */
static skua_status resolve_local(const char *call, skua_gaddr at, struct resolve_extent extent,
                                 struct ski_resolved *target)
{
    struct ski_region *region  = ski_region_table_find(at.region);
    bool               counted = region && region->kind != SKI_REGION_SYMMETRIC;
    int64_t            rank;

    if (!region)
        return resolve_is_pe(at.pe) ? resolve_no_region(call, at) : resolve_no_piece(call, at);
    if (counted && !resolve_retain(region, at.region))
        return resolve_no_region(call, at);
    rank = ski_region_rank(region, at.pe);
    if (rank < 0 ||
        !resolve_in_range(at.offset, extent.lo, extent.hi, ski_region_piece_bytes(region, rank))) {
        uint64_t bytes = rank < 0 ? 0 : ski_region_piece_bytes(region, rank);

        if (counted)
            ski_region_release(region);
        return rank < 0 ? resolve_no_piece(call, at)
                        : resolve_out_of_range(call, at, extent.lo, extent.hi, bytes);
    }
    *target = (struct ski_resolved){.region  = region,
                                    .memory  = ski_region_piece_at(region, rank) + at.offset,
                                    .process = region->process,
                                    .pid     = region->pid,
                                    .pe      = at.pe,
                                    .counted = counted};
    return SKUA_OK;
}

skua_status ski_resolve(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                        struct ski_resolved *target)
{
    struct resolve_extent extent = {lo, hi};

    return resolve_on_other_host(at.pe) ? resolve_remote(call, at, extent, true, target)
                                        : resolve_local(call, at, extent, target);
}

skua_status ski_resolve_nowait(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                               struct ski_resolved *target)
{
    struct resolve_extent extent = {lo, hi};

    return resolve_on_other_host(at.pe) ? resolve_remote(call, at, extent, false, target)
                                        : resolve_local(call, at, extent, target);
}

void ski_resolved_release(const struct ski_resolved *target)
{
    if (target->counted)
        ski_region_release(target->region);
}

/* ---- calls ---------------------------------------------------------------------------------- */

size_t skua_region_size(skua_region id)
{
    struct ski_region *region = ski_region_table_find(id);
    int64_t            rank;

    if (!region || !region->pieces)
        return region ? region->bytes : 0;
    rank = ski_region_rank(region, ski_caller_pe());
    return rank < 0 ? 0 : ski_region_piece_bytes(region, rank);
}

size_t skua_region_size_of(skua_region id, int pe)
{
    struct ski_region          *region = (ski_onesided_check(__func__), ski_region_table_find(id));
    struct resolve_remote_piece remote = {0};
    int64_t                     rank;

    if (resolve_on_other_host(pe)) {
        if (region && ski_region_table_is_common(id.id) && !region->pieces)
            return ski_region_is_member(region, pe) ? region->bytes : 0;
        return resolve_rkey(skua_at(id, pe, 0), true, &remote) == SKUA_OK ? remote.bytes : 0;
    }
    rank = region ? ski_region_rank(region, pe) : -1;
    return rank < 0 ? 0 : ski_region_piece_bytes(region, rank);
}

void *skua_region_local(skua_region id)
{
    struct ski_region *region = (ski_onesided_check(__func__), ski_region_table_find(id));
    int64_t            rank   = region ? ski_region_rank(region, ski_caller_pe()) : -1;

    return rank < 0 ? NULL : ski_region_piece_at(region, rank);
}

void *skua_gaddr_local(skua_gaddr at)
{
    char              *memory = ski_region_ptr(at, 0);
    struct ski_region *region = ski_region_table_find(at.region);
    int64_t            rank;

    if (memory || !region || resolve_on_other_host(at.pe))
        return memory;
    rank = ski_region_rank(region, at.pe);
    if (rank < 0 || at.offset > ski_region_piece_bytes(region, rank) ||
        (region->process >= 0 && region->process != ski_regions.process))
        return NULL;
    return ski_region_piece_at(region, rank) + at.offset;
}
