/* SPDX-License-Identifier: Apache-2.0 */
/* section_reduction.c - see section_reduction.h. */
#include "objects/collective/section_reduction.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "objects/chare/invoke.h"
#include "objects/model/seqnum.h"
#include "objects/collective/reduction_list.h"

/* The report of a child, or the contribution of a member, which the message then names; the data
 * follows. */
struct section_reduction_report {
    _Alignas(16) uint64_t id;
    uint32_t                  number;
    uint32_t                  zero;
    struct ski_reduction_spec spec;
    skua_completion           to;
};

_Static_assert(sizeof(struct section_reduction_report) == SKI_SECTION_REDUCTION_REPORT_LEAST,
               "see section_reduction.h");

/* A contributor leaves: it contributes to no reduction from a number on. */
struct section_reduction_leave_msg {
    uint64_t id;
    uint32_t number;
    uint32_t lost; /* the member was never enrolled: it may have contributed before */
};

_Static_assert(sizeof(struct section_reduction_leave_msg) == SKI_SECTION_REDUCTION_LEAVE_LEAST,
               "see section_reduction.h");

/* ---- partial results ------------------------------------------------------------------------- */

/* The partial result of reduction @p number, which is added if it is new.  It counts contributions
 * and reports that are combined. */
static struct ski_reduction_partial *section_reduction_partial(
    struct ski_section_reduction *reduction, uint32_t number)
{
    static const struct ski_reduction_partial fresh;

    ski_assert(!ski_seqnum_before(number, reduction->first));
    return *ski_reduction_list_seek(&reduction->partials, number, &fresh, sizeof fresh);
}

void ski_section_reduction_free(struct ski_section_reduction *reduction)
{
    ski_reduction_list_free(&reduction->partials);
    free(reduction->left_from);
    *reduction = (struct ski_section_reduction){0};
}

/* The contributors to reduction @p number. */
static size_t section_reduction_expected(const struct ski_section_reduction *reduction,
                                         uint32_t                            number)
{
    size_t count = reduction->contributors;

    ski_assert(reduction->left <= reduction->contributors);
    for (size_t i = 0; i < reduction->left; i++)
        count -= !ski_seqnum_before(number, reduction->left_from[i]);
    return count;
}

static SKI_COLD _Noreturn void section_reduction_mismatch(
    const struct ski_section *section, const struct ski_reduction_partial *partial,
    const struct ski_reduction_spec *spec, const skua_index *contributor, int pe)
{
    char name[SKI_SECTION_TEXT];

    ski_reduction_buffer_mismatch(
        &partial->buffer, spec, partial->number, ski_section_text(name, section->id),
        contributor ? ski_element_text(section->of, contributor) : "a delegate", pe);
}

/* ---- up the tree ----------------------------------------------------------------------------- */

/* Reports the first reduction, to which all have contributed; at the root completes it. */
static void section_reduction_report_up(struct ski_section *section)
{
    const struct ski_reduction_partial *done   = section->reduction.partials;
    struct section_reduction_report     report = {section->id, done->number, 0, done->buffer.spec,
                                                  done->buffer.to};

    ski_assert(done->number == section->reduction.first);
    section->reduction.first++;
    if (section->parent < 0)
        ski_reduction_list_complete(&section->reduction.partials);
    else
        ski_reduction_list_report(&section->reduction.partials, section->parent,
                                  SKI_HANDLER_SECTION_REDUCTION_REPORT, &report, sizeof report);
}

/* Reports all reductions that are complete at this delegate. */
static void section_reduction_advance(struct ski_section *section)
{
    struct ski_section_reduction       *reduction = &section->reduction;
    const struct ski_reduction_partial *partial;

    ski_section_enter(section);
    while ((partial = ski_reduction_list_find(reduction->partials, reduction->first)) &&
           partial->contributions == section_reduction_expected(reduction, reduction->first))
        section_reduction_report_up(section);
    ski_section_leave(section);
}

