/* SPDX-License-Identifier: Apache-2.0 */
/* invoke.c - see invoke.h. */
#include "objects/chare/invoke.h"

#include "base/copy.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "core/message/ownership.h"
#include "core/sched/thread.h"
#include "objects/chare/invoke_send.h"
#include "objects/location/claim.h"
#include "objects/location/lookup.h"
#include "objects/measure/measure.h"

uint64_t ski_invoke_stamp(int pe)
{
    struct skua_msg like = {.flags = SKI_MSG_HERE, .source = pe};
    uint64_t        stamp;

    memcpy(&stamp, &like.handler, sizeof stamp);
    return stamp;
}

/* ---- sending ------------------------------------------------------------------------ */

void ski_entry_wrong_class(const char *call, const struct ski_collection *all,
                           const struct ski_entry *entry, const skua_index *index)
{
    ski_misuse("%s: %s::%s is not an entry of %s", call, entry->of->def.name, entry->name,
               index ? ski_element_text(all, index) : all->class->def.name);
}

/* Returns the entry of ski_entries that @p call was given for the object @p ref; ends the job if
 * there is no such entry. */
static inline const struct ski_entry *invoke_entry(const char *call, const skua_ref *ref,
                                                   skua_entry entry)
{
    if (SKI_UNLIKELY(entry.id > UINT16_MAX || !ski_entries[entry.id].of))
        ski_misuse("%s: %s has no entry %u; skua_entry_register() makes them, before skua_main()",
                   call, ski_ref_text(ref), entry.id);
    return &ski_entries[entry.id];
}

/* Returns the PE that a message for an absent element goes to.  While the collection is not known
 * that is this PE, whose queue keeps the message. */
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

/* skua_invoke() has taken ownership of the message. */
static inline void invoke_record_given(struct ski_pe *self, skua_msg *msg)
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
    invoke_record_given(self, msg);
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

/* Sends @p msg, whose handler and source are set, to the object @p ref, which may be on another
 * PE. */
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
        self->released_at = NULL; /* the entry owns the message immediately */
        ski_thread_pin(self);     /* frames of an object that stays here are on its stack */
        ski_entry_run(object, &self->objects->run[msg->handler], msg);
        ski_thread_unpin(self);
        return;
    }
    if (!(entry->flags & SKI_ENTRY_NAMED)) {
        invoke_record_given(self, msg);
        invoke_post_here(self, object, msg);
        return;
    }
    msg = invoke_name(object, msg); /* first: it may take another message */
    invoke_record_given(self, msg);
    ski_msg_post(self, self->pe, msg->handler, msg);
}

/* Sends @p msg, whose handler and source are set, to the object @p ref. */
static void invoke_dispatch(struct ski_pe *self, const char *call, const skua_ref *ref,
                            const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_object     *object = entry->flags & SKUA_ENTRY_INLINE
                                        ? ski_element_find_present(self->objects, ref, &all)
                                        : ski_element_find_here(self->objects, ref, &all);

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
        invoke_record_given(self, msg);
        invoke_post_here(self, object, msg);
    }
}

/* Records that the caller of skua_invoke(), at @p from, transfers the ownership of @p msg, which it
 * must have. */
static SKI_COLD void invoke_record_release(struct ski_pe *self, skua_msg *msg, const void *from)
{
    ski_ownership_use(self, "skua_invoke", msg);
    self->released_at = from;
}

/* Sends a message to an entry that may have any flags. */
static void invoke_flagged(const skua_ref *ref, skua_entry entry, const struct ski_entry *what,
                           skua_msg *msg)
{
    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("skua_invoke: %s::%s of %s returns a reply; skua_invoke_reply() is for that",
                   what->of->def.name, what->name, ski_ref_text(ref));
    if (what->flags & SKI_ENTRY_INPLACE)
        msg = what->ops->to_resend(msg);
    ski_msg_clear_target(msg);
    msg->handler = (uint16_t)entry.id;
    msg->source  = ski_self->pe;
    invoke_dispatch(ski_self, "skua_invoke", ref, what, msg);
}

/* Performs skua_invoke() for an entry that has flags, or does not exist, and for messages that are
 * checked; @p from is the caller. */
static __attribute__((noinline)) void invoke_special(const skua_ref *ref, skua_entry entry,
                                                     skua_msg *msg, const void *from)
{
    const struct ski_entry *what = invoke_entry("skua_invoke", ref, entry);

    if (ski_ownership_checked(ski_self))
        invoke_record_release(ski_self, msg, from);
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
    object       = ski_element_find_here(self->objects, &ref, &all);
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

/* Calls a method of an object that is here. Returns false if the object is absent, or the entry is
 * more than a method. */
static bool invoke_run_now(const char *call, const skua_ref *ref, skua_entry entry,
                           const void *data, size_t bytes)
{
    const struct ski_entry *what = &ski_entries[entry.id];
    struct ski_collection  *all;
    struct ski_object      *object = ski_element_find_present(ski_self->objects, ref, &all);

    if (!object || object->state != SKI_ALIVE || !ski_entry_is_call(what))
        return false;
    ski_check_entry(call, all, what, &ref->index);
    ski_thread_pin(ski_self);
    ski_entry_run_on(object, &ski_self->objects->run[entry.id], entry.id, data, bytes);
    ski_thread_unpin(ski_self);
    return true;
}

/* Performs skua_invoke_copy_to() in all cases. */
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
    object = ski_element_find_here(self->objects, ref, &all);
    if (object) {
        ski_check_entry("skua_invoke_copy", all, what, &ref->index);
        invoke_post_here(self, object, ski_msg_copy(self, entry.id, data, bytes));
    } else {
        invoke_send_copy(self, ref, invoke_target_pe(self, "skua_invoke_copy", all, what, ref),
                         entry.id, data, bytes);
    }
}

