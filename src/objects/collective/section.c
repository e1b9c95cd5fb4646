/* SPDX-License-Identifier: Apache-2.0 */
/* section.c - see section.h. */
#include "objects/collective/section.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_counts.h"

#define SECTION_ENDED 1024 /* ended sections that a PE other than the root remembers */

/* ---- records --------------------------------------------------------------------------------- */

const char *ski_section_text(char text[SKI_SECTION_TEXT], uint64_t id)
{
    snprintf(text, SKI_SECTION_TEXT, "section %u of PE %d", (uint32_t)id, ski_section_root(id));
    return text;
}

/* Returns the first record of section @p id from @p link on. */
static struct ski_section *section_seek(struct ski_hash_link *link, uint64_t id)
{
    while (link && link->hash != id)
        link = link->next;
    return (struct ski_section *)link;
}

struct ski_section *ski_section_first(const struct ski_objects *objects, uint64_t id)
{
    return section_seek(ski_hash_first(&ski_sections_of(objects)->table, id), id);
}

struct ski_section *ski_section_sibling(const struct ski_section *section)
{
    return section_seek(section->link.next, section->id);
}

struct ski_section *ski_section_find(const struct ski_objects *objects, uint64_t id,
                                     uint32_t generation)
{
    struct ski_sections *sections = ski_sections_of(objects);
    struct ski_section  *section  = sections->last;

    if (SKI_LIKELY(section && section->id == id && section->generation == generation))
        return section;
    section = ski_section_first(objects, id);
    while (section && section->generation != generation)
        section = ski_section_sibling(section);
    if (section)
        sections->last = section;
    return section;
}

uint32_t ski_section_latest(const struct ski_objects *objects, uint64_t id)
{
    struct ski_section *section = ski_section_first(objects, id);
    uint32_t            latest  = 0;

    for (; section; section = ski_section_sibling(section))
        if (section->state != SKI_SECTION_VISITED && section->generation > latest)
            latest = section->generation;
    return latest;
}

static struct ski_section *section_add(struct ski_objects *objects, uint64_t id,
                                       uint32_t generation)
{
    struct ski_section *section = ski_calloc(1, sizeof *section);

    section->id         = id;
    section->generation = generation;
    section->self       = objects->self;
    ski_list_init(&section->held);
    ski_list_init(&section->behind);
    ski_hash_add(&ski_sections_of(objects)->table, &section->link, id);
    return section;
}

struct ski_section *ski_section_get(struct ski_objects *objects, uint64_t id, uint32_t generation)
{
    struct ski_section *section = ski_section_find(objects, id, generation);

    if (!section && !ski_id_valid(objects->self, id))
        ski_fatal("PE %d: %llx is not a section that was ever created", objects->self->pe,
                  (unsigned long long)id);
    return section ? section : section_add(objects, id, generation);
}

bool ski_section_destroyed(const struct ski_objects *objects, uint64_t id)
{
    const struct ski_sections *sections = ski_sections_of(objects);

    for (uint64_t i = 0; i < SECTION_ENDED && i < sections->ends; i++)
        if (sections->ended[i] == id)
            return true;
    return false;
}

/* Returns whether section @p id was destroyed, if none of its generations is in use here. */
static bool section_is_ended(const struct ski_objects *objects, uint64_t id)
{
    if (ski_section_root(id) == objects->self->pe)
        return (uint32_t)id <= ski_sections_of(objects)->created;
    return ski_section_destroyed(objects, id);
}

/* Returns whether @p id may be that of a section. */
static bool section_id_valid(const struct ski_objects *objects, uint64_t id)
{
    return ski_id_valid(objects->self, id) && (ski_section_root(id) != objects->self->pe ||
                                               (uint32_t)id <= ski_sections_of(objects)->created);
}

bool ski_section_ended(const struct ski_objects *objects, const char *call, uint64_t id)
{
    if (!section_id_valid(objects, id))
        ski_misuse("%s: %llx is not a section that was ever created", call, (unsigned long long)id);
    for (struct ski_section *s = ski_section_first(objects, id); s; s = ski_section_sibling(s))
        if (s->state != SKI_SECTION_VISITED)
            return false;
    return section_is_ended(objects, id);
}

/* Returns whether @p msg, for a generation of section @p id that is not in use here, came too late:
 * otherwise its creation is yet to come.
 *
 * A PE of the tree sends its messages after the creation of the generation, and in order: to a
 * child after its creation, to the parent and the root after theirs.  So those find a creation that
 * is being held (SKI_SECTION_CREATED), or the generation has ended here, by its own end or by that
 * of its collection.  The message of a member names the collection @p all.  It may overtake the
 * creation of a generation, unless the collection has ended. */
static bool section_msg_late(const struct ski_objects *objects, const skua_msg *msg, uint64_t id,
                             const struct ski_section *section, const struct ski_collection *all)
{
    if (all && all->state == SKI_ENDED)
        return true;
    if (section && section->state == SKI_SECTION_CREATED)
        return false;
    return !(msg->flags & SKI_MSG_OBJECT) || section_is_ended(objects, id);
}

