/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. */
#include "objects/chare/object.h"

#include <stdio.h>

#include "base/memory.h"
#include "objects/zerocopy/learned_channel.h"
#include "objects/location/location.h"
#include "objects/collective/section.h"

/* ---- names --------------------------------------------------------------------- */

/* Writes the index of an object to where it is needed.  Memory of objects is zeroed, so all
 * of a short one is copied: a few moves of fixed size. */
static inline void get_index(skua_index *index, const struct ski_object *object)
{
    index->bytes = object->index_bytes;
    memset(&index->at, 0, sizeof index->at);
    if (SKI_LIKELY(object->index_bytes <= sizeof object->index.raw))
        memcpy(&index->at, object->index.raw, sizeof object->index.raw);
    else
        memcpy(&index->at, object->index.long_one, object->index_bytes);
}

skua_index ski_object_index_get(const struct ski_object *object)
{
    skua_index index;

    get_index(&index, object);
    return index;
}

const char *ski_element_text(const struct ski_collection *all, const skua_index *index)
{
    static _Thread_local char text[SKI_INDEX_TEXT + 64];
    char                      number[SKI_INDEX_TEXT];

    if (!all->class)
        snprintf(text, sizeof text, "an object %s", ski_index_text(number, index, 1));
    else
        snprintf(text, sizeof text, "%.60s %s", all->class->def.name,
                 ski_index_text(number, index, all->index_bytes > 0));
    return text;
}

const char *ski_object_text(const struct ski_object *object)
{
    skua_index index = ski_object_index_get(object);

    return ski_element_text(object->of, &index);
}

const char *ski_ref_text(const skua_ref *ref)
{
    static const struct ski_collection unknown;
    const struct ski_collection       *all = ski_collection_find(ski_self->objects, ref->of.id);

    return ski_element_text(all ? all : &unknown, &ref->index);
}

skua_collection skua_collection_of(const void *self)
{
    return (skua_collection){ski_object_of(self)->of->id};
}

skua_index skua_index_of(const void *self)
{
    skua_index index;

    get_index(&index, ski_object_of(self));
    return index;
}

skua_ref skua_ref_of(const void *self)
{
    const struct ski_object *object = ski_object_of(self);
    skua_ref                 ref;

    ref.of.id = object->of->id;
    get_index(&ref.index, object);
    return ref;
}

/* ---- birth --------------------------------------------------------------------- */

static void set_index(struct ski_object *object, const skua_index *index)
{
    unsigned char *to = object->index.raw;

    object->index_bytes = (uint8_t)index->bytes;
    if (index->bytes > sizeof object->index.raw)
        to = object->index.long_one = ski_malloc(index->bytes);
    memcpy(to, &index->at, index->bytes);
}

struct ski_object *ski_object_add(struct ski_collection *all, const skua_index *index)
{
    size_t             bytes  = sizeof(struct ski_object) + all->class->def.bytes;
    struct ski_object *object = ski_malloc(bytes);

    memset(object, 0, bytes);
    object->of   = all;
    object->next = all->reducing.first;
    object->seen = all->everyone.number;
    set_index(object, index);
    ski_member_add(all, object);
    ski_settle_here(all, index, object);
    return object;
}

static void object_construct(struct ski_object *object, const void *data, size_t bytes)
{
    const skua_class_def *def = &object->of->class->def;

    if (!def->construct)
        return;
    ski_object_enter(object);
    def->construct(object + 1, data, bytes);
    ski_object_leave(object);
}

struct ski_object *ski_object_create(struct ski_collection *all, const skua_index *index,
                                     uint32_t moves, const void *data, size_t bytes)
{
    struct ski_object *object = ski_object_add(all, index);

    object->moves = moves;
    ski_reducing_born(all, 1);
    object_construct(object, data, bytes);
    return object;
}

struct ski_object *ski_object_insert(struct ski_collection *all, const skua_index *index,
                                     uint32_t moves, const struct ski_account *account,
                                     const void *data, size_t bytes)
{
    struct ski_object *object;

    if (account->pe == SKI_NO_ACCOUNT)
        return ski_object_create(all, index, moves, data, bytes);
    object        = ski_object_add(all, index);
    object->moves = moves;
    ski_object_enter(object); /* it stays until it is constructed, whatever a reduction sets off */
    ski_insertion_arrived(object, account);
    object_construct(object, data, bytes);
    ski_object_leave(object);
    return object;
}

/* ---- death --------------------------------------------------------------------- */

static void give_back(struct ski_object *object)
{
    if (object->index_bytes > sizeof object->index.raw)
        free(object->index.long_one);
    free(object);
}

void ski_object_destroy(struct ski_object *object)
{
    ski_lanes_withdraw(object);
    if (object->of->class->def.destroy)
        object->of->class->def.destroy(object + 1);
}

void ski_object_discard(struct ski_object *object, int state)
{
    struct ski_collection *all = object->of;

    ski_object_change(object, state);
    ski_member_remove(all, object);
    if (!ski_object_queued(object))
        give_back(object);
    if (all->state != SKI_ENDED)
        ski_reducing_fewer(all);
}

void ski_object_end(struct ski_object *object)
{
    ski_object_change(object, SKI_DEAD); /* first: the class's function may look */
    ski_object_destroy(object);
    ski_object_discard(object, SKI_DEAD);
}

static void die(struct ski_object *object)
{
    ski_lanes_withdraw(object); /* before others hear of it and make it anew */
    if (object->of->state != SKI_ENDED) {
        ski_reducing_died(object);
        ski_everyone_died(object);
        ski_sections_died(object);
        ski_forget(object);
    }
    ski_object_end(object);
}

void ski_object_settle(struct ski_object *object)
{
    if (ski_object_running(object))
        return;
    switch (object->state) {
    case SKI_DYING: die(object); break;
    case SKI_LEAVING: ski_depart(object); break;
    default:
        if (!ski_object_queued(object))
            give_back(object);
    }
}

void ski_object_delete(struct ski_object *object)
{
    if (object->state >= SKI_DEAD) /* by its class's destroy: it is under way */
        return;
    if (object->of->kind == SKI_GROUP || object->of->kind == SKI_PROCESS_GROUP)
        ski_misuse("%s is a member of a group, which is deleted as a whole",
                   ski_object_text(object));
    ski_object_change(object, SKI_DYING);
    ski_object_settle(object);
}

void skua_delete(void *self)
{
    ski_object_delete(ski_object_of(self));
}

/* Also one with user threads inside: they will not be resumed. */
static void destroy_last(struct ski_object *object, void *arg)
{
    (void)arg;
    if (object->state >= SKI_DEAD)
        return;
    ski_object_change(object, SKI_DEAD);
    ski_object_destroy(object);
}

void ski_objects_destroy(struct ski_collection *all)
{
    ski_each(all, destroy_last, NULL);
}

void ski_objects_free(struct ski_collection *all)
{
    for (uint32_t i = 0; i < all->members; i++)
        give_back(all->member[i]);
    all->members = 0;
    all->live    = 0;
}
