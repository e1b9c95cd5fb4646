/* SPDX-License-Identifier: Apache-2.0 */
/* array_reduction.c - see array_reduction.h. */
#include "objects/collective/array_reduction.h"

#include <stdio.h>

#include <skua/collection.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "core/collective/tree.h"
#include "objects/collective/array_broadcast.h"
#include "objects/location/insertion.h"
#include "objects/model/seqnum.h"
#include "objects/model/element.h"
#include "objects/collective/reduction_buffer.h"

#define AHEAD_MOST (UINT32_C(1) << 16) /* reductions that an element and a PE may be apart */
#define CHILDREN   32                  /* most in a tree: `busy` has a bit for each */

/* A reduction under way. */
struct ski_sum {
    struct ski_sum *next;
    uint32_t        number;
    bool            started;       /* somebody has contributed, here or elsewhere */
    bool            reported;      /* at the root: only late parts are missing    */
    uint64_t        in;            /* children, by bit, whose parts have come     */
    int64_t         adjust;        /* deaths, that concern it and those after it  */
    int64_t         expected;      /* by the parts that have come                 */
    int64_t         contributions; /* in the parts that have come */
    union {
        struct {
            uint32_t done;  /* objects here whose next reduction is beyond */
            uint32_t given; /* contributions made here                     */
        };
        uint64_t both; /* one more of each, with one addition */
    };
    struct ski_total total;
    uint64_t         like_double; /* as the next, if it is the sum of one double          */
    uint64_t         like;        /* kind() of a contribution which need only be combined */
    skua_op_fn       fn;          /* ... by this                                          */
};

/* What travels; the data follows. */
struct part {
    _Alignas(32) uint64_t id;
    uint32_t         number;
    uint8_t          late, unasked, filled, zero;
    struct ski_shape shape;
    int64_t          contributions, expected;
    skua_completion  to;
    uint32_t         heard; /* broadcasts that the sender knows of */
};

_Static_assert(sizeof(struct part) == SKI_PART_LEAST, "see array_reduction.h");

struct start {
    uint64_t id;
    uint32_t number;
    uint32_t heard; /* broadcasts that the sender knows of */
};

_Static_assert(sizeof(struct start) == SKI_START_LEAST, "see array_reduction.h");

/* Operator and type, to be compared at once; and what is neither. */
static inline uint64_t kind(skua_op op, skua_type type)
{
    return op.id | (uint64_t)type << 32;
}

#define NOT_LIKE UINT64_MAX

static struct ski_tree tree_of(const struct ski_collection *all)
{
    int arity = (int)(ski_config.tree_arity < CHILDREN ? ski_config.tree_arity : CHILDREN);

    return ski_tree_at(all->self->pe, all->self->pes, all->root, arity);
}

#define ONE_OF_EACH ((UINT64_C(1) << 32) + 1)

static int64_t given_in_all(const struct ski_sum *sum)
{
    return sum->contributions + sum->given;
}

/* ---- sums ------------------------------------------------------------------------- */

static struct ski_sum *add_sum(struct ski_sum **at, uint32_t number)
{
    struct ski_sum *sum = ski_calloc(1, sizeof *sum);

    sum->number = number;
    sum->next   = *at;
    sum->like = sum->like_double = NOT_LIKE;
    return *at                   = sum;
}

/* Where the sum of that number, made if it is new, is linked in; from @p at on. */
static inline struct ski_sum **seek_sum(struct ski_sum **at, uint32_t number)
{
    while (*at && ski_seqnum_before((*at)->number, number))
        at = &(*at)->next;
    if (!*at || (*at)->number != number)
        add_sum(at, number);
    return at;
}

static inline struct ski_sum *find_sum(struct ski_reducing *r, uint32_t number)
{
    return *seek_sum(&r->sums, number);
}

static void free_sum(struct ski_sum *sum)
{
    free(sum->total.data);
    free(sum);
}

