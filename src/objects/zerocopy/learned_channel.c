/* SPDX-License-Identifier: Apache-2.0 */
/* learned_channel.c - see learned_channel.h. */
#include "objects/zerocopy/learned_channel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/message/addr_tag.h"
#include "objects/zerocopy/learned_net.h"
#include "objects/zerocopy/learned_slot.h"

static struct ski_learned_channels *learned_channel_state_of(struct ski_pe *self)
{
    if (!ski_learned_known(self))
        self->objects->slot[SKI_SLOT_LEARNED_CHANNELS] =
            ski_calloc(1, sizeof(struct ski_learned_channels));
    return ski_learned_known(self);
}

static uint64_t learned_channel_tag(const struct ski_pe              *self,
                                    const struct ski_learned_channel *channel)
{
    return ski_addr_tag(self->job, SKI_TAG_LEARNED_CHANNEL, 0, (uintptr_t)channel, 0);
}

/* Returns a new channel to an element of this host, for messages after @p number; NULL: it is on
 * another host, or there is no memory. */
static struct ski_learned_channel *learned_channel_new(struct ski_pe *self, const skua_ref *ref,
                                                       uint64_t number)
{
    struct ski_learned_channel *channel = NULL;

    if (ski_config.channels != SKI_CHANNELS_MESSAGE &&
        ski_job_index(self->job, skua_location(*ref)) >= 0)
        channel = ski_pool_alloc(&self->pool, sizeof *channel);
    if (!channel)
        return NULL;
    memset(channel, 0, sizeof *channel);
    channel->tag  = learned_channel_tag(self, channel);
    channel->last = number;
    return channel;
}

/* ---- the sender ------------------------------------------------------------------------------ */

const struct ski_copy_plan *ski_learned_copy_plan(struct ski_learned_channels     *learned,
                                                  const struct ski_learned_layout *to,
                                                  const skua_layout               *from)
{
    unsigned known = learned->copies < SKI_LEARNED_COPIES ? learned->copies : SKI_LEARNED_COPIES;
    struct ski_learned_copy *copy;

    for (copy = learned->copy; copy < learned->copy + known; copy++)
        if (copy->to == to && ski_layout_same(&copy->from, from))
            return &copy->path;
    copy       = &learned->copy[learned->copies++ % SKI_LEARNED_COPIES];
    copy->to   = to;
    copy->from = *from;
    ski_copy_plan_make(&copy->path, &to->simple, from);
    return &copy->path;
}

/* Claims a slot that is armed for this message. */
static bool learned_channel_try_claim(struct ski_learned_slot  *slot,
                                      const struct ski_inplace *inplace)
{
    uint64_t armed = ski_learned_state(inplace->number, SKI_LEARNED_ARMED);

    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != armed ||
        !atomic_compare_exchange_strong_explicit(
            &slot->state, &armed, ski_learned_state(inplace->number, SKI_LEARNED_BUSY),
            memory_order_acquire, memory_order_relaxed))
        return false;
    if (SKI_LIKELY(slot->reference == inplace->reference && slot->bytes == inplace->bytes))
        return true;
    atomic_store_explicit(&slot->state, ski_learned_state(0, SKI_LEARNED_IDLE),
                          memory_order_release);
    return false;
}

struct ski_learned_slot *ski_learned_channel_claim(struct ski_pe *self, const skua_ref *ref,
                                                   skua_entry entry, struct ski_inplace *inplace,
                                                   const void *head)
{
    struct ski_learned_key      key;
    struct ski_learned_pattern *pattern;
    struct ski_learned_slot    *slot;
    bool                        expected;

    /* A message with a longer index is moved when it is sent, and the slot names its address. */
    if (inplace->head > SKI_LEARNED_HEAD || ref->index.bytes > SKI_MSG_INDEX_BYTES)
        return NULL;
    ski_learned_key_make(&key, ref, entry.id, head, inplace->head);
    pattern = ski_learned_pattern_get(&learned_channel_state_of(self)->patterns, &key);
    if (!pattern)
        return NULL;
    expected = ski_learned_pattern_note(pattern, inplace->reference, inplace->bytes);
    if (expected && !pattern->channel)
        pattern->channel = learned_channel_new(self, ref, pattern->number);
    if (expected && !pattern->channel)
        pattern->numbered = self->net && inplace->bytes >= SKI_LEARNED_NET_MIN;
    if (!pattern->channel && !pattern->numbered)
        return NULL;
    inplace->channel = pattern->channel;
    inplace->number  = ++pattern->number;
    inplace->step    = expected ? pattern->step : 0;
    if (!pattern->channel)
        return NULL;
    slot = ski_learned_slot_of(pattern->channel, inplace->number);
    return learned_channel_try_claim(slot, inplace) ? slot : NULL;
}

