/* SPDX-License-Identifier: Apache-2.0 */
/* element.c - see element.h. */
#include "objects/model/element.h"

#include "base/log.h"

static const struct ski_lifecycle_table *element_lifecycle(const struct ski_collection *all)
{
    return &all->self->objects->lifecycle;
}

/* ---- creation ----------------------------------------------------------------------- */

/* Enters an element in the directory of this PE, in place of the record of its absence. */
static void element_enter_directory(struct ski_object *object, const skua_index *index)
{
    struct ski_collection *all    = object->of;
    uintptr_t              value  = ski_directory_find(&all->directory, index);
    struct ski_absent     *absent = ski_directory_absent(value);

    if (value && !absent)
        ski_misuse("%s exists already on PE %d", ski_element_text(all, index), all->self->pe);
    ski_directory_set(&all->directory, index, (uintptr_t)object);
    if (absent)
        ski_notify_absence_ended(element_lifecycle(all), all, absent);
}

void ski_element_place(struct ski_object *object, const skua_index *index)
{
    struct ski_collection *all = object->of;

    ski_elements_add(all, object);
    ski_notify_element_added(element_lifecycle(all), object);
    element_enter_directory(object, index);
}

struct ski_object *ski_element_add(struct ski_collection *all, const skua_index *index)
{
    struct ski_object *object =
        ski_object_alloc(ski_collection_pool(all), all->class->def.bytes, index);

    object->of = all;
    ski_element_place(object, index);
    return object;
}

void ski_element_construct(struct ski_object *object, const void *data, size_t bytes)
{
    const skua_class_def *def = &object->of->class->def;

    if (!def->construct)
        return;
    ski_element_enter(object);
    def->construct(object + 1, data, bytes);
    ski_element_leave(object);
}

struct ski_object *ski_element_create(struct ski_collection *all, const skua_index *index,
                                      uint32_t moves, const void *data, size_t bytes)
{
    struct ski_object *object = ski_element_add(all, index);

    object->moves = moves;
    ski_notify_element_created(element_lifecycle(all), object);
    ski_element_construct(object, data, bytes);
    return object;
}

/* ---- deletion ----------------------------------------------------------------------- */

void ski_element_destroy(struct ski_object *object)
{
    ski_notify_element_detached(element_lifecycle(object->of), object);
    if (object->of->class->def.destroy)
        object->of->class->def.destroy(object + 1);
}

void ski_element_remove(struct ski_object *object, int state)
{
    struct ski_collection *all = object->of;

    ski_assert(state == SKI_DEAD || state == SKI_LEFT);
    ski_object_change(object, state);
    ski_elements_remove(all, object);
    if (!ski_object_queued(object))
        ski_object_free(object, ski_collection_pool(all));
    if (all->state != SKI_ENDED)
        ski_notify_element_removed(element_lifecycle(all), all);
}

void ski_element_end(struct ski_object *object)
{
    ski_object_change(object, SKI_DEAD); /* first: the class's function may look */
    ski_element_destroy(object);
    ski_element_remove(object, SKI_DEAD);
}

static void element_die(struct ski_object *object)
{
    /* Before other PEs hear of the deletion, and create the element anew. */
    ski_notify_element_detached(element_lifecycle(object->of), object);
    if (object->of->state != SKI_ENDED)
        ski_notify_element_deleted(element_lifecycle(object->of), object);
    ski_element_end(object);
}

/* Whether transfers have to complete before an element migrates or is deleted. */
static bool element_drains(struct ski_object *object)
{
    if (object->state != SKI_DYING && object->state != SKI_LEAVING)
        return false;
    ski_notify_element_draining(element_lifecycle(object->of), object);
    return ski_object_running(object);
}

struct ski_object *ski_element_replace(struct ski_object *object)
{
    struct ski_collection *all  = object->of;
    struct ski_object     *stub = ski_object_stub(object, ski_collection_pool(all));

    ski_assert(!ski_object_running(object) && !ski_object_queued(object));
    ski_assert(all->object[object->position] == object);
    all->object[object->position] = stub;
    ski_notify_element_replaced(element_lifecycle(all), object, stub);
    return stub;
}

void ski_element_settle(struct ski_object *object)
{
    if (ski_object_running(object) || element_drains(object))
        return;
    switch (object->state) {
    case SKI_DYING: element_die(object); break;
    case SKI_LEAVING: ski_notify_element_leaving(element_lifecycle(object->of), object); break;
    default:
        if (!ski_object_queued(object))
            ski_object_free(object, ski_collection_pool(object->of));
    }
}

void ski_element_delete(struct ski_object *object)
{
    if (object->state >= SKI_DEAD) /* by its class's destroy: it is under way */
        return;
    if (object->of->kind == SKI_GROUP || object->of->kind == SKI_PROCESS_GROUP)
        ski_misuse(
            "skua_object_destroy: %s is a member of a group, which is deleted as a whole: call "
            "skua_collection_destroy()",
            ski_object_text(object));
    ski_object_change(object, SKI_DYING);
    ski_element_settle(object);
}

void skua_object_destroy(void *self)
{
    ski_element_delete(ski_object_of(self));
}
