/* SPDX-License-Identifier: Apache-2.0 */
/* invoke.c - see invoke.h. */
#include "objects/chare/invoke.h"

#include <skua/section.h>

#include "base/copy.h"
#include "core/message/inbox_send.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "core/message/ownership.h"
#include "core/sched/thread.h"
#include "objects/location/claim.h"
#include "objects/location/forward.h"
#include "objects/location/home.h"
#include "objects/measure/measure.h"

/* A message to an object that is here, of up to INVOKE_SMALL bytes, is allocated from a magazine
 * (base/pool.h) of its size, and keeps the address of the magazine. */
#define INVOKE_SMALL              448
#define INVOKE_COPY_SMALL         128 /* bytes of data that are copied without a call */
#define INVOKE_SMALL_CLASS(bytes) (((bytes) + 63) / 64)

uint64_t ski_invoke_stamp(int pe)
{
    struct skua_msg like = {.flags = SKI_MSG_HERE, .source = pe};
    uint64_t        stamp;

    memcpy(&stamp, &like.handler, sizeof stamp);
    return stamp;
}

/* ---- delivery ----------------------------------------------------------------------- */

static SKI_COLD _Noreturn void invoke_to_deleted(const char *text, const struct ski_entry *entry,
                                                 int source)
{
    ski_misuse("a message from PE %d to %s::%s of %s: that object was deleted", source,
               entry->of->def.name, entry->name, text);
}

/* A message that names its object by address: names it by collection and index. */
static skua_msg *invoke_retarget(const struct ski_object *object, skua_msg *msg)
{
    skua_index index = ski_object_index_get(object);

    msg->flags &= (uint8_t)~SKI_MSG_HERE;
    if (msg->here.method) { /* by skua_invoke_copy_to(), which leaves these fields unset */
        msg->priority  = 0;
        msg->bit_words = msg->bit_room = 0;
    }
    return ski_msg_set_target(msg, object->of->id, &index);
}

/* Whether a message to an object that was deleted creates another. */
static bool invoke_creates_again(const struct ski_object *object, const struct ski_entry *entry)
{
    const struct ski_collection *all = object->of;

    return object->state == SKI_DEAD && all->kind == SKI_ARRAY &&
           (all->def.flags & SKUA_ARRAY_ON_DEMAND || entry->flags & SKI_ENTRY_CREATES);
}

/* Delivers a message for an element that may be here. */
static void invoke_deliver(struct ski_collection *all, const skua_index *index,
                           const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_object *object = ski_element_here(all, index);

    if (SKI_UNLIKELY(!object))
        object = ski_forward(all, index, msg);
    if (!object)
        return;
    if (SKI_UNLIKELY(object->state == SKI_DYING || object->state == SKI_DEAD))
        invoke_to_deleted(ski_object_text(object), entry, msg->source);
    ski_entry_run(object, entry, msg);
}

/* Delivers a message to an object whose state has changed since the message was queued. */
static SKI_COLD void invoke_changed(struct ski_object *object, const struct ski_entry *entry,
                                    skua_msg *msg)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);

    if (all->state == SKI_ENDED) {
        ski_collection_drop(all, msg);
    } else if (object->state == SKI_LEAVING) { /* an entry is still running */
        ski_entry_run(object, entry, msg);
        return;
    } else if (object->state == SKI_LEFT) {
        invoke_deliver(all, &index, entry, invoke_retarget(object, msg));
    } else if (invoke_creates_again(object, entry)) {
        ski_msg_forward(ski_self, ski_lookup_pe(all, &index), invoke_retarget(object, msg));
    } else {
        invoke_to_deleted(ski_object_text(object), entry, msg->source);
    }
    ski_element_settle(object);
}

/* Delivers the result of an operation to all objects of a collection or a section. */
static SKI_COLD void invoke_many(skua_msg *msg)
{
    skua_entry entry = {msg->handler};
    uint64_t   id    = msg->target >> 8;

    if (ski_target_bytes(msg->target) == SKI_TARGET_ALL)
        skua_invoke_all((skua_collection){id}, entry, skua_msg_data(msg), msg->bytes);
    else
        skua_section_invoke((skua_section){id}, entry, skua_msg_data(msg), msg->bytes);
    skua_msg_free(msg);
}

/* An element that is here, whose index is one or two integers, if it lies in the slot that its key
 * asks for; else NULL. */
