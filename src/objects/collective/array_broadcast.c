/* SPDX-License-Identifier: Apache-2.0 */
/* array_broadcast.c - see array_broadcast.h. */
#include "objects/collective/array_broadcast.h"

#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/invoke.h"
#include "objects/location/closing.h"
#include "objects/location/forward.h"
#include "objects/location/insertion.h"
#include "objects/location/location.h"
#include "objects/chare/creation.h"
#include "objects/model/seqnum.h"
#include "objects/zerocopy/nocopy.h"

/* What a broadcast begins with; the data follows. */
struct head {
    _Alignas(32) uint64_t id;
    uint32_t entry;
    uint32_t number;
    uint32_t parts; /* what follows is a message with parts */
};

_Static_assert(sizeof(struct head) == SKI_EVERYONE_LEAST, "see array_broadcast.h");

/* In the place of an entry: orders of the runtime, in one sequence with the broadcasts. */
#define ORDER_END    UINT32_MAX
#define ORDER_CLOSE  (UINT32_MAX - 1)
#define ORDER_CLOSED (UINT32_MAX - 2)

/* An element that has missed the broadcasts after a number, up to another. */
struct ski_debt {
    struct ski_debt *next;
    skua_index       index;
    uint32_t         seen, until;
};

/* A broadcast that waits until an element here has had those before it. */
struct ski_early {
    struct ski_early  *next;
    struct ski_object *object;
    skua_msg          *msg;
};

/* What is told of an arrival: the broadcasts it had had, those its new PE had had, and whether
 * it was inserted. */
struct came {
    uint32_t seen, number, inserted;
};

_Static_assert(sizeof(struct came) == SKI_EVERYONE_CAME_LEAST, "see array_broadcast.h");

static struct head *head_of(skua_msg *msg)
{
    return skua_msg_data(msg);
}

static bool everyone_has_parts(const skua_msg *msg)
{
    return (msg->handler == SKI_HANDLER_EVERYONE || msg->handler == SKI_HANDLER_EVERYONE_ROOT ||
            msg->handler == SKI_HANDLER_EVERYONE_LATE) &&
           ((const struct head *)(msg + 1))->parts;
}

static void free_broadcast(skua_msg *msg)
{
    ski_parts_free_any(msg, head_of(msg)->parts);
}

/* A copy will be made of it. */
static inline void count_copy(const struct head *head, size_t bytes)
{
    ski_parts_more_any(head, sizeof *head + bytes, head->parts);
}

static void drop_kept(struct ski_everyone *everyone)
{
    struct skua_msg *msg;

    while ((msg = ski_list_pop(&everyone->kept)))
        free_broadcast(msg);
}

static void drop_rest(struct ski_everyone *everyone)
{
    ski_held_discard(ski_self, &everyone->ahead);
    while (everyone->early) {
        struct ski_early *gone = everyone->early;
        everyone->early        = gone->next;
        free_broadcast(gone->msg);
        free(gone);
    }
    while (everyone->debts) {
        struct ski_debt *paid = everyone->debts;
        everyone->debts       = paid->next;
        free(paid);
    }
}

/* Broadcasts are of no more use if nobody is on the way and no loop is reading one. */
static void tidy(struct ski_collection *all)
{
    if (all->broadcast->on_way == 0 && all->walking == 0)
        drop_kept(all->broadcast);
}

static void everyone_collection_ended(struct ski_collection *all)
{
    drop_rest(all->broadcast);
    all->broadcast->on_way = 0;
    tidy(all);
}

/* ---- sending ----------------------------------------------------------------------- */

/* Numbers it and sends it down. */
static void begin(struct ski_collection *all, skua_msg *msg)
{
    struct head *head = skua_msg_data(msg);

    head->number           = ++all->broadcast->sent;
    all->broadcast->ending = all->broadcast->ending || head->entry == ORDER_END;
    if (SKI_UNLIKELY(head->parts))
        ski_parts_to_all(all->self, SKI_HANDLER_EVERYONE, msg);
    else
        ski_broadcast(all->self, SKI_HANDLER_EVERYONE, msg);
}

