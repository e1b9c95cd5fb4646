/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_sections.c - part `sections`: of each section, the members whose delegate the PE is.
 *
 *      struct section_saved | the index of each member | struct ski_saved_partial | its data | ...
 *
 * All multicasts have been delivered when a checkpoint is made.  So a restarted job needs of a
 * section its id, its members, and the partial results of reductions in progress: the root gathers
 * them, and creates the section again.  Elements have the numbers of their next reductions
 * (objects/collective/section_saved.h), which the PEs where they are restored send to the root as
 * well: struct section_next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/parts.h"
#include "core/sched/completion.h"
#include "objects/collective/section_reduction_member.h"
#include "objects/collective/section_saved.h"
#include "objects/collective/section_tree.h"

/* Members of a section; their indices follow, and partial results of `partial_bytes`. */
struct section_saved {
    uint64_t id, collection;
    uint64_t count, partial_bytes;
    uint32_t root;  /* 1: the PE is the root of the section, and knows ... */
    uint32_t first; /* ... its first reduction that is not complete */
};

/* The next reduction of a member. */
struct section_next {
    uint64_t   id;
    uint64_t   number;
    skua_index index;
};

/* A section at its root, while it is restored. */
struct ski_section_members {
    struct ski_section_members *next;
    uint64_t                    id, collection;
    size_t                      count;
    skua_index                 *index;
    uint32_t                    first; /* reduction that is not complete */
    size_t                      nexts, partial_bytes;
    struct section_next        *next_of; /* members that have contributed */
    char                       *partials;
};

/* ---- saving ---------------------------------------------------------------------------- */

/* Returns whether a record is that of the generation in use, at a PE of its tree. */
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

static void sections_refuse_partial(const struct ski_saved_partial *partial, const void *data,
                                    void *arg)
{
    struct sections_refusal *to = arg;
    char                     text[SKI_SECTION_TEXT];

    (void)data;
    to->refused =
        to->refused || !ski_saved_partial_possible(partial, ski_section_text(text, partial->id),
                                                   to->why, to->room);
}

static void sections_refuse(struct ski_hash_link *link, void *arg)
{
    const struct ski_section *section = (struct ski_section *)link;
    struct sections_refusal  *to      = arg;
    char                      text[SKI_SECTION_TEXT];

    ski_section_each_partial(section, sections_refuse_partial, arg);
    if (to->refused || !section->reduction.partials || sections_in_use(section))
        return;
    to->refused = true;
    snprintf(to->why, to->room,
             "%s cannot be saved: a reduction is under way in a tree that was rebuilt meanwhile; "
             "make the checkpoint when its result has arrived",
             ski_section_text(text, section->id));
}

bool ski_part_sections_possible(struct ski_pe *self, char *why, size_t room)
{
    struct sections_refusal to = {why, room, false};

    ski_hash_each(&ski_sections_of(self->objects)->table, sections_refuse, &to);
    return !to.refused;
}

static void sections_measure_partial(const struct ski_saved_partial *partial, const void *data,
                                     void *arg)
{
    (void)data;
    *(uint64_t *)arg += sizeof *partial + partial->bytes;
}

static void sections_save_partial(const struct ski_saved_partial *partial, const void *data,
                                  void *to)
{
    ski_image_write(to, partial, sizeof *partial);
    ski_image_write(to, data, partial->bytes);
}

/* Saves what this PE knows of a section: its own members and its partial results. */
static void sections_save_one(struct ski_hash_link *link, void *to)
{
    const struct ski_section *section = (struct ski_section *)link;
    struct section_saved      saved   = {
               .id = section->id, .root = section->parent < 0, .first = section->reduction.first};

    if (!sections_in_use(section))
        return;
    saved.collection = section->of->id;
    for (size_t i = 0; i < section->own_count; i++)
        saved.count += !section->own[i]->gone;
    ski_section_each_partial(section, sections_measure_partial, &saved.partial_bytes);
    ski_image_write(to, &saved, sizeof saved);
    for (size_t i = 0; i < section->own_count; i++)
        if (!section->own[i]->gone)
            ski_image_write(to, &section->own[i]->index, sizeof section->own[i]->index);
    ski_section_each_partial(section, sections_save_partial, to);
}

void ski_part_sections_save(struct ski_pe *self, struct ski_image_writer *to,
                            const struct ski_image_common *common)
{
    (void)common;
    ski_hash_each(&ski_sections_of(self->objects)->table, sections_save_one, to);
}

/* ---- restoring ------------------------------------------------------------------------- */

/* Returns the number of bytes that follow the head of a record. */
static size_t sections_bytes(const struct section_saved *saved)
{
    return saved->count * sizeof(skua_index) + saved->partial_bytes;
}

/* Reads the head of a record. Returns what follows it, or NULL if the record is too short. */
static const void *sections_read(struct ski_image_reader *from, struct section_saved *saved)
{
    if (!ski_image_get(from, saved) || saved->count > ski_image_left(from) / sizeof(skua_index) ||
        saved->partial_bytes > ski_image_left(from) - saved->count * sizeof(skua_index))
        return NULL;
    return ski_image_read(from, sections_bytes(saved));
}

const char *ski_part_sections_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart)
{
    struct section_saved saved;

    (void)restart;
    while (ski_image_left(from) > 0) {
        const void *rest = sections_read(from, &saved);

        if (!rest || !ski_id_valid(self, saved.id))
            return "a section is not valid";
        ski_record_send(self, ski_section_root(saved.id), SKI_RECORD_SECTION, &saved, sizeof saved,
                        rest, sections_bytes(&saved));
    }
    return NULL;
}