/* A contributor contributes to reductions before @p number only. */
static void section_reduction_contributor_left(struct ski_section *section, uint32_t number)
{
    struct ski_section_reduction      *reduction = &section->reduction;
    struct section_reduction_leave_msg all       = {section->id, number, 0};

    if (reduction->left == reduction->contributors)
        ski_fatal("PE %d: more contributors leave a section than it has", section->self->pe);
    reduction->left_from =
        ski_realloc(reduction->left_from, (reduction->left + 1) * sizeof *reduction->left_from);
    reduction->left_from[reduction->left++] = number;
    for (size_t i = 0; i < reduction->left; i++)
        if (ski_seqnum_before(all.number, reduction->left_from[i]))
            all.number = reduction->left_from[i];
    if (reduction->left == reduction->contributors && section->parent >= 0)
        skua_send_copy(section->parent, (skua_handler){SKI_HANDLER_SECTION_REDUCTION_LEAVE}, &all,
                       sizeof all);
    section_reduction_advance(section);
}

/* ---- members --------------------------------------------------------------------------------- */

/* Tells the delegate of a member, or the root, which forwards the message, that the member leaves.
 */
static void section_reduction_send_leave(struct ski_collection *all, int pe,
                                         const skua_index                         *index,
                                         const struct section_reduction_leave_msg *leave)
{
    ski_element_post(all->self, pe, SKI_HANDLER_SECTION_REDUCTION_LEAVE, all->id, index, leave,
                     sizeof *leave);
}

static void section_reduction_member_left(struct ski_section        *section,
                                          struct ski_section_member *member, uint32_t number)
{
    member->gone  = true;
    member->until = number;
    section_reduction_contributor_left(section, number);
}

void ski_section_reduction_deleted(struct ski_section *section, struct ski_section_member *member)
{
    struct section_reduction_leave_msg leave = {section->id, member->next, 0};

    if (section->state == SKI_SECTION_JOINED && member->delegate == section->self->pe)
        section_reduction_member_left(section, member, member->next);
    else
        section_reduction_send_leave(section->of, member->delegate, &member->index, &leave);
}

void ski_section_reduction_lost(struct ski_collection *all, const skua_index *index, uint64_t id,
                                int delegate)
{
    struct section_reduction_leave_msg leave = {id, 0, 1};

    section_reduction_send_leave(all, delegate, index, &leave);
}

static SKI_COLD _Noreturn void section_reduction_no_member(uint64_t id, const char *contributor,
                                                           int pe)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_contribute: %s on PE %d is no member of %s", contributor, pe,
               ski_section_text(text, id));
}

static SKI_COLD _Noreturn void section_reduction_section_deleted(uint64_t    id,
                                                                 const char *contributor, int pe)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_contribute: %s on PE %d: %s was deleted", contributor, pe,
               ski_section_text(text, id));
}

static void section_reduction_check_number(const struct ski_section *section, uint32_t number,
                                           const char *contributor, int pe)
{
    char text[SKI_SECTION_TEXT];

    if (SKI_UNLIKELY(number - section->reduction.first >= SKI_REDUCTIONS_AHEAD))
        ski_misuse("%s on PE %d contributes to reduction %u of %s while reduction %u is not "
                   "finished: does it contribute twice, or others not at all?",
                   contributor, pe, number, ski_section_text(text, section->id),
                   section->reduction.first);
}

/* ---- handlers -------------------------------------------------------------------------------- */

static bool section_reduction_is_child(const struct ski_section *section, int pe)
{
    for (uint32_t i = 0; i < section->children; i++)
        if (section->child[i] == pe)
            return true;
    return false;
}

static SKI_COLD const char *section_reduction_element_text(uint64_t          collection,
                                                           const skua_index *index)
{
    const struct ski_collection *all = ski_collection_find(ski_self->objects, collection);

    return all && all->class ? ski_element_text(all, index) : "an object";
}

/* The member that a message names, if this PE is its delegate; NULL: this PE is the root, and has
 * forwarded the message to the delegate. */
static struct ski_section_member *section_reduction_named_member(struct ski_section *section,
                                                                 skua_msg           *msg)
{
    skua_index                 index  = ski_msg_index(msg);
    struct ski_section_member *member = NULL;

    if (msg->target >> 8 == section->of->id)
        member = ski_section_member_find(section, &index);
    if (member && member->delegate == section->self->pe)
        return member;
    if (section->parent >= 0 || !member)
        section_reduction_no_member(
            section->id, section_reduction_element_text(msg->target >> 8, &index), msg->source);
    ski_msg_forward(section->self, member->delegate, msg);
    return NULL;
}