static void reducing_free_sums(struct ski_reducing *r)
{
    while (r->sums) {
        struct ski_sum *gone = r->sums;
        r->sums              = gone->next;
        free_sum(gone);
    }
}

/* Whether a contribution, of @p who or in a part from PE @p from, has the shape of the others. */
static inline void check_fits(const struct ski_collection *all, const struct ski_sum *sum,
                              const struct ski_shape *shape, const struct ski_object *who, int from)
{
    char what[128];

    if (SKI_LIKELY(ski_total_fits(&sum->total, shape)))
        return;
    snprintf(what, sizeof what, "reduction %u of %.80s", sum->number, all->class->def.name);
    ski_total_differs(&sum->total, shape, what, who ? ski_object_text(who) : "an element", from);
}

/* ---- the tree ----------------------------------------------------------------------- */

/* Whether a part will come from this PE without its being asked. */
static bool reports_unasked(const struct ski_collection *all)
{
    return all->live > 0 || all->reduction->busy != 0;
}

static void send_start(struct ski_collection *all, int pe, uint32_t number)
{
    struct start start = {all->id, number, ski_everyone_known(all)};

    skua_send_copy(pe, (skua_handler){SKI_HANDLER_START}, &start, sizeof start);
}

/* It is under way: the quiet children must hear of it. */
static void start(struct ski_collection *all, struct ski_sum *sum)
{
    struct ski_tree tree;

    if (SKI_LIKELY(sum->started))
        return;
    sum->started = true;
    tree         = tree_of(all);
    for (int i = 0; i < tree.children; i++)
        if (!((all->reduction->busy | sum->in) >> i & 1))
            send_start(all, ski_tree_child(&tree, i), sum->number);
}

static void send_part(int pe, const struct part *part, const void *data, size_t bytes)
{
    skua_send(pe, (skua_handler){SKI_HANDLER_PART},
              ski_msg_with_header(part, sizeof *part, data, bytes));
}

static void finish(struct ski_sum *sum)
{
    skua_complete(sum->total.to, sum->total.data, sum->total.bytes);
    free_sum(sum);
}

/* At the root: results go out in the order of their numbers. */
static void finish_ready(struct ski_collection *all)
{
    struct ski_sum *sum;

    while ((sum = all->reduction->sums) && sum->reported && given_in_all(sum) == sum->expected) {
        all->reduction->sums = sum->next;
        finish(sum);
    }
}

/* All that will come of our subtree has come. */
static void report(struct ski_collection *all, struct ski_sum *sum)
{
    struct ski_reducing *r    = all->reduction;
    struct ski_tree      tree = tree_of(all);
    struct part          part;

    r->first++;
    sum->like = sum->like_double = NOT_LIKE; /* what comes now is late */
    r->expected += sum->adjust;
    sum->expected += r->expected;
    if (tree.rank == 0) {
        sum->reported = true;
        finish_ready(all);
        return;
    }
    r->unasked = reports_unasked(all);
    part       = (struct part){.id            = all->id,
                               .number        = sum->number,
                               .unasked       = r->unasked,
                               .filled        = sum->total.filled,
                               .shape         = sum->total.shape,
                               .contributions = given_in_all(sum),
                               .expected      = sum->expected,
                               .to            = sum->total.to,
                               .heard         = ski_everyone_known(all)};
    r->sums    = sum->next; /* the first: only the root has older ones */
    send_part(ski_tree_parent(&tree), &part, sum->total.data, sum->total.bytes);
    free_sum(sum);
}

/* The sum that is to be reported next, if it is known; at the root older ones may wait. */
static struct ski_sum *current(struct ski_reducing *r)
{
    struct ski_sum *sum = r->sums;

    while (sum && ski_seqnum_before(sum->number, r->first))
        sum = sum->next;
    return sum && sum->number == r->first ? sum : NULL;
}

