/* SPDX-License-Identifier: Apache-2.0 */
/* rkey_cache.c - see rkey_cache.h. */
#include "onesided/region/rkey_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "onesided/region/region_pe.h"
#include "onesided/region/region_table.h"
#include "onesided/region/rkey_table.h"
#include "transport/select.h"

#define RKEYS_MAX 1024 /* entries that a PE caches */

bool ski_rma_driver_enabled(const struct ski_driver *driver)
{
    if (!driver->put || ski_config.rma == 0)
        return false;
    return ski_config.rma > 0 || (driver->rma_offload && driver->rma_offload());
}

/* ---- the origin: regions of other hosts ------------------------------------------------------ */

static ski_rkey_query_fn rkey_query;

void ski_rkey_cache_open(ski_rkey_query_fn query)
{
    rkey_query = query;
}

static struct ski_rkey **rkey_bucket(struct ski_region_pe *cache, skua_gaddr at)
{
    uint64_t hash = ((uint64_t)(uint32_t)at.pe << 32 | at.region.id) * UINT64_C(0x9e3779b97f4a7c15);

    return &cache->rkey[hash >> 32 & (SKI_RKEY_BUCKETS - 1)];
}

/* Returns the driver's key; NULL: there is none, or the driver does not accept it. */
static struct ski_driver_rkey *rkey_unpack(struct ski_pe *self, int pe,
                                           const struct ski_rkey_info *info)
{
    const struct ski_driver *driver = ski_net_driver();
    struct ski_peer         *peer   = ski_net_endpoint(self, ski_am_server(self->job, pe));
    struct ski_driver_rkey  *key    = NULL;

    if (!ski_rma_driver_enabled(driver) || info->key_bytes == 0 || info->key_bytes > SKI_RKEY_MAX ||
        !peer || driver->rkey_unpack(peer, info->key, info->key_bytes, &key) != SKUA_OK)
        return NULL;
    return key;
}

static struct ski_rkey *rkey_find(struct ski_region_pe *cache, skua_gaddr at)
{
    struct ski_rkey *rkey = *rkey_bucket(cache, at);

    while (rkey && (rkey->pe != at.pe || rkey->id != at.region.id))
        rkey = rkey->next;
    return rkey;
}

/* Adds what the owner of a region has replied to the cache. */
static struct ski_rkey *rkey_add(struct ski_pe *self, skua_gaddr at,
                                 const struct ski_rkey_info *info, struct ski_driver_rkey *key)
{
    struct ski_region_pe *cache  = ski_region_pe(self);
    struct ski_rkey     **bucket = rkey_bucket(cache, at);
    struct ski_rkey      *rkey   = ski_malloc(sizeof *rkey);

    ski_assert(!rkey_find(cache, at));
    /* The owner does not say when a region is removed, so the whole cache is dropped now and then:
     * while no operation uses an entry, nor a call that has found one and waits. */
    if (cache->rkeys >= RKEYS_MAX && cache->rkeys_held == 0 &&
        ski_onesided_pe(self)->outstanding == 0)
        ski_rkey_cache_end(self);
    cache->rkeys++;
    *rkey          = (struct ski_rkey){.next  = *bucket,
                                       .pe    = at.pe,
                                       .id    = at.region.id,
                                       .bytes = info->bytes,
                                       .base  = info->base,
                                       .key   = key};
    return *bucket = rkey;
}

const struct ski_rkey *ski_rkey_find(struct ski_pe *self, skua_gaddr at)
{
    struct ski_rkey     *rkey = rkey_find(ski_region_pe(self), at);
    struct ski_rkey_info info;

    if (rkey || !ski_rkey_table_find(self, at, &info))
        return rkey;
    return rkey_add(self, at, &info, rkey_unpack(self, at.pe, &info));
}

const struct ski_rkey *ski_rkey_lookup(struct ski_pe *self, skua_gaddr at, skua_status *status)
{
    const struct ski_rkey *rkey = ski_rkey_find(self, at);
    struct ski_rkey_info   info = {0};

    if (rkey)
        return rkey;
    *status = rkey_query(self, at, &info);
    if (*status != SKUA_OK)
        return NULL;
    return ski_rkey_add(self, at, &info); /* unless another thread of this PE has asked, too */
}

const struct ski_rkey *ski_rkey_add(struct ski_pe *self, skua_gaddr at,
                                    const struct ski_rkey_info *info)
{
    struct ski_rkey *rkey = rkey_find(ski_region_pe(self), at);

    ski_rkey_table_store(self, at, info);
    return rkey ? rkey : rkey_add(self, at, info, rkey_unpack(self, at.pe, info));
}

void ski_rkey_insert(struct ski_pe *self, skua_gaddr at, uint64_t bytes, uint64_t base)
{
    struct ski_rkey_info info = {.bytes = bytes, .base = base};

    if (!rkey_find(ski_region_pe(self), at))
        rkey_add(self, at, &info, NULL);
}