/* Combines what came from another PE: from a child, or from the member @p contributor. */
static void section_reduction_combine(struct ski_section                    *section,
                                      const struct section_reduction_report *report, size_t bytes,
                                      const skua_index *contributor, int source)
{
    struct ski_reduction_partial *partial;

    if (!ski_reduction_spec_valid(&report->spec, bytes))
        ski_fatal("PE %d sent an invalid contribution to a section", source);
    section_reduction_check_number(
        section, report->number,
        contributor ? ski_element_text(section->of, contributor) : "a delegate", source);
    partial = section_reduction_partial(&section->reduction, report->number);
    if (!ski_reduction_buffer_fits(&partial->buffer, &report->spec))
        section_reduction_mismatch(section, partial, &report->spec, contributor, source);
    ski_reduction_partial_add(partial, &report->spec, report + 1, bytes, &report->to, source);
    partial->contributions++;
}

/* A message for a section that has ended: reports are dropped, contributions are errors. */
static void section_reduction_came_too_late(skua_msg                              *msg,
                                            const struct section_reduction_report *report)
{
    skua_index index;

    if (msg->flags & SKI_MSG_OBJECT) {
        index = ski_msg_index(msg);
        section_reduction_section_deleted(
            report->id, section_reduction_element_text(msg->target >> 8, &index), msg->source);
    }
    skua_msg_free(msg);
}

/* Whether a member that has left contributes after all: no reduction waits for it. */
static bool section_reduction_is_surplus(const struct ski_section_member *member, uint32_t number)
{
    return member->gone && !ski_seqnum_before(number, member->until);
}

void ski_on_section_reduction_report(skua_msg *msg)
{
    const struct section_reduction_report *report = skua_msg_data(msg);
    size_t                                 bytes  = msg->bytes - sizeof *report;
    struct ski_section_member             *member = NULL;
    bool                                   ended;
    struct ski_section                    *section = ski_section_awaited(msg, report->id, &ended);

    if (ended)
        section_reduction_came_too_late(msg, report);
    if (!section)
        return;
    if (msg->flags & SKI_MSG_OBJECT) {
        if (!(member = section_reduction_named_member(section, msg)))
            return;
        member->came = true;
    } else if (!section_reduction_is_child(section, msg->source)) {
        ski_fatal("PE %d sent a report to a section, but is no child", msg->source);
    }
    if (!member || !section_reduction_is_surplus(member, report->number)) {
        section_reduction_combine(section, report, bytes, member ? &member->index : NULL,
                                  msg->source);
        section_reduction_advance(section);
    }
    skua_msg_free(msg);
}

