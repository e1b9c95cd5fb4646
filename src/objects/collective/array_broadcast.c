/* SPDX-License-Identifier: Apache-2.0 */
/* array_broadcast.c - see array_broadcast.h. */
#include "objects/collective/array_broadcast.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/invoke.h"
#include "objects/collective/array_broadcast_msg.h"
#include "objects/location/closing.h"
#include "objects/location/forward.h"
#include "objects/location/insertion.h"
#include "objects/location/location.h"
#include "objects/chare/creation.h"
#include "objects/model/seqnum.h"
#include "objects/zerocopy/nocopy.h"

_Static_assert(sizeof(struct ski_array_broadcast_head) == SKI_ARRAY_BROADCAST_MIN,
               "see array_broadcast.h");

/* An element that misses the broadcasts after `seen`, up to `until`. */
struct ski_missed_broadcast {
    struct ski_missed_broadcast *next;
    skua_index                   index;
    uint32_t                     seen, until;
};

/* A broadcast that waits until an element here has had those before it. */
struct ski_early_broadcast {
    struct ski_early_broadcast *next;
    struct ski_object          *object;
    skua_msg                   *msg;
};

/* The acknowledgement of the arrival of `count` elements: the last broadcast that the element and
 * its new PE had had, and whether the element was inserted.  Several elements have missed nothing.
 */
struct array_broadcast_arrival {
    uint32_t seen, number, inserted, count;
};

_Static_assert(sizeof(struct array_broadcast_arrival) == SKI_ARRAY_BROADCAST_ARRIVAL_MIN,
               "see array_broadcast.h");

static struct ski_array_broadcast_head *array_broadcast_head_of(skua_msg *msg)
{
    return skua_msg_data(msg);
}

static bool array_broadcast_has_nocopy(const skua_msg *msg)
{
    return (msg->handler == SKI_HANDLER_ARRAY_BROADCAST ||
            msg->handler == SKI_HANDLER_ARRAY_BROADCAST_ROOT ||
            msg->handler == SKI_HANDLER_ARRAY_BROADCAST_CATCH_UP) &&
           ((const struct ski_array_broadcast_head *)(msg + 1))->nocopy;
}

static void array_broadcast_free(skua_msg *msg)
{
    ski_nocopy_free_any(msg, array_broadcast_head_of(msg)->nocopy);
}

/* Counts a copy that is about to be made of a broadcast. */
static inline void array_broadcast_count_copy(const struct ski_array_broadcast_head *head,
                                              size_t                                 bytes)
{
    ski_nocopy_count_copy_any(head, sizeof *head + bytes, head->nocopy);
}

static void array_broadcast_drop_kept(struct ski_array_broadcast *broadcast)
{
    struct skua_msg *msg;

    while ((msg = ski_list_pop(&broadcast->kept)))
        array_broadcast_free(msg);
}

static void array_broadcast_drop_waiting(struct ski_array_broadcast *broadcast)
{
    ski_held_discard(ski_self, &broadcast->ahead);
    while (broadcast->early) {
        struct ski_early_broadcast *gone = broadcast->early;
        broadcast->early                 = gone->next;
        array_broadcast_free(gone->msg);
        free(gone);
    }
    while (broadcast->missed) {
        struct ski_missed_broadcast *gone = broadcast->missed;
        broadcast->missed                 = gone->next;
        free(gone);
    }
}

/* Kept broadcasts are needed only by elements in transit and by a loop that reads one. */
static void array_broadcast_trim(struct ski_collection *all)
{
    if (all->broadcast->in_transit == 0 && all->walking == 0)
        array_broadcast_drop_kept(all->broadcast);
}

