/* SPDX-License-Identifier: Apache-2.0 */
/* object_channel.c - see object_channel.h. */
#include "objects/zerocopy/object_channel.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/forward.h"
#include "objects/location/location.h"
#include "objects/measure/measure.h"
#include "objects/model/seqnum.h"
#include "objects/zerocopy/object_channel_drain.h"
#include "objects/zerocopy/object_channel_end.h"
#include "objects/zerocopy/object_channel_msg.h"
#include "onesided/channel/channel.h"

_Static_assert(sizeof(struct ski_object_channel_head) == SKI_OBJECT_CHANNEL_MIN,
               "see object_channel.h");

/* ---- the program's functions ----------------------------------------------------------------- */

/* Calls a function of the program for an end, which may be gone afterwards, and lets an object go
 * that has waited for what led to the call. */
static void object_end_call(struct ski_object_end *end, void (*fn)(void *self, uint64_t tag))
{
    struct ski_object      *object = end->of->object;
    struct ski_object_ends *ends;

    ski_element_enter(object);
    if (fn && (object->state == SKI_ALIVE || object->state == SKI_LEAVING))
        fn(object + 1, end->state.tag);
    ends = ski_object_ends_find(object);
    if (ends)
        ski_object_ends_check_drained(ends);
    ski_element_leave(object);
}

/* Calls the program for the buffer of an end. */
static skua_layout object_end_buffer(struct ski_object_end *end)
{
    skua_layout layout;

    memset(&layout, 0, sizeof layout);
    end->kind->buffer(end->of->object + 1, end->state.tag, &layout);
    end->bytes = skua_layout_bytes(&layout);
    return layout;
}

/* ---- the receiving end ----------------------------------------------------------------------- */

static void object_end_answer_drain(struct ski_object_end *end)
{
    if (!end->asked || end->state.puts < end->state.expected)
        return;
    end->asked = false;
    ski_object_channel_post(end, SKI_OBJECT_CHANNEL_DRAINED, end->state.peer_epoch);
}

/* The callback of the channel: a put has arrived. */
static void object_end_arrived(void *arg)
{
    struct ski_object_end *end = arg;

    end->state.puts++;
    object_end_answer_drain(end);
    object_end_call(end, end->kind->arrived);
}

/* Creates the channel of a receiving end on this PE. */
static void object_end_create(struct ski_object_end *end)
{
    skua_layout to = object_end_buffer(end);

    ski_assert(!end->state.sends);
    if (skua_channel_create(&to, object_end_arrived, end, end->kind->name, &end->channel) !=
        SKUA_OK)
        ski_misuse("the buffer of channel end %s of %s cannot be used", end->kind->name,
                   ski_object_text(end->of->object));
}

/* Records that the sender has made @p puts puts, and makes none until the next offer. */
static void object_end_sender_stopped(struct ski_object_end *end, uint64_t puts)
{
    end->offered        = false;
    end->state.expected = puts;
}

static void object_end_on_open(struct ski_object_end                *end,
                               const struct ski_object_channel_head *head)
{
    if (end->state.bound && ski_seqnum_before(head->epoch, end->state.peer_epoch))
        return;
    end->state.bound      = true;
    end->state.peer       = head->from;
    end->state.peer_epoch = head->epoch;
    if (!end->stopping)
        ski_object_end_offer(end);
}

static void object_end_on_drain(struct ski_object_end                *end,
                                const struct ski_object_channel_head *head)
{
    object_end_sender_stopped(end, head->puts);
    end->asked = true;
    object_end_answer_drain(end);
    object_end_call(end, NULL);
}

static void object_end_on_stopped(struct ski_object_end                *end,
                                  const struct ski_object_channel_head *head)
{
    if (head->about != end->state.epoch || !end->stopping)
        return;
    object_end_sender_stopped(end, head->puts);
    object_end_call(end, NULL);
}

static void object_end_on_sender_closed(struct ski_object_end                *end,
                                        const struct ski_object_channel_head *head)
{
    object_end_sender_stopped(end, head->puts);
    end->state.over = true;
    object_end_call(end, end->kind->ended);
}

static void object_end_on_receiving(struct ski_object_end                *end,
                                    const struct ski_object_channel_head *head)
{
    switch (head->kind) {
    case SKI_OBJECT_CHANNEL_OPEN: object_end_on_open(end, head); break;
    case SKI_OBJECT_CHANNEL_OPENED:
        if (head->about == end->state.epoch)
            object_end_call(end, end->kind->established);
        break;
    case SKI_OBJECT_CHANNEL_STOPPED: object_end_on_stopped(end, head); break;
    case SKI_OBJECT_CHANNEL_DRAIN: object_end_on_drain(end, head); break;
    default: object_end_on_sender_closed(end, head);
    }
}

