/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_elements.c - parts `elements` and `deleted`.
 *
 *      elements   the record of each element (objects/model/saved_element.h), one after the other
 *      destroyed    of elements that were destroyed and whose home the PE is: struct location_saved
 *
 * The home of an element has to know where it is, and how often elements of its index have
 * migrated: so an element that is not at its home tells it, and so do the records of destroyed
 * ones.
 */
#include <stdio.h>

#include "base/memory.h"
#include "checkpoint/parts.h"
#include "objects/location/home.h"
#include "objects/location/location.h"
#include "objects/model/saved_element.h"
#include "objects/zerocopy/object_channel_end.h"

/* Where an element is, or that it was destroyed. */
struct location_saved {
    uint64_t                   id;
    skua_index                 index;
    struct ski_location_update update;
};

/* ---- saving ---------------------------------------------------------------------------- */

static void elements_save_one(struct ski_object *object, void *to)
{
    struct ski_saved_element head;
    void                    *room;

    if (object->state >= SKI_DEAD)
        return;
    room = ski_image_reserve(to, ski_saved_element_measure(object, &head));
    if (room)
        ski_saved_element_write(object, &head, room);
}

static void elements_save_collection(struct ski_collection *all, void *to)
{
    if (all->state == SKI_EXISTS)
        ski_elements_each(all, elements_save_one, to);
}

void ski_part_elements_save(struct ski_pe *self, struct ski_image_writer *to,
                            const struct ski_image_common *common)
{
    (void)common;
    ski_collections_each(self->objects, elements_save_collection, to);
}

static void deleted_save_collection(struct ski_collection *all, void *to)
{
    for (uint64_t i = 0;
         all->state == SKI_EXISTS && all->directory.slot && i <= all->directory.mask; i++) {
        const struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);
        struct location_saved    saved  = {.id = all->id};

        if (!absent || absent->pe != SKI_ABSENT_DELETED ||
            ski_home(all, &absent->index) != all->self->pe)
            continue;
        saved.index  = absent->index;
        saved.update = (struct ski_location_update){absent->pe, absent->moves};
        ski_image_write(to, &saved, sizeof saved);
    }
}

void ski_part_deleted_save(struct ski_pe *self, struct ski_image_writer *to,
                           const struct ski_image_common *common)
{
    (void)common;
    ski_collections_each(self->objects, deleted_save_collection, to);
}

/* ---- where an element goes --------------------------------------------------------------- */

static bool elements_index_valid(const struct ski_collection *all, const skua_index *index)
{
    if (index->bytes > SKUA_INDEX_MAX || (all->index_bytes && all->index_bytes != index->bytes))
        return false;
    if (all->kind == SKI_ARRAY)
        return true;
    return index->at.x[0] >= 0 && (uint32_t)index->at.x[0] < all->self->objects->creators;
}

/* Returns the collection @p id if it is in the image and the index may be in it; NULL otherwise. */
static struct ski_collection *elements_collection(struct ski_pe *self, uint64_t id,
                                                  const skua_index *index)
{
    struct ski_collection *all = ski_collection_find(self->objects, id);

    if (!all || (all->state != SKI_DEFINED && all->state != SKI_EXISTS) ||
        !elements_index_valid(all, index))
        return NULL;
    return all;
}

/* Restores an element on this PE, and reports its location to its home. */
static const char *elements_add(struct ski_collection *all, const skua_index *index,
                                const void *record)
{
    const char           *why;
    struct location_saved saved = {.id = all->id, .index = *index};
    int                   home;
    struct ski_object    *object = ski_saved_element_restore(all, index, record, &why);

    if (!object)
        return why;
    ski_part_isomalloc_placed(object);
    ski_part_sections_placed(object);
    if (all->kind != SKI_ARRAY && all->kind != SKI_CHARES)
        return NULL;
    home         = ski_home(all, index);
    saved.update = (struct ski_location_update){all->self->pe, object->moves};
    if (home != all->self->pe)
        ski_record_send(all->self, home, SKI_RECORD_LOCATION, &saved, sizeof saved, NULL, 0);
    return NULL;
}

/* Adds an element on PE @p pe, under @p index, by its record. */
static const char *elements_send(struct ski_collection *all, int pe, const skua_index *index,
                                 const void *record, size_t bytes)
{
    if (pe == all->self->pe)
        return elements_add(all, index, record);
    ski_record_send(all->self, pe, SKI_RECORD_ELEMENT, index, sizeof *index, record, bytes);
    return NULL;
}

