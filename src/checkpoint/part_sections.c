/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_sections.c - part `sections`: of each section, the members whose delegate the PE is.
 *
 *      struct section_saved | the index of each member | struct section_saved ...
 *
 * All multicasts have been delivered when a checkpoint is made, and a checkpoint is refused while a
 * reduction of a section is under way.  So a restarted job needs nothing of a section but its id
 * and its members: the root gathers them, and creates the section again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/parts.h"
#include "objects/collective/section_tree.h"

/* Members of a section; their indices follow. */
struct section_saved {
    uint64_t id, collection;
    uint64_t count;
};

/* A section at its root, while it is restored. */
struct ski_section_members {
    struct ski_section_members *next;
    uint64_t                    id, collection;
    size_t                      count;
    skua_index                 *index;
};

/* ---- saving ---------------------------------------------------------------------------- */

/* Whether a record is that of the generation in use, at a PE of its tree. */
static bool sections_in_use(const struct ski_section *section)
{
    return section->state == SKI_SECTION_JOINED && !section->switched && !section->over &&
           !section->end;
}

struct sections_refusal {
    char  *why;
    size_t room;
    bool   refused;
};

static void sections_refuse(struct ski_hash_link *link, void *arg)
{
    const struct ski_section *section = (struct ski_section *)link;
    struct sections_refusal  *to      = arg;
    char                      text[SKI_SECTION_TEXT];

    if (to->refused || !section->reduction.partials)
        return;
    to->refused = true;
    snprintf(to->why, to->room,
             "%s cannot be saved: a reduction of it is under way; make the checkpoint when its "
             "members have all contributed, and the result has come",
             ski_section_text(text, section->id));
}

bool ski_part_sections_possible(struct ski_pe *self, char *why, size_t room)
{
    struct sections_refusal to = {why, room, false};

    ski_hash_each(&ski_sections_of(self->objects)->table, sections_refuse, &to);
    return !to.refused;
}

static void sections_save_one(struct ski_hash_link *link, void *to)
{
    const struct ski_section *section = (struct ski_section *)link;
    struct section_saved      saved   = {.id = section->id};

    if (!sections_in_use(section))
        return;
    saved.collection = section->of->id;
    for (size_t i = 0; i < section->own_count; i++)
        saved.count += !section->own[i]->gone;
    ski_image_write(to, &saved, sizeof saved);
    for (size_t i = 0; i < section->own_count; i++)
        if (!section->own[i]->gone)
            ski_image_write(to, &section->own[i]->index, sizeof section->own[i]->index);
}

void ski_part_sections_save(struct ski_pe *self, struct ski_image_writer *to,
                            const struct ski_image_common *common)
{
    (void)common;
    ski_hash_each(&ski_sections_of(self->objects)->table, sections_save_one, to);
}

/* ---- restoring ------------------------------------------------------------------------- */

/* Reads the head of a record, and its members, which are returned; NULL: it is too short. */
static const void *sections_read(struct ski_image_reader *from, struct section_saved *saved)
{
    if (!ski_image_get(from, saved) || saved->count > ski_image_left(from) / sizeof(skua_index))
        return NULL;
    return ski_image_read(from, saved->count * sizeof(skua_index));
}

const char *ski_part_sections_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart)
{
    struct section_saved saved;

    (void)restart;
    while (ski_image_left(from) > 0) {
        const void *members = sections_read(from, &saved);

        if (!members || !ski_id_valid(self, saved.id))
            return "a section is not valid";
        ski_record_send(self, ski_section_root(saved.id), SKI_RECORD_SECTION, &saved, sizeof saved,
                        members, saved.count * sizeof(skua_index));
    }
    return NULL;
}

/* The section that is being gathered here, which is added if it is new.  Messages to it wait from
 * now on until it is created. */
static struct ski_section_members *sections_get(struct ski_pe *self, uint64_t id)
{
    struct ski_section_members **at = &ski_checkpoint_of(self)->sections;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!*at) {
        *at                                          = ski_calloc(1, sizeof **at);
        (*at)->id                                    = id;
        ski_section_get(self->objects, id, 0)->state = SKI_SECTION_CREATED;
    }
    return *at;
}

/* Whether all indices may be those of elements of a collection that was restored. */
static bool sections_valid(struct ski_pe *self, const struct section_saved *saved,
                           const void *members)
{
    const struct ski_collection *all = ski_collection_find(self->objects, saved->collection);
    skua_index                   index;

    if (!all || all->state != SKI_DEFINED || !ski_id_valid(self, saved->id) ||
        ski_section_root(saved->id) != self->pe)
        return false;
    for (size_t i = 0; i < saved->count; i++) {
        memcpy(&index, (const char *)members + i * sizeof index, sizeof index);
        if (index.bytes > SKUA_INDEX_MAX || (all->index_bytes && all->index_bytes != index.bytes))
            return false;
    }
    return true;
}

const char *ski_record_section(struct ski_pe *self, struct ski_image_reader *record)
{
    struct section_saved        saved;
    const void                 *members = sections_read(record, &saved);
    struct ski_section_members *section;

    if (!members || !sections_valid(self, &saved, members))
        return "a section is not valid";
    section             = sections_get(self, saved.id);
    section->collection = saved.collection;
    section->index =
        ski_realloc(section->index, (section->count + saved.count + 1) * sizeof *section->index);
    if (saved.count)
        memcpy(section->index + section->count, members, saved.count * sizeof(skua_index));
    section->count += saved.count;
    return NULL;
}

/* A member of a group that has fewer members now is not in the section any more. */
static bool sections_exists(const struct ski_collection *all, const skua_index *index)
{
    int most = all->kind == SKI_GROUP           ? all->self->pes
               : all->kind == SKI_PROCESS_GROUP ? all->self->job->processes
                                                : INT32_MAX;

    return all->kind == SKI_ARRAY || index->at.x[0] < most;
}

void ski_part_sections_resume(struct ski_pe *self)
{
    struct ski_section_members *section;

    while ((section = ski_checkpoint_of(self)->sections)) {
        struct ski_collection *all   = ski_collection_find(self->objects, section->collection);
        size_t                 count = 0;

        for (size_t i = 0; i < section->count; i++)
            if (sections_exists(all, &section->index[i]))
                section->index[count++] = section->index[i];
        ski_section_tree_restore(all, section->id, section->index, count);
        ski_checkpoint_of(self)->sections = section->next;
        free(section->index);
        free(section);
    }
}
