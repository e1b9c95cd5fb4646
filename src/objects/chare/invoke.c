/* SPDX-License-Identifier: Apache-2.0 */
/* invoke.c - see invoke.h. */
#include "objects/chare/invoke.h"

#include <skua/section.h>

#include "base/copy.h"
#include "core/pe/handler.h"
#include "core/message/ownership.h"
#include "objects/chare/creation_wait.h"
#include "objects/collective/array_broadcast.h"
#include "objects/zerocopy/inplace.h"
#include "objects/location/location.h"

/* Messages to objects that are here, of up to SMALL bytes, are allocated from a magazine
 * (base/pool.h) of their size, and remember it. */
#define SMALL              448
#define SMALL_CLASS(bytes) (((bytes) + 63) / 64)

uint64_t ski_small_stamp(int pe)
{
    struct skua_msg like = {.flags = SKI_MSG_HERE, .source = pe};
    uint64_t        stamp;

    memcpy(&stamp, &like.handler, sizeof stamp);
    return stamp;
}

/* ---- arriving ----------------------------------------------------------------------- */

static SKI_COLD _Noreturn void deleted(const char *text, const struct ski_entry *entry, int source)
{
    ski_misuse("a message from PE %d to %s::%s of %s: that object was deleted", source,
               entry->of->def.name, entry->name, text);
}

/* A message by address gets the one it would have had, had the object not been here. */
static skua_msg *address_again(const struct ski_object *object, skua_msg *msg)
{
    skua_index index = ski_object_index_get(object);

    msg->flags &= (uint8_t)~SKI_MSG_HERE;
    if (msg->here.method) { /* by skua_invoke_copy_to(), which does not write these */
        msg->priority  = 0;
        msg->bit_words = msg->bit_room = 0;
    }
    return ski_msg_address(msg, object->of->id, &index);
}

/* Whether messages to an object that was deleted create another. */
static bool comes_again(const struct ski_object *object, const struct ski_entry *entry)
{
    const struct ski_collection *all = object->of;

    return object->state == SKI_DEAD && all->kind == SKI_ARRAY &&
           (all->def.flags & SKUA_ARRAY_ON_DEMAND || entry->flags & SKI_ENTRY_CREATES);
}

/* A message for an element that may be here. */
static void invoke_deliver(struct ski_collection *all, const skua_index *index,
                           const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_object *object = ski_here(all, index);

    if (SKI_UNLIKELY(!object))
        object = ski_astray(all, index, msg);
    if (!object)
        return;
    if (SKI_UNLIKELY(object->state == SKI_DYING || object->state == SKI_DEAD))
        deleted(ski_object_text(object), entry, msg->source);
    ski_entry_run(object, entry, msg);
}

/* A message to an object that is not what it was when the message was queued. */
static SKI_COLD void changed(struct ski_object *object, const struct ski_entry *entry,
                             skua_msg *msg)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);

    if (all->state == SKI_ENDED) {
        ski_dropped(all, msg);
    } else if (object->state == SKI_LEAVING) { /* not yet: an entry is still running */
        ski_entry_run(object, entry, msg);
        return;
    } else if (object->state == SKI_LEFT) {
        invoke_deliver(all, &index, entry, address_again(object, msg));
    } else if (comes_again(object, entry)) {
        ski_pass_on(ski_self, ski_whereabouts(all, &index), address_again(object, msg));
    } else {
        deleted(ski_object_text(object), entry, msg->source);
    }
    ski_object_settle(object);
}

/* The result of an operation, for all objects of a collection or a section. */
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

/* An element of an array of one or two integers that is here, if it lies where its key
 * says; else NULL. */
static inline struct ski_object *find_quick(const struct ski_collection *all, const void *index)
{
    const struct ski_directory *directory = &all->directory;
    uint64_t                    key       = ski_key_of(directory, index);
    const struct ski_slot *slot = &directory->slot[key * directory->golden >> directory->shift];

    return SKI_LIKELY(slot->key == key) ? ski_value_object(slot->value) : NULL;
}

/* The one that @p msg is for, if it is in the collection that was found last, lies where its
 * key says and is as always; else NULL. */
static inline struct ski_object *find_addressee(const skua_msg *msg, const struct ski_entry *entry)
{
    const struct ski_collection *all = ski_self->objects->last;
    struct ski_object           *object;

    if (SKI_UNLIKELY(all->id != msg->target >> 8 || all->class != entry->of ||
                     all->quick_bytes != ski_target_bytes(msg->target)))
        return NULL;
    object = find_quick(all, msg->index);
    return object && object->state == SKI_ALIVE ? object : NULL;
}