void ski_on_section_reduction_leave(skua_msg *msg)
{
    struct section_reduction_leave_msg leave =
        *(struct section_reduction_leave_msg *)skua_msg_data(msg);
    struct ski_section_member *member;
    bool                       ended;
    struct ski_section        *section = ski_section_awaited(msg, leave.id, &ended);

    if (ended)
        skua_msg_free(msg);
    if (!section)
        return;
    if (msg->flags & SKI_MSG_OBJECT) {
        if (!(member = section_reduction_named_member(section, msg)))
            return;
        if (!member->gone && !(leave.lost && member->came))
            section_reduction_member_left(section, member, leave.number);
    } else if (section_reduction_is_child(section, msg->source)) {
        section_reduction_contributor_left(section, leave.number);
    } else {
        ski_fatal("PE %d leaves a section, but is no child", msg->source);
    }
    skua_msg_free(msg);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The record of the section that @p object contributes to. */
static struct ski_section *section_reduction_section_of(const struct ski_object *object,
                                                        uint64_t                 id)
{
    struct ski_objects *objects = object->of->self->objects;
    struct ski_section *section = ski_section_find(objects, id);

    if (SKI_LIKELY(section && section->state == SKI_SECTION_JOINED))
        return section;
    if (ski_section_ended(objects, "skua_section_contribute", id))
        section_reduction_section_deleted(id, ski_object_text(object), objects->self->pe);
    return ski_section_get(objects, id);
}

/* The record of @p object in a section; ends the job if this PE knows that it is no member. */
static struct ski_section_member *section_reduction_member(struct ski_section *section,
                                                           struct ski_object  *object)
{
    skua_index                 index  = ski_object_index_get(object);
    struct ski_section_member *member = ski_section_member_find(section, &index);

    if (SKI_LIKELY(member && member->object == object))
        return member;
    if ((section->of && section->of != object->of) || (member && member->gone) ||
        (!member && section->state == SKI_SECTION_JOINED && section->parent < 0))
        section_reduction_no_member(section->id, ski_object_text(object), section->self->pe);
    ski_section_set_collection(section, object->of);
    member = ski_section_member_get(section, &index);
    ski_section_member_here(member, object);
    return member;
}

/* Sends a contribution to the delegate, or to the root, which knows the delegate. */
static void section_reduction_send_to_delegate(struct ski_section              *section,
                                               const struct ski_section_member *member,
                                               struct section_reduction_report *report,
                                               const void *data, size_t bytes)
{
    struct ski_reduction_buffer buffer = {0};
    skua_msg                   *msg;

    ski_reduction_buffer_contribute(&buffer, &report->spec, data, bytes, &report->to);
    msg          = ski_msg_with_header(report, sizeof *report, buffer.data, buffer.bytes);
    msg->handler = SKI_HANDLER_SECTION_REDUCTION_REPORT;
    msg->source  = section->self->pe;
    ski_msg_post(section->self, member->delegate, SKI_HANDLER_SECTION_REDUCTION_REPORT,
                 ski_msg_set_target(msg, section->of->id, &member->index));
    free(buffer.data);
}

static inline void section_reduction_contribute_here(struct ski_section                    *section,
                                                     const struct ski_section_member       *member,
                                                     const struct section_reduction_report *report,
                                                     const void *data, size_t bytes)
{
    struct ski_reduction_partial *partial;

    if (SKI_UNLIKELY(report->number - section->reduction.first >= SKI_REDUCTIONS_AHEAD))
        section_reduction_check_number(section, report->number, ski_object_text(member->object),
                                       section->self->pe);
    partial = section_reduction_partial(&section->reduction, report->number);
    if (SKI_UNLIKELY(!ski_reduction_buffer_fits(&partial->buffer, &report->spec)))
        section_reduction_mismatch(section, partial, &report->spec, &member->index,
                                   section->self->pe);
    ski_reduction_buffer_contribute(&partial->buffer, &report->spec, data, bytes, &report->to);
    if (++partial->contributions >= section->reduction.contributors - section->reduction.left)
        section_reduction_advance(section);
}

void skua_section_contribute(skua_section target, void *self, skua_contribution give,
                             skua_completion done)
{
    struct ski_object              *object  = ski_object_of(self);
    struct ski_pe                  *pe      = object->of->self;
    struct ski_section             *section = section_reduction_section_of(object, target.id);
    struct ski_section_member      *member  = section_reduction_member(section, object);
    struct section_reduction_report report  = {
         target.id, member->next, 0, {give.op, (uint32_t)give.type, give.count}, done};
    size_t bytes = give.count * ski_type_size(give.type);

    if (SKI_UNLIKELY(!ski_reduction_spec_known(give.op, give.type)))
        ski_reduction_spec_check(__func__, &report.spec, ski_object_text(object), pe->pe);
    member->next++;
    if (SKI_LIKELY(section->state == SKI_SECTION_JOINED && member->delegate == pe->pe))
        section_reduction_contribute_here(section, member, &report, give.data, bytes);
    else
        section_reduction_send_to_delegate(section, member, &report, give.data, bytes);
}

/* ---- idle report ----------------------------------------------------------------------------- */

/* The own members on this PE that have not contributed to reduction @p number; *one is one of
 * them. */
static size_t section_reduction_count_missing(const struct ski_section *section, uint32_t number,
                                              const struct ski_section_member **one)
{
    size_t count = 0;

    for (size_t i = 0; i < section->own_count; i++) {
        const struct ski_section_member *member = section->own[i];

        if (!member->object || ski_seqnum_before(number, member->next))
            continue;
        *one = member;
        count++;
    }
    return count;
}

void ski_section_reduction_explain(const struct ski_section *section, struct ski_text *text)
{
    const struct ski_reduction_partial *partial = section->reduction.partials;
    const struct ski_section_member    *member  = NULL;
    char                                name[SKI_SECTION_TEXT];
    size_t                              count;

    if (!partial || section->state != SKI_SECTION_JOINED)
        return;
    ski_section_text(name, section->id);
    count = section_reduction_count_missing(section, partial->number, &member);
    if (member)
        ski_text_item(text, "reduction %u of %s waits for %zu of its members here, such as %s",
                      partial->number, name, count, ski_element_text(section->of, &member->index));
    else
        ski_text_item(text, "reduction %u of %s waits for contributions from other PEs",
                      partial->number, name);
}
