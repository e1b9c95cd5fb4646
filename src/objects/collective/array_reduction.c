/* SPDX-License-Identifier: Apache-2.0 */
/* array_reduction.c - see array_reduction.h. */
#include "objects/collective/array_reduction.h"

#include <skua/collection.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "core/collective/pe_tree.h"
#include "objects/collective/array_broadcast.h"
#include "objects/collective/array_partial.h"
#include "objects/model/seqnum.h"
#include "objects/model/element.h"
#include "objects/measure/measure.h"

_Static_assert(sizeof(struct ski_array_report) == SKI_ARRAY_REDUCTION_REPORT_MIN,
               "see array_reduction.h");

_Static_assert(sizeof(struct ski_array_start) == SKI_ARRAY_REDUCTION_START_MIN,
               "see array_reduction.h");

/* Returns operator and type in one word, to be compared together. */
static inline uint64_t array_reduction_signature(skua_op op, skua_type type)
{
    return op | (uint64_t)type << 32;
}

#define ARRAY_REDUCTION_ONE_OF_EACH ((UINT64_C(1) << 32) + 1)

static int64_t array_reduction_contributed(const struct ski_array_partial *partial)
{
    return (int64_t)(partial->result.contributions + partial->given);
}

/* Ends the job if a contribution of @p contributor, NULL: in a report from PE @p from, does not
 * fit. */
