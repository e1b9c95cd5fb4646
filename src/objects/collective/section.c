/* SPDX-License-Identifier: Apache-2.0 */
/* section.c - see section.h. */
#include "objects/collective/section.h"

#include <stdio.h>

#include "base/memory.h"
#include "core/message/msg_counts.h"
#include "core/sched/wait_report.h"
#include "objects/location/location.h"
#include "objects/collective/section_multicast.h"

#define ENDED 1024 /* sections that are remembered after their end; the root knows anyway */

/* ---- the table -------------------------------------------------------------------- */

const char *ski_section_text(char text[SKI_SECTION_TEXT], uint64_t id)
{
    snprintf(text, SKI_SECTION_TEXT, "section %u of PE %d", (uint32_t)id, ski_section_root(id));
    return text;
}

struct ski_section *ski_section_find(const struct ski_objects *objects, uint64_t id)
{
    struct ski_sections  *sections = ski_sections_of(objects);
    struct ski_hash_link *link;

    if (SKI_LIKELY(sections->last && sections->last->id == id))
        return sections->last;
    link = ski_hash_first(&sections->table, id);
    while (link && link->hash != id)
        link = link->next;
    if (link)
        sections->last = (struct ski_section *)link;
    return (struct ski_section *)link;
}

static struct ski_section *add(struct ski_objects *objects, uint64_t id)
{
    struct ski_section *section = ski_calloc(1, sizeof *section);

    section->id   = id;
    section->self = objects->self;
    ski_list_init(&section->held);
    ski_list_init(&section->behind);
    ski_hash_add(&ski_sections_of(objects)->table, &section->link, id);
    return section;
}

struct ski_section *ski_section_get(struct ski_objects *objects, uint64_t id)
{
    struct ski_section *section = ski_section_find(objects, id);

    if (!section && !ski_id_valid(objects->self, id))
        ski_fatal("%llx is no section that was ever created", (unsigned long long)id);
    return section ? section : add(objects, id);
}

/* Whether it was deleted, as far as is known here: @p section is what is. */
static bool is_ended(const struct ski_objects *objects, const struct ski_section *section,
                     uint64_t id)
{
    const struct ski_sections *sections = ski_sections_of(objects);

    if (section && section->state != SKI_VISITED)
        return false;
    if (ski_section_root(id) == objects->self->pe)
        return (uint32_t)id <= sections->created;
    for (uint64_t i = 0; i < ENDED && i < sections->ends; i++)
        if (sections->ended[i] == id)
            return true;
    return false;
}

/* Whether it may have been created. */
static bool is_named(const struct ski_objects *objects, uint64_t id)
{
    return ski_id_valid(objects->self, id) && (ski_section_root(id) != objects->self->pe ||
                                               (uint32_t)id <= ski_sections_of(objects)->created);
}

bool ski_section_ended(const struct ski_objects *objects, const char *call, uint64_t id)
{
    if (!is_named(objects, id))
        ski_misuse("%s: %llx is no section that was ever created", call, (unsigned long long)id);
    return is_ended(objects, ski_section_find(objects, id), id);
}

struct ski_section *ski_section_awaited(skua_msg *msg, uint64_t id, bool *ended)
{
    struct ski_objects *objects = ski_self->objects;
    struct ski_section *section = ski_section_find(objects, id);

    *ended = false;
    if (SKI_LIKELY(section && section->state == SKI_JOINED))
        return section;
    if (!is_named(objects, id))
        ski_fatal("PE %d sent a message for %llx, which is no section", msg->source,
                  (unsigned long long)id);
    *ended = is_ended(objects, section, id);
    if (!*ended)
        ski_hold(objects->self, &(section ? section : add(objects, id))->held, msg);
    return NULL;
}

void ski_section_of(struct ski_section *section, struct ski_collection *all)
{
    char text[SKI_SECTION_TEXT];

    if (section->of == all)
        return;
    if (section->of)
        ski_misuse("%s is of %s and of %s", ski_section_text(text, section->id),
                   section->of->class->def.name, all->class->def.name);
    section->of   = all;
    section->next = all->sections;
    all->sections = section;
}

/* ---- members ------------------------------------------------------------------------ */

struct ski_enrolled *ski_enrolled_find(const struct ski_section *section, const skua_index *index)
{
    uint64_t              hash = ski_index_hash(index);
    struct ski_hash_link *link = ski_hash_first(&section->enrolled, hash);