static inline struct ski_object *invoke_find_quick(const struct ski_collection *all,
                                                   const void                  *index)
{
    const struct ski_directory      *directory = &all->directory;
    uint64_t                         key       = ski_directory_int_key(directory, index);
    const struct ski_directory_slot *slot =
        &directory->slot[key * directory->golden >> directory->shift];

    return SKI_LIKELY(slot->key == key) ? ski_directory_object(slot->value) : NULL;
}

/* The target of @p msg, if it is an element of the collection that was found last, lies in the slot
 * that its key asks for, and is SKI_ALIVE; else NULL. */
static inline struct ski_object *invoke_find_target(const skua_msg         *msg,
                                                    const struct ski_entry *entry)
{
    const struct ski_collection *all = ski_self->objects->last;
    struct ski_object           *object;

    if (SKI_UNLIKELY(all->id != msg->target >> 8 || all->class != entry->of ||
                     all->quick_bytes != ski_target_bytes(msg->target)))
        return NULL;
    object = invoke_find_quick(all, msg->index);
    return object && object->state == SKI_ALIVE ? object : NULL;
}

/* A message that names collection and index has arrived. */
static __attribute__((noinline)) void invoke_arrived(skua_msg *msg)
{
    const struct ski_entry *entry = &ski_self->objects->run[msg->handler];
    struct ski_collection  *all;
    struct ski_object      *object;
    skua_index              index;

    if (!(msg->flags & SKI_MSG_OBJECT))
        ski_fatal("a message from PE %d to %s names no object", msg->source, entry->name);
    if (SKI_LIKELY((object = invoke_find_target(msg, entry)))) {
        ski_entry_run(object, entry, msg);
        return;
    }
    if (ski_target_bytes(msg->target) >= SKI_TARGET_SECTION) {
        invoke_many(msg);
        return;
    }
    if (ski_collection_awaited(ski_self->objects, msg->target >> 8, msg, &all))
        return;
    index = ski_msg_index(msg);
    ski_check_index("skua_invoke", all, &index);
    ski_check_entry("skua_invoke", all, entry, &index);
    invoke_deliver(all, &index, entry, msg);
}

/* A message that names its object by address asks for more than a call of a method. */
static __attribute__((noinline)) void invoke_arrived_here(skua_msg *msg)
{
    struct ski_object      *object = (struct ski_object *)(uintptr_t)msg->target;
    const struct ski_entry *entry  = &ski_self->objects->run[msg->handler];

    ski_assert(ski_object_queued(object));
    object->life -= SKI_LIFE_QUEUED;
    if (object->state)
        invoke_changed(object, entry, msg);
    else
        ski_entry_run(object, entry, msg);
}

void ski_on_invoke(skua_msg *msg)
{
    struct ski_object *object = (struct ski_object *)(uintptr_t)msg->target;
    uint64_t           life;

    if (SKI_UNLIKELY(!(msg->flags & SKI_MSG_HERE))) {
        invoke_arrived(msg);
        return;
    }
    ski_assert(ski_object_queued(object));
    life = object->life + (SKI_LIFE_RUNNING - SKI_LIFE_QUEUED);
    if (SKI_UNLIKELY(!msg->here.method || life & SKI_LIFE_CHANGED)) {
        invoke_arrived_here(msg);
        return;
    }
    object->life = life;
    msg->here.method(object + 1, skua_msg_data(msg), msg->bytes);
    if (SKI_UNLIKELY(!ski_magazine_put(msg->here.magazine, msg, SKUA_MSG_HEADER + msg->bytes)))
        ski_pool_free(&ski_self->pool, msg);
    ski_element_leave(object);
}

/* Runs an entry that owns its message, and charges its object. */
static void invoke_run_measured(struct ski_measure *measure, struct ski_object *object,
                                const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_object *outer = ski_measure_switch(measure, object);

    ski_msg_clear_target(msg);
    entry->entry(object + 1, msg);
    ski_measure_switch(measure, outer);
    ski_element_leave(object);
}

