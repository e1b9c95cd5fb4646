/* SPDX-License-Identifier: Apache-2.0 */
/* array_reduction.c - see array_reduction.h. */
#include "objects/collective/array_reduction.h"

#include <skua/collection.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "core/collective/tree.h"
#include "objects/collective/array_broadcast.h"
#include "objects/location/insertion.h"
#include "objects/model/seqnum.h"
#include "objects/model/element.h"
#include "objects/collective/reduction_list.h"

/* Reductions that an element and a PE may be apart. */
#define ARRAY_REDUCTION_AHEAD_MOST (UINT32_C(1) << 16)

/* Children of a PE at most: `active` has a bit for each. */
#define ARRAY_REDUCTION_CHILDREN 32

/* The partial result of a reduction of an array in progress. */
struct array_reduction_partial {
    struct ski_reduction_partial result;   /* its `contributions`: in the reports that have come */
    bool                         started;  /* some element has contributed, on any PE */
    bool                         reported; /* at the root: only late reports are missing */
    uint64_t                     in;       /* children, by bit, that have reported */
    int64_t adjust;   /* deletions that concern this and later reductions, negative */
    int64_t expected; /* by the reports that have come */
    union {
        struct {
            uint32_t done;  /* elements here that have contributed */
            uint32_t given; /* contributions made here */
        };
        uint64_t both; /* counts one of each with one addition */
    };
    uint64_t   like_double; /* `like`, if this sums one double */
    uint64_t   like;        /* the signature of a contribution that need only be combined, ... */
    skua_op_fn fn;          /* ... with this function */
};

/* A report to the parent or, late, to the root; the data follows. */
struct array_reduction_report {
    _Alignas(32) uint64_t id;
    uint32_t                  number;
    uint8_t                   late, active, filled, zero;
    struct ski_reduction_spec spec;
    int64_t                   contributions, expected;
    skua_completion           to;
    uint32_t                  heard; /* broadcasts that the sender knows of */
};

_Static_assert(sizeof(struct array_reduction_report) == SKI_ARRAY_REDUCTION_REPORT_LEAST,
               "see array_reduction.h");

/* A reduction has started; or, with no number, the sender is not active any more. */
struct array_reduction_start_msg {
    uint64_t id;
    uint32_t number;
    uint32_t heard; /* broadcasts that the sender knows of */
};

_Static_assert(sizeof(struct array_reduction_start_msg) == SKI_ARRAY_REDUCTION_START_LEAST,
               "see array_reduction.h");

/* Operator and type in one word, to be compared at once. */
static inline uint64_t array_reduction_signature(skua_op op, skua_type type)
{
    return op | (uint64_t)type << 32;
}

#define ARRAY_REDUCTION_NOT_LIKE UINT64_MAX /* is no signature */

static struct ski_tree array_reduction_tree(const struct ski_collection *all)
{
    int arity;

    ski_assert(ski_config.tree_arity > 0);
    arity = (int)(ski_config.tree_arity < ARRAY_REDUCTION_CHILDREN ? ski_config.tree_arity
                                                                   : ARRAY_REDUCTION_CHILDREN);

    return ski_tree_at(all->self->pe, all->self->pes, all->root, arity);
}

#define ARRAY_REDUCTION_ONE_OF_EACH ((UINT64_C(1) << 32) + 1)

static int64_t array_reduction_contributed(const struct array_reduction_partial *partial)
{
    return (int64_t)(partial->result.contributions + partial->given);
}

/* ---- partial results ------------------------------------------------------------------------- */

static const struct array_reduction_partial array_reduction_fresh = {
    .like_double = ARRAY_REDUCTION_NOT_LIKE, .like = ARRAY_REDUCTION_NOT_LIKE};

_Static_assert(offsetof(struct array_reduction_partial, result) == 0,
               "an entry of the list of partial results is the record that begins with it");