static void advance(struct ski_collection *all)
{
    uint64_t        children = (UINT64_C(1) << tree_of(all).children) - 1;
    struct ski_sum *sum;

    while (all->state == SKI_EXISTS && (sum = current(all->reduction)) && sum->started &&
           sum->done == all->live && sum->in == children)
        report(all, sum);
}

/* ---- objects come and go ------------------------------------------------------------- */

static void reducing_element_created(struct ski_object *object)
{
    object->of->reduction->expected++;
}

static void reducing_insertion_begun(struct ski_collection *all, struct ski_account *account)
{
    all->reduction->expected++;
    account->next_reduction = all->reduction->first;
}

/* The sums that an object which is here has contributed to, and that are not reported. */
static void count_done(struct ski_object *object, uint32_t by)
{
    struct ski_reducing *r  = object->of->reduction;
    struct ski_sum     **at = &r->sums;

    for (uint32_t n = r->first; ski_seqnum_before(n, object->next_reduction); n++) {
        at = seek_sum(at, n);
        (*at)->done += by;
    }
}

/* What an object that moved owes, or will not give, to sums which this PE has reported. */
static void send_late(struct ski_collection *all, uint32_t number, const struct part *part,
                      const void *data, size_t bytes)
{
    struct part late = *part;

    late.id     = all->id;
    late.number = number;
    late.late   = true;
    send_part(all->root, &late, data, bytes);
}

static void reducing_element_deleted(struct ski_object *object)
{
    struct ski_collection *all = object->of;
    struct ski_reducing   *r   = all->reduction;

    count_done(object, UINT32_MAX); /* less one */
    if (ski_seqnum_before(r->first, object->next_reduction))
        find_sum(r, object->next_reduction)->adjust--;
    else
        r->expected--;
    for (uint32_t n = object->next_reduction; ski_seqnum_before(n, r->first); n++)
        send_late(all, n, &(struct part){.expected = -1}, NULL, 0);
}

static void reducing_element_departed(struct ski_object *object)
{
    count_done(object, UINT32_MAX);
}

/* Whether an element whose next reduction is @p next may come to this PE: the two are not further
 * apart than any can be. */
static bool reducing_in_reach(const struct ski_collection *all, uint32_t next)
{
    uint32_t ahead = next - all->reduction->first;

    return ahead <= AHEAD_MOST || -ahead <= AHEAD_MOST;
}

static void reducing_enter(struct ski_object *object)
{
    struct ski_collection *all = object->of;
    struct ski_sum       **at  = &all->reduction->sums;

    count_done(object, 1);
    for (uint32_t n = all->reduction->first; ski_seqnum_before(n, object->next_reduction); n++) {
        at = seek_sum(at, n);
        start(all, *at); /* it has contributed: they are under way */
    }
    advance(all);
}

/* There are fewer objects here than there were: that may be all a reduction waits for. */
static void reducing_element_removed(struct ski_collection *all)
{
    struct start    quiet = {all->id, 0, 0};
    struct ski_tree tree;

    advance(all);
    if (!all->reduction->unasked || reports_unasked(all))
        return;
    all->reduction->unasked = false;
    tree                    = tree_of(all);
    if (tree.rank > 0)
        skua_send_copy(ski_tree_parent(&tree), (skua_handler){SKI_HANDLER_FEWER}, &quiet,
                       sizeof quiet);
}

/* ---- handlers -------------------------------------------------------------------------- */

/* Which child a PE is, or -1. */
static int child_index(const struct ski_tree *tree, int pe)
{
    for (int i = 0; i < tree->children; i++)
        if (ski_tree_child(tree, i) == pe)
            return i;
    return -1;
}

/* Whether a child reports unasked.  If it does no more, it must hear of what was begun
 * when it did. */