void ski_on_invoke_measured(skua_msg *msg)
{
    struct ski_object  *object  = (struct ski_object *)(uintptr_t)msg->target, *outer;
    struct ski_measure *measure = ski_self->objects->measure;
    uint64_t            life;

    if (SKI_UNLIKELY(!(msg->flags & SKI_MSG_HERE))) {
        invoke_arrived(msg);
        return;
    }
    life = object->life + (SKI_LIFE_RUNNING - SKI_LIFE_QUEUED);
    if (SKI_UNLIKELY(life & SKI_LIFE_CHANGED || !measure ||
                     (!msg->here.method && !ski_entry_is_owner(&ski_entries[msg->handler])))) {
        invoke_arrived_here(msg);
        return;
    }
    object->life = life;
    if (!msg->here.method) {
        invoke_run_measured(measure, object, &ski_entries[msg->handler], msg);
        return;
    }
    outer = ski_measure_switch(measure, object);
    msg->here.method(object + 1, skua_msg_data(msg), msg->bytes);
    ski_measure_switch(measure, outer);
    if (SKI_UNLIKELY(!ski_magazine_put(msg->here.magazine, msg, SKUA_MSG_HEADER + msg->bytes)))
        ski_pool_free(&ski_self->pool, msg);
    ski_element_leave(object);
}

/* ---- sending ------------------------------------------------------------------------ */

void ski_entry_wrong_class(const char *call, const struct ski_collection *all,
                           const struct ski_entry *entry, const skua_index *index)
{
    ski_misuse("%s: %s::%s is no entry of %s", call, entry->of->def.name, entry->name,
               index ? ski_element_text(all, index) : all->class->def.name);
}

/* The entry of ski_entries that @p call was given for the object @p ref; ends the job if there is
 * no such entry. */
static inline const struct ski_entry *invoke_entry(const char *call, const skua_ref *ref,
                                                   skua_entry entry)
{
    if (SKI_UNLIKELY(entry.id > UINT16_MAX || !ski_entries[entry.id].of))
        ski_misuse("%s: %s has no entry %u; skua_entry_register() makes them, before skua_main()",
                   call, ski_ref_text(ref), entry.id);
    return &ski_entries[entry.id];
}

/* The PE that a message for an absent element goes to.  While the collection is not known that is
 * this PE, whose queue keeps the message. */
static int invoke_target_pe(struct ski_pe *self, const char *call, struct ski_collection *all,
                            const struct ski_entry *entry, const skua_ref *ref)
{
    if (!all || all->state == SKI_EXPECTED || all->state == SKI_ENDED)
        all = ski_collection_get(self->objects, call, ref->of.id);
    if (all->state == SKI_EXPECTED)
        return self->pe;
    ski_check_index(call, all, &ref->index);
    ski_check_entry(call, all, entry, &ref->index);
    if (SKI_UNLIKELY(entry->flags & SKI_ENTRY_CREATES))
        ski_claim(all, &ref->index, entry->flags);
    return ski_lookup_pe(all, &ref->index);
}

/* The caller of skua_invoke() has given the message away. */
static inline void invoke_note_given(struct ski_pe *self, skua_msg *msg)
{
    if (SKI_LIKELY(!self->released_at))
        return;
    ski_ownership_send(self, SKI_RELEASE_INVOKE, msg, msg->handler, self->released_at, false);
    self->released_at = NULL;
}

/* Sends @p msg, whose target is set, to the PE that invoke_target_pe() returned. */
static void invoke_post_away(struct ski_pe *self, int pe, const skua_ref *ref, skua_msg *msg)
{
    struct ski_collection *all;

    if (SKI_UNLIKELY(pe == self->pe)) {
        all = ski_collection_find(self->objects, ref->of.id);
        if (all->state != SKI_EXPECTED && ski_claim_hold(all, &ref->index, msg)) {
            self->released_at = NULL;
            return;
        }
    }
    invoke_note_given(self, msg);
    ski_msg_post(self, pe, msg->handler, msg);
}

/* Queues a message for an object that is here. */
static inline void invoke_post_here(struct ski_pe *self, struct ski_object *object, skua_msg *msg)
{
    msg->flags |= SKI_MSG_HERE;
    msg->target      = (uintptr_t)object;
    msg->here.method = NULL;
    object->life += SKI_LIFE_QUEUED;
    ski_queue_push(&self->queue, msg, msg->flags);
}

/* Names an object that is here, and may leave by pointer, in a message; returns the message, or
 * another in its place. */
static SKI_COLD skua_msg *invoke_name(const struct ski_object *object, skua_msg *msg)
{
    skua_index index = ski_object_index_get(object);

    return ski_msg_set_target(msg, object->of->id, &index);
}

/* Sets what all messages of an entry have. */
static void invoke_set_entry(struct ski_pe *self, skua_entry entry, skua_msg *msg)
{
    msg->handler = (uint16_t)entry.id;
    msg->source  = self->pe;
    if (ski_entries[entry.id].flags & SKUA_ENTRY_EXPEDITED)
        skua_msg_set_expedited(msg, true);
}

