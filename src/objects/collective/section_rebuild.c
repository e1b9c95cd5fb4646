/* SPDX-License-Identifier: Apache-2.0 */
/* section_rebuild.c - see section_rebuild.h. */
#include "objects/collective/section_rebuild.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "objects/collective/section_list.h"
#include "objects/collective/section_multicast.h"
#include "objects/collective/section_reduction_member.h"
#include "objects/collective/section_tree.h"
#include "objects/location/lookup.h"

enum section_rebuild_kind {
    SECTION_REBUILD_CALL,  /* to the root: the program requests a rebuild */
    SECTION_REBUILD_AWAY,  /* to the root: `count` more members are away from their delegate */
    SECTION_REBUILD_ASK,   /* to a child: where are the members? */
    SECTION_REBUILD_FOUND, /* to the parent: `count` lists follow */
};

struct section_rebuild_head {
    _Alignas(8) uint64_t id;
    uint32_t generation;
    uint32_t kind; /* enum section_rebuild_kind */
    uint32_t count;
    uint32_t zero;
};

_Static_assert(sizeof(struct section_rebuild_head) == SKI_SECTION_REBUILD_MIN,
               "see section_rebuild.h");

static void section_rebuild_send(int pe, const struct section_rebuild_head *head, const void *data,
                                 size_t bytes)
{
    skua_send(pe, (skua_handler){SKI_HANDLER_SECTION_REBUILD},
              ski_msg_with_header(head, sizeof *head, data, bytes));
}

static struct section_rebuild_head section_rebuild_head_make(const struct ski_section *section,
                                                             enum section_rebuild_kind kind,
                                                             uint32_t                  count)
{
    return (struct section_rebuild_head){section->id, section->generation, (uint32_t)kind, count,
                                         0};
}

/* ---- when ------------------------------------------------------------------------------------ */

static bool section_rebuild_exceeds_share(uint64_t away, uint64_t members)
{
    return away * 100 > members * (uint64_t)ski_config.section_rebuild;
}

void ski_section_rebuild_away(struct ski_section *section, size_t away)
{
    struct ski_section_rebuild *rebuild = &section->rebuild;
    struct section_rebuild_head head;

    rebuild->sent_after += away;
    if (rebuild->sent_after < section->own_count ||
        !section_rebuild_exceeds_share(away, section->own_count) ||
        away <= rebuild->reported + rebuild->reported / 4)
        return;
    head              = section_rebuild_head_make(section, SECTION_REBUILD_AWAY,
                                                  (uint32_t)away - rebuild->reported);
    rebuild->reported = (uint32_t)away;
    section_rebuild_send(ski_section_root(section->id), &head, NULL, 0);
}

/* ---- where the members are ------------------------------------------------------------------- */

static void section_rebuild_query(struct ski_section *section);

/* At the root: begins to rebuild, unless a rebuild is in progress, or the section ends. */
static void section_rebuild_begin(struct ski_section *section)
{
    const struct ski_section *before =
        section->generation == 0
            ? NULL
            : ski_section_find(section->self->objects, section->id, section->generation - 1);

    if (section->rebuild.asked || section->switched || section->end ||
        (before && before->state == SKI_SECTION_JOINED))
        return;
    section->rebuild.called = section->rebuild.wanted;
    section->rebuild.wanted = false;
    section_rebuild_query(section);
}

/* Appends @p words of @p count lists to those that this delegate has. */
static void section_rebuild_append(struct ski_section *section, const uint32_t *lists, size_t words,
                                   uint32_t count)
{
    struct ski_section_rebuild *rebuild = &section->rebuild;

    if (words == 0) /* all members of a delegate, and of those below it, were destroyed */
        return;
    rebuild->lists = ski_realloc(rebuild->lists, (rebuild->words + words) * sizeof *rebuild->lists);
    memcpy(rebuild->lists + rebuild->words, lists, words * sizeof *lists);
    rebuild->words += words;
    rebuild->lists_count += count;
}