/* A message that names collection and index. */
static __attribute__((noinline)) void arrived(skua_msg *msg)
{
    const struct ski_entry *entry = &ski_entries[msg->handler];
    struct ski_collection  *all;
    struct ski_object      *object;
    skua_index              index;

    if (!(msg->flags & SKI_MSG_OBJECT))
        ski_fatal("a message from PE %d to %s names no object", msg->source, entry->name);
    if (SKI_LIKELY((object = find_addressee(msg, entry)))) {
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

/* A message by address that asks for more than a call of a method. */
static __attribute__((noinline)) void arrived_here(skua_msg *msg)
{
    struct ski_object      *object = (struct ski_object *)(uintptr_t)msg->target;
    const struct ski_entry *entry  = &ski_entries[msg->handler];

    object->life -= SKI_LIFE_QUEUED;
    if (object->state)
        changed(object, entry, msg);
    else
        ski_entry_run(object, entry, msg);
}

void ski_on_invoke(skua_msg *msg)
{
    struct ski_object *object = (struct ski_object *)(uintptr_t)msg->target;
    uint64_t           life;

    if (SKI_UNLIKELY(!(msg->flags & SKI_MSG_HERE))) {
        arrived(msg);
        return;
    }
    life = object->life + (SKI_LIFE_RUNNING - SKI_LIFE_QUEUED);
    if (SKI_UNLIKELY(!msg->here.method || life & SKI_LIFE_CHANGED)) {
        arrived_here(msg);
        return;
    }
    object->life = life;
    msg->here.method(object + 1, skua_msg_data(msg), msg->bytes);
    if (SKI_UNLIKELY(!ski_magazine_put(msg->here.magazine, msg, SKUA_MSG_HEADER + msg->bytes)))
        ski_pool_free(&ski_self->pool, msg);
    ski_object_leave(object);
}

/* ---- sending ------------------------------------------------------------------------- */

void ski_wrong_class(const char *call, const struct ski_collection *all,
                     const struct ski_entry *entry, const skua_index *index)
{
    ski_misuse("%s: %s::%s is no entry of %s", call, entry->of->def.name, entry->name,
               index ? ski_element_text(all, index) : all->class->def.name);
}

/* An entry for the object @p ref; ends the job if there is no such. */
static inline const struct ski_entry *entry_for(const char *call, const skua_ref *ref,
                                                skua_entry entry)
{
    if (SKI_UNLIKELY(entry.id > UINT16_MAX || !ski_entries[entry.id].of))
        ski_misuse("%s: %s has no entry %u; skua_entry_register() makes them, before skua_main()",
                   call, ski_ref_text(ref), entry.id);
    return &ski_entries[entry.id];
}

/* Where a message goes that is for nobody here: to a PE, or, while the collection is not
 * known, into our own queue, where it will be kept. */
static int target_pe(struct ski_pe *self, const char *call, struct ski_collection *all,
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
    return ski_whereabouts(all, &ref->index);
}

/* What skua_invoke() was given is not its caller's any more. */
static inline void note_given(struct ski_pe *self, skua_msg *msg)
{
    if (SKI_LIKELY(!self->giver_at))
        return;
    ski_ownership_send(self, SKI_GIVER_INVOKE, msg, msg->handler, self->giver_at, false);
    self->giver_at = NULL;
}

/* Sends @p msg, which is addressed, to where target_pe() said. */
static void post_away(struct ski_pe *self, int pe, const skua_ref *ref, skua_msg *msg)
{
    struct ski_collection *all;

    if (SKI_UNLIKELY(pe == self->pe)) {
        all = ski_collection_find(self->objects, ref->of.id);
        if (all->state != SKI_EXPECTED && ski_wait_here(all, &ref->index, msg)) {
            self->giver_at = NULL;
            return;
        }
    }
    note_given(self, msg);
    ski_msg_post(self, pe, msg->handler, msg);
}

/* Queues a message for an object that is here. */
static inline void post_here(struct ski_pe *self, struct ski_object *object, skua_msg *msg)
{
    msg->flags |= SKI_MSG_HERE;
    msg->target      = (uintptr_t)object;
    msg->here.method = NULL;
    object->life += SKI_LIFE_QUEUED;
    ski_queue_push(&self->queue, msg, msg->flags);
}

/* What all messages of an entry have. */
static void set_entry(struct ski_pe *self, skua_entry entry, skua_msg *msg)
{
    msg->handler = (uint16_t)entry.id;
    msg->source  = self->pe;
    if (ski_entries[entry.id].flags & SKUA_ENTRY_EXPEDITED)
        skua_msg_set_expedited(msg, true);
}

void ski_invoke_here(struct ski_pe *self, struct ski_object *object, skua_entry entry,
                     skua_msg *msg)
{
    set_entry(self, entry, msg);
    post_here(self, object, msg);
}

void ski_invoke_at(struct ski_pe *self, int pe, const skua_ref *ref, skua_entry entry,
                   skua_msg *msg)
{
    set_entry(self, entry, msg);
    ski_msg_post(self, pe, msg->handler, ski_msg_address(msg, ref->of.id, &ref->index));
}

/* As find_quick(), wherever it lies: beside where its key says if that place was taken. */
static inline struct ski_object *find_key(const struct ski_collection *all, const skua_ref *ref)
{
    uint64_t key = ski_key_of(&all->directory, &ref->index.at);

    return ski_value_object(ski_directory_find_key(&all->directory, key));
}

static inline bool is_pair(uintptr_t value, const uint64_t word[2])
{
    uint64_t have[2];

    if (value & SKI_IS_PLACE)
        return false;
    memcpy(have, ((struct ski_object *)value)->index.raw, sizeof have);
    return have[0] == word[0] && have[1] == word[1];
}

/* One with an index of three or four integers, a single object among them. */
static inline struct ski_object *find_pair(const struct ski_collection *all, const skua_ref *ref)
{
    const struct ski_directory *directory = &all->directory;
    const struct ski_slot      *slot      = directory->slot;
    uint64_t                    word[2], hash, at;

    memcpy(word, &ref->index.at, sizeof word);
    word[1] &= directory->mask_key;
    hash = ski_index_hash_pair(word, ref->index.bytes);
    for (at = hash * directory->golden >> directory->shift; slot[at].value;
         at = (at + 1) & directory->mask)
        if (slot[at].key == hash && is_pair(slot[at].value, word))
            return (struct ski_object *)slot[at].value;
    return NULL;
}

static inline struct ski_object *find_here(struct ski_objects *objects, const skua_ref *ref,
                                           struct ski_collection **all)
{
    struct ski_collection *found = *all = ski_collection_find(objects, ref->of.id);
    struct ski_object     *object;

    if (SKI_UNLIKELY(!found))
        return NULL;
    if (found->quick_bytes == ref->index.bytes)
        return find_key(found, ref);
    if (found->pair_bytes == ref->index.bytes && (object = find_pair(found, ref)))
        return object;
    if (SKI_UNLIKELY(found->index_bytes != ref->index.bytes && found->index_bytes))
        return NULL;
    return ski_here(found, &ref->index);
}

/* Sends @p msg, whose handler and source are set, by reference. */
static void dispatch(struct ski_pe *self, const char *call, const skua_ref *ref,
                     const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_object     *object = find_here(self->objects, ref, &all);
    int                    pe;

    if (entry->flags & SKUA_ENTRY_EXPEDITED)
        skua_msg_set_expedited(msg, true);
    if (object) {
        ski_check_entry(call, all, entry, &ref->index);
        if (SKI_UNLIKELY(entry->flags & SKUA_ENTRY_INLINE && object->state == SKI_ALIVE)) {
            self->giver_at = NULL; /* the entry owns the message at once */
            ski_entry_run(object, entry, msg);
        } else {
            note_given(self, msg);
            post_here(self, object, msg);
        }
        return;
    }
    pe  = target_pe(self, call, all, entry, ref);
    msg = ski_msg_address(msg, ref->of.id, &ref->index);
    post_away(self, pe, ref, msg);
}

/* The caller of skua_invoke(), at @p from, owns @p msg and gives it away. */
static SKI_COLD void note_giver(struct ski_pe *self, skua_msg *msg, const void *from)
{
    ski_ownership_use(self, "skua_invoke", msg);
    self->giver_at = from;
}

void skua_invoke(skua_ref ref, skua_entry entry, skua_msg *msg)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = entry_for(__func__, &ref, entry);

    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("skua_invoke: %s::%s of %s gives an answer; skua_invoke_reply() is for that",
                   what->of->def.name, what->name, ski_ref_text(&ref));
    if (SKI_UNLIKELY(ski_ownership_checked(self)))
        note_giver(self, msg, __builtin_return_address(0));
    if (SKI_UNLIKELY(what->flags & SKI_ENTRY_LANDS))
        msg = ski_landing_sent_on(msg);
    ski_msg_strip(msg);
    msg->handler = (uint16_t)entry.id;
    msg->source  = self->pe;
    dispatch(self, __func__, &ref, what, msg);
}

/* To an object that is not here; in a cell, if it is small. */
static void send_copy(struct ski_pe *self, const skua_ref *ref, int pe, uint32_t handler,
                      const void *data, size_t bytes)
{
    uint32_t  words = (ref->index.bytes + 7) / 8;
    size_t    head  = 8 * (size_t)(words + 1);
    skua_msg *msg;

    if (head + bytes <= SKI_CELL_DATA && ref->index.bytes <= SKI_MSG_INDEX_BYTES) {
        unsigned char cell[SKI_CELL_DATA] = {0};
        uint64_t      target              = ski_target(ref->of.id, ref->index.bytes);

        memcpy(cell, &target, sizeof target);
        memcpy(cell + sizeof target, &ref->index.at, ref->index.bytes);
        if (bytes)
            memcpy(cell + head, data, bytes);
        if (ski_msg_try_small(self, pe, handler, SKI_MSG_OBJECT, cell, head + bytes))
            return;
    }
    msg = ski_msg_address(ski_msg_copy(self, handler, data, bytes), ref->of.id, &ref->index);
    post_away(self, pe, ref, msg);
}

/* Calls a method of an object, as a function; false: it is not here, or not that simple. */
static bool run_now(const char *call, const skua_ref *ref, skua_entry entry, const void *data,
                    size_t bytes)
{
    const struct ski_entry *what = &ski_entries[entry.id];
    struct ski_collection  *all;
    struct ski_object      *object = find_here(ski_self->objects, ref, &all);

    if (!object || object->state != SKI_ALIVE || !ski_entry_is_call(what))
        return false;
    ski_check_entry(call, all, what, &ref->index);
    ski_entry_run_on(object, what, entry.id, data, bytes);
    return true;
}

/* All cases. */
static __attribute__((noinline)) void invoke_copy(const skua_ref *ref, skua_entry entry,
                                                  const void *data, size_t bytes)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = entry_for("skua_invoke_copy", ref, entry);
    struct ski_collection  *all;
    struct ski_object      *object;

    if (what->flags & SKUA_ENTRY_INLINE && run_now("skua_invoke_copy", ref, entry, data, bytes))
        return;
    if (what->flags) {
        skua_invoke(*ref, entry, ski_msg_copy(self, entry.id, data, bytes));
        return;
    }
    object = find_here(self->objects, ref, &all);
    if (object) {
        ski_check_entry("skua_invoke_copy", all, what, &ref->index);
        post_here(self, object, ski_msg_copy(self, entry.id, data, bytes));
    } else {
        send_copy(self, ref, target_pe(self, "skua_invoke_copy", all, what, ref), entry.id, data,
                  bytes);
    }
}