/* ---- the sending end ------------------------------------------------------------------------- */

static void object_end_on_sending(struct ski_object_end                *end,
                                  const struct ski_object_channel_head *head);

/* Accepts an offer that arrived while the network was reading the buffer. */
static void object_end_take_kept(struct ski_object_end *end)
{
    struct ski_object_channel_head head = {.id      = end->state.id,
                                           .kind    = SKI_OBJECT_CHANNEL_OFFER,
                                           .epoch   = end->kept_epoch,
                                           .about   = end->state.epoch,
                                           .bytes   = end->bytes,
                                           .channel = end->kept};

    if (!end->kept.key)
        return;
    end->kept = (skua_channel){0};
    object_end_on_sending(end, &head);
}

/* Completes a put that was not locally complete when its call returned. */
static void object_end_sent(void *arg, const void *data, size_t bytes)
{
    struct ski_object_end_due *due = arg;
    struct ski_object_end     *end = due->end;
    struct ski_objects        *objects;
    struct ski_object         *object;
    uint64_t                   id;

    (void)data, (void)bytes;
    free(due);
    if (!end)
        return;
    object       = end->of->object;
    objects      = object->of->self->objects;
    id           = end->state.id;
    end->due     = NULL;
    end->sending = false;
    ski_element_enter(object);
    object_end_call(end, end->kind->sent);
    end = ski_object_end_find(objects, id, true); /* the program may have closed it */
    if (end && !end->sending)
        object_end_take_kept(end);
    ski_element_leave(object);
}

/* Puts the data of a sending end. Returns whether the put is locally complete. */
static bool object_end_put(struct ski_object_end *end)
{
    ski_assert(end->state.sends && end->sender && !end->sending);
    end->state.puts++;
    if (SKI_UNLIKELY(ski_measure_counts(end->of->object->of->self)))
        ski_measure_count_put(end->of->object, &end->state.peer, end->bytes);
    skua_channel_put(end->sender);
    if (ski_channel_put_complete(end->sender))
        return true;
    end->sending  = true;
    end->due      = ski_malloc(sizeof *end->due);
    end->due->end = end;
    skua_channel_put_then(end->sender, skua_done_call(object_end_sent, end->due));
    return false;
}

/* Returns whether an offer is for this sender as it is now, and of a receiver that has not been
 * stopped. */
static bool object_end_accepts(const struct ski_object_end          *end,
                               const struct ski_object_channel_head *head)
{
    return head->about == end->state.epoch && !end->stopping && !end->state.over &&
           !ski_seqnum_before(head->epoch, end->state.least) &&
           !(end->live && head->epoch == end->state.peer_epoch);
}

static void object_end_check_bytes(const struct ski_object_end          *end,
                                   const struct ski_object_channel_head *head)
{
    if (end->bytes != head->bytes)
        ski_misuse("channel end %s of %s sends %zu bytes, and the receiver's end has %llu",
                   end->kind->name, ski_object_text(end->of->object), end->bytes,
                   (unsigned long long)head->bytes);
}

/* Opens a sender for the channel that the receiving end offers, and puts what has waited for it. */
static void object_end_on_offer(struct ski_object_end                *end,
                                const struct ski_object_channel_head *head)
{
    skua_layout from;

    if (!object_end_accepts(end, head))
        return;
    if (end->sending) { /* the put has arrived, but the network may still read the buffer */
        end->kept       = head->channel;
        end->kept_epoch = head->epoch;
        return;
    }
    ski_object_end_close_sender(end);
    end->state.peer_epoch = end->state.least = head->epoch;
    from                                     = object_end_buffer(end);
    object_end_check_bytes(end, head);
    end->sender = ski_channel_open_known(head->channel, &from);
    if (!end->sender)
        return; /* logged: the receiver was destroyed with its collection */
    end->live = true;
    ski_object_channel_post(end, SKI_OBJECT_CHANNEL_OPENED, head->epoch);
    if (end->state.held) {
        end->state.held = false;
        if (object_end_put(end))
            object_end_call(end, end->kind->sent);
    }
}

static void object_end_on_stop(struct ski_object_end                *end,
                               const struct ski_object_channel_head *head)
{
    if (ski_seqnum_before(head->epoch, end->state.least))
        return;
    end->live        = false;
    end->state.least = head->epoch + 1;
    ski_object_channel_post(end, SKI_OBJECT_CHANNEL_STOPPED, head->epoch);
}

