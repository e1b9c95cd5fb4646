/* SPDX-License-Identifier: Apache-2.0 */
/* collection.c - see collection.h. */
#include "objects/model/collection.h"

#include <stdio.h>

#include "base/memory.h"
#include "core/message/msg_counts.h"
#include "objects/model/object.h"

static const struct ski_lifecycle_table *collection_lifecycle(const struct ski_collection *all)
{
    return &all->self->objects->lifecycle;
}

/* ---- the table ---------------------------------------------------------------------- */

/* The value of objects->last before a collection is found. */
static struct ski_collection collection_none = {
    .id = UINT64_MAX, .quick_bytes = SKI_NO_INDEX, .pair_bytes = SKI_NO_INDEX};

static uint64_t collection_slot(const struct ski_objects *objects, uint64_t id)
{
    uint64_t at = (id * SKI_GOLDEN >> 32) & objects->mask;

    while (objects->table[at] && objects->table[at]->id != id)
        at = (at + 1) & objects->mask;
    return at;
}

static void collection_table_grow(struct ski_objects *objects)
{
    struct ski_collection **old  = objects->table;
    uint64_t                room = old ? objects->mask + 1 : 0;

    objects->mask  = room ? 2 * room - 1 : 15;
    objects->table = ski_calloc(objects->mask + 1, sizeof *objects->table);
    for (uint64_t i = 0; i < room; i++)
        if (old[i])
            objects->table[collection_slot(objects, old[i]->id)] = old[i];
    free(old);
}

/* Adds a collection of which this PE knows nothing but the id. */
static struct ski_collection *collection_add(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = ski_calloc(1, sizeof *all);

    if (2 * ++objects->count > objects->mask)
        collection_table_grow(objects);
    all->id          = id;
    all->quick_bytes = SKI_NO_INDEX;
    all->pair_bytes  = SKI_NO_INDEX;
    all->self        = objects->self;
    all->root        = id >> 32 == SKI_NO_PE ? -1 : ski_id_root(objects->self, id);
    ski_list_init(&all->held);
    ski_list_init(&all->behind);
    ski_notify_collection_added(&objects->lifecycle, all);
    ski_assert(!objects->table[collection_slot(objects, id)]);
    return objects->table[collection_slot(objects, id)] = all;
}

/* The single objects of a class are a collection that no PE creates: each PE adds it when it first
 * needs it. */
static struct ski_collection *collection_add_chares(struct ski_objects *objects, uint64_t id)
{
    const struct ski_class *class = ski_class_find((uint32_t)id);
    struct ski_collection *all;

    if (!class)
        return NULL;
    all              = collection_add(objects, id);
    all->kind        = SKI_CHARES;
    all->class       = class;
    all->index_bytes = 16;
    ski_directory_init(&all->directory, all->index_bytes);
    ski_collection_set_exists(all);
    return all;
}

void ski_collection_set_exists(struct ski_collection *all)
{
    all->state = SKI_EXISTS;
    if (all->directory.exact)
        all->quick_bytes = all->index_bytes;
    else if (all->index_bytes == 12 || all->index_bytes == 16)
        all->pair_bytes = all->index_bytes;
}

struct ski_collection *ski_collection_search(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = objects->table[collection_slot(objects, id)];

    if (!all && id >> 32 == SKI_NO_PE)
        all = collection_add_chares(objects, id);
    if (all)
        objects->last = all;
    return all;
}

struct ski_collection *ski_collection_expect(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = ski_collection_search(objects, id);

    return all || !ski_id_valid(objects->self, id) ? all : collection_add(objects, id);
}

struct ski_collection *ski_collection_get(struct ski_objects *objects, const char *call,
                                          uint64_t id)
{
    struct ski_collection *all = ski_collection_expect(objects, id);

    if (!all)
        ski_misuse("%s: %llx is not a collection that was ever created", call,
                   (unsigned long long)id);
    if (all->state == SKI_ENDED)
        ski_misuse("%s: a collection of %s that was destroyed", call, all->class->def.name);
    return all;
}

/* ---- messages that come too early, or too late -------------------------------------- */

void ski_msg_discard(skua_msg *msg)
{
    const struct ski_lifecycle *const *module = ski_self->objects->lifecycle.module;
    const struct ski_entry            *entry  = &ski_entries[msg->handler];

    ski_notify_message_discarded(&ski_self->objects->lifecycle, msg);
    for (; *module; module++)
        if ((*module)->discard && (*module)->discard(msg))
            return;
    if (entry->flags & SKI_ENTRY_INPLACE)
        entry->ops->discard(msg);
    else
        skua_msg_free(msg);
}