/* Returns the section that is being gathered here, which is added if it is new.  Messages to it
 * wait from now on until it is created. */
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

/* Returns whether all indices may be those of elements of a collection that was restored. */
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
        if (index.bytes > SKUA_INDEX_MAX || (all->index_bytes && all->index_bytes != index.bytes) ||
            (all->kind != SKI_ARRAY && index.at.x[0] < 0))
            return false;
    }
    return true;
}

/* Appends @p bytes at @p data to the @p have bytes at @p to, which may be NULL. */
static void *sections_append(void *to, size_t have, const void *data, size_t bytes)
{
    char *grown = ski_realloc(to, have + bytes + 1);

    if (bytes)
        memcpy(grown + have, data, bytes);
    return grown;
}

const char *ski_record_section(struct ski_pe *self, struct ski_image_reader *record)
{
    struct section_saved        saved;
    const char                 *rest = sections_read(record, &saved);
    size_t                      members;
    struct ski_section_members *section;

    if (!rest || !sections_valid(self, &saved, rest))
        return "a section is not valid";
    members             = saved.count * sizeof(skua_index);
    section             = sections_get(self, saved.id);
    section->collection = saved.collection;
    section->index =
        sections_append(section->index, section->count * sizeof(skua_index), rest, members);
    section->partials = sections_append(section->partials, section->partial_bytes, rest + members,
                                        saved.partial_bytes);
    section->count += saved.count;
    section->partial_bytes += saved.partial_bytes;
    if (saved.root)
        section->first = saved.first;
    return NULL;
}

const char *ski_record_section_next(struct ski_pe *self, struct ski_image_reader *record)
{
    struct section_next         next;
    struct ski_section_members *section;

    if (!ski_image_get(record, &next) || !ski_id_valid(self, next.id) ||
        ski_section_root(next.id) != self->pe || next.index.bytes > SKUA_INDEX_MAX)
        return "the next reduction of an element is not valid";
    section = sections_get(self, next.id);
    section->next_of =
        sections_append(section->next_of, section->nexts++ * sizeof next, &next, sizeof next);
    return NULL;
}

static void sections_tell_root(struct ski_section *section, struct ski_section_member *member,
                               void *arg)
{
    struct section_next next = {section->id, member->next, member->index};

    if (member->next > 0)
        ski_record_send(arg, ski_section_root(section->id), SKI_RECORD_SECTION_NEXT, &next,
                        sizeof next, NULL, 0);
}

void ski_part_sections_placed(struct ski_object *object)
{
    ski_section_each_of(object, sections_tell_root, object->of->self);
}

/* ---- continuation ---------------------------------------------------------------------- */

/* Returns whether a member still exists: a group may have fewer members now. */
static bool sections_exists(const struct ski_collection *all, const skua_index *index)
{
    int most = all->kind == SKI_GROUP           ? all->self->pes
               : all->kind == SKI_PROCESS_GROUP ? all->self->job->processes
                                                : INT32_MAX;

    return all->kind == SKI_ARRAY || index->at.x[0] < most;
}

static const char *sections_add_partial(struct ski_section             *section,
                                        const struct ski_saved_partial *partial, const void *data)
{
    return ski_section_add_partial(section, partial, data) ? NULL : "its data is not valid";
}

/* Adds what was combined of reductions; ends the job if that is not valid. */
static void sections_add_partials(struct ski_section               *section,
                                  const struct ski_section_members *from)
{
    struct ski_image_reader  rest = {.base = (const unsigned char *)from->partials,
                                     .end  = from->partial_bytes};
    struct ski_saved_partial partial;
    char                     name[SKI_SECTION_TEXT];

    while (ski_image_left(&rest) > 0) {
        const void *data = NULL;
        const char *why  = "its data is damaged";

        if (!ski_image_get(&rest, &partial) || !(data = ski_image_read(&rest, partial.bytes)) ||
            (why = ski_completion_restore(&partial.to)) ||
            (why = sections_add_partial(section, &partial, data)))
            ski_fatal("restart on PE %d: a reduction of %s in progress cannot continue: %s",
                      section->self->pe, ski_section_text(name, section->id), why);
    }
}

static void sections_create(struct ski_collection *all, struct ski_section_members *from)
{
    struct ski_section *section;
    size_t              count = 0;

    for (size_t i = 0; i < from->count; i++)
        if (sections_exists(all, &from->index[i]))
            from->index[count++] = from->index[i];
    section = ski_section_tree_restore(all, from->id, from->index, count, from->first);
    sections_add_partials(section, from);
    ski_section_enter(section);
    for (size_t i = 0; i < from->nexts; i++)
        ski_section_reduction_late(section, &from->next_of[i].index,
                                   (uint32_t)from->next_of[i].number);
    ski_section_leave(section);
}

void ski_part_sections_resume(struct ski_pe *self)
{
    struct ski_section_members *from;

    while ((from = ski_checkpoint_of(self)->sections)) {
        struct ski_collection *all = ski_collection_find(self->objects, from->collection);

        if (all) /* else the section was destroyed, and an element still has a position in it */
            sections_create(all, from);
        ski_checkpoint_of(self)->sections = from->next;
        free(from->index);
        free(from->next_of);
        free(from->partials);
        free(from);
    }
}