/* The message may be the second one: a receiver that closes says so, and a request of the sender
 * that has crossed that message is answered in the same way. */
static void object_end_on_receiver_closed(struct ski_object_end *end)
{
    if (end->state.over)
        return;
    end->state.over = true;
    end->state.held = false;
    ski_object_end_close_sender(end);
    object_end_call(end, end->kind->ended);
}

/* Handles a message to a sending end. */
static void object_end_on_sending(struct ski_object_end                *end,
                                  const struct ski_object_channel_head *head)
{
    struct ski_objects *objects = ski_object_channel_pe(end)->objects;
    bool                live    = end->live;

    switch (head->kind) {
    case SKI_OBJECT_CHANNEL_OFFER:
        object_end_on_offer(end, head);
        end = ski_object_end_find(objects, head->id, true); /* the program may have closed it */
        if (end && !live && end->live)
            object_end_call(end, end->kind->established);
        break;
    case SKI_OBJECT_CHANNEL_STOP: object_end_on_stop(end, head); break;
    case SKI_OBJECT_CHANNEL_DRAINED:
        end->drained |= end->stopping && head->about == end->state.epoch;
        object_end_call(end, NULL);
        break;
    default: object_end_on_receiver_closed(end);
    }
}

/* ---- handler --------------------------------------------------------------------------------- */

/* Answers a message to the object @p to for an end that is closed. */
static void object_channel_on_closed(struct ski_pe *self, skua_ref to,
                                     const struct ski_object_channel_head *head)
{
    struct ski_object_channel_head answer = {.id = head->id, .about = head->epoch, .from = to};

    if (head->kind == SKI_OBJECT_CHANNEL_OPEN)
        answer.kind = SKI_OBJECT_CHANNEL_RECEIVER_CLOSED;
    else if (head->kind == SKI_OBJECT_CHANNEL_DRAIN)
        answer.kind = SKI_OBJECT_CHANNEL_DRAINED;
    else
        return;
    ski_object_channel_post_to(self, &head->from, &answer);
}

void ski_on_object_channel(skua_msg *msg)
{
    struct ski_object_channel_head head  = *(struct ski_object_channel_head *)skua_msg_data(msg);
    bool                           sends = ski_object_channel_to_sender(head.kind);
    struct ski_collection         *all;
    struct ski_object             *object;
    struct ski_object_end         *end;
    skua_index                     index;

    if (!ski_element_msg(msg, sizeof head, &all, &index))
        return;
    if (head.from.index.bytes > SKUA_INDEX_MAX) {
        ski_net_drop(all->self, msg);
        return;
    }
    object = ski_element_here(all, &index);
    if (!object && !ski_element_gone(all, &index)) {
        if (!(object = ski_forward_for(all, &index, msg, 0)))
            return;
    }
    skua_msg_free(msg);
    end = object ? ski_object_end_find(all->self->objects, head.id, sends) : NULL;
    if (!end || end->of->object != object)
        object_channel_on_closed(all->self, (skua_ref){{all->id}, index}, &head);
    else if (sends)
        object_end_on_sending(end, &head);
    else
        object_end_on_receiving(end, &head);
}

/* Answers a message to an object that has been destroyed with its collection, or long ago: the
 * other end has to learn that this one is closed. */
