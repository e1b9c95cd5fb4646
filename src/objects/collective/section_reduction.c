/* SPDX-License-Identifier: Apache-2.0 */
/* section_reduction.c - see section_reduction.h. */
#include "objects/collective/section_reduction.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "objects/chare/invoke.h"
#include "objects/measure/measure.h"
#include "objects/model/seqnum.h"
#include "objects/collective/reduction_list.h"
#include "objects/collective/section_contributors.h"

/* The report of a child, or the contribution of a member, which the message then names; the data
 * follows. */
struct section_reduction_report {
    _Alignas(16) uint64_t id;
    uint32_t                  number;
    uint32_t                  generation;
    struct ski_reduction_spec spec; /* of a report without data: SECTION_REDUCTION_EMPTY */
    skua_completion           to;
};

#define SECTION_REDUCTION_EMPTY UINT32_MAX /* in place of the operator */

_Static_assert(sizeof(struct section_reduction_report) == SKI_SECTION_REDUCTION_REPORT_MIN,
               "see section_reduction.h");

/* ---- partial results ------------------------------------------------------------------------- */

/* Returns the partial result of reduction @p number, which is added if it is new.  It counts
 * contributions and reports that are combined. */
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
    free(reduction->late_from);
    *reduction = (struct ski_section_reduction){0};
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

struct ski_section *ski_section_reduction_successor(const struct ski_section *section)
{
    struct ski_section *next;

    if (SKI_LIKELY(!section->switched) || section->parent >= 0)
        return NULL;
    next = ski_section_find(section->self->objects, section->id, section->generation + 1);
    return next && next->state == SKI_SECTION_JOINED ? next : NULL;
}

/* At the root: combines the result of the generation before with a partial result of @p next. */
static void section_reduction_hand_over(struct ski_section                *next,
                                        struct ski_reduction_partial      *partial,
                                        const struct ski_reduction_buffer *result)
{
    int pe = next->self->pe;

    if (!result->filled)
        return;
    if (!ski_reduction_buffer_fits(&partial->buffer, &result->spec))
        section_reduction_mismatch(next, partial, &result->spec, NULL, pe);
    ski_reduction_partial_add(partial, &result->spec, result->data, result->bytes, &result->to, pe);
}

/* At the root: gives the first reduction to the next generation, or to its completion. */
static void section_reduction_report_root(struct ski_section *section)
{
    struct ski_section           *next = ski_section_reduction_successor(section);
    struct ski_reduction_partial *done = section->reduction.partials, *partial;

    if (SKI_LIKELY(!section->switched)) {
        ski_reduction_list_complete(&section->reduction.partials);
        return;
    }
    if (next) {
        partial = section_reduction_partial(&next->reduction, done->number);
        partial->contributions++;
        section_reduction_hand_over(next, partial, &done->buffer);
    }
    ski_reduction_list_drop(&section->reduction.partials);
    if (next)
        ski_section_reduction_advance(next);
}

/* Reports the first reduction, to which all have contributed; at the root completes it. */
static void section_reduction_report_up(struct ski_section *section)
{
    const struct ski_reduction_partial *done   = section->reduction.partials;
    struct section_reduction_report     report = {section->id, done->number, section->generation,
                                                  done->buffer.spec, done->buffer.to};

    ski_assert(done->number == section->reduction.first);
    section->reduction.first++;
    if (SKI_UNLIKELY(section->reduction.late > 0))
        ski_section_contributors_prune_late(&section->reduction);
    if (SKI_UNLIKELY(!done->buffer.filled))
        report.spec.op = SECTION_REDUCTION_EMPTY;
    if (section->parent < 0)
        section_reduction_report_root(section);
    else
        ski_reduction_list_report(&section->reduction.partials, section->parent,
                                  SKI_HANDLER_SECTION_REDUCTION_REPORT, &report, sizeof report);
}

/* Returns whether the first reduction is complete at this delegate.  One to which no contributor
 * contributes is, if a contributor follows that begins later. */