static void set_busy(struct ski_collection *all, int child, bool busy)
{
    struct ski_reducing *r    = all->reduction;
    uint64_t             bit  = UINT64_C(1) << child;
    struct ski_tree      tree = tree_of(all);

    if (!busy && r->busy & bit)
        for (struct ski_sum *sum = r->sums; sum; sum = sum->next)
            if (sum->started && !sum->reported && !(sum->in & bit))
                send_start(all, ski_tree_child(&tree, child), sum->number);
    r->busy = busy ? r->busy | bit : r->busy & ~bit;
}

static void check_part(const struct ski_collection *all, const struct part *part, size_t bytes,
                       int source)
{
    bool wrong = part->filled && !ski_shape_right(&part->shape, bytes);

    if (wrong || (part->late && all->root != all->self->pe) ||
        (!part->late && ski_seqnum_before(part->number, all->reduction->first)))
        ski_fatal("PE %d sent a part of reduction %u of %s that makes no sense", source,
                  part->number, all->class->def.name);
}

static void take_part(struct ski_collection *all, const struct part *part, size_t bytes, int from)
{
    struct ski_sum *sum = find_sum(all->reduction, part->number);

    if (part->filled) {
        check_fits(all, sum, &part->shape, NULL, from);
        ski_total_add(&sum->total, &part->shape, part + 1, bytes, from);
    }
    if (!sum->total.to.kind)
        sum->total.to = part->to;
    sum->contributions += part->contributions;
    sum->expected += part->expected;
}

void ski_on_part(skua_msg *msg)
{
    const struct part     *part  = skua_msg_data(msg);
    size_t                 bytes = msg->bytes - sizeof *part;
    struct ski_collection *all;
    struct ski_tree        tree;
    int                    child;

    if (ski_collection_awaited(ski_self->objects, part->id, msg, &all))
        return;
    check_part(all, part, bytes, msg->source);
    if (!part->late)
        ski_everyone_hear(all, part->heard);
    tree  = tree_of(all);
    child = part->late ? 0 : child_index(&tree, msg->source);
    if (child < 0 || (!part->late && find_sum(all->reduction, part->number)->in >> child & 1))
        ski_fatal("reduction %u of %s: PE %d is no child that was waited for", part->number,
                  all->class->def.name, msg->source);
    take_part(all, part, bytes, msg->source);
    if (part->late) {
        finish_ready(all);
    } else {
        struct ski_sum *sum = find_sum(all->reduction, part->number);

        sum->in |= UINT64_C(1) << child;
        set_busy(all, child, part->unasked);
        start(all, sum);
        advance(all);
    }
    skua_msg_free(msg);
}

void ski_on_start(skua_msg *msg)
{
    struct start           order = *(struct start *)skua_msg_data(msg);
    struct ski_collection *all;

    if (ski_collection_awaited(ski_self->objects, order.id, msg, &all))
        return;
    skua_msg_free(msg);
    ski_everyone_hear(all, order.heard);
    if (ski_seqnum_before(order.number, all->reduction->first))
        return;
    start(all, find_sum(all->reduction, order.number));
    advance(all);
}

void ski_on_fewer(skua_msg *msg)
{
    struct start           order = *(struct start *)skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_tree        tree;
    int                    child;

    if (ski_collection_awaited(ski_self->objects, order.id, msg, &all))
        return;
    tree  = tree_of(all);
    child = child_index(&tree, msg->source);
    if (child >= 0)
        set_busy(all, child, false);
    skua_msg_free(msg);
    reducing_element_removed(all);
}

/* ---- calls ------------------------------------------------------------------------------ */

static SKI_COLD _Noreturn void too_far_ahead(const struct ski_object *object)
{
    ski_misuse(
        "%s on PE %d contributes to reduction %u of its collection while reduction %u is not "
        "finished: does it contribute twice, or do others not at all?",
        ski_object_text(object), object->of->self->pe, object->next_reduction,
        object->of->reduction->first);
}