/* Chooses a successor for each own member, and lists them; returns how many are away. */
static uint32_t section_rebuild_list_own(struct ski_section *section)
{
    uint32_t one[SKI_SECTION_LIST_HEAD + 1 + (SKUA_INDEX_MAX + 3) / 4];
    uint32_t away = 0;

    for (size_t i = 0; i < section->own_count; i++) {
        struct ski_section_member *member = section->own[i];

        member->successor = -1; /* the root may have given up after the choice before */
        if (member->gone)
            continue;
        member->successor = member->object || ski_element_here(section->of, &member->index)
                                ? section->self->pe
                                : ski_lookup_believed(section->of, &member->index);
        away += member->successor != section->self->pe;
        ski_section_list_begin(one, member->successor);
        ski_section_list_append(one, &member->index);
        section_rebuild_append(section, one,
                               (size_t)SKI_SECTION_LIST_HEAD + one[SKI_SECTION_LIST_WORDS], 1);
    }
    return away;
}

static void section_rebuild_drop_lists(struct ski_section_rebuild *rebuild)
{
    free(rebuild->lists);
    rebuild->lists       = NULL;
    rebuild->words       = 0;
    rebuild->lists_count = 0;
}

/* At the root: counts the members that are away from their delegates, of all in the lists. */
static uint64_t section_rebuild_count_away(const struct ski_section *section)
{
    const uint32_t *list = section->rebuild.lists;
    uint64_t        away = 0;

    for (uint32_t i = 0; i < section->rebuild.lists_count;
         i++, list = ski_section_list_next(list)) {
        const struct ski_section_member *member;
        skua_index                       index;

        ski_section_list_read(list + SKI_SECTION_LIST_HEAD, &index);
        member = ski_section_member_find(section, &index);
        away += member && member->delegate != (int32_t)list[SKI_SECTION_LIST_PE];
    }
    return away;
}

/* At the root: all members are found.  Sends the order to switch, or gives up if that does not
 * pay. */
static void section_rebuild_decide(struct ski_section *section)
{
    struct ski_section_rebuild *rebuild = &section->rebuild;

    rebuild->away = section_rebuild_count_away(section);
    if (rebuild->away > 0 &&
        (rebuild->called || section_rebuild_exceeds_share(rebuild->away, rebuild->lists_count)))
        ski_section_multicast_switch(section, rebuild->lists,
                                     rebuild->words * sizeof *rebuild->lists);
    else
        rebuild->asked = false;
    section_rebuild_drop_lists(rebuild);
}

/* Reports to the parent where the members are, once all children have reported. */
static void section_rebuild_report(struct ski_section *section)
{
    struct ski_section_rebuild *rebuild = &section->rebuild;
    struct section_rebuild_head head;

    if (rebuild->awaited > 0)
        return;
    if (section->parent < 0) {
        section_rebuild_decide(section);
        return;
    }
    head = section_rebuild_head_make(section, SECTION_REBUILD_FOUND, rebuild->lists_count);
    section_rebuild_send(section->parent, &head, rebuild->lists,
                         rebuild->words * sizeof *rebuild->lists);
    section_rebuild_drop_lists(rebuild);
    rebuild->asked = false;
}

/* Finds the members of this delegate and those below it. */
static void section_rebuild_query(struct ski_section *section)
{
    struct section_rebuild_head head = section_rebuild_head_make(section, SECTION_REBUILD_ASK, 0);

    section->rebuild.asked    = true;
    section->rebuild.awaited  = section->children;
    section->rebuild.reported = section_rebuild_list_own(section);
    for (uint32_t i = 0; i < section->children; i++)
        section_rebuild_send(section->child[i], &head, NULL, 0);
    section_rebuild_report(section);
}

/* ---- the next generation --------------------------------------------------------------------- */

bool ski_section_rebuild_succeed(struct ski_section *section, const void *lists, size_t bytes)
{
    int                        root = section->self->pe;
    const uint32_t            *list = lists, *end = list + bytes / sizeof *list;
    size_t                     count  = 0;
    size_t                     room   = bytes / sizeof *list / SKI_SECTION_LIST_HEAD + 1;
    struct ski_section_choice *chosen = ski_malloc(room * sizeof *chosen);
    skua_index                *index  = ski_malloc(room * sizeof *index);
    struct ski_section        *next;

    for (; list < end; list = ski_section_list_next(list), count++) {
        ski_assert(list[SKI_SECTION_LIST_MEMBERS] == 1);
        ski_section_list_read(list + SKI_SECTION_LIST_HEAD, &index[count]);
        chosen[count] = (struct ski_section_choice){
            ski_section_tree_rank(section->self->job, root, (int)list[SKI_SECTION_LIST_PE]),
            &index[count]};
    }
    next = ski_section_tree_succeed(section, chosen, count);
    ski_section_reduction_succeed(section, next);
    next->rebuild.wanted = section->rebuild.wanted;
    free(chosen);
    free(index);
    return true;
}