struct ski_object *ski_learned_channel_put(struct ski_pe *self, struct ski_learned_slot *slot,
                                           skua_msg *msg, const skua_layout *from, int *pe)
{
    struct ski_object *object = slot->object;

    ski_assert((atomic_load_explicit(&slot->state, memory_order_relaxed) & 3) == SKI_LEARNED_BUSY);
    ski_assert(slot->layout->bytes == slot->bytes);
    *pe = slot->pe;
    ski_copy_plan_run(ski_learned_copy_plan(ski_learned_known(self), slot->layout, from), slot->at,
                      from->at);
    slot->msg = msg;
    atomic_store_explicit(&slot->state,
                          ski_learned_state(ski_inplace_of(msg)->number, SKI_LEARNED_FILLED),
                          memory_order_release);
    return object;
}

/* ---- receivers ------------------------------------------------------------------------------- */

struct ski_learned_receiver *ski_learned_find_receiver(const struct ski_learned_channels *learned,
                                                       const struct ski_object           *object)
{
    struct ski_hash_link *link = ski_hash_first(&learned->receivers, (uintptr_t)object);

    while (link && ((struct ski_learned_receiver *)link)->object != object)
        link = link->next;
    return (struct ski_learned_receiver *)link;
}

static struct ski_learned_receiver *learned_channel_receiver(struct ski_learned_channels *learned,
                                                             struct ski_object           *object)
{
    struct ski_learned_receiver *receiver = ski_learned_find_receiver(learned, object);

    if (!receiver) {
        receiver  = ski_malloc(sizeof *receiver);
        *receiver = (struct ski_learned_receiver){.object = object};
        ski_hash_add(&learned->receivers, &receiver->link, (uintptr_t)object);
    }
    return receiver;
}

/* Disarms a slot, and waits until no sender copies to it. Returns its state then: idle or filled.
 */
static unsigned learned_channel_disarm(struct ski_learned_slot *slot)
{
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

    if ((state & 3) == SKI_LEARNED_ARMED &&
        atomic_compare_exchange_strong_explicit(&slot->state, &state,
                                                ski_learned_state(0, SKI_LEARNED_IDLE),
                                                memory_order_acquire, memory_order_acquire))
        return SKI_LEARNED_IDLE;
    for (; (state & 3) == SKI_LEARNED_BUSY;
         state = atomic_load_explicit(&slot->state, memory_order_acquire))
        sched_yield();
    return state & 3;
}

/* Sets whether a slot of the channel should be armed. */
static void learned_channel_want(struct ski_learned_channel *channel, bool wanted)
{
    ski_assert(channel->receiver->wanted >= channel->wanted);
    channel->receiver->wanted += wanted;
    channel->receiver->wanted -= channel->wanted;
    channel->wanted = wanted;
}

/* Disarms the slots that are not claimed: the pattern is broken. */
static void learned_channel_expect_nothing(struct ski_learned_channel *channel)
{
    for (struct ski_learned_slot *slot = channel->slot; slot < channel->slot + SKI_LEARNED_SLOTS;
         slot++)
        if ((atomic_load_explicit(&slot->state, memory_order_relaxed) & 3) == SKI_LEARNED_ARMED)
            learned_channel_disarm(slot);
    channel->ahead = 0;
    learned_channel_want(channel, false);
}

static bool learned_channel_is_of_kind(const struct ski_learned_channel *channel,
                                       const skua_msg                   *msg)
{
    const struct ski_inplace *inplace = ski_inplace_of(msg);

    return ski_learned_is_of_kind(channel, msg->handler, ski_inplace_head(inplace), inplace->head);
}

/* Disarms the other channels that expect a message of this kind: it has arrived another way, as
 * when its sender has migrated. Returns whether there are such channels. */
static bool learned_channel_disarm_rivals(const struct ski_learned_receiver *receiver,
                                          const struct ski_learned_channel  *channel,
                                          const skua_msg                    *msg)
{
    bool rivals = false;

    for (struct ski_learned_channel *each = receiver->first; each; each = each->next)
        if (each != channel && learned_channel_is_of_kind(each, msg)) {
            each->has_rival = rivals = true;
            learned_channel_expect_nothing(each);
        }
    return rivals;
}