void ski_held_discard(struct ski_pe *self, struct ski_list *held)
{
    skua_msg *msg;

    while ((msg = ski_list_pop(held))) {
        self->held--;
        ski_msg_discard(msg);
    }
}

void ski_collection_drop(const struct ski_collection *all, skua_msg *msg)
{
    ski_assert(all->state == SKI_ENDED);
    if (msg->handler >= SKI_HANDLERS || !collection_lifecycle(all)->late[msg->handler])
        ski_log(SKI_LOG_WARN, "a message from PE %d to a collection of %s that was destroyed",
                msg->source, all->class->def.name);
    ski_msg_discard(msg);
}

bool ski_collection_awaited(struct ski_objects *objects, uint64_t id, skua_msg *msg,
                            struct ski_collection **found)
{
    struct ski_collection *all = ski_collection_find(objects, id);

    if (SKI_LIKELY(all && all->state == SKI_EXISTS)) {
        *found = all;
        return false;
    }
    all = ski_collection_expect(objects, id);
    if (!all)
        ski_fatal("PE %d sent a message to %llx, which is not a collection", msg->source,
                  (unsigned long long)id);
    if (all->state == SKI_ENDED) {
        ski_collection_drop(all, msg);
        return true;
    }
    ski_msg_hold(objects->self, &all->held, msg);
    return true;
}

bool ski_element_msg(skua_msg *msg, size_t least, struct ski_collection **all, skua_index *index)
{
    if (!(msg->flags & SKI_MSG_OBJECT) || msg->bytes < least)
        ski_fatal("PE %d sent a message about an element that names none, or is too short (%zu "
                  "bytes)",
                  msg->source, msg->bytes);
    *all = ski_self->objects->last;
    if (SKI_LIKELY((*all)->id == msg->target >> 8 && (*all)->quick_bytes &&
                   (*all)->quick_bytes == ski_target_bytes(msg->target) &&
                   (*all)->kind == SKI_ARRAY)) { /* it exists, and such indices are all valid */
        index->bytes = (*all)->quick_bytes;
        memset(&index->at, 0, sizeof index->at);
        memcpy(&index->at, msg->index, sizeof msg->index);
        return true;
    }
    if (ski_collection_awaited(ski_self->objects, msg->target >> 8, msg, all))
        return false;
    *index = ski_msg_index(msg);
    ski_check_index("a message of the runtime", *all, index);
    return true;
}

/* ---- elements here ------------------------------------------------------------------ */

/* Sets the room of the list of elements, and of their records. */
static void elements_set_room(struct ski_collection *all, uint32_t room)
{
    all->object_room = room;
    all->object      = ski_realloc(all->object, (room ? room : 1) * sizeof *all->object);
    if (all->measured)
        all->load = ski_realloc(all->load, (room ? room : 1) * sizeof *all->load);
}

void ski_elements_reserve(struct ski_collection *all, size_t more)
{
    ski_directory_reserve(&all->directory, more);
    elements_set_room(all, all->objects + (uint32_t)more);
}

void ski_elements_measure(struct ski_collection *all)
{
    if (all->measured)
        return;
    all->measured = true;
    elements_set_room(all, all->object_room);
    if (all->objects)
        memset(all->load, 0, all->objects * sizeof *all->load);
}

void ski_elements_add(struct ski_collection *all, struct ski_object *object)
{
    if (all->objects == all->object_room)
        elements_set_room(all, all->object_room ? 2 * all->object_room : 4);
    if (all->measured)
        all->load[all->objects] = (struct ski_element_load){0};
    object->position            = all->objects;
    all->object[all->objects++] = object;
    all->live++;
}

void ski_elements_remove(struct ski_collection *all, struct ski_object *object)
{
    ski_assert(all->object[object->position] == object && all->live > 0);
    all->live--;
    if (all->walking) {
        all->object[object->position] = NULL; /* a hole, until no loop runs */
    } else {
        all->object[object->position]           = all->object[--all->objects];
        all->object[object->position]->position = object->position;
        if (all->measured)
            all->load[object->position] = all->load[all->objects];
    }
}

