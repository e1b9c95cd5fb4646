/* SPDX-License-Identifier: Apache-2.0 */
/* section_reduction.c - see section_reduction.h. */
#include "objects/collective/section_reduction.h"

#include <stdio.h>

#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "objects/chare/invoke.h"
#include "objects/model/seqnum.h"
#include "objects/collective/section.h"
#include "objects/collective/reduction_buffer.h"

/* A reduction under way. */
struct ski_subtotal {
    struct ski_subtotal *next;
    uint32_t             number;
    size_t               given; /* by so many */
    struct ski_total     total;
};

/* What travels: of a child, or of a member, which the message then names.  The data
 * follows. */
struct piece {
    _Alignas(16) uint64_t id;
    uint32_t         number;
    uint32_t         zero;
    struct ski_shape shape;
    skua_completion  to;
};

_Static_assert(sizeof(struct piece) == SKI_SECTION_PART_LEAST, "see section_reduction.h");

/* A giver who gives no more, from a number on. */
struct fewer {
    uint64_t id;
    uint32_t number;
    uint32_t lost; /* it was not enrolled: whether it had given is not known */
};

_Static_assert(sizeof(struct fewer) == SKI_SECTION_FEWER_LEAST, "see section_reduction.h");

/* ---- subtotals ------------------------------------------------------------------------ */

static struct ski_subtotal *find(struct ski_gather *gather, uint32_t number)
{
    struct ski_subtotal **at = &gather->subtotals, *made;

    while (*at && ski_seqnum_before((*at)->number, number))
        at = &(*at)->next;
    if (*at && (*at)->number == number)
        return *at;
    made       = ski_calloc(1, sizeof *made);
    *made      = (struct ski_subtotal){.next = *at, .number = number};
    return *at = made;
}

/* The first, taken out. */
static void drop_first(struct ski_gather *gather)
{
    struct ski_subtotal *gone = gather->subtotals;

    gather->subtotals = gone->next;
    free(gone->total.data);
    free(gone);
}

void ski_gather_free(struct ski_gather *gather)
{
    while (gather->subtotals)
        drop_first(gather);
    free(gather->quits);
    *gather = (struct ski_gather){0};
}

/* How many give to a reduction. */
static size_t expected(const struct ski_gather *gather, uint32_t number)
{
    size_t count = gather->givers;

    for (size_t i = 0; i < gather->quitters; i++)
        count -= !ski_seqnum_before(number, gather->quits[i]);
    return count;
}

static SKI_COLD _Noreturn void differs(const struct ski_section  *section,
                                       const struct ski_subtotal *subtotal,
                                       const struct ski_shape *shape, const skua_index *who, int pe)
{
    char what[SKI_SECTION_TEXT + 64], name[SKI_SECTION_TEXT];

    snprintf(what, sizeof what, "reduction %u of %s", subtotal->number,
             ski_section_text(name, section->id));
    ski_total_differs(&subtotal->total, shape, what,
                      who ? ski_element_text(section->of, who) : "a part", pe);
}

/* ---- up the tree ----------------------------------------------------------------------- */

/* All have given to the first. */
static void report(struct ski_section *section)
{
    struct ski_subtotal *done  = section->gather.subtotals;
    struct ski_total    *total = &done->total;
    struct piece         piece = {section->id, done->number, 0, total->shape, total->to};

    section->gather.first++;
    section->gather.subtotals = done->next; /* before the program runs */
    if (section->parent < 0)
        skua_complete(total->to, total->data, total->bytes);
    else
        skua_send(section->parent, (skua_handler){SKI_HANDLER_SECTION_PART},
                  ski_msg_with_header(&piece, sizeof piece, total->data, total->bytes));
    free(total->data);
    free(done);
}

static void advance(struct ski_section *section)
{
    struct ski_gather *gather = &section->gather;

    ski_section_enter(section);
    while (gather->subtotals && gather->subtotals->number == gather->first &&
           gather->subtotals->given == expected(gather, gather->first))
        report(section);
    ski_section_leave(section);
}