/* To the root, which numbers it. */
static void send_to_root(const char *call, skua_collection target, skua_msg *msg)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, call, target.id);

    if (all->kind == SKI_CHARES && all->state != SKI_EXPECTED)
        ski_misuse("%s: single objects are in no collection", call);
    if (all->root == self->pe)
        begin(all, msg);
    else
        skua_send(all->root, (skua_handler){SKI_HANDLER_EVERYONE_ROOT}, msg);
}

static skua_msg *everyone_order_msg(uint64_t id, uint32_t entry, const void *data, size_t bytes)
{
    struct head head = {.id = id, .entry = entry};

    return ski_msg_with_header(&head, sizeof head, data, bytes);
}

static void order(const char *call, skua_collection target, uint32_t entry, const void *data,
                  size_t bytes)
{
    (void)SKI_SELF();
    send_to_root(call, target, everyone_order_msg(target.id, entry, data, bytes));
}

/* At the root: no insertion is under way any more, so the array is closed. */
static void everyone_insertions_ended(struct ski_collection *all)
{
    if (!all->broadcast->ending)
        begin(all, everyone_order_msg(all->id, ORDER_CLOSED, NULL, 0));
}

static void check_call(const char *call, skua_collection target, skua_entry entry)
{
    struct ski_collection  *all  = ski_collection_get(SKI_SELF()->objects, call, target.id);
    const struct ski_entry *what = ski_entry_find(call, entry);

    if (all->state != SKI_EXPECTED)
        ski_check_entry(call, all, what, NULL);
    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("%s: %s::%s gives an answer, which all cannot", call, what->of->def.name,
                   what->name);
}

void skua_invoke_all(skua_collection target, skua_entry entry, const void *data, size_t bytes)
{
    check_call(__func__, target, entry);
    order(__func__, target, entry.id, data, bytes);
}

void ski_everyone_parts(skua_collection target, skua_entry entry, skua_msg *msg)
{
    struct head head = {.id = target.id, .entry = entry.id, .parts = 1};

    check_call("skua_parts_invoke_all", target, entry);
    send_to_root("skua_parts_invoke_all", target, ski_parts_headed(&head, sizeof head, msg));
}

void skua_array_close(skua_collection array)
{
    order(__func__, array, ORDER_CLOSE, NULL, 0);
}

void skua_collection_delete(skua_collection all)
{
    order(__func__, all, ORDER_END, NULL, 0);
}

void ski_on_everyone_root(skua_msg *msg)
{
    struct head           *head = skua_msg_data(msg);
    struct ski_collection *all;

    if (ski_collection_awaited(ski_self->objects, head->id, msg, &all))
        return;
    if (all->root != ski_self->pe || all->kind == SKI_CHARES)
        ski_far_drop(ski_self, msg);
    else
        begin(all, msg);
}

/* ---- receiving ------------------------------------------------------------------------ */

struct call {
    const struct ski_entry *entry; /* NULL: an order, which only counts */
    const struct head      *head;
    size_t                  bytes;
};

/* The entry that a broadcast invokes, which may have come from elsewhere; NULL: none. */
static const struct ski_entry *entry_of(const struct ski_collection *all, const struct head *head)
{
    const struct ski_entry *entry;

    if (head->entry == ORDER_CLOSE || head->entry == ORDER_CLOSED)
        return NULL;
    entry = ski_entry_find("skua_invoke_all", (skua_entry){head->entry});
    ski_check_entry("skua_invoke_all", all, entry, NULL);
    return entry;
}

static void run_on(struct ski_object *object, const struct ski_entry *entry,
                   const struct head *head, size_t bytes)
{
    object->last_broadcast = head->number;
    if (!entry || (object->state != SKI_ALIVE && object->state != SKI_LEAVING))
        return;
    if (SKI_UNLIKELY(head->parts))
        ski_entry_run(object, entry,
                      ski_parts_copy(head->entry, head, sizeof *head + bytes, sizeof *head));
    else
        ski_entry_run_on(object, entry, head->entry, head + 1, bytes);
}