void ski_rkey_cache_end(struct ski_pe *self)
{
    struct ski_region_pe *cache = ski_region_pe(self);

    cache->rkeys = 0;
    for (int i = 0; i < SKI_RKEY_BUCKETS; i++)
        while (cache->rkey[i]) {
            struct ski_rkey *gone = cache->rkey[i];
            cache->rkey[i]        = gone->next;
            if (gone->key)
                ski_net_driver()->rkey_destroy(gone->key);
            free(gone);
        }
}

/* ---- the owner: memory that the driver lets other hosts access ------------------------------ */

struct rkey_memory {
    struct rkey_memory    *next;
    uint32_t               id;
    int32_t                pe;
    struct ski_driver_mem *memory; /* NULL: the driver cannot register it */
};

static pthread_mutex_t     rkey_memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rkey_memory *rkey_memories;

/* Deregisters what belongs to region @p id, to one that was removed, or all. */
static void rkey_deregister_memory(uint32_t id, bool all)
{
    struct rkey_memory **at = &rkey_memories;

    while (*at) {
        struct rkey_memory *e = *at;
        if (!all && e->id != id && ski_region_table_find((skua_region){e->id})) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (e->memory)
            ski_net_driver()->mem_dereg(e->memory);
        free(e);
    }
}

/* Warns once: where one region cannot be registered others cannot either. */
static void rkey_warn_unregistered(uint32_t id, int pe, uint64_t bytes, const char *why)
{
    static bool said;
    char        text[SKI_REGION_STR];

    ski_log(said ? SKI_LOG_DEBUG : SKI_LOG_WARN,
            "%llu bytes of %s on PE %d cannot be registered with %s (%s): operations on "
            "this and other memory that cannot be registered use active messages",
            (unsigned long long)bytes, ski_region_str(id, text), pe, ski_net_driver()->name, why);
    said = true;
}

static struct rkey_memory *rkey_register_memory(uint32_t id, int pe, char *base, uint64_t bytes)
{
    struct rkey_memory *e      = ski_malloc(sizeof *e);
    skua_status         status = SKUA_ERR_UNSUPPORTED;

    *e                         = (struct rkey_memory){rkey_memories, id, pe, NULL};
    ski_driver_last_error()[0] = '\0';
    if (bytes > 0)
        status = ski_net_driver()->mem_reg(base, bytes, &e->memory);
    if (status != SKUA_OK && status != SKUA_ERR_UNSUPPORTED)
        rkey_warn_unregistered(id, pe, bytes, ski_net_reason(status));
    return rkey_memories = e;
}

/* Describes the pieces of @p region that PEs of the process of @p pe have: those of a symmetric
 * region over consecutive PEs, or that of @p pe alone. */
static void rkey_describe(const struct ski_region *region, int pe, struct ski_rkey_info *to)
{
    const struct ski_job *job   = ski_onesided_job();
    int64_t               rank  = ski_region_rank(region, pe);
    int                   first = ski_job_first_pe(job, ski_job_process_of(job, pe)), end = first;

    *to = (struct ski_rkey_info){.bytes  = ski_region_piece_bytes(region, rank),
                                 .base   = (uintptr_t)ski_region_piece_at(region, rank),
                                 .stride = region->stride,
                                 .first  = pe,
                                 .count  = 1};
    if (region->kind != SKI_REGION_SYMMETRIC || region->count == 0 || pe >= job->pes)
        return;
    end += ski_job_pes_of(job, ski_job_process_of(job, pe));
    first     = first > region->first ? first : region->first;
    end       = end < region->first + (int)region->count ? end : region->first + (int)region->count;
    to->first = first;
    to->count = end - first;
}

void ski_rkey_export(uint32_t id, const struct ski_region *region, int32_t pe,
                     struct ski_rkey_info *to)
{
    const struct ski_driver *driver = ski_net_driver();
    struct rkey_memory      *e;
    char                    *base;

    ski_assert(id != 0);
    rkey_describe(region, pe, to);
    if (!driver || !ski_rma_driver_enabled(driver))
        return;
    base = ski_region_piece_at(region, ski_region_rank(region, to->first));
    pthread_mutex_lock(&rkey_memory_lock);
    for (e = rkey_memories; e && (e->id != id || e->pe != to->first); e = e->next)
        ;
    if (!e) {
        rkey_deregister_memory(0, false);
        e = rkey_register_memory(id, to->first, base,
                                 to->bytes ? to->stride * (uint64_t)(to->count - 1) + to->bytes
                                           : 0);
    }
    if (e->memory)
        to->key_bytes = (uint32_t)driver->rkey_pack(e->memory, to->key);
    ski_assert(to->key_bytes <= SKI_RKEY_MAX);
    pthread_mutex_unlock(&rkey_memory_lock);
}

void ski_rkey_revoke(uint32_t id)
{
    if (!ski_net_driver())
        return;
    ski_rkey_table_remove(id);
    pthread_mutex_lock(&rkey_memory_lock);
    rkey_deregister_memory(id, false);
    pthread_mutex_unlock(&rkey_memory_lock);
}

void ski_rkey_cache_close(void)
{
    if (!ski_net_driver())
        return;
    pthread_mutex_lock(&rkey_memory_lock);
    rkey_deregister_memory(0, true);
    pthread_mutex_unlock(&rkey_memory_lock);
}
