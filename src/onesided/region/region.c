/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - the calls of skua/region.h that create and free regions. */
#include "base/assert.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/region_table.h"
#include "onesided/region/registration.h"
#include "onesided/region/symmetric_alloc.h"
#include "onesided/region/symmetric_vote.h"

/* ---- symmetric regions ----------------------------------------------------------------------- */

skua_status skua_region_create(size_t bytes, skua_region *region)
{
    struct ski_pe *self = SKI_SELF();
    skua_status    status;

    if (!region)
        return ski_refuse(SKUA_ERR_INVAL, "%s: there is nowhere to store the region (NULL)",
                          __func__);
    status = ski_symmetric_create(self, __func__, NULL, (uint32_t)self->pes, (uint32_t)self->pe,
                                  bytes, region);
    if (status == SKUA_OK)
        ski_region_set_site(region->id, __builtin_return_address(0));
    return status;
}

skua_status skua_region_create_on(const int *pes, int n, size_t bytes, skua_region *region)
{
    struct ski_pe *self = SKI_SELF();
    skua_status    status;
    int            rank = -1;

    for (int i = 0; i < n; i++) {
        if (pes[i] < 0 || pes[i] >= self->pes || (i > 0 && pes[i] <= pes[i - 1]))
            return ski_refuse(SKUA_ERR_INVAL, "%s: entry %d of the list of PEs, %d, is %s",
                              __func__, i, pes[i],
                              i > 0 && pes[i] <= pes[i - 1] ? "out of order" : "no PE");
        if (pes[i] == self->pe)
            rank = i;
    }
    if (rank < 0)
        return ski_refuse(SKUA_ERR_INVAL, "%s: PE %d is not in its own list of PEs", __func__,
                          self->pe);
    status = ski_symmetric_create(self, __func__, pes, (uint32_t)n, (uint32_t)rank, bytes, region);
    if (status == SKUA_OK)
        ski_region_set_site(region->id, __builtin_return_address(0));
    return status;
}

skua_status skua_region_create_varied(size_t bytes, skua_region *region)
{
    struct ski_pe *self   = SKI_SELF();
    skua_status    status = ski_symmetric_create_varied(self, __func__, bytes, region);

    if (status == SKUA_OK)
        ski_region_set_site(region->id, __builtin_return_address(0));
    return status;
}

/* ---- regions of one PE ---------------------------------------------------------------------- */

skua_status skua_region_create_local(size_t bytes, skua_region *region)
{
    struct ski_region like;
    int               pe     = (ski_onesided_check(__func__), ski_caller_pe());
    skua_status       status = ski_symmetric_lay_out(NULL, 1, bytes, &like);
    uint32_t          id;

    if (status != SKUA_OK)
        return status;
    like.kind  = SKI_REGION_ALLOCATED;
    like.count = 0; /* it may be freed at any time, so its uses are counted */
    like.first = pe;
    id         = ski_region_table_add(&like);
    if (!id) {
        ski_span_free(ski_onesided_job()->arena, like.base);
        return SKUA_ERR_NOMEM;
    }
    region->id = id;
    ski_region_set_site(id, __builtin_return_address(0));
    return SKUA_OK;
}

skua_status skua_region_create_from(void *memory, size_t bytes, skua_region *region)
{
    bool        fresh;
    skua_status status;

    ski_onesided_check(__func__);
    if ((!memory && bytes > 0) || bytes > UINTPTR_MAX - (uintptr_t)memory)
        return ski_refuse(SKUA_ERR_INVAL, "%s: %zu bytes at %p are not valid memory", __func__,
                          bytes, memory);
    status = ski_registration_add(memory, bytes, region, &fresh);
    if (status == SKUA_OK && fresh)
        ski_region_set_site(region->id, __builtin_return_address(0));
    return status;
}

/* ---- freeing -------------------------------------------------------------------------------- */

static SKI_COLD skua_status region_not_freed(skua_region id, skua_status status)
{
    char text[SKI_REGION_STR];

    ski_region_str(id.id, text);
    if (status == SKUA_ERR_BUSY)
        return ski_refuse(status, "skua_region_destroy: operations on %s are in flight", text);
    return ski_refuse(status, "skua_region_destroy: PE %d has no %s (freed already?)",
                      ski_caller_pe(), text);
}

/* Frees the piece of one PE; the region goes with the last one. */
static skua_status region_free_piece(skua_region id, struct ski_region *region, int64_t rank)
{
    int last = region->kind == SKI_REGION_SYMMETRIC ? ski_region_leave(region, rank) : 1;

    ski_assert(rank >= 0 && region->kind != SKI_REGION_REGISTERED);
    if (last < 0)
        return SKUA_ERR_REGION;
    if (ski_self)
        ski_region_piece_freed(ski_self, ski_region_piece_at(region, rank),
                               ski_region_piece_bytes(region, rank));
    if (!last)
        return SKUA_OK;
    if (region->kind == SKI_REGION_ALLOCATED && !ski_region_close(region))
        return SKUA_ERR_BUSY;
    if (region->local_list)
        ski_symmetric_vote_freed(id.id,
                                 region->local_members); /* members on other hosts may use it */
    else
        ski_region_destroy(id.id);
    return SKUA_OK;
}

skua_status skua_region_destroy(skua_region id)
{
    struct ski_region *region = (ski_onesided_check(__func__), ski_region_table_find(id));
    int64_t            rank   = region ? ski_region_rank(region, ski_caller_pe()) : -1;
    skua_status        status;

    if (rank < 0)
        status = SKUA_ERR_REGION;
    else if (region->kind == SKI_REGION_REGISTERED)
        status = ski_registration_remove(region);
    else
        status = region_free_piece(id, region, rank);
    return status == SKUA_OK ? SKUA_OK : region_not_freed(id, status);
}