/* A giver gives to reductions before @p number only. */
static void give_no_more(struct ski_section *section, uint32_t number)
{
    struct ski_gather *gather = &section->gather;
    struct fewer       all    = {section->id, number, 0};

    if (gather->quitters == gather->givers)
        ski_fatal("more give no more to a section than gave");
    gather->quits = ski_realloc(gather->quits, (gather->quitters + 1) * sizeof *gather->quits);
    gather->quits[gather->quitters++] = number;
    for (size_t i = 0; i < gather->quitters; i++)
        if (ski_seqnum_before(all.number, gather->quits[i]))
            all.number = gather->quits[i];
    if (gather->quitters == gather->givers && section->parent >= 0)
        skua_send_copy(section->parent, (skua_handler){SKI_HANDLER_SECTION_FEWER}, &all,
                       sizeof all);
    advance(section);
}

/* ---- members ----------------------------------------------------------------------------- */

/* To where its contributions are taken in, or first to the root. */
static void tell(struct ski_collection *all, int pe, const skua_index *index,
                 const struct fewer *fewer)
{
    ski_element_post(all->self, pe, SKI_HANDLER_SECTION_FEWER, all->id, index, fewer,
                     sizeof *fewer);
}

static void depart(struct ski_section *section, struct ski_enrolled *member, uint32_t number)
{
    member->gone  = true;
    member->until = number;
    give_no_more(section, number);
}

void ski_gather_died(struct ski_section *section, struct ski_enrolled *member)
{
    struct fewer fewer = {section->id, member->next, 0};

    if (section->state == SKI_JOINED && member->station == section->self->pe)
        depart(section, member, member->next);
    else
        tell(section->of, member->station, &member->index, &fewer);
}

void ski_gather_lost(struct ski_collection *all, const skua_index *index, uint64_t id, int station)
{
    struct fewer fewer = {id, 0, 1};

    tell(all, station, index, &fewer);
}

static SKI_COLD _Noreturn void no_member(uint64_t id, const char *who, int pe)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_contribute: %s on PE %d is no member of %s", who, pe,
               ski_section_text(text, id));
}

static SKI_COLD _Noreturn void was_deleted(uint64_t id, const char *who, int pe)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_contribute: %s on PE %d: %s was deleted", who, pe,
               ski_section_text(text, id));
}

static void check_number(const struct ski_section *section, uint32_t number, const char *who,
                         int pe)
{
    char text[SKI_SECTION_TEXT];

    if (SKI_UNLIKELY(number - section->gather.first >= SKI_AHEAD))
        ski_misuse("%s on PE %d contributes to reduction %u of %s while reduction %u is not "
                   "finished: does it contribute twice, or others not at all?",
                   who, pe, number, ski_section_text(text, section->id), section->gather.first);
}

/* ---- handlers ------------------------------------------------------------------------------ */

static bool is_child(const struct ski_section *section, int pe)
{
    for (uint32_t i = 0; i < section->children; i++)
        if (section->child[i] == pe)
            return true;
    return false;
}

static SKI_COLD const char *named(uint64_t collection, const skua_index *index)
{
    const struct ski_collection *all = ski_collection_find(ski_self->objects, collection);

    return all && all->class ? ski_element_text(all, index) : "an object";
}

/* The member a message names, if this is its station; at the root the message is passed on
 * to where it is, and NULL. */
static struct ski_enrolled *member_of(struct ski_section *section, skua_msg *msg)
{
    skua_index           index  = ski_msg_index(msg);
    struct ski_enrolled *member = NULL;

    if (msg->target >> 8 == section->of->id)
        member = ski_enrolled_find(section, &index);
    if (member && member->station == section->self->pe)
        return member;
    if (section->parent >= 0 || !member)
        no_member(section->id, named(msg->target >> 8, &index), msg->source);
    ski_msg_forward(section->self, member->station, msg);
    return NULL;
}