/* Queues a copy of @p bytes, at most SMALL, for a method of an object that is here: a
 * message that has what ski_on_invoke() needs, and no more, from a magazine that has one. */
static inline void post_small(struct ski_pe *self, struct ski_object *object,
                              const struct ski_entry *what, skua_entry entry,
                              struct ski_magazine *magazine, const void *data, size_t bytes)
{
    skua_msg *msg = ski_magazine_take(magazine, SKUA_MSG_HEADER + bytes);
    uint64_t  stamp;

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

/* Sends a few bytes to an element of one or two integers that is not here, in a cell; false:
 * that was not possible. */
static inline bool send_quick(struct ski_pe *self, struct ski_collection *all, const skua_ref *ref,
                              skua_entry entry, const void *data, size_t bytes)
{
    struct {
        uint64_t target, index;
        char     data[SKI_CELL_DATA - 16];
    } cell;

    if (bytes > sizeof cell.data)
        return false;
    cell.target = ski_target(ref->of.id, ref->index.bytes);
    cell.index  = ski_key_of(&all->directory, &ref->index.at);
    ski_copy_small(cell.data, data, bytes);
    return ski_msg_try_small(self, ski_whereabouts_quick(all, &ref->index, cell.index), entry.id,
                             SKI_MSG_OBJECT, &cell, 16 + bytes);
}

/* Of the collection that was found last: elements that are not here. */
static __attribute__((noinline)) void invoke_absent(const skua_ref *ref, skua_entry entry,
                                                    const void *data, size_t bytes)
{
    struct ski_pe          *self = ski_self;
    struct ski_collection  *all  = self->objects->last;
    const struct ski_entry *what = &self->objects->entries[(uint16_t)entry.id];

    if (all->id != ref->of.id || all->quick_bytes != ref->index.bytes || all->kind != SKI_ARRAY ||
        what->of != all->class || !what->plain || what->flags & SKUA_ENTRY_CREATE_HERE ||
        find_key(all, ref) || !send_quick(self, all, ref, entry, data, bytes))
        invoke_copy(ref, entry, data, bytes);
}

/* Elements that lie elsewhere than where their keys say, or have no keys. */
static __attribute__((noinline)) void invoke_last(const skua_ref *ref, skua_entry entry,
                                                  const void *data, size_t bytes)
{
    struct ski_pe          *self     = ski_self;
    struct ski_collection  *all      = self->objects->last;
    const struct ski_entry *what     = &self->objects->entries[(uint16_t)entry.id];
    struct ski_magazine    *magazine = &self->pool.magazine[SMALL_CLASS(bytes)];
    struct ski_object      *object   = NULL;

    if (SKI_LIKELY(all->id == ref->of.id && all->pair_bytes == ref->index.bytes))
        object = find_pair(all, ref);
    else if (all->id == ref->of.id && all->quick_bytes == ref->index.bytes)
        object = find_key(all, ref);
    if (SKI_UNLIKELY(!object || what->of != all->class || !what->plain || bytes > SMALL ||
                     magazine->count == 0))
        invoke_absent(ref, entry, data, bytes);
    else
        post_small(self, object, what, entry, magazine, data, bytes);
}

/* The most frequent case, in few instructions: up to SMALL bytes for a method of an
 * element that is here.  All that is not so is left to a call at the end, so that no
 * register need be saved. */
void skua_invoke_copy_to(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes)
{
    struct ski_pe          *self     = SKI_SELF();
    struct ski_objects     *objects  = self->objects;
    struct ski_collection  *all      = objects->last;
    const struct ski_entry *what     = &objects->entries[(uint16_t)entry.id];
    struct ski_magazine    *magazine = &self->pool.magazine[SMALL_CLASS(bytes)];
    struct ski_object      *object;

    if (SKI_UNLIKELY(all->id != ref->of.id || all->quick_bytes != ref->index.bytes ||
                     what->of != all->class || !what->plain || bytes > SMALL ||
                     !(object = find_quick(all, &ref->index.at)) || magazine->count == 0)) {
        invoke_last(ref, entry, data, bytes);
        return;
    }
    __asm__("" : "+r"(magazine)); /* one address, not two sums of the same parts */
    post_small(self, object, what, entry, magazine, data, bytes);
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
    (void)entry_for(__func__, &ref, entry);
    if (!run_now(__func__, &ref, entry, data, bytes))
        skua_invoke_copy_to(&ref, entry, data, bytes);
}

int skua_where(skua_ref ref)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, ref.of.id);

    if (all->state == SKI_EXPECTED)
        return self->pe;
    ski_check_index(__func__, all, &ref.index);
    return ski_here(all, &ref.index) ? self->pe : ski_whereabouts(all, &ref.index);
}