/* Returns the collection that the message of a member names; NULL: @p msg is of a PE of the tree.
 */
static struct ski_collection *section_msg_collection(struct ski_objects *objects,
                                                     const skua_msg     *msg)
{
    struct ski_collection *all;

    if (!(msg->flags & SKI_MSG_OBJECT))
        return NULL;
    all = ski_collection_expect(objects, msg->target >> 8);
    if (!all)
        ski_fatal("PE %d sent a message to %llx, which is not a collection", msg->source,
                  (unsigned long long)(msg->target >> 8));
    return all;
}

/* Keeps @p msg until the generation is created.  The end of collection @p all, if that is known,
 * frees the message. */
static void section_hold(struct ski_section *section, struct ski_collection *all, skua_msg *msg)
{
    if (all && !section->of)
        ski_section_set_collection(section, all);
    ski_msg_hold(section->self, &section->held, msg);
}

struct ski_section *ski_section_awaited(skua_msg *msg, uint64_t id, uint32_t generation,
                                        bool *ended)
{
    struct ski_objects    *objects = ski_self->objects;
    struct ski_section    *section = ski_section_find(objects, id, generation);
    struct ski_collection *all;

    *ended = false;
    if (SKI_LIKELY(section && section->state == SKI_SECTION_JOINED))
        return section;
    if (!section_id_valid(objects, id))
        ski_fatal("PE %d sent a message for %llx, which is not a section", msg->source,
                  (unsigned long long)id);
    all    = section_msg_collection(objects, msg);
    *ended = section_msg_late(objects, msg, id, section, all);
    if (!*ended)
        section_hold(section ? section : section_add(objects, id, generation), all, msg);
    return NULL;
}

/* Returns the name of the class of a collection, which another PE may have made up. */
static const char *section_class_text(const struct ski_collection *all)
{
    return all->class ? all->class->def.name : "a collection that does not exist";
}

void ski_section_set_collection(struct ski_section *section, struct ski_collection *all)
{
    char text[SKI_SECTION_TEXT];

    if (section->of == all)
        return;
    if (section->of)
        ski_misuse("%s is of %s and of %s", ski_section_text(text, section->id),
                   section_class_text(section->of), section_class_text(all));
    ski_assert(section->self == all->self);
    section->of   = all;
    section->next = all->sections;
    all->sections = section;
}

/* ---- members --------------------------------------------------------------------------------- */

struct ski_section_member *ski_section_member_find(const struct ski_section *section,
                                                   const skua_index         *index)
{
    uint64_t              hash = ski_index_hash(index);
    struct ski_hash_link *link = ski_hash_first(&section->members, hash);

    while (link && (link->hash != hash ||
                    !ski_index_equal(&((struct ski_section_member *)link)->index, index)))
        link = link->next;
    return (struct ski_section_member *)link;
}

struct ski_section_member *ski_section_member_get(struct ski_section *section,
                                                  const skua_index   *index)
{
    struct ski_section_member *member = ski_section_member_find(section, index);

    if (member)
        return member;
    member            = ski_calloc(1, sizeof *member);
    member->index     = *index;
    member->seen      = SKI_SECTION_UNSEEN;
    member->delegate  = ski_section_root(section->id);
    member->successor = -1;
    ski_hash_add(&section->members, &member->link, ski_index_hash(index));
    return member;
}

void ski_section_member_here(struct ski_section_member *member, struct ski_object *object)
{
    if (object->sections == UINT16_MAX)
        ski_misuse("%s is in more than %d sections", ski_object_text(object), UINT16_MAX);
    ski_assert(!member->object);
    object->sections++;
    member->object = object;
}

static const struct ski_section_ops *section_ops(const struct ski_section *section)
{
    return ski_sections_of(section->self->objects)->ops;
}

static void section_drop_early(const struct ski_section *section, struct ski_section_member *member)
{
    struct skua_msg *msg;

    while ((msg = member->early)) {
        member->early = msg->link;
        section_ops(section)->multicast_free(msg);
    }
}

void ski_section_member_forget(struct ski_section *section, struct ski_section_member *member)
{
    if (member->object) {
        ski_assert(member->object->sections > 0);
        member->object->sections--;
    }
    if (ski_sections_of(section->self->objects)->receiver == member)
        ski_sections_of(section->self->objects)->receiver = NULL;
    section_drop_early(section, member);
    ski_hash_remove(&section->members, &member->link);
    section->forgotten++;
    free(member);
}

bool ski_section_member_tracked(const struct ski_section        *section,
                                const struct ski_section_member *member)
{
    return section->state == SKI_SECTION_JOINED &&
           (member->delegate == section->self->pe || section->parent < 0);
}