void ski_invoke_here(struct ski_pe *self, struct ski_object *object, skua_entry entry,
                     skua_msg *msg)
{
    invoke_set_entry(self, entry, msg);
    if (ski_entries[entry.id].flags & SKI_ENTRY_NAMED)
        ski_msg_post(self, self->pe, msg->handler, invoke_name(object, msg));
    else
        invoke_post_here(self, object, msg);
}

void ski_invoke_at(struct ski_pe *self, int pe, const skua_ref *ref, skua_entry entry,
                   skua_msg *msg)
{
    invoke_set_entry(self, entry, msg);
    ski_msg_post(self, pe, msg->handler, ski_msg_set_target(msg, ref->of.id, &ref->index));
}

/* An element that is here, whose index is its key, in whatever slot it lies; else NULL. */
static inline struct ski_object *invoke_find_key(const struct ski_collection *all,
                                                 const skua_ref              *ref)
{
    uint64_t key = ski_directory_int_key(&all->directory, &ref->index.at);

    return ski_directory_object(ski_directory_find_key(&all->directory, key));
}

static inline bool invoke_is_pair(uintptr_t value, const uint64_t word[2])
{
    uint64_t have[2];

    if (value & SKI_ABSENT_BIT)
        return false;
    memcpy(have, ((struct ski_object *)value)->index.raw, sizeof have);
    return have[0] == word[0] && have[1] == word[1];
}

/* An element that is here, whose index is three or four integers, such as a single object; else
 * NULL. */
static inline struct ski_object *invoke_find_pair(const struct ski_collection *all,
                                                  const skua_ref              *ref)
{
    const struct ski_directory      *directory = &all->directory;
    const struct ski_directory_slot *slot      = directory->slot;
    uint64_t                         word[2], hash, at;

    memcpy(word, &ref->index.at, sizeof word);
    word[1] &= directory->mask_key;
    hash = ski_index_hash_pair(word, ref->index.bytes, directory->golden);
    for (at = hash * directory->golden >> directory->shift; slot[at].value;
         at = (at + 1) & directory->mask)
        if (slot[at].key == hash && invoke_is_pair(slot[at].value, word))
            return (struct ski_object *)slot[at].value;
    return NULL;
}

static inline struct ski_object *invoke_find_here(struct ski_objects *objects, const skua_ref *ref,
                                                  struct ski_collection **all)
{
    struct ski_collection *found = *all = ski_collection_find(objects, ref->of.id);
    struct ski_object     *object;

    if (SKI_UNLIKELY(!found))
        return NULL;
    if (found->quick_bytes == ref->index.bytes)
        return invoke_find_key(found, ref);
    if (found->pair_bytes == ref->index.bytes && (object = invoke_find_pair(found, ref)))
        return object;
    if (SKI_UNLIKELY(found->index_bytes != ref->index.bytes && found->index_bytes))
        return NULL;
    return ski_element_here(found, &ref->index);
}

/* Sends @p msg, whose handler and source are set, to the object @p ref, which @p all may have in
 * another PE. */
static __attribute__((noinline)) void invoke_dispatch_away(struct ski_pe *self, const char *call,
                                                           const skua_ref         *ref,
                                                           struct ski_collection  *all,
                                                           const struct ski_entry *entry,
                                                           skua_msg               *msg)
{
    int pe = invoke_target_pe(self, call, all, entry, ref);

    invoke_post_away(self, pe, ref, ski_msg_set_target(msg, ref->of.id, &ref->index));
}

/* Runs an entry that is inline, or queues a message that names its object. */
static SKI_COLD void invoke_dispatch_here(struct ski_pe *self, struct ski_object *object,
                                          const struct ski_entry *entry, skua_msg *msg)
{
    if (entry->flags & SKUA_ENTRY_INLINE && object->state == SKI_ALIVE) {
        self->released_at = NULL; /* the entry owns the message at once */
        ski_thread_pin(self);     /* frames of an object that stays here are on its stack */
        ski_entry_run(object, &self->objects->run[msg->handler], msg);
        ski_thread_unpin(self);
        return;
    }
    if (!(entry->flags & SKI_ENTRY_NAMED)) {
        invoke_note_given(self, msg);
        invoke_post_here(self, object, msg);
        return;
    }
    msg = invoke_name(object, msg); /* first: it may take another message */
    invoke_note_given(self, msg);
    ski_msg_post(self, self->pe, msg->handler, msg);
}