/* One that came from elsewhere: of a giver, which is @p who if it is a member. */
static void take(struct ski_section *section, const struct piece *piece, size_t bytes,
                 const skua_index *who, int source)
{
    struct ski_subtotal *subtotal;

    if (!ski_shape_right(&piece->shape, bytes))
        ski_fatal("PE %d sent a part of a reduction that makes no sense", source);
    check_number(section, piece->number, who ? ski_element_text(section->of, who) : "a part",
                 source);
    subtotal = find(&section->gather, piece->number);
    if (!ski_total_fits(&subtotal->total, &piece->shape))
        differs(section, subtotal, &piece->shape, who, source);
    ski_total_add(&subtotal->total, &piece->shape, piece + 1, bytes, source);
    if (!subtotal->total.to.kind)
        subtotal->total.to = piece->to;
    subtotal->given++;
}

/* The section has ended: parts of its tree are in vain, members should know. */
static void came_too_late(skua_msg *msg, const struct piece *piece)
{
    skua_index index;

    if (msg->flags & SKI_MSG_OBJECT) {
        index = ski_msg_index(msg);
        was_deleted(piece->id, named(msg->target >> 8, &index), msg->source);
    }
    skua_msg_free(msg);
}

/* Whether one that was lost, so nobody waits for it, gave after all. */
static bool is_in_vain(const struct ski_enrolled *member, uint32_t number)
{
    return member->gone && !ski_seqnum_before(number, member->until);
}

void ski_on_section_part(skua_msg *msg)
{
    const struct piece  *piece  = skua_msg_data(msg);
    size_t               bytes  = msg->bytes - sizeof *piece;
    struct ski_enrolled *member = NULL;
    bool                 ended;
    struct ski_section  *section = ski_section_awaited(msg, piece->id, &ended);

    if (ended)
        came_too_late(msg, piece);
    if (!section)
        return;
    if (msg->flags & SKI_MSG_OBJECT) {
        if (!(member = member_of(section, msg)))
            return;
        member->came = true;
    } else if (!is_child(section, msg->source)) {
        ski_fatal("PE %d sent a part of a reduction that makes no sense", msg->source);
    }
    if (!member || !is_in_vain(member, piece->number)) {
        take(section, piece, bytes, member ? &member->index : NULL, msg->source);
        advance(section);
    }
    skua_msg_free(msg);
}