static inline struct array_reduction_partial *array_reduction_record(
    struct ski_reduction_partial *result)
{
    return (struct array_reduction_partial *)result;
}

/* The link to the partial result of reduction @p number, which is added if it is new; from @p at
 * on. */
static inline struct ski_reduction_partial **array_reduction_seek(struct ski_reduction_partial **at,
                                                                  uint32_t number)
{
    return ski_reduction_list_seek(at, number, &array_reduction_fresh,
                                   sizeof array_reduction_fresh);
}

static inline struct array_reduction_partial *array_reduction_partial(struct ski_array_reduction *r,
                                                                      uint32_t number)
{
    return array_reduction_record(*array_reduction_seek(&r->partials, number));
}

/* Ends the job if a contribution of @p contributor, NULL: in a report from PE @p from, does not
 * fit. */
static inline void array_reduction_check_spec(const struct ski_collection          *all,
                                              const struct array_reduction_partial *partial,
                                              const struct ski_reduction_spec      *spec,
                                              const struct ski_object *contributor, int from)
{
    if (SKI_UNLIKELY(!ski_reduction_buffer_fits(&partial->result.buffer, spec)))
        ski_reduction_buffer_mismatch(
            &partial->result.buffer, spec, partial->result.number, all->class->def.name,
            contributor ? ski_object_text(contributor) : "an element", from);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Whether this PE reports unasked. */
static bool array_reduction_is_active(const struct ski_collection *all)
{
    return all->live > 0 || all->reduction->active != 0;
}

static void array_reduction_send_start(struct ski_collection *all, int pe, uint32_t number)
{
    struct array_reduction_start_msg start = {all->id, number, ski_array_broadcast_last_known(all)};

    skua_send_copy(pe, (skua_handler){SKI_HANDLER_ARRAY_REDUCTION_START}, &start, sizeof start);
}

/* Marks a reduction as started, and tells the children that are not active. */
static void array_reduction_start(struct ski_collection          *all,
                                  struct array_reduction_partial *partial)
{
    struct ski_tree tree;

    if (SKI_LIKELY(partial->started))
        return;
    partial->started = true;
    tree             = array_reduction_tree(all);
    for (int i = 0; i < tree.children; i++)
        if (!((all->reduction->active | partial->in) >> i & 1))
            array_reduction_send_start(all, ski_tree_child(&tree, i), partial->result.number);
}

/* At the root: completes reductions in the order of their numbers. */
static void array_reduction_finish_ready(struct ski_collection *all)
{
    struct ski_reduction_partial  **list = &all->reduction->partials;
    struct array_reduction_partial *partial;

    while ((partial = array_reduction_record(*list)) && partial->reported &&
           array_reduction_contributed(partial) == partial->expected)
        ski_reduction_list_complete(list);
}

/* Reports a reduction to which the whole subtree has contributed. */
static void array_reduction_report_up(struct ski_collection          *all,
                                      struct array_reduction_partial *partial)
{
    struct ski_array_reduction   *r    = all->reduction;
    struct ski_tree               tree = array_reduction_tree(all);
    struct array_reduction_report report;

    ski_assert(partial->result.number == r->first && partial->started);
    r->first++;
    /* Contributions are late from now on. */
    partial->like = partial->like_double = ARRAY_REDUCTION_NOT_LIKE;
    r->expected += partial->adjust;
    partial->expected += r->expected;
    if (tree.rank == 0) {
        partial->reported = true;
        array_reduction_finish_ready(all);
        return;
    }
    r->told_active = array_reduction_is_active(all);
    report         = (struct array_reduction_report){.id            = all->id,
                                                     .number        = partial->result.number,
                                                     .active        = r->told_active,
                                                     .filled        = partial->result.buffer.filled,
                                                     .spec          = partial->result.buffer.spec,
                                                     .contributions = array_reduction_contributed(partial),
                                                     .expected      = partial->expected,
                                                     .to            = partial->result.buffer.to,
                                                     .heard         = ski_array_broadcast_last_known(all)};
    ski_assert(r->partials == &partial->result); /* only the root has older ones */
    ski_reduction_list_report(&r->partials, ski_tree_parent(&tree),
                              SKI_HANDLER_ARRAY_REDUCTION_REPORT, &report, sizeof report);
}

/* Reports all reductions that are complete on this PE. */
static void array_reduction_advance(struct ski_collection *all)
{
    struct ski_array_reduction *r        = all->reduction;
    uint64_t                    children = (UINT64_C(1) << array_reduction_tree(all).children) - 1;
    struct array_reduction_partial *partial;

    while (all->state == SKI_EXISTS &&
           (partial = array_reduction_record(ski_reduction_list_find(r->partials, r->first))) &&
           partial->started && partial->done == all->live && partial->in == children)
        array_reduction_report_up(all, partial);
}

/* ---- elements come and go -------------------------------------------------------------------- */

static void array_reduction_element_created(struct ski_object *object)
{
    object->of->reduction->expected++;
}

static void array_reduction_insertion_begun(struct ski_collection *all, struct ski_account *account)
{
    all->reduction->expected++;
    account->next_reduction = all->reduction->first;
}

/* Adds @p by to the counts of the unreported reductions that an element has contributed to. */
static void array_reduction_count_done(struct ski_object *object, uint32_t by)
{
    struct ski_array_reduction    *r  = object->of->reduction;
    struct ski_reduction_partial **at = &r->partials;

    for (uint32_t n = r->first; ski_seqnum_before(n, object->next_reduction); n++) {
        at = array_reduction_seek(at, n);
        ski_assert(by == 1 || array_reduction_record(*at)->done > 0);
        array_reduction_record(*at)->done += by;
    }
}

/* Reports to the root what a migrated element adds to a reduction that this PE has reported. */
static void array_reduction_send_late(struct ski_collection *all, uint32_t number,
                                      const struct array_reduction_report *report, const void *data,
                                      size_t bytes)
{
    struct array_reduction_report late = *report;

    late.id     = all->id;
    late.number = number;
    late.late   = true;
    skua_send(all->root, (skua_handler){SKI_HANDLER_ARRAY_REDUCTION_REPORT},
              ski_msg_with_header(&late, sizeof late, data, bytes));
}

static void array_reduction_element_deleted(struct ski_object *object)
{
    struct ski_collection      *all = object->of;
    struct ski_array_reduction *r   = all->reduction;

    array_reduction_count_done(object, UINT32_MAX); /* modulo 2^32: one less */
    if (ski_seqnum_before(r->first, object->next_reduction))
        array_reduction_partial(r, object->next_reduction)->adjust--;
    else
        r->expected--;
    for (uint32_t n = object->next_reduction; ski_seqnum_before(n, r->first); n++)
        array_reduction_send_late(all, n, &(struct array_reduction_report){.expected = -1}, NULL,
                                  0);
}

static void array_reduction_element_departed(struct ski_object *object)
{
    array_reduction_count_done(object, UINT32_MAX);
}

/* Whether an element whose next reduction is @p next may arrive on this PE: the two are not further
 * apart than a correct program gets them. */
static bool array_reduction_in_reach(const struct ski_collection *all, uint32_t next)
{
    uint32_t ahead = next - all->reduction->first;

    return ahead <= ARRAY_REDUCTION_AHEAD_MOST || -ahead <= ARRAY_REDUCTION_AHEAD_MOST;
}

static void array_reduction_enter(struct ski_object *object)
{
    struct ski_collection         *all = object->of;
    struct ski_reduction_partial **at  = &all->reduction->partials;

    array_reduction_count_done(object, 1);
    for (uint32_t n = all->reduction->first; ski_seqnum_before(n, object->next_reduction); n++) {
        at = array_reduction_seek(at, n); /* the element has contributed: it has started */
        array_reduction_start(all, array_reduction_record(*at));
    }
    array_reduction_advance(all);
}

/* A reduction may have waited for the removed element only. */
static void array_reduction_element_removed(struct ski_collection *all)
{
    struct array_reduction_start_msg quiet = {all->id, 0, 0};
    struct ski_tree                  tree;

    array_reduction_advance(all);
    if (!all->reduction->told_active || array_reduction_is_active(all))
        return;
    all->reduction->told_active = false;
    tree                        = array_reduction_tree(all);
    if (tree.rank > 0)
        skua_send_copy(ski_tree_parent(&tree), (skua_handler){SKI_HANDLER_ARRAY_REDUCTION_INACTIVE},
                       &quiet, sizeof quiet);
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* The number of the child that PE @p pe is, or -1. */
static int array_reduction_child(const struct ski_tree *tree, int pe)
{
    for (int i = 0; i < tree->children; i++)
        if (ski_tree_child(tree, i) == pe)
            return i;
    return -1;
}

/* Records whether a child is active.  A child that is not any more must hear of the reductions that
 * started while it was. */
static void array_reduction_set_active(struct ski_collection *all, int child, bool active)
{
    struct ski_array_reduction *r     = all->reduction;
    uint64_t                    bit   = UINT64_C(1) << child;
    struct ski_tree             tree  = array_reduction_tree(all);
    bool                        quiet = !active && r->active & bit;

    ski_assert(child >= 0 && child < tree.children);
    for (struct ski_reduction_partial *at = quiet ? r->partials : NULL; at; at = at->next) {
        const struct array_reduction_partial *partial = array_reduction_record(at);

        if (partial->started && !partial->reported && !(partial->in & bit))
            array_reduction_send_start(all, ski_tree_child(&tree, child), at->number);
    }
    r->active = active ? r->active | bit : r->active & ~bit;
}

static void array_reduction_check_partial(const struct ski_collection         *all,
                                          const struct array_reduction_report *report, size_t bytes,
                                          int source)
{
    bool wrong = report->filled && !ski_reduction_spec_valid(&report->spec, bytes);

    if (wrong || (report->late && all->root != all->self->pe) ||
        (!report->late && ski_seqnum_before(report->number, all->reduction->first)))
        ski_fatal("PE %d sent an invalid report of reduction %u of %s", source, report->number,
                  all->class->def.name);
}

static void array_reduction_combine(struct ski_collection               *all,
                                    const struct array_reduction_report *report, size_t bytes,
                                    int from)
{
    struct array_reduction_partial *partial =
        array_reduction_partial(all->reduction, report->number);

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
    const struct array_reduction_report *report = skua_msg_data(msg);
    size_t                               bytes  = msg->bytes - sizeof *report;
    struct ski_collection               *all;
    struct ski_tree                      tree;
    int                                  child;

    if (ski_collection_awaited(ski_self->objects, report->id, msg, &all))
        return;
    array_reduction_check_partial(all, report, bytes, msg->source);
    if (!report->late)
        ski_array_broadcast_heard(all, report->heard);
    tree  = array_reduction_tree(all);
    child = report->late ? 0 : array_reduction_child(&tree, msg->source);
    if (child < 0 ||
        (!report->late && array_reduction_partial(all->reduction, report->number)->in >> child & 1))
        ski_fatal("reduction %u of %s: PE %d reported, which is no child or has reported before",
                  report->number, all->class->def.name, msg->source);
    array_reduction_combine(all, report, bytes, msg->source);
    if (report->late) {
        array_reduction_finish_ready(all);
    } else {
        struct array_reduction_partial *partial =
            array_reduction_partial(all->reduction, report->number);

        partial->in |= UINT64_C(1) << child;
        array_reduction_set_active(all, child, report->active);
        array_reduction_start(all, partial);
        array_reduction_advance(all);
    }
    skua_msg_free(msg);
}

void ski_on_array_reduction_start(skua_msg *msg)
{
    struct array_reduction_start_msg order =
        *(struct array_reduction_start_msg *)skua_msg_data(msg);
    struct ski_collection *all;

    if (ski_collection_awaited(ski_self->objects, order.id, msg, &all))
        return;
    skua_msg_free(msg);
    ski_array_broadcast_heard(all, order.heard);
    if (ski_seqnum_before(order.number, all->reduction->first))
        return;
    array_reduction_start(all, array_reduction_partial(all->reduction, order.number));
    array_reduction_advance(all);
}

void ski_on_array_reduction_inactive(skua_msg *msg)
{
    struct array_reduction_start_msg order =
        *(struct array_reduction_start_msg *)skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_tree        tree;
    int                    child;

    if (ski_collection_awaited(ski_self->objects, order.id, msg, &all))
        return;
    tree  = array_reduction_tree(all);
    child = array_reduction_child(&tree, msg->source);
    if (child >= 0)
        array_reduction_set_active(all, child, false);
    skua_msg_free(msg);
    array_reduction_element_removed(all);
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
                                                   struct array_reduction_partial  *partial,
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
    array_reduction_start(all, partial);
    if (ski_op_is_list(spec->op) || !partial->result.buffer.to.kind)
        return;
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
    struct ski_reduction_buffer   buffer = {0};
    struct array_reduction_report report;

    ski_reduction_buffer_contribute(&buffer, spec, data, bytes, done);
    report = (struct array_reduction_report){
        .filled = true, .spec = *spec, .contributions = 1, .to = *done};
    array_reduction_send_late(object->of, object->next_reduction, &report, buffer.data,
                              buffer.bytes);
    free(buffer.data);
}

/* Contributes in the general case. */
static __attribute__((noinline)) void array_reduction_contribute(struct ski_object *object,
                                                                 skua_op op, skua_type type,
                                                                 const void *data, size_t count,
                                                                 const skua_completion *done)
{
    struct ski_array_reduction     *r     = object->of->reduction;
    struct ski_reduction_spec       spec  = {op, (uint32_t)type, count};
    size_t                          bytes = count * ski_type_size(type);
    struct array_reduction_partial *partial;

    if (SKI_UNLIKELY(!ski_reduction_spec_known(op, type)))
        ski_reduction_spec_check("skua_contribute", &spec, ski_object_text(object),
                                 object->of->self->pe);
    if (SKI_UNLIKELY(object->of->kind == SKI_CHARES))
        ski_misuse("skua_contribute: %s is alone, in no collection", ski_object_text(object));
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
    partial = array_reduction_partial(r, object->next_reduction);
    object->next_reduction++;
    array_reduction_contribute_here(object, partial, &spec, data, bytes, done);
    if (partial->done == object->of->live)
        array_reduction_advance(object->of);
}

/* Counts a contribution that has been combined. */
static inline void array_reduction_count_in(struct ski_object              *object,
                                            struct array_reduction_partial *partial)
{
    object->next_reduction++;
    partial->both += ARRAY_REDUCTION_ONE_OF_EACH;
    if (SKI_UNLIKELY(partial->done == object->of->live))
        array_reduction_advance(object->of);
}

/* Contributes anything but a single double to a sum. */
static __attribute__((noinline)) void array_reduction_contribute_other(struct ski_object *object,
                                                                       skua_op op, skua_type type,
                                                                       const void            *data,
                                                                       size_t                 count,
                                                                       const skua_completion *done)
{
    struct array_reduction_partial *partial =
        array_reduction_record(object->of->reduction->partials);

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

/* The most frequent case is inline: an earlier contribution was a double for a sum, and said where
 * the result goes. */
void skua_contribute_to(void *self, skua_op op, skua_type type, const void *data, size_t count,
                        const skua_completion *done)
{
    struct ski_object              *object = ski_object_of(self);
    struct array_reduction_partial *partial =
        array_reduction_record(object->of->reduction->partials);

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

/* ---- idle report ----------------------------------------------------------------------------- */

/* The first element here that has not contributed to reduction @p number, or NULL. */
static const struct ski_object *array_reduction_find_missing(const struct ski_collection *all,
                                                             uint32_t                     number)
{
    for (uint32_t i = 0; i < all->objects; i++)
        if (all->object[i] && !ski_seqnum_before(number, all->object[i]->next_reduction))
            return all->object[i];
    return NULL;
}

static void array_reduction_idle_report(struct ski_collection *all, struct ski_text *text)
{
    for (struct ski_reduction_partial *at = all->reduction->partials; at; at = at->next) {
        const struct array_reduction_partial *partial = array_reduction_record(at);
        const struct ski_object *missing = array_reduction_find_missing(all, at->number);

        if (!partial->started || !missing)
            continue;
        ski_text_item(text, "reduction %u of %s waits for %u of its %u objects here, such as %s",
                      at->number, all->class->def.name, all->live - partial->done, all->live,
                      ski_object_text(missing));
        return;
    }
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void array_reduction_collection_added(struct ski_collection *all)
{
    ski_assert(!all->reduction);
    all->reduction = ski_calloc(1, sizeof *all->reduction);
}

static void array_reduction_collection_ended(struct ski_collection *all)
{
    ski_reduction_list_free(&all->reduction->partials);
}

static void array_reduction_collection_freed(struct ski_collection *all)
{
    ski_reduction_list_free(&all->reduction->partials);
    free(all->reduction);
}

static void array_reduction_element_added(struct ski_object *object)
{
    object->next_reduction = object->of->reduction->first;
}

static void array_reduction_element_arrived(struct ski_object *object, int from)
{
    (void)from;
    array_reduction_enter(object);
}

static void array_reduction_element_inserted(struct ski_object        *object,
                                             const struct ski_account *account)
{
    object->next_reduction = account->next_reduction;
    array_reduction_enter(object);
}

static bool array_reduction_account_valid(const struct ski_collection *all,
                                          const struct ski_account    *account)
{
    return array_reduction_in_reach(all, account->next_reduction);
}

static size_t array_reduction_packed_bytes(const struct ski_object *object)
{
    return sizeof object->next_reduction;
}

static void array_reduction_pack(struct ski_object *object, void *to)
{
    memcpy(to, &object->next_reduction, sizeof object->next_reduction);
}

static bool array_reduction_packed_valid(const struct ski_collection *all, const void *from,
                                         size_t bytes)
{
    uint32_t next;

    if (bytes != sizeof next)
        return false;
    memcpy(&next, from, sizeof next);
    return array_reduction_in_reach(all, next);
}

static void array_reduction_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    ski_assert(bytes == sizeof object->next_reduction);
    memcpy(&object->next_reduction, from, bytes);
}

static const struct ski_baggage array_reduction_baggage = {
    array_reduction_packed_bytes, array_reduction_pack, array_reduction_packed_valid,
    array_reduction_unpack};

const struct ski_lifecycle ski_array_reduction_lifecycle = {
    .collection_added     = array_reduction_collection_added,
    .collection_populated = array_reduction_advance,
    .collection_ended     = array_reduction_collection_ended,
    .collection_freed     = array_reduction_collection_freed,
    .collection_report    = array_reduction_idle_report,
    .element_added        = array_reduction_element_added,
    .element_created      = array_reduction_element_created,
    .element_deleted      = array_reduction_element_deleted,
    .element_removed      = array_reduction_element_removed,
    .element_departed     = array_reduction_element_departed,
    .element_arrived      = array_reduction_element_arrived,
    .insertion_begun      = array_reduction_insertion_begun,
    .element_inserted     = array_reduction_element_inserted,
    .account_valid        = array_reduction_account_valid,
    .baggage              = &array_reduction_baggage,
};