/* Sends @p msg, whose handler and source are set, to the object @p ref. */
static void invoke_dispatch(struct ski_pe *self, const char *call, const skua_ref *ref,
                            const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_object     *object = invoke_find_here(self->objects, ref, &all);

    if (entry->flags & SKUA_ENTRY_EXPEDITED)
        skua_msg_set_expedited(msg, true);
    if (!object) {
        invoke_dispatch_away(self, call, ref, all, entry, msg);
        return;
    }
    ski_check_entry(call, all, entry, &ref->index);
    if (SKI_UNLIKELY(entry->flags & (SKUA_ENTRY_INLINE | SKI_ENTRY_NAMED))) {
        invoke_dispatch_here(self, object, entry, msg);
    } else {
        invoke_note_given(self, msg);
        invoke_post_here(self, object, msg);
    }
}

/* Records that the caller of skua_invoke(), at @p from, gives @p msg away; it must own it. */
static SKI_COLD void invoke_note_giver(struct ski_pe *self, skua_msg *msg, const void *from)
{
    ski_ownership_use(self, "skua_invoke", msg);
    self->released_at = from;
}

/* Sends a message to an entry that may have any flags. */
static void invoke_flagged(const skua_ref *ref, skua_entry entry, const struct ski_entry *what,
                           skua_msg *msg)
{
    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("skua_invoke: %s::%s of %s gives an answer; skua_invoke_reply() is for that",
                   what->of->def.name, what->name, ski_ref_text(ref));
    if (what->flags & SKI_ENTRY_INPLACE)
        msg = what->ops->to_resend(msg);
    ski_msg_clear_target(msg);
    msg->handler = (uint16_t)entry.id;
    msg->source  = ski_self->pe;
    invoke_dispatch(ski_self, "skua_invoke", ref, what, msg);
}

/* skua_invoke() of an entry that has flags, or does not exist, and of messages that are checked;
 * @p from is the caller. */
static __attribute__((noinline)) void invoke_special(const skua_ref *ref, skua_entry entry,
                                                     skua_msg *msg, const void *from)
{
    const struct ski_entry *what = invoke_entry("skua_invoke", ref, entry);

    if (ski_ownership_checked(ski_self))
        invoke_note_giver(ski_self, msg, from);
    ski_measure_count(ref, msg->bytes);
    invoke_flagged(ref, entry, what, msg);
}

void skua_invoke(skua_ref ref, skua_entry entry, skua_msg *msg)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = &self->objects->entries[(uint16_t)entry.id];
    struct ski_collection  *all;
    struct ski_object      *object;

    if (SKI_UNLIKELY(!what->of || what->flags & ~SKI_ENTRY_MEASURED || entry.id > UINT16_MAX ||
                     ski_ownership_checked(self))) {
        invoke_special(&ref, entry, msg, __builtin_return_address(0));
        return;
    }
    if (SKI_UNLIKELY(what->flags != 0))
        ski_measure_count(&ref, msg->bytes);
    ski_msg_clear_target(msg);
    msg->handler = (uint16_t)entry.id;
    msg->source  = self->pe;
    object       = invoke_find_here(self->objects, &ref, &all);
    if (!object) {
        invoke_dispatch_away(self, __func__, &ref, all, what, msg);
        return;
    }
    ski_check_entry(__func__, all, what, &ref.index);
    invoke_post_here(self, object, msg);
}

/* Sends a copy of the data to an object that is not here; in a cell, if it is small and the object
 * is on a PE whose inbox takes cells. */
static void invoke_send_copy(struct ski_pe *self, const skua_ref *ref, int pe, uint32_t handler,
                             const void *data, size_t bytes)
{
    skua_msg *msg;

    if (ski_inbox_is_near(self, pe) &&
        ski_element_try_small(self, pe, handler, ref->of.id, &ref->index, data, bytes))
        return;
    msg = ski_msg_set_target(ski_msg_copy(self, handler, data, bytes), ref->of.id, &ref->index);
    invoke_post_away(self, pe, ref, msg);
}

/* Calls a method of an object that is here; false: the object is absent, or the entry is more than
 * a method. */