static bool section_reduction_complete(struct ski_section_reduction *reduction)
{
    const struct ski_reduction_partial *partial =
        ski_reduction_list_find(reduction->partials, reduction->first);
    size_t expected;

    if (SKI_UNLIKELY(reduction->unjoined > 0) || (!partial && SKI_LIKELY(reduction->late == 0)))
        return false;
    expected = ski_section_contributors_expected(reduction, reduction->first);
    if (!partial && expected == 0)
        partial = section_reduction_partial(reduction, reduction->first);
    return partial && partial->contributions == expected;
}

void ski_section_reduction_advance(struct ski_section *section)
{
    ski_section_enter(section);
    while (section_reduction_complete(&section->reduction))
        section_reduction_report_up(section);
    ski_section_leave(section);
}

bool ski_section_reduction_over(const struct ski_section *section)
{
    const struct ski_section_reduction *reduction = &section->reduction;

    return ski_section_contributors_all_left(reduction) && reduction->unjoined == 0 &&
           !reduction->partials &&
           !ski_seqnum_before(reduction->first, ski_section_contributors_last(reduction));
}

static SKI_COLD _Noreturn void section_reduction_no_member(uint64_t id, const char *contributor,
                                                           int pe)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_contribute: %s on PE %d is not a member of %s", contributor, pe,
               ski_section_text(text, id));
}

