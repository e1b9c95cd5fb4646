/* SPDX-License-Identifier: Apache-2.0 */
/* object_channel_end.c - see object_channel_end.h. */
#include "objects/zerocopy/object_channel_end.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/params_check.h"
#include "core/pe/handler.h"

/* ---- kinds ----------------------------------------------------------------------------------- */

static skua_channel_end_def *object_end_kinds;
static uint32_t              object_end_kind_count;

skua_channel_end skua_channel_end_register(const skua_channel_end_def *def)
{
    ski_params_check(__func__, "skua_channel_end_def", def->size, sizeof *def);
    if (!def->name || !def->buffer)
        ski_misuse("%s: an end has a name and a function `buffer`", __func__);
    ski_register_name(__func__, "channel end", def->name);
    object_end_kinds =
        ski_realloc(object_end_kinds, (object_end_kind_count + 1) * sizeof *object_end_kinds);
    object_end_kinds[object_end_kind_count++] = *def;
    return (skua_channel_end){object_end_kind_count};
}

const skua_channel_end_def *ski_channel_end_find(uint32_t id)
{
    return id - 1 < object_end_kind_count ? &object_end_kinds[id - 1] : NULL; /* 0 wraps around */
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t object_end_hash(uint64_t id, bool sends)
{
    return id << 1 | sends;
}

struct ski_object_ends *ski_object_ends_search(const struct ski_hash_table *table,
                                               const struct ski_object     *object)
{
    struct ski_hash_link *link = ski_hash_first(table, (uintptr_t)object);

    while (link && link->hash != (uintptr_t)object)
        link = link->next;
    return (struct ski_object_ends *)link;
}

static struct ski_object_ends *object_ends_get(struct ski_object *object)
{
    struct ski_object_ends *ends = ski_object_ends_find(object);

    if (ends)
        return ends;
    ends         = ski_calloc(1, sizeof *ends);
    ends->object = object;
    ski_hash_add(&ski_object_channels_of(object->of->self->objects)->by_object, &ends->link,
                 (uintptr_t)object);
    return ends;
}

struct ski_object_end *ski_object_end_find(const struct ski_objects *objects, uint64_t id,
                                           bool sends)
{
    uint64_t              hash = object_end_hash(id, sends);
    struct ski_hash_link *link = ski_hash_first(&ski_object_channels_of(objects)->by_id, hash);

    while (link && link->hash != hash)
        link = link->next;
    return (struct ski_object_end *)link;
}

struct ski_object_end *ski_object_end_add(struct ski_object                 *object,
                                          const struct ski_object_end_state *state)
{
    struct ski_object_ends *ends = object_ends_get(object);
    struct ski_object_end  *end  = ski_calloc(1, sizeof *end);

    end->of     = ends;
    end->state  = *state;
    end->kind   = ski_channel_end_find(state->kind);
    end->next   = ends->first;
    ends->first = end;
    ends->count++;
    ski_assert(end->kind);
    ski_hash_add(&ski_object_channels_of(object->of->self->objects)->by_id, &end->link,
                 object_end_hash(state->id, state->sends));
    return end;
}

void ski_object_ends_release(struct ski_object_ends *ends)
{
    struct ski_objects *objects = ends->object->of->self->objects;

    if (ends->count > 0 || ends->draining)
        return;
    ski_hash_remove(&ski_object_channels_of(objects)->by_object, &ends->link);
    free(ends);
}

void ski_object_end_remove(struct ski_object_end *end)
{
    struct ski_object_ends     *ends     = end->of;
    struct ski_object_channels *channels = ski_object_channels_of(ends->object->of->self->objects);
    struct ski_object_end     **at       = &ends->first;

    while (*at != end)
        at = &(*at)->next;
    *at = end->next;
    ski_hash_remove(&channels->by_id, &end->link);
    free(end);
    ends->count--;
    ski_object_ends_release(ends);
}

void ski_object_ends_remove(const struct ski_object *object)
{
    struct ski_object_ends *ends = ski_object_ends_find(object);

    if (!ends)
        return;
    ski_assert(!ends->draining);
    for (size_t left = ends->count; left > 0; left--)
        ski_object_end_remove(ends->first); /* the last one frees `ends` */
}

/* ---- migration ------------------------------------------------------------------------------- */

static size_t object_end_packed_bytes(const struct ski_object *object)
{
    const struct ski_object_ends *ends = ski_object_ends_find(object);

    return ends ? ends->count * sizeof(struct ski_object_end_state) : 0;
}

static void object_end_save(const struct ski_object *object, void *to)
{
    const struct ski_object_ends *ends = ski_object_ends_find(object);
    char                         *at   = to;

    for (struct ski_object_end *end = ends ? ends->first : NULL; end; end = end->next) {
        memcpy(at, &end->state, sizeof end->state);
        at += sizeof end->state;
    }
}

static void object_end_pack(struct ski_object *object, void *to)
{
    object_end_save(object, to);
}

static bool object_end_packed_valid(const struct ski_collection *all, const void *from,
                                    size_t bytes)
{
    struct ski_object_end_state state;

    if (bytes % sizeof state)
        return false;
    for (size_t at = 0; at < bytes; at += sizeof state) {
        memcpy(&state, (const char *)from + at, sizeof state);
        if (!ski_channel_end_find(state.kind) || !ski_id_valid(all->self, state.id) ||
            state.sends > 1 || state.peer.index.bytes > SKUA_INDEX_MAX ||
            ski_object_end_find(all->self->objects, state.id, state.sends))
            return false;
    }
    return true;
}

static void object_end_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    struct ski_object_end_state state;

    for (size_t at = 0; at < bytes; at += sizeof state) {
        memcpy(&state, (const char *)from + at, sizeof state);
        state.epoch++;
        ski_object_end_add(object, &state);
    }
}

const struct ski_baggage ski_object_end_baggage = {.bytes  = object_end_packed_bytes,
                                                   .pack   = object_end_pack,
                                                   .valid  = object_end_packed_valid,
                                                   .unpack = object_end_unpack};

/* ---- checkpoints ----------------------------------------------------------------------------- */

static const char *object_end_restore(struct ski_object *object, const void *from, size_t bytes)
{
    if (!object_end_packed_valid(object->of, from, bytes))
        return "its ends of object channels are not valid";
    object_end_unpack(object, from, bytes);
    return NULL;
}

const struct ski_saved_part ski_object_end_saved = {object_end_packed_bytes, object_end_save,
                                                    object_end_restore, NULL};

const char *ski_object_ends_unsent(const struct ski_object *object)
{
    const struct ski_object_ends *ends = ski_object_ends_find(object);

    for (struct ski_object_end *end = ends ? ends->first : NULL; end; end = end->next)
        if (end->sending)
            return end->kind->name;
    return NULL;
}

/* ---- a PE begins and ends -------------------------------------------------------------------- */

void ski_object_channels_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_OBJECT_CHANNELS] = ski_calloc(1, sizeof(struct ski_object_channels));
}

static void object_channel_free_link(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    free(link);
}

void ski_object_channels_end(struct ski_objects *objects)
{
    struct ski_object_channels *channels = ski_object_channels_of(objects);

    ski_hash_each(&channels->by_id, object_channel_free_link, NULL);
    ski_hash_each(&channels->by_object, object_channel_free_link, NULL);
    ski_hash_clear(&channels->by_id);
    ski_hash_clear(&channels->by_object);
    free(channels);
}