/* Makes members of a group, of @p have members in the former job and @p want now, of one. */
static const char *elements_send_members(struct ski_collection *all, const skua_index *index,
                                         int have, int want, const void *record, size_t bytes)
{
    const char *why = NULL;

    for (int i = index->at.x[0]; i < want && !why; i += have) {
        skua_index member = skua_index1(i);

        why = elements_send(all, ski_home(all, &member), &member, record, bytes);
    }
    return why;
}

/* Returns whether a record has ends of object channels. */
static bool elements_have_channels(const struct ski_pe *self, const struct ski_saved_element *head)
{
    const struct ski_saved_part *const *saved = self->objects->lifecycle.saved;

    for (int i = 0; saved[i]; i++)
        if (saved[i] == &ski_object_end_saved)
            return head->part_bytes[i] > 0;
    return false;
}

/* Groups have a member for each PE or process: copies of a member have no channels. */
static const char *elements_restore_members(struct ski_collection          *all,
                                            const struct ski_saved_element *head,
                                            const skua_index               *index,
                                            const struct ski_restart *restart, const void *record)
{
    static _Thread_local void *slot;
    const size_t               size = 300;
    const struct ski_pe       *self = all->self;
    int have = all->kind == SKI_GROUP ? restart->common.pes : restart->common.processes;
    int want = all->kind == SKI_GROUP ? self->pes : self->job->processes;

    if (have != want && elements_have_channels(self, head)) {
        char *why = ski_thread_memory(&slot, size);

        snprintf(why, size,
                 "a group of class %.100s has a member with ends of object channels, so the job is "
                 "restarted only on as many PEs and processes: %d of them and not %d",
                 all->class->def.name, have, want);
        return why;
    }
    return elements_send_members(all, index, have, want, record, head->bytes);
}

/* Reads the record of an element and sends it to the PE that restores the element; the record of a
 * member of a group, to all PEs that get a copy of it. */
static const char *elements_restore_one(struct ski_pe *self, struct ski_image_reader *from,
                                        const struct ski_restart *restart)
{
    struct ski_saved_element head;
    skua_index               index;
    struct ski_collection   *all;
    const void              *record;

    if (!ski_saved_element_read(ski_image_read(from, 0), ski_image_left(from), &head, &index))
        return "the record of an element is damaged";
    record = ski_image_read(from, head.bytes);
    all    = elements_collection(self, head.id, &index);
    if (!all)
        return "an element is of no collection";
    if (all->kind == SKI_GROUP || all->kind == SKI_PROCESS_GROUP)
        return elements_restore_members(all, &head, &index, restart, record);
    return elements_send(all, restart->same ? restart->reading : ski_home(all, &index), &index,
                         record, head.bytes);
}

const char *ski_part_elements_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart)
{
    const char *why = NULL;

    while (!why && ski_image_left(from) > 0)
        why = elements_restore_one(self, from, restart);
    return why;
}

const char *ski_record_element(struct ski_pe *self, struct ski_image_reader *record)
{
    struct ski_saved_element head;
    struct ski_collection   *all;
    skua_index               index, former;

    if (!ski_image_get(record, &index) ||
        !ski_saved_element_read(ski_image_read(record, 0), ski_image_left(record), &head, &former))
        return "the record of an element is damaged";
    all = elements_collection(self, head.id, &index);
    return all ? elements_add(all, &index, ski_image_read(record, 0))
               : "an element is of no collection";
}

/* ---- locations --------------------------------------------------------------------------- */

const char *ski_record_location(struct ski_pe *self, struct ski_image_reader *record)
{
    struct location_saved  saved;
    struct ski_collection *all;

    if (!ski_image_get(record, &saved) ||
        !(all = elements_collection(self, saved.id, &saved.index)) ||
        saved.update.pe < SKI_ABSENT_DELETED || saved.update.pe >= self->pes ||
        saved.update.pe == SKI_ABSENT_UNKNOWN || !all->directory.slot)
        return "the location of an element is not valid";
    ski_location_update(all, &saved.index, &saved.update);
    return NULL;
}

const char *ski_part_deleted_restore(struct ski_pe *self, struct ski_image_reader *from,
                                     struct ski_restart *restart)
{
    struct location_saved  saved;
    struct ski_collection *all;

    (void)restart;
    while (ski_image_left(from) > 0) {
        if (!ski_image_get(from, &saved) ||
            !(all = elements_collection(self, saved.id, &saved.index)) ||
            !ski_index_valid(all, &saved.index))
            return "a destroyed element is of no collection";
        ski_record_send(self, ski_home(all, &saved.index), SKI_RECORD_LOCATION, &saved,
                        sizeof saved, NULL, 0);
    }
    return NULL;
}
