/* SPDX-License-Identifier: Apache-2.0 */
/* rkey_cache.c - see rkey_cache.h. */
#include "onesided/region/rkey_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/region/region_table.h"
#include "transport/select.h"

#define KNOWN_MOST 1024 /* descriptions that are kept */

/* ---- of others ------------------------------------------------------------------------- */

static struct ski_rkey **rkey_bucket(struct ski_rma_pe *origin, int pe, uint32_t id)
{
    uint64_t hash = ((uint64_t)(uint32_t)pe << 32 | id) * UINT64_C(0x9e3779b97f4a7c15);

    return &origin->known[hash >> 32 & (SKI_RKEY_BUCKETS - 1)];
}

/* The key, taken over; NULL if there is none, or the driver does not take it. */
static struct ski_key *rkey_unpack(struct ski_pe *self, int pe, const struct ski_rkey_info *told)
{
    const struct ski_driver *driver = ski_far_driver();
    struct ski_peer         *peer   = ski_far_peer(self, ski_am_server(self->job, pe));
    struct ski_key          *key    = NULL;

    if (!ski_rma_driver_enabled(driver) || told->key_bytes == 0 || told->key_bytes > SKI_KEY_MOST ||
        !peer || driver->take_key(peer, told->key, told->key_bytes, &key) != SKUA_OK)
        return NULL;
    return key;
}

/* What is known of a region, or NULL. */
static struct ski_rkey *rkey_find(struct ski_rma_pe *origin, skua_gaddr at)
{
    struct ski_rkey *known = *rkey_bucket(origin, at.pe, at.region.id);

    while (known && (known->pe != at.pe || known->id != at.region.id))
        known = known->next;
    return known;
}

static struct ski_rkey *rkey_add(struct ski_rma_pe *origin, skua_gaddr at,
                                 const struct ski_rkey_info *told, struct ski_key *key)
{
    struct ski_rkey **bucket = rkey_bucket(origin, at.pe, at.region.id);
    struct ski_rkey  *known  = ski_malloc(sizeof *known);

    if (origin->known_count >= KNOWN_MOST && origin->outstanding.all == 0)
        ski_rkey_cache_end(origin); /* begin anew: regions that are gone leave no word */
    origin->known_count++;
    *known         = (struct ski_rkey){.next  = *bucket,
                                       .pe    = at.pe,
                                       .id    = at.region.id,
                                       .bytes = told->bytes,
                                       .base  = told->base,
                                       .key   = key};
    return *bucket = known;
}

const struct ski_rkey *ski_rkey_lookup(struct ski_pe *self, skua_gaddr at, skua_status_t *status)
{
    struct ski_rma_pe   *origin = ski_rma_pe_of(self);
    struct ski_rkey     *known  = rkey_find(origin, at);
    struct ski_rkey_info told   = {0};

    if (known)
        return known;
    *status = ski_am_query_rkey(self, at, &told);
    if (*status != SKUA_OK)
        return NULL;
    return rkey_add(origin, at, &told, rkey_unpack(self, at.pe, &told));
}

void ski_rkey_insert(struct ski_pe *self, skua_gaddr at, uint64_t bytes, uint64_t base)
{
    struct ski_rkey_info told = {.bytes = bytes, .base = base};

    if (!rkey_find(ski_rma_pe_of(self), at))
        rkey_add(ski_rma_pe_of(self), at, &told, NULL);
}

void ski_rkey_cache_end(struct ski_rma_pe *origin)
{
    origin->known_count = 0;
    for (int i = 0; i < SKI_RKEY_BUCKETS; i++)
        while (origin->known[i]) {
            struct ski_rkey *gone = origin->known[i];
            origin->known[i]      = gone->next;
            if (gone->key)
                ski_far_driver()->drop_key(gone->key);
            free(gone);
        }
}

/* ---- our own --------------------------------------------------------------------------- */

/* A piece that the driver lets others access. */
struct rkey_memory {
    struct rkey_memory *next;
    uint32_t            id;
    int32_t             pe;
    struct ski_memory  *memory; /* NULL: the driver does not take it */
};

static pthread_mutex_t     exposed_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rkey_memory *exposed;

/* Drops what belongs to region @p id, to one that is gone, or all. */
static void rkey_deregister_memory(uint32_t id, bool all)
{
    struct rkey_memory **at = &exposed;

    while (*at) {
        struct rkey_memory *e = *at;
        if (!all && e->id != id && ski_region_table_find((skua_region){e->id})) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (e->memory)
            ski_far_driver()->conceal(e->memory);
        free(e);
    }
}

/* Once is enough: where one cannot be registered others cannot either. */
static void rkey_warn_unregistered(uint32_t id, int pe, uint64_t bytes, const char *why)
{
    static bool said;
    char        text[SKI_REGION_STR];

    ski_log(said ? SKI_LOG_DEBUG : SKI_LOG_WARN,
            "%llu bytes of %s on PE %d cannot be registered with %s (%s): operations on "
            "them, and on others like them, go by request",
            (unsigned long long)bytes, ski_region_str(id, text), pe, ski_far_driver()->name, why);
    said = true;
}

static struct rkey_memory *rkey_register_memory(uint32_t id, int pe, char *base, uint64_t bytes)
{
    struct rkey_memory *e      = ski_malloc(sizeof *e);
    skua_status_t       status = SKUA_ERR_UNSUPPORTED;

    *e                  = (struct rkey_memory){exposed, id, pe, NULL};
    ski_driver_why()[0] = '\0';
    if (bytes > 0)
        status = ski_far_driver()->expose(base, bytes, &e->memory);
    if (status != SKUA_OK && status != SKUA_ERR_UNSUPPORTED)
        rkey_warn_unregistered(id, pe, bytes, ski_far_reason(status));
    return exposed = e;
}

void ski_rkey_export(uint32_t id, const struct ski_resolved *place, uint64_t bytes,
                     struct ski_rkey_info *to)
{
    const struct ski_driver *driver = ski_far_driver();
    struct rkey_memory      *e;

    memset(to, 0, sizeof *to);
    to->bytes = bytes;
    to->base  = (uintptr_t)place->memory;
    if (!driver || !ski_rma_driver_enabled(driver))
        return;
    pthread_mutex_lock(&exposed_lock);
    for (e = exposed; e && (e->id != id || e->pe != place->pe); e = e->next)
        ;
    if (!e)
        rkey_deregister_memory(0, false);
    if (!e)
        e = rkey_register_memory(id, place->pe, place->memory, bytes);
    if (e->memory)
        to->key_bytes = (uint32_t)driver->key(e->memory, to->key);
    pthread_mutex_unlock(&exposed_lock);
}

void ski_rkey_revoke(uint32_t id)
{
    if (!ski_far_driver())
        return;
    pthread_mutex_lock(&exposed_lock);
    rkey_deregister_memory(id, id == 0);
    pthread_mutex_unlock(&exposed_lock);
}