void ski_elements_compact(struct ski_collection *all)
{
    uint32_t to = 0;

    ski_assert(!all->walking);
    for (uint32_t from = 0; from < all->objects; from++)
        if (all->object[from]) {
            all->object[to]           = all->object[from];
            all->object[to]->position = to;
            if (all->measured)
                all->load[to] = all->load[from];
            to++;
        }
    ski_assert(to == all->live);
    all->objects = to;
}

const void *ski_creation_data(const struct ski_collection *all, size_t *bytes)
{
    struct ski_creation *creation = skua_msg_data(all->creation);

    *bytes = all->creation->bytes - sizeof *creation;
    return creation + 1;
}

/* ---- indices and names -------------------------------------------------------------- */

static SKI_COLD _Noreturn void collection_wrong_index(const char                  *call,
                                                      const struct ski_collection *all,
                                                      const skua_index            *index)
{
    char text[SKI_INDEX_TEXT];

    ski_index_text(text, index, all->index_bytes > 0);
    if (index->bytes > SKUA_INDEX_MAX)
        ski_misuse("%s: an index of %s has %u bytes, at most %d are possible", call,
                   all->class->def.name, index->bytes, SKUA_INDEX_MAX);
    if (all->index_bytes && index->bytes != all->index_bytes)
        ski_misuse("%s: %s has %u dimensions, the indices of %s have %u", call, text,
                   index->bytes / 4, all->class->def.name, all->index_bytes / 4);
    ski_misuse("%s: there is no %s %s; this job has %d PEs in %d processes", call,
               all->class->def.name, text, skua_pes(), skua_processes());
}

bool ski_index_valid(const struct ski_collection *all, const skua_index *index)
{
    unsigned limit = all->kind == SKI_ARRAY           ? 0
                     : all->kind == SKI_PROCESS_GROUP ? (unsigned)skua_processes()
                     : all->kind == SKI_CHARES        ? all->self->objects->creators
                                                      : (unsigned)all->self->pes;

    return index->bytes <= SKUA_INDEX_MAX &&
           (!all->index_bytes || index->bytes == all->index_bytes) &&
           (!limit || (unsigned)index->at.x[0] < limit);
}

void ski_check_index(const char *call, const struct ski_collection *all, const skua_index *index)
{
    if (SKI_UNLIKELY(!ski_index_valid(all, index)))
        collection_wrong_index(call, all, index);
}

const char *ski_element_text(const struct ski_collection *all, const skua_index *index)
{
    static _Thread_local void *slot;
    const size_t               size = SKI_INDEX_TEXT + 64;
    char                      *text = ski_thread_memory(&slot, size);
    char                       number[SKI_INDEX_TEXT];

    if (!all->class)
        snprintf(text, size, "an object %s", ski_index_text(number, index, 1));
    else
        snprintf(text, size, "%.60s %s", all->class->def.name,
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

    ski_object_index_read(&index, ski_object_of(self));
    return index;
}

skua_ref skua_ref_of(const void *self)
{
    const struct ski_object *object = ski_object_of(self);
    skua_ref                 ref;

    ref.of.id = object->of->id;
    ski_object_index_read(&ref.index, object);
    return ref;
}

/* ---- start and end of a PE ---------------------------------------------------------- */

void ski_collections_begin(struct ski_objects *objects)
{
    objects->last        = &collection_none;
    objects->local_group = SKI_NO_GROUP;
    collection_table_grow(objects);
}

void ski_collections_each(const struct ski_objects *objects,
                          void (*fn)(struct ski_collection *all, void *arg), void *arg)
{
    for (uint64_t i = 0; i <= objects->mask; i++)
        if (objects->table[i])
            fn(objects->table[i], arg);
}

/* Frees a collection with its elements and the messages that wait for it. */
static void collection_free(struct ski_collection *all, void *arg)
{
    struct skua_msg *msg;

    (void)arg;
    for (uint32_t i = 0; i < all->objects; i++)
        if (all->object[i]) /* a hole, if the job ended inside of a loop */
            ski_object_free(all->object[i], ski_collection_pool(all));
    ski_notify_collection_freed(collection_lifecycle(all), all);
    ski_directory_destroy(&all->directory);
    while ((msg = ski_list_pop(&all->held)))
        skua_msg_free(msg);
    if (all->creation)
        skua_msg_free(all->creation);
    free(all->object);
    free(all->load);
    free(all);
}

void ski_collections_end(struct ski_objects *objects)
{
    ski_collections_each(objects, collection_free, NULL);
    free(objects->table);
}