/* A broadcast that came before those an element still misses: it waits. */
static SKI_COLD void put_aside(struct ski_object *object, const struct head *head, size_t bytes)
{
    struct ski_everyone *e     = object->of->broadcast;
    struct ski_early    *early = ski_malloc(sizeof *early);

    count_copy(head, bytes);
    *early   = (struct ski_early){e->early, object,
                                  ski_msg_with_header(head, sizeof *head, head + 1, bytes)};
    e->early = early;
}

static inline void hand_over(struct ski_object *object, void *arg)
{
    const struct call *call = arg;

    if (SKI_LIKELY(call->head->number == object->last_broadcast + 1))
        run_on(object, call->entry, call->head, call->bytes);
    else if (ski_seqnum_before(object->last_broadcast, call->head->number))
        put_aside(object, call->head, call->bytes);
}

/* The same where it is a method and no more, of an element that has had all before it. */
static inline void call_method(struct ski_object *object, void *arg)
{
    const struct call *call = arg;

    if (SKI_UNLIKELY(call->head->number != object->last_broadcast + 1 || object->state)) {
        hand_over(object, arg);
        return;
    }
    object->last_broadcast = call->head->number;
    ski_element_enter(object);
    call->entry->method(object + 1, call->head + 1, call->bytes);
    ski_element_leave(object);
}

/* Whether a broadcast that waits for an element is its next, or one that it has had. */
static bool is_due(const struct ski_early *early)
{
    return !ski_seqnum_before(early->object->last_broadcast + 1, head_of(early->msg)->number);
}

/* A broadcast that waits for an element and is due, or any, taken out; or NULL. */
static skua_msg *next_early(struct ski_object *object, bool any)
{
    struct ski_early **at = &object->of->broadcast->early;
    struct ski_early  *found;
    skua_msg          *msg;

    while (*at && ((*at)->object != object || (!any && !is_due(*at))))
        at = &(*at)->next;
    if (!(found = *at))
        return NULL;
    *at = found->next;
    msg = found->msg;
    free(found);
    return msg;
}

/* What an element got late may be what others waited for. */
static void catch_up(struct ski_object *object)
{
    skua_msg *msg;

    ski_element_enter(object); /* it stays until we are through */
    while ((msg = next_early(object, false))) {
        struct head *head = head_of(msg);

        if (head->number == object->last_broadcast + 1) /* not one that came twice */
            run_on(object, entry_of(object->of, head), head, msg->bytes - sizeof *head);
        free_broadcast(msg);
    }
    ski_element_leave(object);
}

/* Entries that wait let the next broadcast begin before this one is through: for those who
 * had to have this one first. */
static SKI_COLD void catch_up_all(struct ski_collection *all)
{
    struct ski_early *early = all->broadcast->early;

    while (early) {
        if (is_due(early)) {
            catch_up(early->object);
            early = all->broadcast->early; /* which may be another list now */
        } else {
            early = early->next;
        }
    }
}

/* A broadcast to an element that was not on this PE when it came. */
static void send_copy(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    int pe = ski_element_here(all, index) ? all->self->pe : ski_lookup_pe(all, index);

    count_copy(head_of(msg), msg->bytes - sizeof(struct head));
    ski_element_post(all->self, pe, SKI_HANDLER_EVERYONE_LATE, all->id, index, skua_msg_data(msg),
                     msg->bytes);
}

void ski_on_everyone_late(skua_msg *msg)
{
    struct head           *head = skua_msg_data(msg);
    struct call            call;
    struct ski_collection *all;
    struct ski_object     *object;
    skua_index             index;

    if (!ski_element_msg(msg, sizeof *head, &all, &index))
        return;
    object = ski_element_here(all, &index);
    if (!object && !ski_element_gone(all, &index))
        object = ski_forward(all, &index, msg);
    else if (!object)
        free_broadcast(msg);
    if (!object)
        return;
    if (head->parts)
        ski_parts_hold(msg);
    call = (struct call){entry_of(all, head), head, msg->bytes - sizeof *head};
    ski_element_enter(object);
    hand_over(object, &call);
    catch_up(object);
    ski_element_leave(object);
    free_broadcast(msg);
}