static bool object_channel_discard(skua_msg *msg)
{
    const struct ski_object_channel_head *head = skua_msg_data(msg);

    if (msg->handler == SKI_HANDLER_OBJECT_CHANNEL && !ski_pe_exiting(ski_self) &&
        head->from.index.bytes <= SKUA_INDEX_MAX)
        object_channel_on_closed(ski_self, (skua_ref){{msg->target >> 8}, ski_msg_index(msg)},
                                 head);
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Requests an offer for a sending end; the end of a receiver whose collection has ended is closed.
 */
static void object_end_request(struct ski_object_end *end)
{
    struct ski_pe                 *self = ski_object_channel_pe(end);
    const struct ski_collection   *all  = ski_collection_find(self->objects, end->state.peer.of.id);
    struct ski_object_channel_head request = {.id    = end->state.id,
                                              .kind  = SKI_OBJECT_CHANNEL_OPEN,
                                              .epoch = end->state.epoch,
                                              .from  = skua_ref_of(end->of->object + 1)};

    ski_assert(end->state.sends);
    if (all && all->state == SKI_ENDED)
        object_channel_on_closed(self, end->state.peer, &request);
    else
        ski_object_channel_post(end, SKI_OBJECT_CHANNEL_OPEN, end->state.peer_epoch);
}

static uint32_t object_channel_check_kind(const char *call, const struct ski_object *object,
                                          skua_channel_end kind)
{
    if (!ski_channel_end_find(kind.id))
        ski_misuse("%s: %s: there is no kind of end %u; skua_channel_end_register() makes them, "
                   "before skua_main()",
                   call, ski_object_text(object), kind.id);
    return kind.id;
}

static SKI_COLD _Noreturn void object_channel_no_end(const char              *call,
                                                     const struct ski_object *object, uint64_t id)
{
    ski_misuse("%s: %s has no such end of channel %llx", call, ski_object_text(object),
               (unsigned long long)id);
}

static struct ski_object_end *object_channel_end_of(const char *call, void *self, uint64_t id,
                                                    bool sends)
{
    struct ski_object     *object = ski_object_of(self);
    struct ski_object_end *end    = ski_object_end_find(object->of->self->objects, id, sends);

    if (SKI_UNLIKELY(!end || end->of->object != object))
        object_channel_no_end(call, object, id);
    return end;
}

skua_object_channel skua_object_channel_create(void *self, skua_channel_end kind, uint64_t tag)
{
    struct ski_object          *object   = ski_object_of(self);
    struct ski_pe              *pe       = object->of->self;
    struct ski_object_channels *channels = ski_object_channels_of(pe->objects);
    struct ski_object_end_state state = {.id = ski_id_make((uint64_t)pe->pe, channels->created + 1),
                                         .tag  = tag,
                                         .kind = object_channel_check_kind(__func__, object, kind)};

    if (!ski_channel_end_find(kind.id)->arrived)
        ski_misuse("%s: %s: a receiving end has a function `arrived`", __func__,
                   ski_object_text(object));
    channels->created++;
    object_end_create(ski_object_end_add(object, &state));
    return (skua_object_channel){state.id};
}

void skua_object_channel_open(void *self, skua_ref receiver, skua_object_channel channel,
                              skua_channel_end kind, uint64_t tag)
{
    struct ski_object          *object = ski_object_of(self);
    struct ski_object_end_state state  = {.id    = channel.id,
                                          .tag   = tag,
                                          .kind  = object_channel_check_kind(__func__, object, kind),
                                          .sends = 1,
                                          .bound = 1,
                                          .peer  = receiver};

    if (!ski_id_valid(object->of->self, channel.id) ||
        ski_object_end_find(object->of->self->objects, channel.id, true))
        ski_misuse("%s: %s: channel %llx does not exist, or has been opened", __func__,
                   ski_object_text(object), (unsigned long long)channel.id);
    object_end_request(ski_object_end_add(object, &state));
}

bool skua_object_channel_put(void *self, skua_object_channel channel)
{
    struct ski_object_end *end = object_channel_end_of(__func__, self, channel.id, true);

    if (SKI_UNLIKELY(end->state.over))
        return true;
    if (SKI_UNLIKELY(end->state.held || end->sending))
        ski_misuse("%s: %s: the previous put of end %s is not locally complete", __func__,
                   ski_object_text(end->of->object), end->kind->name);
    if (SKI_LIKELY(end->live))
        return object_end_put(end);
    end->state.held = true;
    return false;
}

void skua_object_channel_ready(void *self, skua_object_channel channel)
{
    skua_channel_ready(object_channel_end_of(__func__, self, channel.id, false)->channel);
}

/* Returns an end of @p object of channel @p id, or NULL if it has none. */
static struct ski_object_end *object_channel_any_end(const struct ski_object *object, uint64_t id)
{
    for (int sends = 0; sends < 2; sends++) {
        struct ski_object_end *end = ski_object_end_find(object->of->self->objects, id, sends);

        if (end && end->of->object == object)
            return end;
    }
    return NULL;
}

uint64_t skua_object_channel_count(void *self, skua_object_channel channel)
{
    struct ski_object     *object = ski_object_of(self);
    struct ski_object_end *end    = object_channel_any_end(object, channel.id);

    if (!end)
        object_channel_no_end(__func__, object, channel.id);
    return end->state.puts + end->state.held;
}

/* Releases the resources of an end on this PE. */
static void object_end_detach(struct ski_object_end *end)
{
    if (end->state.sends)
        ski_object_end_close_sender(end);
    else if (end->channel.key)
        skua_channel_destroy(end->channel);
    end->channel = (skua_channel){0};
}

/* Closes an end, and notifies the other. */
static void object_end_close(struct ski_object_end *end)
{
    if (end->state.bound && !end->state.over)
        ski_object_channel_post(end,
                                end->state.sends ? SKI_OBJECT_CHANNEL_SENDER_CLOSED
                                                 : SKI_OBJECT_CHANNEL_RECEIVER_CLOSED,
                                end->state.peer_epoch);
    object_end_detach(end);
    ski_object_end_remove(end);
}

void skua_object_channel_close(void *self, skua_object_channel channel)
{
    struct ski_object      *object = ski_object_of(self);
    struct ski_object_end  *end    = NULL;
    struct ski_object_ends *ends;

    if (object->state == SKI_LEFT || object->state == SKI_DEAD)
        return; /* `destroy` of its class: its ends have left, or are closed */
    end = object_channel_any_end(object, channel.id);
    if (end)
        object_end_close(end);
    else if (object->state == SKI_ALIVE || object->state == SKI_LEAVING)
        object_channel_no_end(__func__, object, channel.id); /* else its ends are closed */
    ends = ski_object_ends_find(object);
    if (ends)
        ski_object_ends_check_drained(ends); /* the object may have waited for this end only */
}

/* ---- life cycle ------------------------------------------------------------------------------ */

/* Closes the ends of an object that is destroyed; detaches those of an object that migrates, with
 * which they leave. */
static void object_channel_element_detached(struct ski_object *object)
{
    struct ski_object_ends *ends   = ski_object_ends_find(object);
    bool                    closes = object->state == SKI_DYING || object->state == SKI_DEAD;
    bool                    exits  = ski_pe_exiting(object->of->self);

    if (!ends)
        return;
    ends->draining = false;
    for (struct ski_object_end *end = ends->first, *next; end; end = next) {
        next = end->next;
        if (closes && !exits)
            object_end_close(end); /* the last one frees `ends` */
        else
            object_end_detach(end);
    }
    if (closes && exits)
        ski_object_ends_remove(object); /* which is about to be freed */
}

static void object_channel_element_departed(struct ski_object *object)
{
    ski_object_ends_remove(object);
}

/* The ends were packed, and the object has left by pointer. */
static void object_channel_element_replaced(struct ski_object *object, struct ski_object *stub)
{
    (void)stub;
    ski_object_ends_remove(object);
}

static void object_channel_element_arrived(struct ski_object *object, int from)
{
    struct ski_object_ends *ends = ski_object_ends_find(object);

    (void)from;
    for (struct ski_object_end *end = ends ? ends->first : NULL; end; end = end->next) {
        bool reach = end->state.bound && !end->state.over;

        if (!end->state.sends)
            object_end_create(end);
        if (reach && end->state.sends)
            object_end_request(end);
        else if (reach)
            ski_object_end_offer(end);
    }
}

static void object_channel_restored(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    object_channel_element_arrived(((struct ski_object_ends *)link)->object, -1);
}

void ski_object_channels_restored(struct ski_objects *objects)
{
    ski_hash_each(&ski_object_channels_of(objects)->by_object, object_channel_restored, NULL);
}

/* Objects whose collection is destroyed do not wait for their ends. */
static void object_channel_release(struct ski_hash_link *link, void *all)
{
    struct ski_object_ends *ends   = (struct ski_object_ends *)link;
    struct ski_object      *object = ends->object;

    if (object->of != all || !ends->draining)
        return;
    ends->draining = false;
    ski_element_leave(object);
}

static void object_channel_collection_ended(struct ski_collection *all)
{
    ski_hash_each(&ski_object_channels_of(all->self->objects)->by_object, object_channel_release,
                  all);
}

static const uint32_t object_channel_late[] = {SKI_HANDLER_OBJECT_CHANNEL, 0};

const struct ski_lifecycle ski_object_channel_lifecycle = {
    .pe_begin         = ski_object_channels_begin,
    .pe_end           = ski_object_channels_end,
    .collection_ended = object_channel_collection_ended,
    .element_draining = ski_object_channel_element_draining,
    .element_staying  = ski_object_channel_element_staying,
    .element_blocked  = ski_object_channel_element_blocked,
    .element_detached = object_channel_element_detached,
    .element_replaced = object_channel_element_replaced,
    .element_departed = object_channel_element_departed,
    .element_arrived  = object_channel_element_arrived,
    .discard          = object_channel_discard,
    .baggage          = &ski_object_end_baggage,
    .saved            = &ski_object_end_saved,
    .late             = object_channel_late,
};