    while (link &&
           (link->hash != hash || !ski_index_equal(&((struct ski_enrolled *)link)->index, index)))
        link = link->next;
    return (struct ski_enrolled *)link;
}

struct ski_enrolled *ski_enrolled_get(struct ski_section *section, const skua_index *index)
{
    struct ski_enrolled *member = ski_enrolled_find(section, index);

    if (member)
        return member;
    member          = ski_calloc(1, sizeof *member);
    member->index   = *index;
    member->seen    = SKI_UNSEEN;
    member->station = ski_section_root(section->id);
    ski_hash_add(&section->enrolled, &member->link, ski_index_hash(index));
    return member;
}

void ski_enrolled_here(struct ski_enrolled *member, struct ski_object *object)
{
    if (object->sections == UINT16_MAX)
        ski_misuse("%s is in more than %d sections", ski_object_text(object), UINT16_MAX);
    object->sections++;
    member->object = object;
}

static void drop_early(struct ski_enrolled *member)
{
    struct skua_msg *msg;

    while ((msg = member->early)) {
        member->early = msg->link;
        ski_multicast_free(msg);
    }
}

void ski_enrolled_forget(struct ski_section *section, struct ski_enrolled *member)
{
    if (member->object)
        member->object->sections--;
    drop_early(member);
    ski_hash_remove(&section->enrolled, &member->link);
    free(member);
}

bool ski_enrolled_known(const struct ski_section *section, const struct ski_enrolled *member)
{
    return section->state == SKI_JOINED &&
           (member->station == section->self->pe || section->parent < 0);
}

void ski_enrolled_away(struct ski_section *section, struct ski_enrolled *member)
{
    if (!ski_enrolled_known(section, member)) {
        ski_enrolled_forget(section, member);
        return;
    }
    member->object->sections--;
    member->object = NULL;
    member->seen   = SKI_UNSEEN;
    member->next   = 0;
    drop_early(member);
}

/* ---- the end ------------------------------------------------------------------------- */

static void free_member(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    drop_early((struct ski_enrolled *)link);
    free(link);
}

static void free_tree(struct ski_section *section)
{
    free(section->child);
    free(section->roster);
    section->child    = NULL;
    section->roster   = NULL;
    section->children = 0;
    section->rosters  = 0;
    ski_gather_free(&section->gather);
}

static void free_section(struct ski_section *section)
{
    free_tree(section);
    ski_hash_each(&section->enrolled, free_member, NULL);
    ski_hash_clear(&section->enrolled);
    ski_held_discard(section->self, &section->held);
    ski_held_discard(section->self, &section->behind);
    if (section->end)
        skua_msg_free(section->end);
    free(section);
}

static void take_out(struct ski_sections *sections, struct ski_section *section)
{
    struct ski_section **at = section->of ? &section->of->sections : NULL;

    while (at && *at != section)
        at = &(*at)->next;
    if (at)
        *at = section->next;
    if (sections->last == section)
        sections->last = NULL;
    ski_hash_remove(&sections->table, &section->link);
}

/* Nobody here is in it any more, and no message waits for it. */
static void tidy(struct ski_section *section)
{
    if (section->walking || (!section->over && (section->state != SKI_VISITED ||
                                                section->enrolled.count || section->held.first)))
        return;
    if (!section->over)
        take_out(ski_sections_of(section->self->objects), section);
    free_section(section);
}

void ski_section_enter(struct ski_section *section)
{
    section->walking++;
}

void ski_section_leave(struct ski_section *section)
{
    if (--section->walking > 0)
        return;
    if (section->end && !section->over)
        ski_multicast_end(section);
    else
        tidy(section);
}

/* Members that are away hear of it by what was sent after them. */
static void forget_away(struct ski_hash_link *link, void *arg)
{
    struct ski_enrolled *member = (struct ski_enrolled *)link;

    if (!member->object)
        ski_enrolled_forget(arg, member);
}

void ski_section_quit(struct ski_section *section)
{
    struct ski_sections *sections = ski_sections_of(section->self->objects);

    if (!sections->ended)
        sections->ended = ski_calloc(ENDED, sizeof *sections->ended);
    sections->ended[sections->ends++ % ENDED] = section->id;
    free_tree(section);
    ski_hash_each(&section->enrolled, forget_away, section);
    section->state = SKI_VISITED;
    tidy(section);
}