/* Adds the contribution of an object to a sum that is not reported. */
static inline void contribute_here(struct ski_object *object, struct ski_sum *sum,
                                   const struct ski_shape *shape, const void *data, size_t bytes,
                                   const skua_completion *done)
{
    struct ski_collection *all = object->of;

    check_fits(all, sum, shape, object, all->self->pe);
    ski_total_contribute(&sum->total, shape, data, bytes, done);
    sum->both += ONE_OF_EACH;
    start(all, sum);
    if (ski_is_list(shape->op) || !sum->total.to.kind)
        return;
    sum->like = kind((skua_op){shape->op}, (skua_type)shape->type);
    sum->fn   = ski_op_function((skua_op){shape->op}, (skua_type)shape->type);
    if (sum->like == kind(SKUA_SUM, SKUA_DOUBLE) && shape->count == 1)
        sum->like_double = sum->like;
}

/* To one that this PE has reported: to the root, alone. */
static SKI_COLD void contribute_late(struct ski_object *object, const struct ski_shape *shape,
                                     const void *data, size_t bytes, const skua_completion *done)
{
    struct ski_total total = {0};
    struct part      part;

    ski_total_contribute(&total, shape, data, bytes, done);
    part = (struct part){.filled = true, .shape = *shape, .contributions = 1, .to = *done};
    send_late(object->of, object->next_reduction, &part, total.data, total.bytes);
    free(total.data);
}

/* All cases. */
static __attribute__((noinline)) void contribute(struct ski_object *object, skua_op op,
                                                 skua_type type, const void *data, size_t count,
                                                 const skua_completion *done)
{
    struct ski_reducing *r     = object->of->reduction;
    struct ski_shape     shape = {op.id, (uint32_t)type, count};
    size_t               bytes = count * ski_type_size(type);
    struct ski_sum      *sum;

    if (SKI_UNLIKELY(!ski_shape_known(op, type)))
        ski_shape_check("skua_contribute", &shape, ski_object_text(object), object->of->self->pe);
    if (SKI_UNLIKELY(object->of->kind == SKI_CHARES))
        ski_misuse("skua_contribute: %s is alone, in no collection", ski_object_text(object));
    if (SKI_UNLIKELY(object->state >= SKI_DEAD))
        ski_misuse("skua_contribute: %s on PE %d contributes while it is destroyed",
                   ski_object_text(object), object->of->self->pe);
    if (SKI_UNLIKELY(ski_seqnum_before(object->next_reduction, r->first))) {
        contribute_late(object, &shape, data, bytes, done);
        object->next_reduction++;
        return;
    }
    if (SKI_UNLIKELY(object->next_reduction - r->first >= SKI_AHEAD))
        too_far_ahead(object);
    sum = find_sum(r, object->next_reduction);
    object->next_reduction++;
    contribute_here(object, sum, &shape, data, bytes, done);
    if (sum->done == object->of->live)
        advance(object->of);
}

/* One more for a sum that has such, where that is all there is to it. */
static inline void count_in(struct ski_object *object, struct ski_sum *sum)
{
    object->next_reduction++;
    sum->both += ONE_OF_EACH;
    if (SKI_UNLIKELY(sum->done == object->of->live))
        advance(object->of);
}

/* The same of others than single doubles; and all else. */
static __attribute__((noinline)) void contribute_other(struct ski_object *object, skua_op op,
                                                       skua_type type, const void *data,
                                                       size_t count, const skua_completion *done)
{
    struct ski_sum *sum = object->of->reduction->sums;

    if (!sum || sum->number != object->next_reduction || sum->like != kind(op, type) ||
        sum->total.shape.count != count) {
        contribute(object, op, type, data, count, done);
        return;
    }
    if (count)
        sum->fn(sum->total.data, data, count, type);
    count_in(object, sum);
}

/* The most frequent case is in line: others have contributed a double before, and it was
 * known where the sum goes. */