/* Queues a copy of @p bytes, at most SKI_INVOKE_SMALL, for a method of an object that is here.  The
 * message has the fields that ski_on_invoke() reads, and no others; @p magazine is not empty. */
static inline void invoke_post_small(struct ski_pe *self, struct ski_object *object,
                                     const struct ski_entry *what, skua_entry entry,
                                     struct ski_magazine *magazine, const void *data, size_t bytes)
{
    skua_msg *msg = ski_magazine_take(magazine, SKUA_MSG_HEADER + bytes);
    uint64_t  stamp;

    ski_assert(bytes <= SKI_INVOKE_SMALL && what->plain && magazine);
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

/* Performs skua_invoke_copy_to() in all cases but a method of an element that is here.  An absent
 * element of the collection that was found last, whose index is a key, is looked up; invoke_copy()
 * handles elements that this PE is the home of, or claims, and entries that are more than a method.
 */
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
        !ski_element_find_key(all, ref)) {
        key = ski_directory_int_key(&all->directory, &ref->index.at);
        pe  = ski_lookup_pe_cached(all, &ref->index, key);
    }
    if (pe != self->pe)
        ski_invoke_send(self, ref, entry, data, bytes, key, pe);
    else
        invoke_copy(ref, entry, data, bytes);
}

/* Returns whether @p lookup is the PE of the absent element @p key, of another PE, and @p what a
 * method that is called there and whose messages are not counted.  A lookup is for one version of
 * the directory, so the element is still absent. */
static inline bool invoke_is_looked_up(const struct ski_pe *self, const struct ski_collection *all,
                                       const struct ski_lookup *lookup, uint64_t key,
                                       const struct ski_entry *what)
{
    return lookup->key == key && lookup->version == all->directory.version &&
           lookup->pe != self->pe && what->of == all->class && what->plain &&
           !(what->flags & (SKUA_ENTRY_CREATE_HERE | SKI_ENTRY_MEASURED));
}

/* Counts a message of @p bytes to an element of @p all, which is found by ski_element_find_quick(),
 * on a PE that counts messages. */
static inline void invoke_count(const struct ski_measure *measure, const struct ski_collection *all,
                                const skua_ref *ref, size_t bytes)
{
    ski_measure_count_key(measure, ski_comm_key_exact(all, &ref->index.at), bytes);
}

/* Performs skua_invoke_copy_to() for elements that are not in the slot where the search for
 * their keys begins, or whose keys are hashes. */
static __attribute__((noinline)) void invoke_last(const skua_ref *ref, skua_entry entry,
                                                  const void *data, size_t bytes)
{
    struct ski_pe          *self     = ski_self;
    struct ski_collection  *all      = self->objects->last;
    const struct ski_entry *what     = &self->objects->entries[(uint16_t)entry.id];
    struct ski_magazine    *magazine = &self->pool.magazine[SKI_INVOKE_SMALL_CLASS(bytes)];
    struct ski_object      *object   = NULL;

    __asm__("" : "+r"(magazine)); /* keep one address, as in skua_invoke_copy_to() */
    if (SKI_LIKELY(all->id == ref->of.id && all->pair_bytes == ref->index.bytes)) {
        object = ski_element_find_pair(all, ref);
    } else if (all->id == ref->of.id && all->quick_bytes == ref->index.bytes) {
        uint64_t                 key    = ski_directory_int_key(&all->directory, &ref->index.at);
        const struct ski_lookup *lookup = ski_lookup_slot(all, key);

        if (SKI_LIKELY(invoke_is_looked_up(self, all, lookup, key, what))) {
            ski_invoke_send(self, ref, entry, data, bytes, key, lookup->pe);
            return;
        }
        object = ski_element_find_key(all, ref);
    }
    if (SKI_UNLIKELY(!object || what->of != all->class || !what->plain ||
                     bytes > SKI_INVOKE_SMALL || magazine->count == 0)) {
        invoke_absent(ref, entry, data, bytes);
        return;
    }
    invoke_post_small(self, object, what, entry, magazine, data, bytes);
    if (SKI_UNLIKELY(what->flags & SKI_ENTRY_MEASURED))
        ski_measure_count(ref, bytes);
}

/* The most frequent case takes few instructions: up to SKI_INVOKE_SMALL bytes for a method of an
 * element that is here.  A call at the end does all else, so that no register need be saved. */
void skua_invoke_copy_to(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes)
{
    struct ski_pe          *self     = SKI_SELF();
    struct ski_objects     *objects  = self->objects;
    struct ski_collection  *all      = objects->last;
    const struct ski_entry *what     = &objects->entries[(uint16_t)entry.id];
    struct ski_magazine    *magazine = &self->pool.magazine[SKI_INVOKE_SMALL_CLASS(bytes)];
    struct ski_object      *object;

    __asm__("" : "+r"(magazine)); /* keep one address: the compiler would compute it twice */
    if (SKI_UNLIKELY(all->id != ref->of.id || all->quick_bytes != ref->index.bytes ||
                     what->of != all->class || !what->plain || bytes > SKI_INVOKE_SMALL ||
                     !(object = ski_element_find_quick(all, &ref->index.at)) ||
                     magazine->count == 0)) {
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
        ski_misuse("skua_invoke_reply: %s::%s of %s is not SKUA_ENTRY_SYNC, it returns no reply",
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