static void section_collection_ending(struct ski_collection *all)
{
    while (all->sections) {
        struct ski_section *section = all->sections;

        take_out(ski_sections_of(section->self->objects), section);
        section->over = true;
        tidy(section);
    }
}

static void section_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_SECTIONS] = ski_calloc(1, sizeof(struct ski_sections));
}

static void drop(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    free_section((struct ski_section *)link);
}

static void section_pe_end(struct ski_objects *objects)
{
    struct ski_sections *sections = ski_sections_of(objects);

    ski_hash_each(&sections->table, drop, NULL);
    ski_hash_clear(&sections->table);
    free(sections->ended);
    free(sections);
}

/* ---- objects come and go -------------------------------------------------------------- */

/* How far it is in a section, as it travels. */
struct carried {
    uint64_t id;
    uint32_t seen, next;
    int32_t  station;
    uint32_t zero;
};

typedef void visit_fn(struct ski_section *section, struct ski_enrolled *member, void *arg);

/* All sections that an object is known here to be in. */
static void each_of(struct ski_object *object, visit_fn *fn, void *arg)
{
    skua_index          index = ski_object_index_get(object);
    uint32_t            left  = object->sections;
    struct ski_section *next;

    for (struct ski_section *section = object->of->sections; section && left; section = next) {
        struct ski_enrolled *member = ski_enrolled_find(section, &index);

        next = section->next;
        if (!member || member->object != object)
            continue;
        fn(section, member, arg);
        left--;
    }
}

static size_t section_packed_bytes(const struct ski_object *object)
{
    return object->sections * sizeof(struct carried);
}

static void pack(struct ski_section *section, struct ski_enrolled *member, void *arg)
{
    struct carried carried = {section->id, member->seen, member->next, member->station, 0};
    char         **at      = arg;

    memcpy(*at, &carried, sizeof carried);
    *at += sizeof carried;
}

static void section_pack(struct ski_object *object, void *to)
{
    each_of(object, pack, &to);
}

static void leave(struct ski_section *section, struct ski_enrolled *member, void *arg)
{
    (void)arg;
    ski_multicast_follow(section, member);
    ski_enrolled_away(section, member);
    tidy(section);
}

static void section_element_departed(struct ski_object *object)
{
    each_of(object, leave, NULL);
}

static void die(struct ski_section *section, struct ski_enrolled *member, void *arg)
{
    (void)arg;
    ski_section_enter(section);
    ski_gather_died(section, member);
    ski_enrolled_away(section, member);
    ski_section_leave(section);
}

static void section_element_deleted(struct ski_object *object)
{
    each_of(object, die, NULL);
}

static void came(struct ski_object *object, const void *from)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);
    struct carried         carried;
    struct ski_section    *section;
    struct ski_enrolled   *member;

    memcpy(&carried, from, sizeof carried);
    section = ski_section_get(all->self->objects, carried.id);
    ski_section_of(section, all);
    member = ski_enrolled_get(section, &index);
    if (member->object || (unsigned)carried.station >= (unsigned)all->self->pes)
        ski_fatal("%s came to PE %d in a section that makes no sense", ski_object_text(object),
                  all->self->pe);
    ski_enrolled_here(member, object);
    member->seen = carried.seen;
    member->next = carried.next;
    if (!ski_enrolled_known(section, member))
        member->station = carried.station;
}

static bool section_packed_valid(const struct ski_collection *all, const void *from, size_t bytes)
{
    (void)all, (void)from;
    return bytes % sizeof(struct carried) == 0 && bytes / sizeof(struct carried) <= UINT16_MAX;
}

static void section_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(struct carried))
        came(object, (const char *)from + at);
}

static void section_report(struct ski_collection *all, struct ski_text *text)
{
    for (const struct ski_section *section = all->sections; section; section = section->next)
        ski_gather_explain(section, text);
}

static const struct ski_baggage section_baggage = {section_packed_bytes, section_pack,
                                                   section_packed_valid, section_unpack};

const struct ski_lifecycle ski_section_lifecycle = {
    .pe_begin          = section_pe_begin,
    .pe_end            = section_pe_end,
    .collection_ending = section_collection_ending,
    .collection_report = section_report,
    .element_deleted   = section_element_deleted,
    .element_departed  = section_element_departed,
    .baggage           = &section_baggage,
};