static bool invoke_run_now(const char *call, const skua_ref *ref, skua_entry entry,
                           const void *data, size_t bytes)
{
    const struct ski_entry *what = &ski_entries[entry.id];
    struct ski_collection  *all;
    struct ski_object      *object = invoke_find_here(ski_self->objects, ref, &all);

    if (!object || object->state != SKI_ALIVE || !ski_entry_is_call(what))
        return false;
    ski_check_entry(call, all, what, &ref->index);
    ski_thread_pin(ski_self);
    ski_entry_run_on(object, &ski_self->objects->run[entry.id], entry.id, data, bytes);
    ski_thread_unpin(ski_self);
    return true;
}

/* skua_invoke_copy_to() of all cases. */
static __attribute__((noinline)) void invoke_copy(const skua_ref *ref, skua_entry entry,
                                                  const void *data, size_t bytes)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = invoke_entry("skua_invoke_copy", ref, entry);
    struct ski_collection  *all;
    struct ski_object      *object;

    if (what->flags & SKUA_ENTRY_INLINE &&
        invoke_run_now("skua_invoke_copy", ref, entry, data, bytes))
        return;
    if (what->flags) {
        invoke_flagged(ref, entry, what, ski_msg_copy(self, entry.id, data, bytes));
        return;
    }
    object = invoke_find_here(self->objects, ref, &all);
    if (object) {
        ski_check_entry("skua_invoke_copy", all, what, &ref->index);
        invoke_post_here(self, object, ski_msg_copy(self, entry.id, data, bytes));
    } else {
        invoke_send_copy(self, ref, invoke_target_pe(self, "skua_invoke_copy", all, what, ref),
                         entry.id, data, bytes);
    }
}

/* Queues a copy of @p bytes, at most INVOKE_SMALL, for a method of an object that is here.  The
 * message has the fields that ski_on_invoke() reads, and no others; @p magazine is not empty. */
static inline void invoke_post_small(struct ski_pe *self, struct ski_object *object,
                                     const struct ski_entry *what, skua_entry entry,
                                     struct ski_magazine *magazine, const void *data, size_t bytes)
{
    skua_msg *msg = ski_magazine_take(magazine, SKUA_MSG_HEADER + bytes);
    uint64_t  stamp;

    ski_assert(bytes <= INVOKE_SMALL && what->plain && magazine);
    msg->bytes         = bytes;
    msg->target        = (uintptr_t)object;
    msg->here.method   = what->plain;
    msg->here.magazine = magazine;
    stamp              = (self->objects->stamp & ~UINT64_C(0xffff)) | (uint16_t)entry.id;
    memcpy(&msg->handler, &stamp, sizeof stamp);
    ski_copy_small(skua_msg_data(msg), data, bytes);
    object->life += SKI_LIFE_QUEUED;
    ski_queue_push(&self->queue, msg, 0);
}

/* Fills the header of a message to an element whose index is @p key. */
static inline void invoke_set_key(struct ski_pe *self, const skua_ref *ref, uint64_t key,
                                  skua_entry entry, skua_msg *msg)
{
    msg->handler = (uint16_t)entry.id;
    msg->flags   = SKI_MSG_OBJECT;
    msg->source  = self->pe;
    msg->target  = ski_target(ref->of.id, ref->index.bytes);
    memset(msg->index, 0, sizeof msg->index);
    memcpy(msg->index, &key, sizeof key);
}

/* Sends a message of any size to an element of PE @p pe, which is another. */
static __attribute__((noinline)) void invoke_send_any(const skua_ref *ref, skua_entry entry,
                                                      const void *data, size_t bytes, uint64_t key,
                                                      int pe)
{
    struct ski_pe *self = ski_self;
    skua_msg      *msg  = ski_msg_copy(self, entry.id, data, bytes);

    invoke_set_key(self, ref, key, entry, msg);
    ski_msg_send_away(self, pe, entry.id, msg);
}

/* invoke_send_any() to a PE of this host; in a cell, if the data fit one. */
static __attribute__((noinline)) void invoke_send_near(const skua_ref *ref, skua_entry entry,
                                                       const void *data, size_t bytes, uint64_t key,
                                                       int pe)
{
    struct {
        uint64_t target, index;
        char     data[SKI_CELL_DATA - 16];
    } cell;

    if (bytes <= sizeof cell.data) {
        cell.target = ski_target(ref->of.id, ref->index.bytes);
        cell.index  = key;
        ski_copy_small(cell.data, data, bytes);
        if (ski_msg_try_small(ski_self, pe, entry.id, SKI_MSG_OBJECT, &cell, 16 + bytes))
            return;
    }
    invoke_send_any(ref, entry, data, bytes, key, pe);
}