void skua_contribute_to(void *self, skua_op op, skua_type type, const void *data, size_t count,
                        const skua_completion *done)
{
    struct ski_object *object = ski_object_of(self);
    struct ski_sum    *sum    = object->of->reduction->sums;

    if (SKI_LIKELY(sum && sum->number == object->next_reduction &&
                   sum->like_double == kind(op, type) && count == 1)) {
        *(double *)(void *)sum->total.data += *(const double *)data;
        count_in(object, sum);
    } else {
        contribute_other(object, op, type, data, count, done);
    }
}

void skua_contribute_nothing(void *self, skua_completion done)
{
    skua_contribute(self, SKUA_SUM, SKUA_INT32, NULL, 0, done);
}

/* ---- for people ------------------------------------------------------------------------- */

/* The first object here that has not contributed to reduction @p number, or NULL. */
static const struct ski_object *reducing_find_missing(const struct ski_collection *all,
                                                      uint32_t                     number)
{
    for (uint32_t i = 0; i < all->objects; i++)
        if (all->object[i] && !ski_seqnum_before(number, all->object[i]->next_reduction))
            return all->object[i];
    return NULL;
}

static void reducing_report(struct ski_collection *all, struct ski_text *text)
{
    for (const struct ski_sum *sum = all->reduction->sums; sum; sum = sum->next) {
        const struct ski_object *missing = reducing_find_missing(all, sum->number);

        if (!sum->started || !missing)
            continue;
        ski_text_item(text, "reduction %u of %s waits for %u of its %u objects here, such as %s",
                      sum->number, all->class->def.name, all->live - sum->done, all->live,
                      ski_object_text(missing));
        return;
    }
}

/* ---- life cycle --------------------------------------------------------------------------- */

static void reducing_collection_added(struct ski_collection *all)
{
    all->reduction = ski_calloc(1, sizeof *all->reduction);
}

static void reducing_collection_ended(struct ski_collection *all)
{
    reducing_free_sums(all->reduction);
}

static void reducing_collection_freed(struct ski_collection *all)
{
    reducing_free_sums(all->reduction);
    free(all->reduction);
}

static void reducing_element_added(struct ski_object *object)
{
    object->next_reduction = object->of->reduction->first;
}

static void reducing_element_arrived(struct ski_object *object, int from)
{
    (void)from;
    reducing_enter(object);
}

static void reducing_element_inserted(struct ski_object *object, const struct ski_account *account)
{
    object->next_reduction = account->next_reduction;
    reducing_enter(object);
}

static bool reducing_account_valid(const struct ski_collection *all,
                                   const struct ski_account    *account)
{
    return reducing_in_reach(all, account->next_reduction);
}

static size_t reducing_packed_bytes(const struct ski_object *object)
{
    return sizeof object->next_reduction;
}

static void reducing_pack(struct ski_object *object, void *to)
{
    memcpy(to, &object->next_reduction, sizeof object->next_reduction);
}

static bool reducing_packed_valid(const struct ski_collection *all, const void *from, size_t bytes)
{
    uint32_t next;

    if (bytes != sizeof next)
        return false;
    memcpy(&next, from, sizeof next);
    return reducing_in_reach(all, next);
}

static void reducing_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    memcpy(&object->next_reduction, from, bytes);
}

static const struct ski_baggage reducing_baggage = {reducing_packed_bytes, reducing_pack,
                                                    reducing_packed_valid, reducing_unpack};

const struct ski_lifecycle ski_array_reduction_lifecycle = {
    .collection_added     = reducing_collection_added,
    .collection_populated = advance,
    .collection_ended     = reducing_collection_ended,
    .collection_freed     = reducing_collection_freed,
    .collection_report    = reducing_report,
    .element_added        = reducing_element_added,
    .element_created      = reducing_element_created,
    .element_deleted      = reducing_element_deleted,
    .element_removed      = reducing_element_removed,
    .element_departed     = reducing_element_departed,
    .element_arrived      = reducing_element_arrived,
    .insertion_begun      = reducing_insertion_begun,
    .element_inserted     = reducing_element_inserted,
    .account_valid        = reducing_account_valid,
    .baggage              = &reducing_baggage,
};
