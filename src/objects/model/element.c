/* SPDX-License-Identifier: Apache-2.0 */
/* element.c - see element.h. */
#include "objects/model/element.h"

#include "base/log.h"
#include "core/isomalloc/isomalloc.h"

static const struct ski_lifecycle_table *element_lifecycle(const struct ski_collection *all)
{
    return &all->self->objects->lifecycle;
}

/* ---- creation ----------------------------------------------------------------------- */

/* Enters an element in the directory of this PE, in place of the record of its absence. */
static void element_enter_directory(struct ski_object *object, const skua_index *index)
{
    struct ski_collection *all    = object->of;
    uintptr_t              former = ski_directory_set(&all->directory, index, (uintptr_t)object);
    struct ski_absent     *absent = ski_directory_absent(former);

    if (former && !absent)
        ski_misuse("%s exists already on PE %d", ski_element_text(all, index), all->self->pe);
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

/* Returns a block for an element that keeps its address; NULL: it does not, or there is no room. */
static struct ski_object_threads *element_block(const struct ski_collection *all)
{
    if (!all->self->iso || !ski_class_moves_threads(all->class) ||
        (all->kind != SKI_ARRAY && all->kind != SKI_CHARES))
        return NULL;
    return ski_isomalloc(all->self, ski_object_block_bytes(all->class->def.bytes));
}

struct ski_object *ski_element_add(struct ski_collection *all, const skua_index *index)
{
    return ski_element_add_at(all, index, element_block(all));
}

struct ski_object *ski_element_add_at(struct ski_collection *all, const skua_index *index,
                                      struct ski_object_threads *block)
{
    size_t             bytes  = all->class->def.bytes;
    struct ski_object *object = block ? ski_object_place(block, bytes, index)
                                      : ski_object_alloc(ski_collection_pool(all), bytes, index);

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

/* ---- destruction ----------------------------------------------------------------------- */

void ski_element_destroy(struct ski_object *object)
{
    ski_notify_element_detached(element_lifecycle(object->of), object);
    if (object->of->class->def.destroy)
        object->of->class->def.destroy(object + 1);
}

void ski_element_remove(struct ski_object *object, int state, const struct ski_stub *room)
{
    struct ski_collection *all = object->of;

    ski_assert(state == SKI_DEAD || state == SKI_LEFT);
    ski_assert(!room || object != &room->object || !ski_object_queued(object));
    ski_object_change(object, state);
    ski_elements_remove(all, object);
    if (!ski_object_queued(object) && (!room || object != &room->object))
        ski_object_free(object, ski_collection_pool(all));
    if (all->state != SKI_ENDED)
        ski_notify_element_removed(element_lifecycle(all), all);
}

void ski_element_end(struct ski_object *object)
{
    ski_object_change(object, SKI_DEAD); /* first: the class's function may look */
    ski_element_destroy(object);
    ski_element_remove(object, SKI_DEAD, NULL);
}

static void element_die(struct ski_object *object)
{
    /* Before other PEs learn of the destruction, and create the element again. */
    ski_notify_element_detached(element_lifecycle(object->of), object);
    if (object->of->state != SKI_ENDED)
        ski_notify_element_deleted(element_lifecycle(object->of), object);
    ski_element_end(object);
}

/* Returns whether transfers have to complete before an element migrates or is destroyed. */
static bool element_drains(struct ski_object *object)
{
    if (object->state != SKI_DYING && object->state != SKI_LEAVING)
        return false;
    ski_notify_element_draining(element_lifecycle(object->of), object);
    return ski_object_running(object);
}

void ski_element_settle(struct ski_object *object)
{
    if (ski_object_running(object)) {
        if (object->state == SKI_LEAVING)
            ski_notify_element_delayed(element_lifecycle(object->of), object);
        return;
    }
    if (element_drains(object))
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
    if (object->state >= SKI_DEAD) /* by its class's destroy, which runs */
        return;
    if (object->of->kind == SKI_GROUP || object->of->kind == SKI_PROCESS_GROUP)
        ski_misuse(
            "skua_object_destroy: %s is a member of a group, which is destroyed as a whole: call "
            "skua_collection_destroy()",
            ski_object_text(object));
    ski_object_change(object, SKI_DYING);
    ski_element_settle(object);
}

void skua_object_destroy(void *self)
{
    ski_element_delete(ski_object_of(self));
}

/* ---- elements that leave at their addresses --------------------------------------------- */

/* Messages that name an element by address. */
struct element_renaming {
    const struct ski_object *from;
    struct ski_object       *to; /* NULL: count only */
    uint32_t                 found;
};

static void element_rename_msg(struct skua_msg *msg, void *arg)
{
    struct element_renaming *renaming = arg;

    if (!(msg->flags & SKI_MSG_HERE) || msg->target != (uintptr_t)renaming->from)
        return;
    renaming->found++;
    if (renaming->to)
        msg->target = (uintptr_t)renaming->to;
}

/* Returns the number of messages in the queue that name an element. */
static uint32_t element_rename(const struct ski_object *from, struct ski_object *to)
{
    struct element_renaming renaming = {from, to, 0};

    if (ski_object_queued(from))
        ski_queue_each(&from->of->self->queue, element_rename_msg, &renaming);
    return renaming.found;
}

bool ski_element_can_replace(const struct ski_object *object)
{
    return element_rename(object, NULL) == (uint32_t)object->life;
}

struct ski_object *ski_element_replace(struct ski_object *object, struct ski_stub *room)
{
    struct ski_collection *all  = object->of;
    struct ski_object     *stub = ski_object_queued(object)
                                      ? ski_object_stub(object, ski_collection_pool(all))
                                      : ski_object_stub_in(room, object);

    ski_assert(ski_element_can_replace(object));
    ski_assert(all->object[object->position] == object);
    stub->life = (uint32_t)object->life | (object->life & SKI_LIFE_CHANGED);
    element_rename(object, stub);
    all->object[object->position] = stub;
    ski_notify_element_replaced(element_lifecycle(all), object, stub);
    return stub;
}