static void array_broadcast_collection_ended(struct ski_collection *all)
{
    array_broadcast_drop_waiting(all->broadcast);
    all->broadcast->in_transit    = 0;
    all->broadcast->arrived       = 0;
    all->broadcast->acknowledging = false;
    array_broadcast_trim(all);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* A broadcast that is delivered in a loop. */
struct array_broadcast_call {
    const struct ski_entry *entry; /* NULL: an order, of which elements only take the number */
    const struct ski_array_broadcast_head *head;
    size_t                                 bytes;
};

/* Returns the entry that a broadcast, which may come from another PE, invokes; NULL: it is an
 * order. */
static const struct ski_entry *array_broadcast_entry(const struct ski_collection           *all,
                                                     const struct ski_array_broadcast_head *head)
{
    const struct ski_entry *entry;

    if (head->entry == SKI_ARRAY_BROADCAST_ORDER_CLOSE ||
        head->entry == SKI_ARRAY_BROADCAST_ORDER_CLOSED)
        return NULL;
    entry = ski_entry_find("skua_invoke_all", (skua_entry){head->entry});
    ski_check_entry("skua_invoke_all", all, entry, NULL);
    return &all->self->objects->run[head->entry];
}

static void array_broadcast_run(struct ski_object *object, const struct ski_entry *entry,
                                const struct ski_array_broadcast_head *head, size_t bytes)
{
    ski_assert(head->number == object->last_broadcast + 1);
    object->last_broadcast = head->number;
    if (!entry || (object->state != SKI_ALIVE && object->state != SKI_LEAVING))
        return;
    ski_nocopy_run_on(object, head->entry, head, sizeof *head, bytes, head->nocopy);
}

/* Keeps a broadcast that came before one that an element still misses. */
static SKI_COLD void array_broadcast_defer(struct ski_object                     *object,
                                           const struct ski_array_broadcast_head *head,
                                           size_t                                 bytes)
{
    struct ski_array_broadcast *e     = object->of->broadcast;
    struct ski_early_broadcast *early = ski_malloc(sizeof *early);

    ski_assert(ski_seqnum_before(object->last_broadcast + 1, head->number));
    array_broadcast_count_copy(head, bytes);
    *early   = (struct ski_early_broadcast){e->early, object,
                                            ski_msg_with_header(head, sizeof *head, head + 1, bytes)};
    e->early = early;
}

static inline void array_broadcast_deliver(struct ski_object *object, void *arg)
{
    const struct array_broadcast_call *call = arg;

    if (SKI_LIKELY(call->head->number == object->last_broadcast + 1))
        array_broadcast_run(object, call->entry, call->head, call->bytes);
    else if (ski_seqnum_before(object->last_broadcast, call->head->number))
        array_broadcast_defer(object, call->head, call->bytes);
}

/* Delivers a broadcast whose entry is a plain method, at the cost of a call. */
static inline void array_broadcast_call_method(struct ski_object *object, void *arg)
{
    const struct array_broadcast_call *call = arg;

    if (SKI_UNLIKELY(call->head->number != object->last_broadcast + 1 || object->state)) {
        array_broadcast_deliver(object, arg);
        return;
    }
    object->last_broadcast = call->head->number;
    ski_element_enter(object);
    call->entry->method(object + 1, call->head + 1, call->bytes);
    ski_element_leave(object);
}

/* Returns whether a broadcast that waits for an element is its next, or one that it has had. */
static bool array_broadcast_is_due(const struct ski_early_broadcast *early)
{
    return !ski_seqnum_before(early->object->last_broadcast + 1,
                              array_broadcast_head_of(early->msg)->number);
}

/* Removes and returns a broadcast that waits for an element and is due, or @p any; or NULL. */
static skua_msg *array_broadcast_next_early(struct ski_object *object, bool any)
{
    struct ski_early_broadcast **at = &object->of->broadcast->early;
    struct ski_early_broadcast  *found;
    skua_msg                    *msg;

    while (*at && ((*at)->object != object || (!any && !array_broadcast_is_due(*at))))
        at = &(*at)->next;
    if (!(found = *at))
        return NULL;
    *at = found->next;
    msg = found->msg;
    free(found);
    return msg;
}

/* Delivers the broadcasts that waited for one which an element has just got. */
static void array_broadcast_catch_up(struct ski_object *object)
{
    skua_msg *msg;

    ski_element_enter(object); /* the element stays until all are delivered */
    while ((msg = array_broadcast_next_early(object, false))) {
        struct ski_array_broadcast_head *head = array_broadcast_head_of(msg);

        if (head->number == object->last_broadcast + 1) /* else it came twice */
            array_broadcast_run(object, array_broadcast_entry(object->of, head), head,
                                msg->bytes - sizeof *head);
        array_broadcast_free(msg);
    }
    ski_element_leave(object);
}

/* An entry that waits lets the next broadcast begin before the loop of this one ends: that one
 * waits for the elements which this one has not reached yet. */
static SKI_COLD void array_broadcast_catch_up_all(struct ski_collection *all)
{
    struct ski_early_broadcast *early = all->broadcast->early;

    while (early) {
        if (array_broadcast_is_due(early)) {
            array_broadcast_catch_up(early->object);
            early = all->broadcast->early; /* the list may have changed */
        } else {
            early = early->next;
        }
    }
}

/* Sends a broadcast to an element that was not on this PE when the broadcast came. */
static void array_broadcast_resend(struct ski_collection *all, const skua_index *index,
                                   skua_msg *msg)
{
    int pe = ski_element_here(all, index) ? all->self->pe : ski_lookup_believed(all, index);

    array_broadcast_count_copy(array_broadcast_head_of(msg),
                               msg->bytes - sizeof(struct ski_array_broadcast_head));
    ski_element_post(all->self, pe, SKI_HANDLER_ARRAY_BROADCAST_CATCH_UP, all->id, index,
                     skua_msg_data(msg), msg->bytes);
}

void ski_on_array_broadcast_catch_up(skua_msg *msg)
{
    struct ski_array_broadcast_head *head = skua_msg_data(msg);
    struct array_broadcast_call      call;
    struct ski_collection           *all;
    struct ski_object               *object;
    skua_index                       index;

    if (!ski_element_msg(msg, sizeof *head, &all, &index))
        return;
    object = ski_element_here(all, &index);
    if (!object && !ski_element_gone(all, &index))
        object = ski_forward(all, &index, msg);
    else if (!object)
        array_broadcast_free(msg);
    if (!object)
        return;
    if (head->nocopy) {
        if (!ski_nocopy_reachable(msg))
            return; /* broadcasts after it wait for its number */
        ski_nocopy_hold(msg);
    }
    call = (struct array_broadcast_call){array_broadcast_entry(all, head), head,
                                         msg->bytes - sizeof *head};
    ski_element_enter(object);
    array_broadcast_deliver(object, &call);
    array_broadcast_catch_up(object);
    ski_element_leave(object);
    array_broadcast_free(msg);
}

/* Resends a broadcast to the elements that left and will not get it on their new PE. */
static void array_broadcast_resend_missed(struct ski_collection *all, skua_msg *msg,
                                          uint32_t number)
{
    struct ski_missed_broadcast **at = &all->broadcast->missed;

    while (*at) {
        struct ski_missed_broadcast *missed = *at;

        if (ski_seqnum_before(missed->seen, number))
            array_broadcast_resend(all, &missed->index, msg);
        if (ski_seqnum_before(number, missed->until)) {
            at = &missed->next;
        } else {
            *at = missed->next;
            free(missed);
        }
    }
}

/* Delivers a broadcast to the elements on this PE, and keeps it for those that have left. */
static void array_broadcast_invoke_elements(struct ski_collection *all, skua_msg *msg)
{
    struct ski_array_broadcast_head *head = skua_msg_data(msg);
    struct array_broadcast_call      call;

    call = (struct array_broadcast_call){array_broadcast_entry(all, head), head,
                                         msg->bytes - sizeof *head};
    ski_list_push(&all->broadcast->kept, msg); /* an element that leaves in the loop may need it */
    array_broadcast_resend_missed(all, msg, head->number);
    if (call.entry && ski_entry_is_call(call.entry))
        ski_elements_each(all, array_broadcast_call_method, &call);
    else
        ski_elements_each(all, array_broadcast_deliver, &call);
    if (SKI_UNLIKELY(all->broadcast->early != NULL))
        array_broadcast_catch_up_all(all);
    array_broadcast_trim(all);
}

/* Accepts the next broadcast in order. */
static void array_broadcast_accept(struct ski_collection *all, skua_msg *msg)
{
    struct ski_array_broadcast_head *head = skua_msg_data(msg);

    ski_assert(head->number == all->broadcast->number + 1);
    all->broadcast->number = head->number;
    if (SKI_UNLIKELY(all->broadcast->ahead.first != NULL))
        ski_msg_unhold(all->self, &all->broadcast->ahead); /* one of them may be next */
    if (head->entry == SKI_ARRAY_BROADCAST_ORDER_END) {
        ski_collection_end(all);
        skua_msg_free(msg);
        return;
    }
    if (head->entry == SKI_ARRAY_BROADCAST_ORDER_CLOSE)
        ski_closing_ordered(all);
    else if (head->entry == SKI_ARRAY_BROADCAST_ORDER_CLOSED)
        ski_closing_done(all);
    if (SKI_UNLIKELY(head->nocopy))
        ski_nocopy_hold(msg);
    array_broadcast_invoke_elements(all, msg);
}

void ski_on_array_broadcast(skua_msg *msg)
{
    struct ski_array_broadcast_head *head = skua_msg_data(msg);
    struct ski_collection           *all;

    if (ski_collection_awaited(ski_self->objects, head->id, msg, &all))
        return;
    if (SKI_LIKELY(head->number == all->broadcast->number + 1)) {
        if (SKI_LIKELY(!head->nocopy) || ski_nocopy_reachable(msg))
            array_broadcast_accept(all, msg);
    } else if (ski_seqnum_before(all->broadcast->number, head->number)) {
        ski_msg_hold(all->self, &all->broadcast->ahead, msg);
    } else {
        ski_fatal("PE %d got broadcast %u of %s twice", all->self->pe, head->number,
                  all->class->def.name);
    }
}

/* ---- migration ------------------------------------------------------------------------------- */

static void array_broadcast_element_deleted(struct ski_object *object)
{
    skua_msg *msg;

    while ((msg = array_broadcast_next_early(object, true)))
        array_broadcast_free(msg);
}

static void array_broadcast_element_replaced(struct ski_object *object, struct ski_object *stub)
{
    struct ski_early_broadcast *early = object->of->broadcast->early;

    for (; early; early = early->next)
        if (early->object == object)
            early->object = stub;
}

static void array_broadcast_element_departed(struct ski_object *object)
{
    skua_index index = ski_object_index_get(object);
    skua_msg  *msg;

    object->of->broadcast->in_transit++;
    while ((msg = array_broadcast_next_early(object, true))) {
        array_broadcast_resend(object->of, &index, msg); /* the broadcast follows the element */
        array_broadcast_free(msg);
    }
}

void ski_array_broadcast_heard(struct ski_collection *all, uint32_t number)
{
    if (ski_seqnum_before(all->broadcast->heard, number))
        all->broadcast->heard = number;
}

uint32_t ski_array_broadcast_last_known(const struct ski_collection *all)
{
    const struct ski_array_broadcast *e = all->broadcast;
    uint32_t known = ski_seqnum_before(e->number, e->heard) ? e->heard : e->number;

    return ski_seqnum_before(known, e->sent) ? e->sent : known;
}

void ski_array_broadcast_restore(struct ski_collection *all, uint32_t number)
{
    struct ski_array_broadcast *e = all->broadcast;

    ski_assert(all->objects == 0 && e->in_transit == 0);
    e->number = e->sent = e->heard = number;
}

/* A PE that inserts an element keeps broadcasts until the arrival is acknowledged. */
static void array_broadcast_insertion_begun(struct ski_collection *all, struct ski_account *account)
{
    all->broadcast->in_transit++;
    account->last_broadcast = ski_array_broadcast_last_known(all);
}

/* Reports to PE @p to that elements have arrived; @p index is that of one of them. */
static void array_broadcast_report_arrival(struct ski_collection *all, int to,
                                           const skua_index                     *index,
                                           const struct array_broadcast_arrival *came)
{
    ski_element_post(all->self, to, SKI_HANDLER_ARRAY_BROADCAST_ARRIVAL, all->id, index, came,
                     sizeof *came);
}

/* Acknowledges the elements that have arrived and missed nothing. */
static void array_broadcast_acknowledge(struct ski_collection *all, const skua_index *index)
{
    struct ski_array_broadcast    *e    = all->broadcast;
    struct array_broadcast_arrival came = {e->number, e->number, false, e->arrived};

    if (e->arrived == 0)
        return;
    e->arrived = 0;
    array_broadcast_report_arrival(all, e->arrived_from, index, &came);
}

void ski_on_array_broadcast_acknowledge(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;

    if (!ski_element_msg(msg, 0, &all, &index))
        return;
    all->broadcast->acknowledging = false;
    array_broadcast_acknowledge(all, &index);
    skua_msg_free(msg);
}

/* Counts the arrival of an element that has missed nothing.  The first one posts the message that
 * acknowledges those that arrive before it runs; an arrival from another PE acknowledges those that
 * came before, and leaves that message queued. */
static void array_broadcast_count_arrival(struct ski_collection *all, const skua_index *index,
                                          int from)
{
    struct ski_array_broadcast *e = all->broadcast;

    if (e->arrived_from != from)
        array_broadcast_acknowledge(all, index);
    e->arrived_from = from;
    e->arrived++;
    if (e->acknowledging)
        return;
    e->acknowledging = true;
    ski_element_post(all->self, all->self->pe, SKI_HANDLER_ARRAY_BROADCAST_ACKNOWLEDGE, all->id,
                     index, NULL, 0);
}

/* Acknowledges an arrival to PE @p from, which keeps broadcasts for the element. */
static void array_broadcast_arrive(struct ski_object *object, uint32_t seen, int from,
                                   bool inserted)
{
    struct ski_collection         *all   = object->of;
    struct array_broadcast_arrival came  = {seen, all->broadcast->number, inserted, 1};
    skua_index                     index = ski_object_index_get(object);

    object->last_broadcast = seen;
    ski_array_broadcast_heard(all, seen);
    if (seen == came.number && !inserted)
        array_broadcast_count_arrival(all, &index, from);
    else
        array_broadcast_report_arrival(all, from, &index, &came);
}

static void array_broadcast_element_arrived(struct ski_object *object, int from)
{
    array_broadcast_arrive(object, object->last_broadcast, from, false);
}

static void array_broadcast_element_inserted(struct ski_object        *object,
                                             const struct ski_account *account)
{
    array_broadcast_arrive(object, account->last_broadcast, account->pe, true);
}

void ski_on_array_broadcast_arrival(skua_msg *msg)
{
    struct array_broadcast_arrival came;
    struct ski_collection         *all;
    struct ski_array_broadcast    *e;
    skua_index                     index;

    if (!ski_element_msg(msg, sizeof came, &all, &index))
        return;
    memcpy(&came, skua_msg_data(msg), sizeof came);
    e = all->broadcast;
    if (came.count == 0 || came.count > e->in_transit || (came.count > 1 && came.inserted) ||
        (came.inserted && !ski_closing_inserting(all))) {
        ski_net_drop(all->self, msg);
        return;
    }
    for (struct skua_msg *kept = e->kept.first; kept; kept = kept->link) {
        uint32_t number = ((struct ski_array_broadcast_head *)skua_msg_data(kept))->number;

        if (ski_seqnum_before(came.seen, number) && !ski_seqnum_before(came.number, number))
            array_broadcast_resend(all, &index, kept);
    }
    if (came.seen != came.number && ski_seqnum_before(e->number, came.number)) {
        struct ski_missed_broadcast *missed = ski_malloc(sizeof *missed);

        *missed   = (struct ski_missed_broadcast){e->missed, index, came.seen, came.number};
        e->missed = missed;
    }
    e->in_transit -= came.count;
    array_broadcast_trim(all);
    skua_msg_free(msg);
    if (came.inserted)
        ski_closing_acknowledged(all);
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void array_broadcast_collection_added(struct ski_collection *all)
{
    ski_assert(!all->broadcast);
    all->broadcast = ski_calloc(1, sizeof *all->broadcast);
    ski_list_init(&all->broadcast->kept);
    ski_list_init(&all->broadcast->ahead);
}

static void array_broadcast_collection_freed(struct ski_collection *all)
{
    ski_assert(all->walking == 0);
    array_broadcast_drop_kept(all->broadcast);
    array_broadcast_drop_waiting(all->broadcast);
    free(all->broadcast);
}

static void array_broadcast_element_added(struct ski_object *object)
{
    object->last_broadcast = object->of->broadcast->number;
}

static bool array_broadcast_discard(skua_msg *msg)
{
    if (!array_broadcast_has_nocopy(msg))
        return false;
    ski_nocopy_drop(msg);
    return true;
}

static void array_broadcast_pack(struct ski_object *object, void *to)
{
    memcpy(to, &object->last_broadcast, sizeof object->last_broadcast);
}

static bool array_broadcast_packed_valid(const struct ski_collection *all, const void *from,
                                         size_t bytes)
{
    (void)all, (void)from;
    return bytes == sizeof(uint32_t);
}

static void array_broadcast_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    ski_assert(bytes == sizeof object->last_broadcast);
    memcpy(&object->last_broadcast, from, bytes);
}

static const struct ski_baggage array_broadcast_baggage = {.least  = sizeof(uint32_t),
                                                           .pack   = array_broadcast_pack,
                                                           .valid  = array_broadcast_packed_valid,
                                                           .unpack = array_broadcast_unpack};

const struct ski_lifecycle ski_array_broadcast_lifecycle = {
    .collection_added = array_broadcast_collection_added,
    .collection_ended = array_broadcast_collection_ended,
    .collection_freed = array_broadcast_collection_freed,
    .element_added    = array_broadcast_element_added,
    .element_deleted  = array_broadcast_element_deleted,
    .element_replaced = array_broadcast_element_replaced,
    .element_departed = array_broadcast_element_departed,
    .element_arrived  = array_broadcast_element_arrived,
    .insertion_begun  = array_broadcast_insertion_begun,
    .element_inserted = array_broadcast_element_inserted,
    .insertions_ended = ski_array_broadcast_closed,
    .baggage          = &array_broadcast_baggage,
    .discard          = array_broadcast_discard,
    .late             = (const uint32_t[]){SKI_HANDLER_ARRAY_BROADCAST_ARRIVAL,
                                           SKI_HANDLER_ARRAY_BROADCAST_ACKNOWLEDGE, 0},
};