static inline void array_reduction_check_spec(const struct ski_collection     *all,
                                              const struct ski_array_partial  *partial,
                                              const struct ski_reduction_spec *spec,
                                              const struct ski_object *contributor, int from)
{
    if (SKI_UNLIKELY(!ski_reduction_buffer_fits(&partial->result.buffer, spec)))
        ski_reduction_buffer_mismatch(
            &partial->result.buffer, spec, partial->result.number, all->class->def.name,
            contributor ? ski_object_text(contributor) : "an element", from);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Returns whether this PE reports without a start. */
static bool array_reduction_is_active(const struct ski_collection *all)
{
    return all->live > 0 || all->reduction->active != 0;
}

static void array_reduction_send_start(struct ski_collection *all, int pe, uint32_t number)
{
    struct ski_array_start start = {all->id, number, ski_array_broadcast_last_known(all)};

    skua_send_copy(pe, (skua_handler){SKI_HANDLER_ARRAY_REDUCTION_START}, &start, sizeof start);
}

void ski_array_reduction_start(struct ski_collection *all, struct ski_array_partial *partial)
{
    struct ski_pe_tree tree;

    if (SKI_LIKELY(partial->started))
        return;
    partial->started = true;
    tree             = ski_array_reduction_tree(all);
    for (int i = 0; i < tree.children; i++)
        if (!((all->reduction->active | partial->in) >> i & 1))
            array_reduction_send_start(all, ski_pe_tree_child(&tree, i), partial->result.number);
}

/* At the root: completes reductions in the order of their numbers. */
static void array_reduction_finish_ready(struct ski_collection *all)
{
    struct ski_reduction_partial **list = &all->reduction->partials;
    struct ski_array_partial      *partial;

    while ((partial = ski_array_partial_of(*list)) && partial->reported &&
           array_reduction_contributed(partial) == partial->expected)
        ski_reduction_list_complete(list);
}

/* Reports a reduction to which the whole subtree has contributed. */
static void array_reduction_report_up(struct ski_collection *all, struct ski_array_partial *partial)
{
    struct ski_array_reduction *r    = all->reduction;
    struct ski_pe_tree          tree = ski_array_reduction_tree(all);
    struct ski_array_report     report;

    ski_assert(partial->result.number == r->first && partial->started);
    r->first++;
    /* Contributions are late from now on. */
    partial->like = partial->like_double = SKI_ARRAY_PARTIAL_NOT_LIKE;
    r->expected += partial->adjust;
    partial->expected += r->expected;
    if (ski_pe_tree_is_root(&tree)) {
        partial->reported = true;
        array_reduction_finish_ready(all);
        return;
    }
    r->told_active = array_reduction_is_active(all);
    report         = (struct ski_array_report){.id            = all->id,
                                               .number        = partial->result.number,
                                               .active        = r->told_active,
                                               .filled        = partial->result.buffer.filled,
                                               .spec          = partial->result.buffer.spec,
                                               .contributions = array_reduction_contributed(partial),
                                               .expected      = partial->expected,
                                               .to            = partial->result.buffer.to,
                                               .heard         = ski_array_broadcast_last_known(all)};
    ski_assert(r->partials == &partial->result); /* only the root has older ones */
    ski_reduction_list_report(&r->partials, ski_pe_tree_parent(&tree),
                              SKI_HANDLER_ARRAY_REDUCTION_REPORT, &report, sizeof report);
}

void ski_array_reduction_advance(struct ski_collection *all)
{
    struct ski_array_reduction *r = all->reduction;
    struct ski_array_partial   *partial;
    uint64_t                    children;

    if (!r->partials) /* as for each of many elements that migrate */
        return;
    children = (UINT64_C(1) << ski_array_reduction_tree(all).children) - 1;
    while (all->state == SKI_EXISTS &&
           (partial = ski_array_partial_of(ski_reduction_list_find(r->partials, r->first))) &&
           partial->started && partial->done == all->live && partial->in == children)
        array_reduction_report_up(all, partial);
}

void ski_array_reduction_send_late(struct ski_collection *all, uint32_t number,
                                   const struct ski_array_report *report, const void *data,
                                   size_t bytes)
{
    struct ski_array_report late = *report;

    late.id     = all->id;
    late.number = number;
    late.late   = true;
    skua_send(all->root, (skua_handler){SKI_HANDLER_ARRAY_REDUCTION_REPORT},
              ski_msg_with_header(&late, sizeof late, data, bytes));
}

void ski_array_reduction_removed(struct ski_collection *all)
{
    struct ski_array_start quiet = {all->id, 0, 0};
    struct ski_pe_tree     tree;

    ski_array_reduction_advance(all);
    if (!all->reduction->told_active || array_reduction_is_active(all))
        return;
    all->reduction->told_active = false;
    tree                        = ski_array_reduction_tree(all);
    if (!ski_pe_tree_is_root(&tree))
        skua_send_copy(ski_pe_tree_parent(&tree),
                       (skua_handler){SKI_HANDLER_ARRAY_REDUCTION_INACTIVE}, &quiet, sizeof quiet);
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* Returns the number of the child that PE @p pe is, or -1. */
static int array_reduction_child(const struct ski_pe_tree *tree, int pe)
{
    for (int i = 0; i < tree->children; i++)
        if (ski_pe_tree_child(tree, i) == pe)
            return i;
    return -1;
}

/* Records whether a child is active.  A child that is no longer active must learn of the reductions
 * that started while it was. */
static void array_reduction_set_active(struct ski_collection *all, int child, bool active)
{
    struct ski_array_reduction *r     = all->reduction;
    uint64_t                    bit   = UINT64_C(1) << child;
    struct ski_pe_tree          tree  = ski_array_reduction_tree(all);
    bool                        quiet = !active && r->active & bit;

    ski_assert(child >= 0 && child < tree.children);
    for (struct ski_reduction_partial *at = quiet ? r->partials : NULL; at; at = at->next) {
        const struct ski_array_partial *partial = ski_array_partial_of(at);

        if (partial->started && !partial->reported && !(partial->in & bit))
            array_reduction_send_start(all, ski_pe_tree_child(&tree, child), at->number);
    }
    r->active = active ? r->active | bit : r->active & ~bit;
}

static void array_reduction_check_partial(const struct ski_collection   *all,
                                          const struct ski_array_report *report, size_t bytes,
                                          int source)
{
    bool wrong = report->filled && !ski_reduction_spec_valid(&report->spec, bytes);

    if (wrong || (report->late && all->root != all->self->pe) ||
        (!report->late && ski_seqnum_before(report->number, all->reduction->first)))
        ski_fatal("PE %d sent an invalid report of reduction %u of %s", source, report->number,
                  all->class->def.name);
}

static void array_reduction_combine(struct ski_collection         *all,
                                    const struct ski_array_report *report, size_t bytes, int from)
{
    struct ski_array_partial *partial = ski_array_partial_get(all->reduction, report->number);

    if (report->filled) {
        array_reduction_check_spec(all, partial, &report->spec, NULL, from);
        ski_reduction_partial_add(&partial->result, &report->spec, report + 1, bytes, &report->to,
                                  from);
    }
    partial->result.contributions += (uint64_t)report->contributions;
    partial->expected += report->expected;
}

void ski_on_array_reduction_report(skua_msg *msg)
{
    const struct ski_array_report *report = skua_msg_data(msg);
    size_t                         bytes  = msg->bytes - sizeof *report;
    struct ski_collection         *all;
    struct ski_pe_tree             tree;
    int                            child;

    if (ski_collection_awaited(ski_self->objects, report->id, msg, &all))
        return;
    array_reduction_check_partial(all, report, bytes, msg->source);
    if (!report->late)
        ski_array_broadcast_heard(all, report->heard);
    tree  = ski_array_reduction_tree(all);
    child = report->late ? 0 : array_reduction_child(&tree, msg->source);
    if (child < 0 ||
        (!report->late && ski_array_partial_get(all->reduction, report->number)->in >> child & 1))
        ski_fatal("reduction %u of %s: PE %d reported, which is not a child or has reported before",
                  report->number, all->class->def.name, msg->source);
    array_reduction_combine(all, report, bytes, msg->source);
    if (report->late) {
        array_reduction_finish_ready(all);
    } else {
        struct ski_array_partial *partial = ski_array_partial_get(all->reduction, report->number);

        partial->in |= UINT64_C(1) << child;
        array_reduction_set_active(all, child, report->active);
        ski_array_reduction_start(all, partial);
        ski_array_reduction_advance(all);
    }
    skua_msg_free(msg);
}

void ski_on_array_reduction_start(skua_msg *msg)
{
    struct ski_array_start order = *(struct ski_array_start *)skua_msg_data(msg);
    struct ski_collection *all;

    if (ski_collection_awaited(ski_self->objects, order.id, msg, &all))
        return;
    skua_msg_free(msg);
    ski_array_broadcast_heard(all, order.heard);
    if (ski_seqnum_before(order.number, all->reduction->first))
        return;
    ski_array_reduction_start(all, ski_array_partial_get(all->reduction, order.number));
    ski_array_reduction_advance(all);
}

void ski_on_array_reduction_inactive(skua_msg *msg)
{
    struct ski_array_start order = *(struct ski_array_start *)skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_pe_tree     tree;
    int                    child;

    if (ski_collection_awaited(ski_self->objects, order.id, msg, &all))
        return;
    tree  = ski_array_reduction_tree(all);
    child = array_reduction_child(&tree, msg->source);
    if (child >= 0)
        array_reduction_set_active(all, child, false);
    skua_msg_free(msg);
    ski_array_reduction_removed(all);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static SKI_COLD _Noreturn void array_reduction_too_far_ahead(const struct ski_object *object)
{
    ski_misuse(
        "%s on PE %d contributes to reduction %u of its collection while reduction %u is not "
        "finished: does it contribute twice, or do others not at all?",
        ski_object_text(object), object->of->self->pe, object->next_reduction,
        object->of->reduction->first);
}

/* Adds the contribution of an element to a reduction that this PE has not reported. */
static inline void array_reduction_contribute_here(struct ski_object               *object,
                                                   struct ski_array_partial        *partial,
                                                   const struct ski_reduction_spec *spec,
                                                   const void *data, size_t bytes,
                                                   const skua_completion *done)
{
    struct ski_collection *all = object->of;

    ski_assert(!ski_seqnum_before(partial->result.number, all->reduction->first) &&
               !partial->reported);
    array_reduction_check_spec(all, partial, spec, object, all->self->pe);
    ski_reduction_buffer_contribute(&partial->result.buffer, spec, data, bytes, done);
    partial->both += ARRAY_REDUCTION_ONE_OF_EACH;
    ski_array_reduction_start(all, partial);
    if (ski_op_is_list(spec->op) || !partial->result.buffer.to.kind ||
        ski_measure_counts(all->self))
        return; /* no short way for the next: each is counted */
    partial->like = array_reduction_signature((skua_op)spec->op, (skua_type)spec->type);
    partial->fn   = ski_op_function((skua_op)spec->op, (skua_type)spec->type);
    if (partial->like == array_reduction_signature(SKUA_SUM, SKUA_DOUBLE) && spec->count == 1)
        partial->like_double = partial->like;
}

/* Sends a contribution to a reduction that this PE has reported to the root. */
static SKI_COLD void array_reduction_contribute_late(struct ski_object               *object,
                                                     const struct ski_reduction_spec *spec,
                                                     const void *data, size_t bytes,
                                                     const skua_completion *done)
{
    struct ski_reduction_buffer buffer = {0};
    struct ski_array_report     report;

    ski_reduction_buffer_contribute(&buffer, spec, data, bytes, done);
    report =
        (struct ski_array_report){.filled = true, .spec = *spec, .contributions = 1, .to = *done};
    ski_array_reduction_send_late(object->of, object->next_reduction, &report, buffer.data,
                                  buffer.bytes);
    free(buffer.data);
}

/* Contributes in the general case. */
static __attribute__((noinline)) void array_reduction_contribute(struct ski_object *object,
                                                                 skua_op op, skua_type type,
                                                                 const void *data, size_t count,
                                                                 const skua_completion *done)
{
    struct ski_array_reduction *r     = object->of->reduction;
    struct ski_reduction_spec   spec  = {op, (uint32_t)type, count};
    size_t                      bytes = count * ski_type_size(type);
    struct ski_array_partial   *partial;

    if (SKI_UNLIKELY(!ski_reduction_spec_known(op, type)))
        ski_reduction_spec_check("skua_contribute", &spec, ski_object_text(object),
                                 object->of->self->pe);
    if (SKI_UNLIKELY(object->of->kind == SKI_CHARES))
        ski_misuse("skua_contribute: %s is a single object and in no collection",
                   ski_object_text(object));
    if (SKI_UNLIKELY(object->state >= SKI_DEAD))
        ski_misuse("skua_contribute: %s on PE %d contributes while it is destroyed",
                   ski_object_text(object), object->of->self->pe);
    if (SKI_UNLIKELY(ski_seqnum_before(object->next_reduction, r->first))) {
        array_reduction_contribute_late(object, &spec, data, bytes, done);
        object->next_reduction++;
        return;
    }
    if (SKI_UNLIKELY(object->next_reduction - r->first >= SKI_REDUCTIONS_AHEAD))
        array_reduction_too_far_ahead(object);
    partial = ski_array_partial_get(r, object->next_reduction);
    object->next_reduction++;
    ski_measure_count_contribution(object, NULL, bytes);
    array_reduction_contribute_here(object, partial, &spec, data, bytes, done);
    if (partial->done == object->of->live)
        ski_array_reduction_advance(object->of);
}

/* Counts a contribution that has been combined. */
static inline void array_reduction_count_in(struct ski_object        *object,
                                            struct ski_array_partial *partial)
{
    object->next_reduction++;
    partial->both += ARRAY_REDUCTION_ONE_OF_EACH;
    if (SKI_UNLIKELY(partial->done == object->of->live))
        ski_array_reduction_advance(object->of);
}

/* Contributes anything but a single double to a sum. */
static __attribute__((noinline)) void array_reduction_contribute_other(struct ski_object *object,
                                                                       skua_op op, skua_type type,
                                                                       const void            *data,
                                                                       size_t                 count,
                                                                       const skua_completion *done)
{
    struct ski_array_partial *partial = ski_array_partial_of(object->of->reduction->partials);

    if (!partial || partial->result.number != object->next_reduction ||
        partial->like != array_reduction_signature(op, type) ||
        partial->result.buffer.spec.count != count) {
        array_reduction_contribute(object, op, type, data, count, done);
        return;
    }
    if (count)
        partial->fn(partial->result.buffer.data, data, count, type);
    array_reduction_count_in(object, partial);
}

/* The most frequent case is inline: an earlier contribution was a double for a sum, and named the
 * completion. */
void skua_contribute_to(void *self, skua_op op, skua_type type, const void *data, size_t count,
                        const skua_completion *done)
{
    struct ski_object        *object  = ski_object_of(self);
    struct ski_array_partial *partial = ski_array_partial_of(object->of->reduction->partials);

    if (SKI_LIKELY(partial && partial->result.number == object->next_reduction &&
                   partial->like_double == array_reduction_signature(op, type) && count == 1)) {
        *(double *)(void *)partial->result.buffer.data += *(const double *)data;
        array_reduction_count_in(object, partial);
    } else {
        array_reduction_contribute_other(object, op, type, data, count, done);
    }
}

void skua_contribute_nothing(void *self, skua_completion done)
{
    skua_contribute(self, SKUA_SUM, SKUA_INT32, NULL, 0, done);
}