/* Handles the arrival of the first message on a channel: its receiver answers on the channel from
 * now on. */
static void learned_channel_adopt(struct ski_learned_channel *channel, struct ski_object *object,
                                  const skua_msg *msg)
{
    struct ski_learned_receiver *receiver =
        learned_channel_receiver(learned_channel_state_of(ski_self), object);
    const struct ski_inplace *inplace = ski_inplace_of(msg);
    const struct ski_job     *job     = ski_self->job;

    ski_assert(!channel->object && inplace->head <= SKI_LEARNED_HEAD);
    channel->object   = object;
    channel->receiver = receiver;
    channel->next     = receiver->first;
    receiver->first   = channel;
    receiver->channels++;
    channel->entry = msg->handler;
    channel->same_process =
        ski_job_process_of(job, msg->source) == ski_job_process_of(job, ski_self->pe);
    channel->wanted = false;
    channel->ahead  = 0;
    memcpy(channel->head, ski_inplace_head(inplace), inplace->head);
    channel->has_rival = learned_channel_disarm_rivals(receiver, channel, msg);
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Returns the channel that a message names; NULL: none, or none of this host. */
static struct ski_learned_channel *learned_channel_named(const struct ski_pe *self,
                                                         const skua_msg      *msg)
{
    struct ski_learned_channel *channel =
        msg->bytes >= sizeof(struct ski_inplace) ? ski_inplace_of(msg)->channel : NULL;

    if (!channel || ski_job_index(self->job, msg->source) < 0 ||
        ski_inplace_of(msg)->head > SKI_LEARNED_HEAD ||
        !ski_addr_tag_readable(self->job, channel, sizeof *channel) ||
        (SKI_UNLIKELY(self->net != NULL) &&
         ski_addr_tag_peek(&channel->tag) != learned_channel_tag(self, channel)))
        return NULL;
    return channel;
}

/* Sets the view of a message whose data was copied to a slot. */
static void learned_channel_set_view(struct ski_inplace            *inplace,
                                     const struct ski_learned_slot *slot)
{
    skua_layout *view = ski_inplace_view(inplace);

    ski_layout_assign(view, &slot->layout->given);
    view->at       = slot->at;
    inplace->apart = 1;
}

/* Makes the slot of a message that has arrived idle. */
static void learned_channel_take_slot(struct ski_learned_slot *slot, skua_msg *msg)
{
    struct ski_inplace *inplace = ski_inplace_of(msg);
    uint64_t            state   = atomic_load_explicit(&slot->state, memory_order_acquire);

    if (state == ski_learned_state(inplace->number, SKI_LEARNED_FILLED) && slot->msg == msg) {
        learned_channel_set_view(inplace, slot);
        ski_learned_known(ski_self)->filled++;
    }
    if (inplace->apart || state == ski_learned_state(inplace->number, SKI_LEARNED_ARMED))
        atomic_store_explicit(&slot->state, ski_learned_state(0, SKI_LEARNED_IDLE),
                              memory_order_relaxed);
}

/* Counts the messages that are missing before the last: messages arrive in any order.  One that was
 * sent before the first on the channel is not among them. */
static void learned_channel_count_arrival(struct ski_learned_channel *channel, uint64_t number)
{
    uint64_t steps = number - channel->last;

    if (number < channel->last) {
        channel->missed -= channel->missed > 0;
        return;
    }
    channel->missed += (uint32_t)(steps - 1);
    channel->ahead = (uint8_t)(channel->ahead > steps ? channel->ahead - steps : 0);
    channel->last  = number;
}

/* Handles the arrival of a message on no channel. */
static void learned_channel_bypassed(const struct ski_object *object, const skua_msg *msg)
{
    const struct ski_learned_channels *learned = ski_learned_known(ski_self);
    const struct ski_learned_receiver *receiver =
        learned ? ski_learned_find_receiver(learned, object) : NULL;

    if (receiver)
        learned_channel_disarm_rivals(receiver, NULL, msg);
}

struct ski_learned_channel *ski_learned_channel_arrived(struct ski_object *object, skua_msg *msg)
{
    const struct ski_inplace   *inplace = ski_inplace_of(msg);
    struct ski_learned_channel *channel = learned_channel_named(ski_self, msg);

    if (SKI_UNLIKELY(!channel && ski_self->net && inplace->number > 0))
        channel = ski_learned_net_channel(learned_channel_state_of(ski_self), object, msg);
    if (!channel) {
        learned_channel_bypassed(object, msg);
        return NULL;
    }
    if (!channel->object)
        learned_channel_adopt(channel, object, msg);
    else if (SKI_UNLIKELY(channel->has_rival) && channel->object == object)
        learned_channel_disarm_rivals(channel->receiver, channel, msg);
    if (channel->object != object)
        return NULL;
    learned_channel_take_slot(ski_learned_slot_of(channel, inplace->number), msg);
    learned_channel_count_arrival(channel, inplace->number);
    if (inplace->number != channel->last)
        return channel;
    channel->reference = inplace->reference;
    channel->step      = inplace->step;
    channel->bytes     = inplace->bytes;
    learned_channel_want(channel, inplace->step != 0);
    if (SKI_UNLIKELY(inplace->step == 0))
        learned_channel_expect_nothing(channel);
    return channel;
}

/* ---- arming ---------------------------------------------------------------------------------- */

static const struct ski_learned_layout *learned_channel_new_layout(struct ski_pe     *self,
                                                                   const skua_layout *given)
{
    struct ski_learned_channels *learned = ski_learned_known(self);
    struct ski_learned_layout   *layout;

    if (learned->layouts == SKI_LEARNED_LAYOUTS ||
        !(layout = ski_pool_alloc(&self->pool, sizeof *layout)))
        return NULL;
    if (ski_layout_check_any("the destination of a message", given, true, &layout->simple,
                             &layout->bytes) != SKUA_OK) {
        ski_pool_free(&self->pool, layout);
        return NULL;
    }
    layout->given                              = *given;
    return learned->layout[learned->layouts++] = layout;
}

/* Returns the record of a layout that the program gave; NULL: it is invalid, or there are too many.
 */
static const struct ski_learned_layout *learned_channel_layout(struct ski_pe     *self,
                                                               const skua_layout *given)
{
    const struct ski_learned_channels *learned = ski_learned_known(self);

    for (unsigned i = 0; i < learned->layouts; i++)
        if (ski_layout_same(&learned->layout[i]->given, given))
            return learned->layout[i];
    return learned_channel_new_layout(self, given);
}

/* Returns whether the sender can write to @p at. */
static bool learned_channel_is_reached(const struct ski_pe              *self,
                                       const struct ski_learned_channel *channel, const void *at)
{
    return channel->same_process || channel->from_net || ski_arena_contains(self->pool.arena, at);
}

/* Writes what the next message is expected to be. Returns false if it cannot be copied there. */
static bool learned_channel_fill_slot(struct ski_pe *self, struct ski_learned_channel *channel,
                                      struct ski_learned_slot *slot, const skua_layout *given)
{
    slot->layout = ski_layout_has_list(given) ? NULL : learned_channel_layout(self, given);
    slot->bytes  = channel->bytes;
    slot->at     = given->at;
    slot->pe     = self->pe;
    return slot->layout && slot->layout->bytes == slot->bytes &&
           learned_channel_is_reached(self, channel, slot->at);
}

/* Arms the next slot, if the program says where the data of its message goes. Returns whether it
 * did. */
static bool learned_channel_arm_next(struct ski_pe *self, struct ski_learned_channel *channel,
                                     struct ski_object *object)
{
    uint64_t                 steps = channel->ahead + 1u, number = channel->last + steps;
    struct ski_learned_slot *slot = ski_learned_slot_of(channel, number);
    skua_layout              given;

    if (steps > SKI_LEARNED_SLOTS || channel->missed > 0 ||
        (atomic_load_explicit(&slot->state, memory_order_acquire) & 3) != SKI_LEARNED_IDLE)
        return false;
    slot->object    = object;
    slot->reference = (int64_t)((uint64_t)channel->reference + steps * (uint64_t)channel->step);
    if (!ski_inplace_fn(&ski_entries[channel->entry])(object + 1, slot->reference, channel->head,
                                                      &given))
        return false;
    if (!learned_channel_fill_slot(self, channel, slot, &given)) {
        learned_channel_want(channel, false);
        return false;
    }
    channel->ahead++;
    ski_assert(channel->ahead <= SKI_LEARNED_SLOTS);
    atomic_store_explicit(&slot->state, ski_learned_state(number, SKI_LEARNED_ARMED),
                          memory_order_release);
    return true;
}

/* Arms as many slots as the program gives places for. */
static void learned_channel_arm_all(struct ski_learned_channel *channel, struct ski_object *object)
{
    while (learned_channel_arm_next(ski_self, channel, object))
        ;
    if (channel->ahead == SKI_LEARNED_SLOTS)
        learned_channel_want(channel, false);
}

/* An element has a place for the message after the next when it has finished a step, usually when
 * it has had a message on each of its channels: it is not asked before. */
void ski_learned_channel_arm(struct ski_object *object, const struct ski_learned_channel *channel)
{
    const struct ski_learned_receiver *receiver = channel->receiver;

    if (channel->object != object || !channel->wanted || object->state != SKI_ALIVE)
        return;
    if (channel->ahead > 0 && receiver->wanted < receiver->channels)
        return;
    for (struct ski_learned_channel *each = receiver->first; each; each = each->next)
        if (each->wanted)
            learned_channel_arm_all(each, object);
}

/* ---- taking back ----------------------------------------------------------------------------- */

/* Withdraws a channel; a message whose data is in a slot gets a copy of it. */
static void learned_channel_withdraw_one(struct ski_learned_channel *channel)
{
    if (channel->from_net)
        ski_learned_net_withdraw(ski_learned_known(ski_self), channel);
    for (struct ski_learned_slot *slot = channel->slot; slot < channel->slot + SKI_LEARNED_SLOTS;
         slot++)
        if (learned_channel_disarm(slot) == SKI_LEARNED_FILLED &&
            !ski_pe_exiting(ski_self)) { /* then the message may be freed */
            struct ski_inplace *inplace = ski_inplace_of(slot->msg);

            learned_channel_set_view(inplace, slot);
            inplace->whole = ski_inplace_copy(slot->msg);
            ski_inplace_tag_copy(inplace->whole, slot->msg);
            inplace->apart = 0;
            atomic_store_explicit(&slot->state, ski_learned_state(0, SKI_LEARNED_IDLE),
                                  memory_order_release);
        }
    channel->object = NULL;
    if (channel->from_net)
        ski_learned_net_keep(ski_learned_known(ski_self), channel);
}

void ski_learned_channel_dropped(skua_msg *msg)
{
    struct ski_learned_channels *learned = ski_learned_known(ski_self);
    struct ski_learned_channel  *channel = learned_channel_named(ski_self, msg);
    struct ski_inplace          *inplace = ski_inplace_of(msg);
    struct ski_learned_slot *slot = channel ? ski_learned_slot_of(channel, inplace->number) : NULL;

    if (slot &&
        atomic_load_explicit(&slot->state, memory_order_acquire) ==
            ski_learned_state(inplace->number, SKI_LEARNED_FILLED) &&
        slot->msg == msg)
        atomic_store_explicit(&slot->state, ski_learned_state(0, SKI_LEARNED_IDLE),
                              memory_order_relaxed);
    else if (!channel && learned && msg->bytes >= sizeof *inplace)
        ski_learned_net_dropped(learned, msg);
}

void ski_learned_channel_withdraw(struct ski_object *object)
{
    struct ski_learned_channels *learned = ski_learned_known(object->of->self);
    struct ski_learned_receiver *receiver =
        learned ? ski_learned_find_receiver(learned, object) : NULL;
    struct ski_learned_channel *next;

    if (!receiver)
        return;
    for (struct ski_learned_channel *channel = receiver->first; channel; channel = next) {
        ski_assert(channel->object == object && channel->receiver == receiver);
        next = channel->next; /* another PE may use the channel immediately */
        learned_channel_withdraw_one(channel);
    }
    ski_hash_remove(&learned->receivers, &receiver->link);
    free(receiver);
}

/* ---- the end --------------------------------------------------------------------------------- */

uint64_t skua_inplace_count(void)
{
    const struct ski_learned_channels *learned = ski_learned_known(SKI_SELF());

    return learned ? learned->filled : 0;
}

static void learned_channel_free_receiver(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    free(link);
}

static void learned_channel_pe_end(struct ski_objects *objects)
{
    struct ski_learned_channels *learned = objects->slot[SKI_SLOT_LEARNED_CHANNELS];

    if (!learned)
        return;
    ski_learned_patterns_free(&learned->patterns);
    ski_learned_net_end(learned);
    ski_hash_each(&learned->receivers, learned_channel_free_receiver, NULL);
    ski_hash_clear(&learned->receivers);
    free(learned);
}

const struct ski_lifecycle ski_learned_channel_lifecycle = {
    .pe_end = learned_channel_pe_end, .element_detached = ski_learned_channel_withdraw};