void ski_on_section_fewer(skua_msg *msg)
{
    struct fewer         fewer = *(struct fewer *)skua_msg_data(msg);
    struct ski_enrolled *member;
    bool                 ended;
    struct ski_section  *section = ski_section_awaited(msg, fewer.id, &ended);

    if (ended)
        skua_msg_free(msg);
    if (!section)
        return;
    if (msg->flags & SKI_MSG_OBJECT) {
        if (!(member = member_of(section, msg)))
            return;
        if (!member->gone && !(fewer.lost && member->came))
            depart(section, member, fewer.number);
    } else if (is_child(section, msg->source)) {
        give_no_more(section, fewer.number);
    } else {
        ski_fatal("PE %d, which is no child, gives no more to a section", msg->source);
    }
    skua_msg_free(msg);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* The section that @p object names; known from now on. */
static struct ski_section *section_of(const struct ski_object *object, uint64_t id)
{
    struct ski_objects *objects = object->of->self->objects;
    struct ski_section *section = ski_section_find(objects, id);

    if (SKI_LIKELY(section && section->state == SKI_JOINED))
        return section;
    if (ski_section_ended(objects, "skua_section_contribute", id))
        was_deleted(id, ski_object_text(object), objects->self->pe);
    return ski_section_get(objects, id);
}

/* How far @p object is in a section. */
static struct ski_enrolled *enrolled(struct ski_section *section, struct ski_object *object)
{
    skua_index           index  = ski_object_index_get(object);
    struct ski_enrolled *member = ski_enrolled_find(section, &index);

    if (SKI_LIKELY(member && member->object == object))
        return member;
    if ((section->of && section->of != object->of) || (member && member->gone) ||
        (!member && section->state == SKI_JOINED && section->parent < 0))
        no_member(section->id, ski_object_text(object), section->self->pe);
    ski_section_of(section, object->of);
    member = ski_enrolled_get(section, &index);
    ski_enrolled_here(member, object);
    return member;
}

/* To a station that is elsewhere, or to the root, which knows it. */
static void send_to(struct ski_section *section, const struct ski_enrolled *member,
                    struct piece *piece, const void *data, size_t bytes)
{
    struct ski_total total = {0};
    skua_msg        *msg;

    ski_total_contribute(&total, &piece->shape, data, bytes, &piece->to);
    msg          = ski_msg_with_header(piece, sizeof *piece, total.data, total.bytes);
    msg->handler = SKI_HANDLER_SECTION_PART;
    msg->source  = section->self->pe;
    ski_msg_post(section->self, member->station, SKI_HANDLER_SECTION_PART,
                 ski_msg_set_target(msg, section->of->id, &member->index));
    free(total.data);
}

static inline void add_here(struct ski_section *section, const struct ski_enrolled *member,
                            const struct piece *piece, const void *data, size_t bytes)
{
    struct ski_subtotal *subtotal;

    if (SKI_UNLIKELY(piece->number - section->gather.first >= SKI_AHEAD))
        check_number(section, piece->number, ski_object_text(member->object), section->self->pe);
    subtotal = find(&section->gather, piece->number);
    if (SKI_UNLIKELY(!ski_total_fits(&subtotal->total, &piece->shape)))
        differs(section, subtotal, &piece->shape, &member->index, section->self->pe);
    ski_total_contribute(&subtotal->total, &piece->shape, data, bytes, &piece->to);
    if (++subtotal->given >= section->gather.givers - section->gather.quitters)
        advance(section);
}

void skua_section_contribute(skua_section target, void *self, skua_op op, skua_type type,
                             const void *data, size_t count, skua_completion done)
{
    struct ski_object   *object  = ski_object_of(self);
    struct ski_pe       *pe      = object->of->self;
    struct ski_section  *section = section_of(object, target.id);
    struct ski_enrolled *member  = enrolled(section, object);
    struct piece         piece = {target.id, member->next, 0, {op.id, (uint32_t)type, count}, done};
    size_t               bytes = count * ski_type_size(type);

    if (SKI_UNLIKELY(!ski_shape_known(op, type)))
        ski_shape_check(__func__, &piece.shape, ski_object_text(object), pe->pe);
    member->next++;
    if (SKI_LIKELY(section->state == SKI_JOINED && member->station == pe->pe))
        add_here(section, member, &piece, data, bytes);
    else
        send_to(section, member, &piece, data, bytes);
}

/* ---- for people ------------------------------------------------------------------------- */

/* How many members here, at their station, have not contributed to reduction @p number; *one is
 * one of them. */
static size_t gather_count_missing(const struct ski_section *section, uint32_t number,
                                   const struct ski_enrolled **one)
{
    size_t count = 0;

    for (size_t i = 0; i < section->rosters; i++) {
        const struct ski_enrolled *member = section->roster[i];

        if (!member->object || ski_seqnum_before(number, member->next))
            continue;
        *one = member;
        count++;
    }
    return count;
}

void ski_gather_explain(const struct ski_section *section, struct ski_text *text)
{
    const struct ski_subtotal *subtotal = section->gather.subtotals;
    const struct ski_enrolled *member   = NULL;
    char                       name[SKI_SECTION_TEXT];
    size_t                     count;

    if (!subtotal || section->state != SKI_JOINED)
        return;
    ski_section_text(name, section->id);
    count = gather_count_missing(section, subtotal->number, &member);
    if (member)
        ski_text_item(text, "reduction %u of %s waits for %zu of its members here, such as %s",
                      subtotal->number, name, count, ski_element_text(section->of, &member->index));
    else
        ski_text_item(text, "reduction %u of %s waits for contributions from other PEs",
                      subtotal->number, name);
}