static void pay_debts(struct ski_collection *all, skua_msg *msg, uint32_t number)
{
    struct ski_debt **at = &all->broadcast->debts;

    while (*at) {
        struct ski_debt *debt = *at;

        if (ski_seqnum_before(debt->seen, number))
            send_copy(all, &debt->index, msg);
        if (ski_seqnum_before(number, debt->until)) {
            at = &debt->next;
        } else {
            *at = debt->next;
            free(debt);
        }
    }
}

static void invoke_members(struct ski_collection *all, skua_msg *msg)
{
    struct head *head = skua_msg_data(msg);
    struct call  call;

    call = (struct call){entry_of(all, head), head, msg->bytes - sizeof *head};
    ski_list_push(&all->broadcast->kept, msg); /* from now on: who leaves in the loop may need it */
    pay_debts(all, msg, head->number);
    if (call.entry && ski_entry_is_call(call.entry))
        ski_elements_each(all, call_method, &call);
    else
        ski_elements_each(all, hand_over, &call);
    if (SKI_UNLIKELY(all->broadcast->early != NULL))
        catch_up_all(all);
    tidy(all);
}

/* It is its turn. */
static void take(struct ski_collection *all, skua_msg *msg)
{
    struct head *head = skua_msg_data(msg);

    all->broadcast->number = head->number;
    if (SKI_UNLIKELY(all->broadcast->ahead.first != NULL))
        ski_unhold(all->self, &all->broadcast->ahead); /* one of them may be next */
    if (head->entry == ORDER_END) {
        ski_collection_end(all);
        skua_msg_free(msg);
        return;
    }
    if (head->entry == ORDER_CLOSE)
        ski_closing_ordered(all);
    else if (head->entry == ORDER_CLOSED)
        ski_closing_done(all);
    if (SKI_UNLIKELY(head->parts))
        ski_parts_hold(msg);
    invoke_members(all, msg);
}

void ski_on_everyone(skua_msg *msg)
{
    struct head           *head = skua_msg_data(msg);
    struct ski_collection *all;

    if (ski_collection_awaited(ski_self->objects, head->id, msg, &all))
        return;
    if (SKI_LIKELY(head->number == all->broadcast->number + 1))
        take(all, msg);
    else if (ski_seqnum_before(all->broadcast->number, head->number))
        ski_hold(all->self, &all->broadcast->ahead, msg);
    else
        ski_fatal("broadcast %u came twice", head->number);
}

/* ---- journeys ---------------------------------------------------------------------------- */

static void everyone_element_deleted(struct ski_object *object)
{
    skua_msg *msg;

    while ((msg = next_early(object, true)))
        free_broadcast(msg);
}

static void everyone_element_departed(struct ski_object *object)
{
    skua_index index = ski_object_index_get(object);
    skua_msg  *msg;

    object->of->broadcast->on_way++;
    while ((msg = next_early(object, true))) {
        send_copy(object->of, &index, msg); /* it follows the element */
        free_broadcast(msg);
    }
}

void ski_everyone_hear(struct ski_collection *all, uint32_t number)
{
    if (ski_seqnum_before(all->broadcast->heard, number))
        all->broadcast->heard = number;
}

uint32_t ski_everyone_known(const struct ski_collection *all)
{
    const struct ski_everyone *e = all->broadcast;
    uint32_t known               = ski_seqnum_before(e->number, e->heard) ? e->heard : e->number;

    return ski_seqnum_before(known, e->sent) ? e->sent : known;
}

/* This PE inserts an element: it keeps broadcasts until the arrival is acknowledged. */
static void everyone_insertion_begun(struct ski_collection *all, struct ski_account *account)
{
    all->broadcast->on_way++;
    account->last_broadcast = ski_everyone_known(all);
}