static SKI_COLD _Noreturn void section_reduction_section_deleted(uint64_t    id,
                                                                 const char *contributor, int pe)
{
    char text[SKI_SECTION_TEXT];

    ski_misuse("skua_section_contribute: %s on PE %d: %s was destroyed", contributor, pe,
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

bool ski_section_reduction_is_child(const struct ski_section *section, int pe)
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

struct ski_section_member *ski_section_reduction_named_member(struct ski_section *section,
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
    bool empty = !contributor && bytes == 0 && report->spec.op == SECTION_REDUCTION_EMPTY;

    if (!empty && !ski_reduction_spec_valid(&report->spec, bytes))
        ski_fatal("PE %d sent an invalid contribution to a section", source);
    section_reduction_check_number(
        section, report->number,
        contributor ? ski_element_text(section->of, contributor) : "a delegate", source);
    partial = section_reduction_partial(&section->reduction, report->number);
    partial->contributions++;
    if (empty)
        return;
    if (!ski_reduction_buffer_fits(&partial->buffer, &report->spec))
        section_reduction_mismatch(section, partial, &report->spec, contributor, source);
    ski_reduction_partial_add(partial, &report->spec, report + 1, bytes, &report->to, source);
}

/* A message for a section that has ended: reports are dropped, contributions are errors unless the
 * collection has ended, too. */
static void section_reduction_came_too_late(skua_msg                              *msg,
                                            const struct section_reduction_report *report)
{
    const struct ski_collection *all;
    skua_index                   index;

    if (msg->flags & SKI_MSG_OBJECT) {
        all = ski_collection_find(ski_self->objects, msg->target >> 8);
        if (all && all->state == SKI_ENDED) {
            ski_collection_drop(all, msg);
            return;
        }
        index = ski_msg_index(msg);
        if (ski_section_latest(ski_self->objects, report->id) > report->generation)
            section_reduction_no_member(
                report->id, section_reduction_element_text(msg->target >> 8, &index), msg->source);
        section_reduction_section_deleted(
            report->id, section_reduction_element_text(msg->target >> 8, &index), msg->source);
    }
    skua_msg_free(msg);
}

/* Returns whether a member that has left contributes after all: no reduction waits for it. */
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
    struct ski_section *section = ski_section_awaited(msg, report->id, report->generation, &ended);

    if (ended)
        section_reduction_came_too_late(msg, report);
    if (!section)
        return;
    if (msg->flags & SKI_MSG_OBJECT) {
        if (!(member = ski_section_reduction_named_member(section, msg)))
            return;
        member->came = true;
    } else if (!ski_section_reduction_is_child(section, msg->source)) {
        ski_fatal("PE %d sent a report to a section, but is not a child", msg->source);
    }
    if (!member || !section_reduction_is_surplus(member, report->number)) {
        section_reduction_combine(section, report, bytes, member ? &member->index : NULL,
                                  msg->source);
        ski_section_reduction_advance(section);
    }
    skua_msg_free(msg);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Returns the record of the first generation of the section that @p object contributes to, which
 * has no record in another. */
static SKI_COLD struct ski_section *section_reduction_section_of(const struct ski_object *object,
                                                                 uint64_t                 id)
{
    struct ski_objects *objects = object->of->self->objects;
    struct ski_section *section = ski_section_find(objects, id, 0);

    if (section && section->state == SKI_SECTION_JOINED)
        return section;
    if (ski_section_ended(objects, "skua_section_contribute", id))
        section_reduction_section_deleted(id, ski_object_text(object), objects->self->pe);
    return ski_section_get(objects, id, 0);
}

/* Returns the record of @p object, whose index has the hash @p hash, in the generation @p section,
 * if it contributes to that; or NULL. */
static inline struct ski_section_member *section_reduction_active(const struct ski_section *section,
                                                                  const struct ski_object  *object,
                                                                  uint64_t                  hash)
{
    struct ski_hash_link      *link = ski_hash_first(&section->members, hash);
    struct ski_section_member *member;

    while (link && (link->hash != hash || ((struct ski_section_member *)link)->object != object))
        link = link->next;
    member = (struct ski_section_member *)link;
    if (SKI_UNLIKELY(!member) ||
        (SKI_UNLIKELY(section->generation > 0) && member->seen == SKI_SECTION_UNSEEN))
        return NULL;
    return member;
}

/* Searches for the generation of section @p id that @p object contributes to. */
static struct ski_section *section_reduction_search(struct ski_sections     *sections,
                                                    const struct ski_object *object, uint64_t id,
                                                    struct ski_section_member **member)
{
    skua_index          index   = ski_object_index_get(object);
    uint64_t            hash    = ski_index_hash(&index);
    struct ski_section *section = sections->last;

    if (SKI_LIKELY(section && section->id == id) &&
        SKI_LIKELY((*member = section_reduction_active(section, object, hash)) != NULL))
        return section;
    section = ski_section_first(object->of->self->objects, id);
    while (section && !(*member = section_reduction_active(section, object, hash)))
        section = ski_section_sibling(section);
    if (section)
        sections->last = section;
    return section;
}

/* Finds the generation of section @p id that @p object contributes to. */
static inline struct ski_section *section_reduction_find(const struct ski_object    *object,
                                                         uint64_t                    id,
                                                         struct ski_section_member **member)
{
    struct ski_sections *sections = ski_sections_of(object->of->self->objects);

    if (sections->receiver && sections->receiver->object == object && sections->running->id == id) {
        *member = sections->receiver;
        return sections->running;
    }
    return section_reduction_search(sections, object, id, member);
}

/* Returns the record of @p object, which has none yet, in the first generation of a section; ends
 * the job if this PE knows that it is no member. */
static SKI_COLD struct ski_section_member *section_reduction_member(struct ski_section *section,
                                                                    struct ski_object  *object)
{
    skua_index                 index  = ski_object_index_get(object);
    struct ski_section_member *member = ski_section_member_find(section, &index);

    if ((section->of && section->of != object->of) || (member && member->gone) ||
        (!member && section->state == SKI_SECTION_JOINED && section->parent < 0))
        section_reduction_no_member(section->id, ski_object_text(object), section->self->pe);
    ski_section_set_collection(section, object->of);
    member = ski_section_member_get(section, &index);
    ski_section_member_here(member, object);
    return member;
}

/* A contribution of a member that is on this PE. */
struct section_reduction_given {
    struct ski_reduction_spec spec;
    const void               *data;
    size_t                    bytes;
    uint32_t                  number;
};

/* Ends the job if the operator of a contribution does not take its type.  A contribution that fits
 * those before it needs no check: the first one was checked. */
static inline void section_reduction_check_spec(const struct ski_section_member *member,
                                                const struct ski_reduction_spec *spec)
{
    if (SKI_UNLIKELY(!ski_reduction_spec_known((skua_op)spec->op, (skua_type)spec->type)))
        ski_reduction_spec_check("skua_section_contribute", spec, ski_object_text(member->object),
                                 ski_self->pe);
}

/* Sends a contribution to the delegate, or to the root, which knows the delegate. */
static void section_reduction_send_to_delegate(struct ski_section                   *section,
                                               const struct ski_section_member      *member,
                                               const struct section_reduction_given *given,
                                               const skua_completion                *done)
{
    struct ski_reduction_buffer     buffer = {0};
    struct section_reduction_report report = {section->id, given->number, section->generation,
                                              given->spec, *done};
    skua_msg                       *msg;

    section_reduction_check_spec(member, &given->spec);
    ski_reduction_buffer_contribute(&buffer, &given->spec, given->data, given->bytes, done);
    msg          = ski_msg_with_header(&report, sizeof report, buffer.data, buffer.bytes);
    msg->handler = SKI_HANDLER_SECTION_REDUCTION_REPORT;
    msg->source  = section->self->pe;
    ski_msg_post(section->self, member->delegate, SKI_HANDLER_SECTION_REDUCTION_REPORT,
                 ski_msg_set_target(msg, section->of->id, &member->index));
    free(buffer.data);
}

/* Adds the contribution of a member whose delegate is this PE. */
static inline void section_reduction_contribute_here(struct ski_section                   *section,
                                                     const struct ski_section_member      *member,
                                                     const struct section_reduction_given *given,
                                                     const skua_completion                *done)
{
    struct ski_reduction_partial *partial;

    if (SKI_UNLIKELY(given->number - section->reduction.first >= SKI_REDUCTIONS_AHEAD))
        section_reduction_check_number(section, given->number, ski_object_text(member->object),
                                       section->self->pe);
    partial = section_reduction_partial(&section->reduction, given->number);
    if (!partial->buffer.filled)
        section_reduction_check_spec(member, &given->spec);
    else if (SKI_UNLIKELY(!ski_reduction_buffer_fits(&partial->buffer, &given->spec)))
        section_reduction_mismatch(section, partial, &given->spec, &member->index,
                                   section->self->pe);
    ski_reduction_buffer_contribute(&partial->buffer, &given->spec, given->data, given->bytes,
                                    done);
    if (++partial->contributions + section->reduction.left + section->reduction.late >=
        section->reduction.contributors)
        ski_section_reduction_advance(section);
}

void skua_section_contribute(skua_section target, void *self, skua_contribution give,
                             skua_completion done)
{
    struct ski_object             *object  = ski_object_of(self);
    struct ski_pe                 *pe      = object->of->self;
    struct ski_section_member     *member  = NULL;
    struct ski_section            *section = section_reduction_find(object, target.id, &member);
    struct section_reduction_given given   = {{give.op, (uint32_t)give.type, give.count},
                                              give.data,
                                              give.count * ski_type_size(give.type),
                                              0};

    if (SKI_UNLIKELY(object->state >= SKI_DEAD))
        ski_misuse("skua_section_contribute: %s on PE %d contributes while it is destroyed",
                   ski_object_text(object), pe->pe);
    if (SKI_UNLIKELY(!section)) {
        section = section_reduction_section_of(object, target.id);
        member  = section_reduction_member(section, object);
    }
    given.number = member->next++;
    if (SKI_UNLIKELY(ski_measure_counts(pe)))
        ski_measure_count_contribution(object, &done, given.bytes);
    if (SKI_LIKELY(section->state == SKI_SECTION_JOINED && member->delegate == pe->pe))
        section_reduction_contribute_here(section, member, &given, &done);
    else
        section_reduction_send_to_delegate(section, member, &given, &done);
}

/* ---- idle report ----------------------------------------------------------------------------- */

/* Returns the own members on this PE that have not contributed to reduction @p number; *one is one
 * of them. */
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
