/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery.c - the handlers of all entries: from a message to the entry of its object.
 *
 * A message that names its object by address runs at once, unless the object has changed its state
 * since the message was queued.  One that names collection and index is looked up; it is forwarded
 * if the element is elsewhere, and kept while the collection is unknown.
 */
#include <skua/section.h>

#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/chare/element_lookup.h"
#include "objects/chare/invoke.h"
#include "objects/location/forward.h"
#include "objects/location/lookup.h"
#include "objects/measure/measure.h"

static SKI_COLD _Noreturn void delivery_to_deleted(const char *text, const struct ski_entry *entry,
                                                   int source)
{
    ski_misuse("a message from PE %d to %s::%s of %s: that object was destroyed", source,
               entry->of->def.name, entry->name, text);
}

/* Replaces the address of its object in a message by collection and index.  Returns the message. */
static skua_msg *delivery_retarget(const struct ski_object *object, skua_msg *msg)
{
    skua_index index = ski_object_index_get(object);

    msg->flags &= (uint8_t)~SKI_MSG_HERE;
    if (msg->here.method) { /* by skua_invoke_copy_to(), which leaves these fields unset */
        msg->priority  = 0;
        msg->bit_words = msg->bit_room = 0;
    }
    return ski_msg_set_target(msg, object->of->id, &index);
}

/* Returns whether a message to an object that was destroyed, or is being destroyed, creates
 * another. */
static bool delivery_creates_again(const struct ski_object *object, const struct ski_entry *entry)
{
    const struct ski_collection *all = object->of;

    return all->kind == SKI_ARRAY &&
           (all->def.flags & SKUA_ARRAY_ON_DEMAND || entry->flags & SKI_ENTRY_CREATES);
}

/* Keeps @p msg, which names collection and index, while a thread or a transfer delays the
 * destruction of @p object; then it creates another.  Ends the job if it would create none. */
static SKI_COLD void delivery_after_death(struct ski_object *object, const struct ski_entry *entry,
                                          skua_msg *msg)
{
    if (object->state != SKI_DYING || !delivery_creates_again(object, entry))
        delivery_to_deleted(ski_object_text(object), entry, msg->source);
    ski_msg_hold(object->of->self, &object->of->behind, msg);
}

/* Delivers a message for an element that may be here. */
static void delivery_dispatch(struct ski_collection *all, const skua_index *index,
                              const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_object *object = ski_element_receives(all, index);

    if (SKI_UNLIKELY(!object))
        object = ski_forward(all, index, msg);
    if (!object)
        return;
    if (SKI_UNLIKELY(object->state == SKI_DYING || object->state == SKI_DEAD))
        delivery_after_death(object, entry, msg);
    else
        ski_entry_run(object, entry, msg);
}

/* Delivers a message to an object whose state has changed since the message was queued. */
static SKI_COLD void delivery_changed(struct ski_object *object, const struct ski_entry *entry,
                                      skua_msg *msg)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);

    if (all->state == SKI_ENDED) {
        ski_collection_drop(all, msg);
    } else if (object->state == SKI_LEAVING) { /* an entry is still running */
        ski_entry_run(object, entry, msg);
        return;
    } else if (object->state == SKI_LEFT) {
        delivery_dispatch(all, &index, entry, delivery_retarget(object, msg));
    } else if (object->state == SKI_DYING) {
        delivery_after_death(object, entry, delivery_retarget(object, msg));
    } else if (delivery_creates_again(object, entry)) {
        ski_msg_forward(ski_self, ski_lookup_believed(all, &index), delivery_retarget(object, msg));
    } else {
        delivery_to_deleted(ski_object_text(object), entry, msg->source);
    }
    ski_element_settle(object);
}

/* Delivers the result of an operation to all objects of a collection or a section. */
static SKI_COLD void delivery_many(skua_msg *msg)
{
    skua_entry entry = {msg->handler};
    uint64_t   id    = msg->target >> 8;

    if (ski_target_bytes(msg->target) == SKI_TARGET_ALL)
        skua_invoke_all((skua_collection){id}, entry, skua_msg_data(msg), msg->bytes);
    else
        skua_section_invoke((skua_section){id}, entry, skua_msg_data(msg), msg->bytes);
    skua_msg_free(msg);
}

/* Returns the target of @p msg, if it is an element of the collection that was found last, is in
 * the slot where the search for its key begins, and is SKI_ALIVE; else NULL.  A message that the
 * home has sent on, which is not among the bytes of an index, is left to the slow path. */