void ski_section_rebuild_ended(struct ski_section *next)
{
    if (next && next->state == SKI_SECTION_JOINED && next->parent < 0 && next->rebuild.wanted)
        section_rebuild_begin(next);
}

/* ---- handler and call ------------------------------------------------------------------------ */

/* At the root: a call, or a report of members that are away. */
static void section_rebuild_on_root(struct ski_section                *section,
                                    const struct section_rebuild_head *head)
{
    struct ski_section_rebuild *rebuild = &section->rebuild;

    if (head->kind == SECTION_REBUILD_CALL)
        rebuild->wanted = true;
    else
        rebuild->away += head->count;
    if (rebuild->wanted || section_rebuild_exceeds_share(rebuild->away, rebuild->members))
        section_rebuild_begin(section);
}

/* Returns whether each of @p count valid lists has one member. */
static bool section_rebuild_lists_single(const uint32_t *list, uint32_t count)
{
    for (; count > 0; count--, list = ski_section_list_next(list))
        if (list[SKI_SECTION_LIST_MEMBERS] != 1)
            return false;
    return true;
}

/* At the parent: a child has found its members. */
static void section_rebuild_on_found(struct ski_section *section, skua_msg *msg)
{
    const struct section_rebuild_head *head  = skua_msg_data(msg);
    size_t                             words = (msg->bytes - sizeof *head) / sizeof(uint32_t);
    const uint32_t                    *lists = (const uint32_t *)(head + 1);

    if (!section->rebuild.asked || section->rebuild.awaited == 0 ||
        !ski_section_lists_valid(lists, words, head->count, section->self->pes) ||
        !section_rebuild_lists_single(lists, head->count))
        ski_fatal("PE %d sent an invalid list of members of a section", msg->source);
    section_rebuild_append(section, lists, words, head->count);
    section->rebuild.awaited--;
    section_rebuild_report(section);
}

static void section_rebuild_deleted(uint64_t id)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_rebuild on PE %d: %s was destroyed", skua_pe(),
               ski_section_text(text, id));
}

void ski_on_section_rebuild(skua_msg *msg)
{
    const struct section_rebuild_head *head       = skua_msg_data(msg);
    uint32_t                           generation = head->generation;
    bool                               ended;
    struct ski_section                *section;

    if (head->kind == SECTION_REBUILD_CALL)
        generation = ski_section_latest(ski_self->objects, head->id);
    section = ski_section_awaited(msg, head->id, generation, &ended);
    if (!section && !ended)
        return;
    /* A call of another PE is no misuse: its multicasts and reductions may have completed, and
     * their results caused the destruction, before its call came here.  Nor is one that the end of
     * the collection has overtaken. */
    if (ended && head->kind == SECTION_REBUILD_CALL && msg->source == ski_self->pe &&
        ski_section_destroyed(ski_self->objects, head->id))
        section_rebuild_deleted(head->id);
    if (section) {
        if (head->kind == SECTION_REBUILD_FOUND)
            section_rebuild_on_found(section, msg);
        else if (head->kind == SECTION_REBUILD_ASK && msg->source == section->parent)
            section_rebuild_query(section);
        else if (head->kind <= SECTION_REBUILD_AWAY && section->parent < 0)
            section_rebuild_on_root(section, head);
        else
            ski_fatal("PE %d sent an invalid order to rebuild a section", msg->source);
    }
    skua_msg_free(msg);
}

void skua_section_rebuild(skua_section section)
{
    struct section_rebuild_head head = {section.id, 0, SECTION_REBUILD_CALL, 0, 0};

    if (ski_section_ended(SKI_SELF()->objects, __func__, section.id))
        section_rebuild_deleted(section.id);
    section_rebuild_send(ski_section_root(section.id), &head, NULL, 0);
}
