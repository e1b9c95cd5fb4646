/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - calls of the program that inspect collections and elements, and change nothing. */
#include "objects/chare/creation_wait.h"
#include "objects/chare/element_lookup.h"
#include "objects/location/lookup.h"
#include "objects/model/element.h"

int skua_home(skua_ref element)
{
    struct ski_collection *all = ski_collection_get(SKI_SELF()->objects, __func__, element.of.id);

    if (all->state == SKI_EXPECTED)
        ski_creation_wait_defined(__func__, all);
    ski_check_index(__func__, all, &element.index);
    return ski_home(all, &element.index);
}

int skua_location(skua_ref ref)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, ref.of.id);

    if (all->state == SKI_EXPECTED)
        return self->pe;
    ski_check_index(__func__, all, &ref.index);
    return ski_element_here(all, &ref.index) ? self->pe : ski_lookup_believed(all, &ref.index);
}

/* Returns the member of a process group in this process; the call waits until it is created. */
static void *query_shared_member(struct ski_collection *all)
{
    if (SKI_UNLIKELY(!all->shared))
        ski_creation_wait(all);
    return all->shared;
}

/* Finds an object whose index does not lead to it directly. */
static SKI_COLD void *query_local(struct ski_objects *objects, const skua_ref *ref)
{
    struct ski_collection *all = ski_collection_inspect(objects, "skua_object_local", ref->of.id);
    struct ski_object     *object;

    if (all->state == SKI_EXPECTED)
        return NULL;
    ski_check_index("skua_object_local", all, &ref->index);
    if (all->kind == SKI_PROCESS_GROUP)
        return ref->index.at.x[0] == skua_process() ? query_shared_member(all) : NULL;
    object = ski_element_here(all, &ref->index);
    return object && object->state == SKI_ALIVE ? object + 1 : NULL;
}

void *skua_object_local(skua_ref ref)
{
    struct ski_objects    *objects = SKI_SELF()->objects;
    struct ski_collection *all;
    struct ski_object     *object = ski_element_find_here(objects, &ref, &all);

    if (SKI_LIKELY(object && object->state == SKI_ALIVE && all->kind != SKI_PROCESS_GROUP))
        return object + 1;
    return query_local(objects, &ref);
}

/* Finds the member of a group other than the one that was looked up last. */
static SKI_COLD void *query_member(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = ski_collection_inspect(objects, "skua_group_local", id);

    if (all->state == SKI_EXPECTED)
        return NULL;
    if (all->kind == SKI_PROCESS_GROUP)
        return query_shared_member(all);
    if (all->kind != SKI_GROUP)
        ski_fatal("skua_group_local: PE %d passed a collection of %s that is not a group; use "
                  "skua_object_local()",
                  objects->self->pe, all->class->def.name);
    /* A member of a group is not destroyed alone, so the list of those here has no holes. */
    if (all->live != 1 || all->object[0]->state != SKI_ALIVE)
        return NULL;
    if (all->state == SKI_EXISTS) { /* else it is not complete, or has ended */
        objects->local_group  = id;
        objects->local_member = all->object[0] + 1;
    }
    return all->object[0] + 1;
}

void *skua_group_local(skua_collection group)
{
    struct ski_objects *objects = SKI_SELF()->objects;

    /* A member lives as long as its group, and the end of the group forgets it (creation.c). */
    if (SKI_LIKELY(objects->local_group == group.id))
        return objects->local_member;
    return query_member(objects, group.id);
}

size_t skua_collection_local_count(skua_collection target)
{
    return ski_collection_inspect(SKI_SELF()->objects, __func__, target.id)->live;
}

/* The arguments of skua_collection_each(). */
struct query_each {
    void (*fn)(void *self, void *arg);
    void *arg;
};

static void query_call_each(struct ski_object *object, void *arg)
{
    struct query_each *each = arg;

    if (object->state == SKI_ALIVE)
        each->fn(object + 1, each->arg);
}

void skua_collection_each(skua_collection target, void (*fn)(void *self, void *arg), void *arg)
{
    struct ski_collection *all  = ski_collection_inspect(SKI_SELF()->objects, __func__, target.id);
    struct query_each      each = {fn, arg};

    ski_elements_each(all, query_call_each, &each);
}