void ski_section_member_absent(struct ski_section *section, struct ski_section_member *member)
{
    if (!ski_section_member_tracked(section, member)) {
        ski_section_member_forget(section, member);
        return;
    }
    ski_assert(member->object && member->object->sections > 0);
    member->object->sections--;
    member->object = NULL;
    member->seen   = SKI_SECTION_UNSEEN;
    member->next   = 0;
    section_drop_early(section, member);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void section_free_member(struct ski_hash_link *link, void *arg)
{
    section_drop_early(arg, (struct ski_section_member *)link);
    free(link);
}

static void section_free_tree(struct ski_section *section)
{
    free(section->child);
    free(section->own);
    section->child     = NULL;
    section->own       = NULL;
    section->children  = 0;
    section->own_count = 0;
    section_ops(section)->reduction_free(&section->reduction);
    free(section->rebuild.lists);
    section->rebuild = (struct ski_section_rebuild){0};
}

static void section_free(struct ski_section *section)
{
    section_free_tree(section);
    ski_hash_each(&section->members, section_free_member, section);
    ski_hash_clear(&section->members);
    ski_held_discard(section->self, &section->held);
    ski_held_discard(section->self, &section->behind);
    if (section->end)
        skua_msg_free(section->end);
    free(section);
}

static void section_unlink(struct ski_sections *sections, struct ski_section *section)
{
    struct ski_section **at = section->of ? &section->of->sections : NULL;

    while (at && *at != section)
        at = &(*at)->next;
    if (at)
        *at = section->next;
    if (sections->last == section)
        sections->last = NULL;
    if (sections->running == section)
        sections->receiver = NULL;
    ski_hash_remove(&sections->table, &section->link);
}

void ski_section_release(struct ski_section *section)
{
    if (section->walking || (!section->over && (section->state != SKI_SECTION_VISITED ||
                                                section->members.count || section->held.first)))
        return;
    if (!section->over)
        section_unlink(ski_sections_of(section->self->objects), section);
    section_free(section);
}

void ski_section_enter(struct ski_section *section)
{
    section->walking++;
}

/* A member that is elsewhere learns of the end from the order that was sent after it. */
static void section_forget_absent(struct ski_hash_link *link, void *arg)
{
    struct ski_section_member *member = (struct ski_section_member *)link;

    if (!member->object)
        ski_section_member_forget(arg, member);
}

/* Leaves the tree of one generation. */
static void section_leave_generation(struct ski_section *section)
{
    ski_assert(section->state == SKI_SECTION_JOINED && section->walking == 0);
    section_free_tree(section);
    ski_hash_each(&section->members, section_forget_absent, section);
    section->state = SKI_SECTION_VISITED;
    ski_section_release(section);
}

void ski_section_leave_tree(struct ski_section *section)
{
    struct ski_sections *sections = ski_sections_of(section->self->objects);

    if (!sections->ended)
        sections->ended = ski_calloc(SECTION_ENDED, sizeof *sections->ended);
    sections->ended[sections->ends++ % SECTION_ENDED] = section->id;
    section_leave_generation(section);
}

/* Leaves the tree of a generation for which no further message can arrive. */
static void section_leave_superseded(struct ski_section *section)
{
    const struct ski_section_ops *ops = section_ops(section);
    struct ski_section           *next =
        ski_section_find(section->self->objects, section->id, section->generation + 1);

    section_leave_generation(section);
    ops->succeeded(next);
}

void ski_section_leave(struct ski_section *section)
{
    ski_assert(section->walking > 0);
    if (--section->walking > 0)
        return;
    if (section->end && !section->over)
        section_ops(section)->multicast_end(section);
    else if (section->switched && !section->over && section->state == SKI_SECTION_JOINED &&
             section_ops(section)->superseded(section))
        section_leave_superseded(section);
    else
        ski_section_release(section);
}

void ski_section_collection_deleted(struct ski_section *section)
{
    section_unlink(ski_sections_of(section->self->objects), section);
    section->over = true;
    ski_section_release(section);
}

/* ---- sections of an element ------------------------------------------------------------------ */

void ski_section_each_of(struct ski_object *object, ski_section_visit_fn *fn, void *arg)
{
    uint32_t            left = object->sections;
    struct ski_section *next;
    skua_index          index;

    if (left == 0)
        return;
    index = ski_object_index_get(object);
    for (struct ski_section *section = object->of->sections; section && left; section = next) {
        struct ski_section_member *member = ski_section_member_find(section, &index);

        next = section->next; /* fn() may free the record */
        if (!member || member->object != object)
            continue;
        fn(section, member, arg);
        left--;
    }
}

/* ---- a PE begins and ends -------------------------------------------------------------------- */

void ski_sections_begin(struct ski_objects *objects, const struct ski_section_ops *ops)
{
    struct ski_sections *sections = ski_calloc(1, sizeof *sections);

    sections->ops                    = ops;
    objects->slot[SKI_SLOT_SECTIONS] = sections;
}

static void section_free_link(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    section_free((struct ski_section *)link);
}

void ski_sections_end(struct ski_objects *objects)
{
    struct ski_sections *sections = ski_sections_of(objects);

    ski_hash_each(&sections->table, section_free_link, NULL);
    ski_hash_clear(&sections->table);
    free(sections->ended);
    free(sections);
}
