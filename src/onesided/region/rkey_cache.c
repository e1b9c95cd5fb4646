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

static struct ski_known_region **bucket_of(struct ski_origin *origin, int pe, uint32_t id)
{
    uint64_t hash = ((uint64_t)(uint32_t)pe << 32 | id) * UINT64_C(0x9e3779b97f4a7c15);

    return &origin->known[hash >> 32 & (SKI_KNOWN_BUCKETS - 1)];
}

/* The key, taken over; NULL if there is none, or the driver does not take it. */
static struct ski_key *take_key(struct ski_pe *self, int pe, const struct ski_description *told)
{
    const struct ski_driver *driver = ski_far_driver();
    struct ski_peer         *peer   = ski_far_peer(self, ski_server(self->job, pe));
    struct ski_key          *key    = NULL;

    if (!ski_rma_wanted(driver) || told->key_bytes == 0 || told->key_bytes > SKI_KEY_MOST ||
        !peer || driver->take_key(peer, told->key, told->key_bytes, &key) != SKUA_OK)
        return NULL;
    return key;
}

/* What is known of a region, or NULL. */
static struct ski_known_region *find(struct ski_origin *origin, skua_gaddr at)
{
    struct ski_known_region *known = *bucket_of(origin, at.pe, at.region.id);

    while (known && (known->pe != at.pe || known->id != at.region.id))
        known = known->next;
    return known;
}

static struct ski_known_region *add(struct ski_origin *origin, skua_gaddr at,
                                    const struct ski_description *told, struct ski_key *key)
{
    struct ski_known_region **bucket = bucket_of(origin, at.pe, at.region.id);
    struct ski_known_region  *known  = ski_malloc(sizeof *known);

    if (origin->known_count >= KNOWN_MOST && origin->outstanding.all == 0)
        ski_known_end(origin); /* begin anew: regions that are gone leave no word */
    origin->known_count++;
    *known         = (struct ski_known_region){.next  = *bucket,
                                               .pe    = at.pe,
                                               .id    = at.region.id,
                                               .bytes = told->bytes,
                                               .base  = told->base,
                                               .key   = key};
    return *bucket = known;
}

const struct ski_known_region *ski_known(struct ski_pe *self, skua_gaddr at, skua_status_t *status)
{
    struct ski_origin       *origin = ski_origin_of(self);
    struct ski_known_region *known  = find(origin, at);
    struct ski_description   told   = {0};

    if (known)
        return known;
    *status = ski_request_describe(self, at, &told);
    if (*status != SKUA_OK)
        return NULL;
    return add(origin, at, &told, take_key(self, at.pe, &told));
}

void ski_known_tell(struct ski_pe *self, skua_gaddr at, uint64_t bytes, uint64_t base)
{
    struct ski_description told = {.bytes = bytes, .base = base};

    if (!find(ski_origin_of(self), at))
        add(ski_origin_of(self), at, &told, NULL);
}

void ski_known_end(struct ski_origin *origin)
{
    origin->known_count = 0;
    for (int i = 0; i < SKI_KNOWN_BUCKETS; i++)
        while (origin->known[i]) {
            struct ski_known_region *gone = origin->known[i];
            origin->known[i]              = gone->next;
            if (gone->key)
                ski_far_driver()->drop_key(gone->key);
            free(gone);
        }
}

/* ---- our own --------------------------------------------------------------------------- */

/* A piece that the driver lets others access. */
struct exposed {
    struct exposed    *next;
    uint32_t           id;
    int32_t            pe;
    struct ski_memory *memory; /* NULL: the driver does not take it */
};

static pthread_mutex_t exposed_lock = PTHREAD_MUTEX_INITIALIZER;
static struct exposed *exposed;

/* Drops what belongs to region @p id, to one that is gone, or all. */
static void sweep(uint32_t id, bool all)
{
    struct exposed **at = &exposed;

    while (*at) {
        struct exposed *e = *at;
        if (!all && e->id != id && ski_table_find((skua_region){e->id})) {
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
static void say_not_registered(uint32_t id, int pe, uint64_t bytes, const char *why)
{
    static bool said;
    char        text[SKI_REGION_TEXT];

    ski_log(said ? SKI_LOG_DEBUG : SKI_LOG_WARN,
            "%llu bytes of %s on PE %d cannot be registered with %s (%s): operations on "
            "them, and on others like them, go by request",
            (unsigned long long)bytes, ski_region_text(id, text), pe, ski_far_driver()->name, why);
    said = true;
}

static struct exposed *expose(uint32_t id, int pe, char *base, uint64_t bytes)
{
    struct exposed *e      = ski_malloc(sizeof *e);
    skua_status_t   status = SKUA_ERR_UNSUPPORTED;

    *e                  = (struct exposed){exposed, id, pe, NULL};
    ski_driver_why()[0] = '\0';
    if (bytes > 0)
        status = ski_far_driver()->expose(base, bytes, &e->memory);
    if (status != SKUA_OK && status != SKUA_ERR_UNSUPPORTED)
        say_not_registered(id, pe, bytes, ski_far_reason(status));
    return exposed = e;
}

void ski_describe(uint32_t id, const struct ski_place *place, uint64_t bytes,
                  struct ski_description *to)
{
    const struct ski_driver *driver = ski_far_driver();
    struct exposed          *e;

    memset(to, 0, sizeof *to);
    to->bytes = bytes;
    to->base  = (uintptr_t)place->memory;
    if (!driver || !ski_rma_wanted(driver))
        return;
    pthread_mutex_lock(&exposed_lock);
    for (e = exposed; e && (e->id != id || e->pe != place->pe); e = e->next)
        ;
    if (!e)
        sweep(0, false);
    if (!e)
        e = expose(id, place->pe, place->memory, bytes);
    if (e->memory)
        to->key_bytes = (uint32_t)driver->key(e->memory, to->key);
    pthread_mutex_unlock(&exposed_lock);
}

void ski_conceal(uint32_t id)
{
    if (!ski_far_driver())
        return;
    pthread_mutex_lock(&exposed_lock);
    sweep(id, id == 0);
    pthread_mutex_unlock(&exposed_lock);
}