static inline struct ski_object *delivery_find_target(const skua_msg         *msg,
                                                      const struct ski_entry *entry)
{
    const struct ski_collection *all = ski_self->objects->last;
    struct ski_object           *object;

    if (SKI_UNLIKELY(all->id != msg->target >> 8 || all->class != entry->of ||
                     all->quick_bytes != (msg->target & 0xff)))
        return NULL;
    object = ski_element_find_quick(all, msg->index);
    return object && object->state == SKI_ALIVE ? object : NULL;
}

/* A message has arrived that names collection and index, and whose target delivery_find_target()
 * has not found. */
static __attribute__((noinline)) void delivery_search(skua_msg *msg, const struct ski_entry *entry)
{
    struct ski_collection *all;
    skua_index             index;

    if (!(msg->flags & SKI_MSG_OBJECT))
        ski_fatal("a message from PE %d to %s names no object", msg->source, entry->name);
    if (ski_target_bytes(msg->target) >= SKI_TARGET_SECTION) {
        delivery_many(msg);
        return;
    }
    if (ski_collection_awaited(ski_self->objects, msg->target >> 8, msg, &all))
        return;
    index = ski_msg_index(msg);
    ski_check_index("skua_invoke", all, &index);
    ski_check_entry("skua_invoke", all, entry, &index);
    delivery_dispatch(all, &index, entry, msg);
}

/* A message that names collection and index has arrived. */
static __attribute__((noinline)) void delivery_arrived(skua_msg *msg)
{
    const struct ski_entry *entry = &ski_self->objects->run[msg->handler];
    struct ski_object      *object;

    if (SKI_LIKELY(msg->flags & SKI_MSG_OBJECT && (object = delivery_find_target(msg, entry))))
        ski_entry_run(object, entry, msg);
    else
        delivery_search(msg, entry);
}

/* Handles a message that names its object by address and needs more than a call of a method. */
static __attribute__((noinline)) void delivery_arrived_here(skua_msg *msg)
{
    struct ski_object      *object = (struct ski_object *)(uintptr_t)msg->target;
    const struct ski_entry *entry  = &ski_self->objects->run[msg->handler];

    ski_assert(ski_object_queued(object));
    object->life -= SKI_LIFE_QUEUED;
    if (object->state)
        delivery_changed(object, entry, msg);
    else
        ski_entry_run(object, entry, msg);
}

void ski_on_invoke(skua_msg *msg)
{
    struct ski_object *object = (struct ski_object *)(uintptr_t)msg->target;
    uint64_t           life;

    if (SKI_UNLIKELY(!(msg->flags & SKI_MSG_HERE))) {
        delivery_arrived(msg);
        return;
    }
    ski_assert(ski_object_queued(object));
    life = object->life + (SKI_LIFE_RUNNING - SKI_LIFE_QUEUED);
    if (SKI_UNLIKELY(!msg->here.method || life & SKI_LIFE_CHANGED)) {
        delivery_arrived_here(msg);
        return;
    }
    object->life = life;
    msg->here.method(object + 1, skua_msg_data(msg), msg->bytes);
    if (SKI_UNLIKELY(!ski_magazine_put(msg->here.magazine, msg, SKUA_MSG_HEADER + msg->bytes)))
        ski_pool_free(&ski_self->pool, msg);
    ski_element_leave(object);
}

/* Runs an entry that owns its message, and charges its object. */
static void delivery_run_measured(struct ski_measure *measure, struct ski_object *object,
                                  const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_object *outer = ski_measure_switch(measure, object);

    ski_msg_clear_target(msg);
    entry->entry(object + 1, msg);
    ski_measure_switch(measure, outer);
    ski_element_leave(object);
}

void ski_on_invoke_measured(skua_msg *msg)
{
    struct ski_object  *object  = (struct ski_object *)(uintptr_t)msg->target, *outer;
    struct ski_measure *measure = ski_self->objects->measure;
    uint64_t            life;

    if (SKI_UNLIKELY(!(msg->flags & SKI_MSG_HERE))) {
        delivery_arrived(msg);
        return;
    }
    life = object->life + (SKI_LIFE_RUNNING - SKI_LIFE_QUEUED);
    if (SKI_UNLIKELY(life & SKI_LIFE_CHANGED || !measure ||
                     (!msg->here.method && !ski_entry_is_owner(&ski_entries[msg->handler])))) {
        delivery_arrived_here(msg);
        return;
    }
    object->life = life;
    if (!msg->here.method) {
        delivery_run_measured(measure, object, &ski_entries[msg->handler], msg);
        return;
    }
    outer = ski_measure_switch(measure, object);
    msg->here.method(object + 1, skua_msg_data(msg), msg->bytes);
    ski_measure_switch(measure, outer);
    if (SKI_UNLIKELY(!ski_magazine_put(msg->here.magazine, msg, SKUA_MSG_HEADER + msg->bytes)))
        ski_pool_free(&ski_self->pool, msg);
    ski_element_leave(object);
}