/* invoke_send_any() to a PE that is most likely on another host.  There is no call but the last, so
 * that no register need be saved. */
static __attribute__((noinline)) void invoke_send_remote(const skua_ref *ref, skua_entry entry,
                                                         const void *data, size_t bytes,
                                                         uint64_t key, int pe)
{
    struct ski_pe       *self     = ski_self;
    struct ski_magazine *magazine = &self->pool.magazine[INVOKE_SMALL_CLASS(bytes)];
    skua_msg            *msg;

    if (SKI_UNLIKELY(bytes > INVOKE_COPY_SMALL || magazine->count == 0 ||
                     ski_job_index(self->job, pe) >= 0)) {
        invoke_send_any(ref, entry, data, bytes, key, pe);
        return;
    }
    msg = ski_msg_init(ski_magazine_take(magazine, SKUA_MSG_HEADER + bytes), bytes);
    invoke_set_key(self, ref, key, entry, msg);
    ski_copy_small(msg + 1, data, bytes);
    ski_msg_send_remote(self, pe, entry.id, msg);
}

/* skua_invoke_copy_to() of an element that is on PE @p pe, which is another: a PE of this host gets
 * a cell if that has room, any other PE a message. */
static inline void invoke_send(const struct ski_pe *self, const skua_ref *ref, skua_entry entry,
                               const void *data, size_t bytes, uint64_t key, int pe)
{
    ski_assert(pe != self->pe && !invoke_find_key(self->objects->last, ref));
    if (ski_inbox_is_near(self, pe))
        invoke_send_near(ref, entry, data, bytes, key, pe);
    else
        invoke_send_remote(ref, entry, data, bytes, key, pe);
}

/* skua_invoke_copy_to() of all that is no method of an element that is here.  An absent element of
 * the collection that was found last, whose index is a key, is looked up; invoke_copy() sees to
 * elements that this PE is the home of, or claims, and to entries that are more than a method. */
static __attribute__((noinline)) void invoke_absent(const skua_ref *ref, skua_entry entry,
                                                    const void *data, size_t bytes)
{
    struct ski_pe          *self = ski_self;
    struct ski_collection  *all  = self->objects->last;
    const struct ski_entry *what = &self->objects->entries[(uint16_t)entry.id];
    uint64_t                key  = 0;
    int                     pe   = self->pe;

    if (what->flags & SKI_ENTRY_MEASURED)
        ski_measure_count(ref, bytes);
    if (all->id == ref->of.id && all->quick_bytes == ref->index.bytes && all->kind == SKI_ARRAY &&
        what->of == all->class && what->plain && !(what->flags & SKUA_ENTRY_CREATE_HERE) &&
        !invoke_find_key(all, ref)) {
        key = ski_directory_int_key(&all->directory, &ref->index.at);
        pe  = ski_lookup_pe_cached(all, &ref->index, key);
    }
    if (pe != self->pe)
        invoke_send(self, ref, entry, data, bytes, key, pe);
    else
        invoke_copy(ref, entry, data, bytes);
}

/* Whether @p lookup is the PE of the absent element @p key, of another PE, and @p what a method
 * that is called there and whose messages are not counted.  A lookup is for one version of the
 * directory, so the element is still absent. */
static inline bool invoke_is_looked_up(const struct ski_pe *self, const struct ski_collection *all,
                                       const struct ski_lookup *lookup, uint64_t key,
                                       const struct ski_entry *what)
{
    return lookup->key == key && lookup->version == all->directory.version &&
           lookup->pe != self->pe && what->of == all->class && what->plain &&
           !(what->flags & (SKUA_ENTRY_CREATE_HERE | SKI_ENTRY_MEASURED));
}

/* Counts a message of @p bytes to an element of @p all, which is found by invoke_find_quick(), on a
 * PE that counts messages. */
static inline void invoke_count(const struct ski_measure *measure, const struct ski_collection *all,
                                const skua_ref *ref, size_t bytes)
{
    ski_measure_count_key(measure, ski_comm_key_exact(all, &ref->index.at), bytes);
}

/* skua_invoke_copy_to() of elements that lie in another slot than their keys ask for, or whose keys
 * are hashes. */