static void *invoke_shared_member(struct ski_collection *all)
{
    if (SKI_UNLIKELY(!all->shared))
        ski_creation_wait(all);
    return all->shared;
}

void *skua_object_here(skua_ref ref)
{
    struct ski_objects    *objects = SKI_SELF()->objects;
    struct ski_collection *all     = ski_collection_look(objects, __func__, ref.of.id);
    struct ski_object     *object;

    if (all->state == SKI_EXPECTED)
        return NULL;
    ski_check_index(__func__, all, &ref.index);
    if (all->kind == SKI_PROCESS_GROUP)
        return ref.index.at.x[0] == skua_process() ? invoke_shared_member(all) : NULL;
    object = ski_here(all, &ref.index);
    return object && object->state == SKI_ALIVE ? object + 1 : NULL;
}

/* ---- answers ---------------------------------------------------------------------------- */

void skua_invoke_reply(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                       skua_completion reply)
{
    struct ski_pe          *self  = SKI_SELF();
    const struct ski_entry *what  = entry_for(__func__, &ref, entry);
    skua_msg               *msg   = skua_msg_alloc(sizeof(struct ski_asked) + bytes);
    struct ski_asked       *asked = skua_msg_data(msg);

    if (!(what->flags & SKUA_ENTRY_SYNC))
        ski_misuse("skua_invoke_reply: %s::%s of %s is not SKUA_ENTRY_SYNC, it gives no answer",
                   what->of->def.name, what->name, ski_ref_text(&ref));
    memset(asked, 0, sizeof *asked);
    asked->reply = reply;
    if (bytes)
        memcpy(asked + 1, data, bytes);
    msg->handler = (uint16_t)entry.id;
    msg->source  = self->pe;
    dispatch(self, __func__, &ref, what, msg);
}