/* Acknowledges an arrival to the PE that keeps broadcasts for the element. */
static void everyone_arrive(struct ski_object *object, uint32_t seen, int from, bool inserted)
{
    struct ski_collection *all   = object->of;
    struct came            came  = {seen, all->broadcast->number, inserted};
    skua_index             index = ski_object_index_get(object);

    object->last_broadcast = seen;
    ski_everyone_hear(all, seen);
    ski_element_post(all->self, from, SKI_HANDLER_EVERYONE_CAME, all->id, &index, &came,
                     sizeof came);
}

static void everyone_element_arrived(struct ski_object *object, int from)
{
    everyone_arrive(object, object->last_broadcast, from, false);
}

static void everyone_element_inserted(struct ski_object *object, const struct ski_account *account)
{
    everyone_arrive(object, account->last_broadcast, account->pe, true);
}

void ski_on_everyone_came(skua_msg *msg)
{
    struct came            came;
    struct ski_collection *all;
    struct ski_everyone   *e;
    skua_index             index;

    if (!ski_element_msg(msg, sizeof came, &all, &index))
        return;
    memcpy(&came, skua_msg_data(msg), sizeof came);
    e = all->broadcast;
    if (e->on_way == 0 || (came.inserted && !ski_closing_inserting(all))) {
        ski_far_drop(all->self, msg);
        return;
    }
    for (struct skua_msg *kept = e->kept.first; kept; kept = kept->link) {
        uint32_t number = ((struct head *)skua_msg_data(kept))->number;

        if (ski_seqnum_before(came.seen, number) && !ski_seqnum_before(came.number, number))
            send_copy(all, &index, kept);
    }
    if (ski_seqnum_before(e->number, came.number)) {
        struct ski_debt *debt = ski_malloc(sizeof *debt);

        *debt    = (struct ski_debt){e->debts, index, came.seen, came.number};
        e->debts = debt;
    }
    e->on_way--;
    tidy(all);
    skua_msg_free(msg);
    if (came.inserted)
        ski_closing_acknowledged(all);
}

/* ---- life cycle --------------------------------------------------------------------------- */

static void everyone_collection_added(struct ski_collection *all)
{
    all->broadcast = ski_calloc(1, sizeof *all->broadcast);
    ski_list_init(&all->broadcast->kept);
    ski_list_init(&all->broadcast->ahead);
}

static void everyone_collection_freed(struct ski_collection *all)
{
    drop_kept(all->broadcast);
    drop_rest(all->broadcast);
    free(all->broadcast);
}

static void everyone_element_added(struct ski_object *object)
{
    object->last_broadcast = object->of->broadcast->number;
}

static bool everyone_discard(skua_msg *msg)
{
    if (!everyone_has_parts(msg))
        return false;
    ski_parts_drop(msg);
    return true;
}

static size_t everyone_packed_bytes(const struct ski_object *object)
{
    return sizeof object->last_broadcast;
}

static void everyone_pack(struct ski_object *object, void *to)
{
    memcpy(to, &object->last_broadcast, sizeof object->last_broadcast);
}

static bool everyone_packed_valid(const struct ski_collection *all, const void *from, size_t bytes)
{
    (void)all, (void)from;
    return bytes == sizeof(uint32_t);
}

static void everyone_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    memcpy(&object->last_broadcast, from, bytes);
}

static const struct ski_baggage everyone_baggage = {everyone_packed_bytes, everyone_pack,
                                                    everyone_packed_valid, everyone_unpack};

const struct ski_lifecycle ski_array_broadcast_lifecycle = {
    .collection_added = everyone_collection_added,
    .collection_ended = everyone_collection_ended,
    .collection_freed = everyone_collection_freed,
    .element_added    = everyone_element_added,
    .element_deleted  = everyone_element_deleted,
    .element_departed = everyone_element_departed,
    .element_arrived  = everyone_element_arrived,
    .insertion_begun  = everyone_insertion_begun,
    .element_inserted = everyone_element_inserted,
    .insertions_ended = everyone_insertions_ended,
    .baggage          = &everyone_baggage,
    .discard          = everyone_discard,
    .late             = (const uint32_t[]){SKI_HANDLER_EVERYONE_CAME, 0},
};