static __attribute__((noinline)) void invoke_last(const skua_ref *ref, skua_entry entry,
                                                  const void *data, size_t bytes)
{
    struct ski_pe          *self     = ski_self;
    struct ski_collection  *all      = self->objects->last;
    const struct ski_entry *what     = &self->objects->entries[(uint16_t)entry.id];
    struct ski_magazine    *magazine = &self->pool.magazine[INVOKE_SMALL_CLASS(bytes)];
    struct ski_object      *object   = NULL;

    __asm__("" : "+r"(magazine)); /* keep one address, as in skua_invoke_copy_to() */
    if (SKI_LIKELY(all->id == ref->of.id && all->pair_bytes == ref->index.bytes)) {
        object = invoke_find_pair(all, ref);
    } else if (all->id == ref->of.id && all->quick_bytes == ref->index.bytes) {
        uint64_t                 key    = ski_directory_int_key(&all->directory, &ref->index.at);
        const struct ski_lookup *lookup = ski_lookup_slot(all, key);

        if (SKI_LIKELY(invoke_is_looked_up(self, all, lookup, key, what))) {
            invoke_send(self, ref, entry, data, bytes, key, lookup->pe);
            return;
        }
        object = invoke_find_key(all, ref);
    }
    if (SKI_UNLIKELY(!object || what->of != all->class || !what->plain || bytes > INVOKE_SMALL ||
                     magazine->count == 0)) {
        invoke_absent(ref, entry, data, bytes);
        return;
    }
    invoke_post_small(self, object, what, entry, magazine, data, bytes);
    if (SKI_UNLIKELY(what->flags & SKI_ENTRY_MEASURED))
        ski_measure_count(ref, bytes);
}

/* The most frequent case takes few instructions: up to INVOKE_SMALL bytes for a method of an
 * element that is here.  A call at the end does all else, so that no register need be saved. */
void skua_invoke_copy_to(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes)
{
    struct ski_pe          *self     = SKI_SELF();
    struct ski_objects     *objects  = self->objects;
    struct ski_collection  *all      = objects->last;
    const struct ski_entry *what     = &objects->entries[(uint16_t)entry.id];
    struct ski_magazine    *magazine = &self->pool.magazine[INVOKE_SMALL_CLASS(bytes)];
    struct ski_object      *object;

    __asm__("" : "+r"(magazine)); /* keep one address: the compiler would compute it twice */
    if (SKI_UNLIKELY(all->id != ref->of.id || all->quick_bytes != ref->index.bytes ||
                     what->of != all->class || !what->plain || bytes > INVOKE_SMALL ||
                     !(object = invoke_find_quick(all, &ref->index.at)) || magazine->count == 0)) {
        invoke_last(ref, entry, data, bytes);
        return;
    }
    invoke_post_small(self, object, what, entry, magazine, data, bytes);
    if (SKI_UNLIKELY(what->flags & SKI_ENTRY_MEASURED))
        invoke_count(objects->measure, all, ref, bytes);
}

void skua_invoke_copy_prio(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                           int32_t priority)
{
    skua_msg *msg = ski_msg_copy(SKI_SELF(), entry.id, data, bytes);

    skua_msg_set_priority(msg, priority);
    skua_invoke(ref, entry, msg);
}

void skua_invoke_now(skua_ref ref, skua_entry entry, const void *data, size_t bytes)
{
    (void)SKI_SELF();
    (void)invoke_entry(__func__, &ref, entry);
    if (!invoke_run_now(__func__, &ref, entry, data, bytes))
        skua_invoke_copy_to(&ref, entry, data, bytes);
}

/* ---- answers ------------------------------------------------------------------------ */

void skua_invoke_reply(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                       skua_completion reply)
{
    struct ski_pe            *self  = SKI_SELF();
    const struct ski_entry   *what  = invoke_entry(__func__, &ref, entry);
    skua_msg                 *msg   = skua_msg_alloc(sizeof(struct ski_reply_request) + bytes);
    struct ski_reply_request *asked = skua_msg_data(msg);

    if (!(what->flags & SKUA_ENTRY_SYNC))
        ski_misuse("skua_invoke_reply: %s::%s of %s is not SKUA_ENTRY_SYNC, it gives no answer",
                   what->of->def.name, what->name, ski_ref_text(&ref));
    ski_measure_count(&ref, bytes);
    memset(asked, 0, sizeof *asked);
    asked->reply = reply;
    if (bytes)
        memcpy(asked + 1, data, bytes);
    msg->handler = (uint16_t)entry.id;
    msg->source  = self->pe;
    invoke_dispatch(self, __func__, &ref, what, msg);
}
