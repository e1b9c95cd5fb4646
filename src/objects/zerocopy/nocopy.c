/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy.c - see nocopy.h.
 *
 * What a message says of its parts may have been written on another host.  end_of(), through which
 * all of it is looked at, checks that the pieces are within the message; buffers and where the
 * program wanted a part have tags (core/message/addr_tag.h); and what shall happen when others are
 * through with a part is named (core/data/slot_table.h), so that it happens as often as it
 * should, whatever they say.
 */
#include "objects/zerocopy/nocopy.h"

#include <stdlib.h>
#include <string.h>

#include <skua/topology.h>

#include "base/memory.h"
#include "core/data/slot_table.h"
#include "core/pe/builtin.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "objects/model/msg_target.h"
#include "objects/model/class.h"
#include "objects/model/collection.h"
#include "objects/chare/entry.h"
#include "objects/collective/array_broadcast.h"
#include "objects/location/location.h"
#include "objects/collective/section_multicast.h"
#include "onesided/buffer/buffer.h"

#define ALIGN ((size_t)16)

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) & ~(ALIGN - 1);
}

/* ---- where things are ------------------------------------------------------------------------ */

/* What follows a piece. */
static size_t piece_extent(uint32_t kind, uint64_t bytes)
{
    return sizeof(struct ski_part) + aligned(kind == SKI_PIECE_DATA ? bytes : sizeof(skua_buffer));
}

static skua_buffer *buffer_of(const struct ski_part *part)
{
    return (skua_buffer *)(uintptr_t)(part + 1);
}

/* Whether the pieces of a message, the first of which is at @p at, fill it to @p end. */
static bool parts_pieces_fit(const char *data, size_t at, size_t end, uint32_t count)
{
    for (; count > 0; count--) {
        const struct ski_part *part = (const struct ski_part *)(const void *)(data + at);

        if (at > end || end - at < sizeof *part || part->kind > SKI_PIECE_BUFFER ||
            (part->kind == SKI_PIECE_DATA && part->bytes > end - at) ||
            piece_extent(part->kind, part->bytes) > end - at ||
            (part->kind == SKI_PIECE_BUFFER && buffer_of(part)->bytes != part->bytes))
            return false;
        at += piece_extent(part->kind, part->bytes);
    }
    return at == end;
}

/* Where the end of a message with parts is. */
static struct ski_parts *parts_end_at(const void *data, size_t bytes)
{
    return (struct ski_parts *)((uintptr_t)data + bytes) - 1;
}

/* The end of a message, which says where the rest is; NULL: it has no such end. */
static struct ski_parts *end_of(const void *data, size_t bytes)
{
    struct ski_parts *parts = NULL;

    if (bytes >= sizeof *parts && bytes % ALIGN == 0)
        parts = parts_end_at(data, bytes);
    if (!parts || parts->magic != SKI_PARTS_MAGIC || parts->first > bytes - sizeof *parts ||
        !parts_pieces_fit(data, aligned(parts->first), bytes - sizeof *parts, parts->count))
        return NULL;
    return parts;
}

static struct ski_parts *parts_of(const skua_msg *msg)
{
    struct ski_parts *parts = end_of(msg + 1, msg->bytes);

    if (!parts)
        ski_misuse("a message of %zu bytes from PE %d has no parts: was it made with "
                   "skua_parts_alloc()?",
                   msg->bytes, msg->source);
    return parts;
}

static struct ski_part *first_in(const void *data, const struct ski_parts *parts)
{
    return (struct ski_part *)((uintptr_t)data + aligned(parts->first));
}

static struct ski_part *first_of(const skua_msg *msg, const struct ski_parts *parts)
{
    return first_in(msg + 1, parts);
}

static struct ski_part *after(struct ski_part *part)
{
    return (struct ski_part *)((uintptr_t)part + piece_extent(part->kind, part->bytes));
}

static struct ski_part *part_at(const skua_msg *msg, unsigned i)
{
    const struct ski_parts *parts = parts_of(msg);
    struct ski_part        *part  = first_of(msg, parts);

    if (i >= parts->count)
        ski_misuse("part %u of a message that has %u", i, parts->count);
    while (i-- > 0)
        part = after(part);
    return part;
}

unsigned skua_parts_count(const skua_msg *msg)
{
    return parts_of(msg)->count;
}

size_t skua_parts_head_bytes(const skua_msg *msg)
{
    return parts_of(msg)->first;
}

size_t skua_part_bytes(const skua_msg *msg, unsigned i)
{
    return part_at(msg, i)->bytes;
}

/* ---- making --------------------------------------------------------------------------------- */

static uint32_t kind_of(const struct ski_pe *self, int pe, const skua_part *part)
{
    /* For all: each host gets it from here, and this one in place. */
    return ski_zero_copy_pays(self, pe < 0 ? self->pe : pe, part->at, part->bytes)
               ? SKI_PIECE_BUFFER
               : SKI_PIECE_DATA;
}

static void describe(struct ski_part *to, uint32_t kind, const skua_part *part)
{
    skua_buffer buffer =
        skua_buffer_of(part->at, part->bytes, SKUA_REGISTER_LATER, part->done, part->user);

    *to = (struct ski_part){.bytes = part->bytes, .kind = kind};
    if (kind == SKI_PIECE_BUFFER) {
        *buffer_of(to) = buffer;
        return;
    }
    if (part->bytes)
        memcpy(to + 1, part->at, part->bytes);
    skua_complete(part->done, &buffer, sizeof buffer);
}

skua_msg *skua_parts_alloc(int pe, size_t bytes, const skua_part *part, unsigned n)
{
    struct ski_pe   *self = SKI_SELF();
    size_t           end  = aligned(bytes);
    struct ski_part *at;
    skua_msg        *msg;

    for (unsigned i = 0; i < n; i++)
        end += piece_extent(kind_of(self, pe, &part[i]), part[i].bytes);
    msg = skua_msg_alloc(end + sizeof(struct ski_parts));
    *parts_end_at(msg + 1, msg->bytes) =
        (struct ski_parts){.magic = SKI_PARTS_MAGIC, .first = bytes, .count = n};
    at = first_of(msg, parts_end_at(msg + 1, msg->bytes));
    for (unsigned i = 0; i < n; i++, at = after(at))
        describe(at, kind_of(self, pe, &part[i]), &part[i]);
    return msg;
}

skua_msg *skua_parts_copied(skua_msg *msg)
{
    const struct ski_parts *parts = parts_of(msg);
    struct ski_part        *from  = first_of(msg, parts), *to;
    size_t                  end   = aligned(parts->first);
    skua_msg               *made;

    for (unsigned i = 0; i < parts->count; i++, from = after(from))
        end += piece_extent(SKI_PIECE_DATA, from->bytes);
    made = skua_msg_alloc(end + sizeof *parts);
    memcpy(skua_msg_data(made), skua_msg_data(msg), parts->first);
    memcpy((char *)skua_msg_data(made) + end, parts, sizeof *parts);
    from = first_of(msg, parts);
    to   = first_of(made, parts);
    for (unsigned i = 0; i < parts->count; i++, from = after(from), to = after(to)) {
        *to = (struct ski_part){.bytes = from->bytes, .kind = SKI_PIECE_DATA};
        if (from->bytes)
            memcpy(to + 1, skua_part_data(msg, i), from->bytes);
    }
    skua_parts_free(msg);
    return made;
}

/* ---- fetching -------------------------------------------------------------------------------- */

struct pending;

/* A part that is on its way. */
struct slot {
    struct pending  *pending;
    struct ski_part *part;
    uint64_t         name;   /* in the completion that tells that it is there */
    skua_buffer      here;   /* where it goes                                 */
    void            *landed; /* memory of ours, or NULL: of the program's     */
};

static struct ski_slots *parts_slots(const struct ski_objects *objects)
{
    return objects->slot[SKI_SLOT_NOCOPY];
}

/* What happens when others are through with a part, @p fn, once: it gets the name of @p item. */
static skua_completion parts_done_once(skua_done_fn fn, void *item, uint64_t *name)
{
    *name = ski_slots_add(parts_slots(ski_self->objects), item);
    return skua_done_call(fn, (void *)(uintptr_t)*name);
}

/* The item of a name, which is used up unless it @p stays; NULL: it happened before. */
static void *parts_named(void *name, bool stays)
{
    struct ski_slots *all  = parts_slots(ski_self->objects);
    void             *item = ski_slots_find(all, (uintptr_t)name);

    if (item && !stays)
        ski_slots_remove(all, (uintptr_t)name);
    return item;
}

/* A message some of whose parts are. */
struct pending {
    skua_msg *msg;
    uint32_t  waiting;
    void (*go_on)(struct pending *pending);
    skua_ref        ref; /* of an object */
    skua_entry      entry;
    skua_collection all; /* for all of them; or a handler */
    struct slot     slot[];
};

static void free_landed(void *arg, const void *data, size_t bytes)
{
    void *block = parts_named(arg, false);

    (void)data, (void)bytes;
    if (block)
        skua_buffer_free(block);
}

/* Frees memory that a part has landed in, when nobody needs it any more. */
static skua_completion parts_done_free(void *block)
{
    uint64_t name;

    return parts_done_once(free_landed, block, &name);
}

static struct pending *new_pending(skua_msg *msg, void (*go_on)(struct pending *pending))
{
    uint32_t        n       = parts_of(msg)->count;
    struct pending *pending = ski_malloc(sizeof *pending + n * sizeof *pending->slot);

    *pending = (struct pending){.msg = msg, .waiting = 1, .go_on = go_on};
    return pending;
}

static uint64_t parts_posted_tag(const struct ski_part *part)
{
    return ski_addr_tag(ski_self->job, SKI_TAG_PART, ski_self->pe, (uintptr_t)part->posted,
                        part->bytes);
}

static void parts_set_posted(struct ski_part *part, void *at)
{
    part->posted     = at;
    part->posted_tag = parts_posted_tag(part);
}

/* The part is where it shall be: from now on that is what the message says. */
static void landed(void *arg, const void *data, size_t bytes)
{
    struct slot    *slot    = parts_named(arg, false);
    struct pending *pending = slot ? slot->pending : NULL;

    (void)data, (void)bytes;
    if (!slot)
        return;
    slot->here.done        = slot->landed ? parts_done_free(slot->landed) : skua_done_nothing();
    *buffer_of(slot->part) = slot->here;
    if (!slot->landed)
        parts_set_posted(slot->part, slot->here.at);
    if (--pending->waiting > 0)
        return;
    ski_self->held--;
    pending->go_on(pending);
}

static void fetch(struct pending *pending, unsigned i, struct ski_part *part, void *to)
{
    struct slot    *slot = &pending->slot[i];
    skua_buffer     here, from = *buffer_of(part);
    skua_completion done;

    *slot        = (struct slot){.pending = pending, .part = part};
    slot->landed = to ? NULL : skua_buffer_alloc(part->bytes);
    done         = parts_done_once(landed, slot, &slot->name);
    here         = slot->here =
        skua_buffer_of(to ? to : slot->landed, part->bytes, SKUA_REGISTER_LATER, done, from.user);
    pending->waiting++;
    if (skua_buffer_get(&here, &from) < 0)
        ski_misuse("part %u of a message from PE %d cannot be fetched", i, pending->msg->source);
}

/* True: nothing is on the way.  Else the message is held, and go_on() will be called. */
static bool fetched(struct pending *pending)
{
    if (--pending->waiting > 0) {
        ski_self->held++;
        return false;
    }
    free(pending);
    return true;
}

/* ---- arriving ---------------------------------------------------------------------------------
 */

/* What came with the message goes where the program wants it. */
static void copy_to(struct ski_part *part, void *to)
{
    if (!to)
        return;
    parts_set_posted(part, to);
    if (part->bytes)
        memcpy(to, part + 1, part->bytes);
}

/* To an object that has had it before, and may have left since, or have been deleted: then nobody
 * needs it. */
static void give_again(const skua_ref *ref, skua_entry entry, skua_msg *msg)
{
    struct ski_collection *all = ski_collection_find(ski_self->objects, ref->of.id);
    struct ski_object     *object;

    if (!all || all->state == SKI_ENDED || ski_element_died_here(all, &ref->index))
        skua_parts_free(msg);
    else if ((object = ski_element_here(all, &ref->index)))
        ski_entry_run(object, ski_entry_find("skua_parts_here", entry), msg);
    else
        skua_invoke(*ref, entry, msg);
}

static void again(struct pending *pending)
{
    struct pending is = *pending;

    free(pending);
    if (is.entry.id == SKUA_NO_ENTRY.id)
        ski_msg_post(ski_self, ski_self->pe, is.msg->handler, is.msg);
    else
        give_again(&is.ref, is.entry, is.msg);
}

/* Whether something must be done before the message can be used. */
static bool all_here(const struct ski_pe *self, const skua_msg *msg)
{
    const struct ski_parts *parts = parts_of(msg);
    struct ski_part        *part  = first_of(msg, parts);

    for (unsigned i = 0; i < parts->count; i++, part = after(part))
        if (part->kind == SKI_PIECE_BUFFER && !ski_buffer_reach(self, buffer_of(part)))
            return false;
    return true;
}

static bool bring(skua_msg *msg, void *self, skua_entry entry, void *const *to)
{
    struct ski_parts *parts   = parts_of(msg);
    struct ski_part  *part    = first_of(msg, parts);
    struct pending   *pending = new_pending(msg, again);

    pending->entry = entry;
    if (self)
        pending->ref = skua_ref_of(self);
    for (unsigned i = 0; i < parts->count; i++, part = after(part)) {
        void *place = to ? to[i] : NULL;

        if (part->kind == SKI_PIECE_DATA)
            copy_to(part, place);
        else if (place || !ski_buffer_reach(ski_self, buffer_of(part)))
            fetch(pending, i, part, place);
    }
    return fetched(pending);
}

bool skua_parts_here(skua_msg *msg, void *self, skua_entry entry, skua_post_fn post)
{
    struct ski_parts *parts = parts_of(msg);
    void            **to;
    bool              here;

    if (!post || parts->posted)
        return all_here(SKI_SELF(), msg) || bring(msg, self, entry, NULL);
    parts->posted = 1;
    to            = ski_calloc(parts->count, sizeof *to);
    post(self, msg, to);
    here = bring(msg, self, entry, to);
    free(to);
    return here;
}

/* ---- using ------------------------------------------------------------------------------------
 */

/* A message that has moved with its object, away from where its parts are. */
static const void *fetch_now(struct ski_part *part)
{
    skua_counter over  = SKUA_COUNTER_INIT;
    void        *block = skua_buffer_alloc(part->bytes);
    skua_buffer  here, from = *buffer_of(part);

    here = skua_buffer_of(block, part->bytes, SKUA_REGISTER_LATER, skua_done_count(&over), 0);
    if (skua_buffer_get(&here, &from) < 0)
        ski_misuse("a part of a message cannot be fetched from PE %d", from.pe);
    skua_counter_wait(&over, 1);
    here.done        = parts_done_free(block);
    *buffer_of(part) = here;
    return block;
}

static const void *data_of(struct ski_part *part)
{
    const void *at;

    if (part->posted && part->posted_tag == parts_posted_tag(part))
        return part->posted;
    if (part->kind == SKI_PIECE_DATA)
        return part + 1;
    at = ski_buffer_reach(SKI_SELF(), buffer_of(part));
    return at || part->bytes == 0 ? at : fetch_now(part);
}

const void *skua_part_data(skua_msg *msg, unsigned i)
{
    return data_of(part_at(msg, i));
}

void skua_parts_free(skua_msg *msg)
{
    const struct ski_parts *parts = parts_of(msg);
    struct ski_part        *part  = first_of(msg, parts);

    for (unsigned i = 0; i < parts->count; i++, part = after(part))
        if (part->kind == SKI_PIECE_BUFFER)
            skua_complete(buffer_of(part)->done, buffer_of(part), sizeof(skua_buffer));
    skua_msg_free(msg);
}

static void malformed(const char *entry, size_t bytes)
{
    ski_misuse("%s: a message of %zu bytes does not hold its arguments; were all parts of the "
               "program translated and compiled from the same interface file?",
               entry, bytes);
}

const void *skua_found_part(const void *data, size_t bytes, size_t *end, long long count,
                            size_t each, const char *entry)
{
    size_t           at   = aligned(*end);
    struct ski_part *part = (struct ski_part *)((uintptr_t)data + at);

    if (at > bytes || bytes - at < sizeof *part || count < 0 ||
        (uint64_t)count > PTRDIFF_MAX / each || part->bytes != (uint64_t)count * each ||
        part->kind > SKI_PIECE_BUFFER ||
        bytes - at < piece_extent(part->kind, part->kind == SKI_PIECE_DATA ? part->bytes : 0))
        malformed(entry, bytes);
    *end = at + piece_extent(part->kind, part->bytes);
    return data_of(part);
}

void skua_found_parts_end(const void *data, size_t bytes, size_t *end, const char *entry)
{
    (void)data;
    if (bytes < *end || bytes - *end < sizeof(struct ski_parts))
        malformed(entry, bytes);
    *end += sizeof(struct ski_parts);
}

/* ---- to all ------------------------------------------------------------------------------------
 */

/* A part that several use. */
struct share {
    uint32_t    left;
    skua_buffer buffer; /* with what happens when all are through with it */
};

/* For one PE of a host: what it shall do with the message that follows. */
struct to_host {
    skua_collection all;       /* 0: PEs                */
    uint32_t        id;        /* an entry, or a handler */
    uint32_t        processes; /* it is a process group */
};

_Static_assert(sizeof(struct to_host) + sizeof(struct ski_parts) == SKI_PARTS_LEAST,
               "see nocopy.h");

static void share_over(void *arg, const void *data, size_t bytes)
{
    struct share *share = parts_named(arg, true);

    (void)data, (void)bytes;
    if (!share || --share->left > 0)
        return;
    parts_named(arg, false);
    skua_complete(share->buffer.done, &share->buffer, sizeof share->buffer);
    ski_pool_free(&ski_self->pool, share);
}

/* In the arena, where messages are that name it, and go with it when the job ends before. */
static struct share *new_share(uint32_t users, const skua_buffer *buffer)
{
    struct share *share = ski_pool_alloc(&ski_self->pool, sizeof *share);

    if (!share)
        ski_fatal("no memory for a message with parts; raise SKUA_ARENA_SIZE");
    *share = (struct share){users, *buffer};
    return share;
}

/* Each part will be told of @p users times. */
static void share_parts(skua_msg *msg, uint32_t users)
{
    const struct ski_parts *parts = parts_of(msg);
    struct ski_part        *part  = first_of(msg, parts);
    uint64_t                name;

    for (unsigned i = 0; i < parts->count; i++, part = after(part))
        if (part->kind == SKI_PIECE_BUFFER)
            buffer_of(part)->done =
                parts_done_once(share_over, new_share(users, buffer_of(part)), &name);
}

/* To all PEs of this host, or to one of each process; all reach the parts. */
static void spread_here(skua_msg *msg, const struct to_host *to)
{
    const struct ski_job *job   = ski_self->job;
    int                   count = to->processes ? job->here : job->pes_here;

    share_parts(msg, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        int       pe   = to->processes ? job->process[i].number : ski_job_pe_at(job, i);
        skua_msg *copy = skua_msg_alloc(msg->bytes);

        memcpy(skua_msg_data(copy), skua_msg_data(msg), msg->bytes);
        if (to->all.id)
            skua_invoke(skua_member(to->all, pe), (skua_entry){to->id}, copy);
        else
            skua_send(pe, (skua_handler){to->id}, copy);
    }
    skua_msg_free(msg);
}

static void spread_pending(struct pending *pending)
{
    struct to_host to = {pending->all, pending->entry.id, pending->ref.index.bytes};

    spread_here(pending->msg, &to);
    free(pending);
}

/* Whether all PEs of this host reach a part. */
static bool is_shared(const struct ski_pe *self, const skua_buffer *buffer)
{
    return ski_buffer_reach(self, buffer) &&
           (ski_arena_contains(self->job->arena, buffer->at) ||
            (self->job->here == 1 && ski_config.direct) || self->job->pes_here == 1);
}

/* Into the arena, those that not all of the host reach; whether nothing is on the way. */
static bool fetch_unshared(struct pending *pending)
{
    const struct ski_parts *parts = parts_of(pending->msg);
    struct ski_part        *part  = first_of(pending->msg, parts);

    for (unsigned i = 0; i < parts->count; i++, part = after(part))
        if (part->kind == SKI_PIECE_BUFFER && !is_shared(ski_self, buffer_of(part)))
            fetch(pending, i, part, NULL);
    return fetched(pending);
}

static void to_host(skua_msg *msg, const struct to_host *to)
{
    struct pending *pending = new_pending(msg, spread_pending);

    pending->all             = to->all;
    pending->entry.id        = to->id;
    pending->ref.index.bytes = to->processes;
    if (fetch_unshared(pending))
        spread_here(msg, to);
}

/* Whether a message for a host is one with parts, for a handler or an entry that there is. */
static bool parts_are_sound(const struct to_host *to, const void *data, size_t bytes)
{
    if (!end_of(data, bytes) || !ski_pe_has_handler(ski_self, to->id))
        return false;
    return to->all.id ? ski_entries[to->id].of != NULL : ski_builtin_takes(to->id, bytes);
}

void ski_on_parts(skua_msg *msg)
{
    struct to_host to;
    size_t         bytes = msg->bytes - sizeof to;
    skua_msg      *inner;

    memcpy(&to, skua_msg_data(msg), sizeof to);
    if (!parts_are_sound(&to, (char *)skua_msg_data(msg) + sizeof to, bytes)) {
        ski_far_drop(ski_self, msg);
        return;
    }
    inner =
        ski_msg_copy(ski_self, SKI_HANDLER_PARTS, (char *)skua_msg_data(msg) + sizeof to, bytes);
    skua_msg_free(msg);
    to_host(inner, &to);
}

/* One message to a PE of each other host, then this one. */
static void to_all(struct ski_pe *self, skua_msg *msg, const struct to_host *to)
{
    int hosts = skua_hosts(), own = skua_host_of(self->pe);

    if (hosts > 1)
        share_parts(msg, (uint32_t)hosts);
    for (int host = 0; host < hosts; host++) {
        skua_msg *outer;

        if (host == own)
            continue;
        outer = skua_msg_alloc(sizeof *to + msg->bytes);
        memcpy(skua_msg_data(outer), to, sizeof *to);
        memcpy((char *)skua_msg_data(outer) + sizeof *to, skua_msg_data(msg), msg->bytes);
        outer->handler = SKI_HANDLER_PARTS;
        outer->source  = self->pe;
        ski_msg_post(self, skua_host_pe(host, 0), SKI_HANDLER_PARTS, outer);
    }
    to_host(msg, to);
}

void skua_parts_broadcast(skua_handler handler, skua_msg *msg)
{
    to_all(SKI_SELF(), msg, &(struct to_host){.id = handler.id});
}

/* ---- below a head of the runtime's --------------------------------------------------------------
 */

skua_msg *ski_parts_headed(const void *head, size_t bytes, skua_msg *msg)
{
    skua_msg *made = ski_msg_with_header(head, bytes, skua_msg_data(msg), msg->bytes);

    parts_end_at(made + 1, made->bytes)->first += bytes;
    skua_msg_free(msg);
    return made;
}

void ski_parts_to_all(struct ski_pe *self, uint32_t handler, skua_msg *msg)
{
    to_all(self, msg, &(struct to_host){.id = handler});
}

bool ski_parts_near(skua_msg *msg)
{
    struct pending *pending = new_pending(msg, again);

    pending->entry = SKUA_NO_ENTRY;
    return fetch_unshared(pending);
}

void ski_parts_hold(skua_msg *msg)
{
    share_parts(msg, 1);
}

void ski_parts_more(const void *data, size_t bytes)
{
    const struct ski_parts *parts = end_of(data, bytes);
    struct ski_part        *part  = first_in(data, parts);

    for (unsigned i = 0; i < parts->count; i++, part = after(part))
        if (part->kind == SKI_PIECE_BUFFER)
            ((struct share *)parts_named(buffer_of(part)->done.with.arg, true))->left++;
}

skua_msg *ski_parts_copy(uint32_t handler, const void *data, size_t bytes, size_t head)
{
    skua_msg *msg;

    if (parts_end_at(data, bytes)->first < head)
        ski_misuse("a message of %zu bytes has parts that begin before itself", bytes);
    msg = ski_msg_copy(ski_self, handler, (const char *)data + head, bytes - head);
    parts_end_at(msg + 1, msg->bytes)->first -= head;
    ski_parts_more(data, bytes);
    return msg;
}

void ski_parts_drop(skua_msg *msg)
{
    if (ski_pe_exiting(ski_self))
        skua_msg_free(msg);
    else
        skua_parts_free(msg);
}

/* Whether elements shall get it as it is.  A method gets data, and nobody would free the parts. */
static bool goes_in_parts(const skua_msg *msg, const struct ski_entry *entry)
{
    const struct ski_parts *parts = parts_of(msg);
    const struct ski_part  *part  = first_of(msg, parts);

    for (unsigned i = 0; i < parts->count; i++, part = after((struct ski_part *)(uintptr_t)part))
        if (part->kind == SKI_PIECE_BUFFER)
            return !entry->method;
    return false;
}

void skua_parts_invoke_all(skua_collection all, skua_entry entry, skua_msg *msg)
{
    struct ski_pe               *self = SKI_SELF();
    const struct ski_collection *of   = ski_collection_get(self->objects, __func__, all.id);
    struct to_host to = {all, entry.id, of->state != SKI_EXPECTED && of->kind == SKI_PROCESS_GROUP};

    if (to.processes || (of->state != SKI_EXPECTED && of->kind == SKI_GROUP)) {
        to_all(self, msg, &to);
    } else if (goes_in_parts(msg, ski_entry_find(__func__, entry))) {
        ski_everyone_parts(all, entry, msg);
    } else {
        msg = skua_parts_copied(msg);
        skua_invoke_all(all, entry, skua_msg_data(msg), skua_msg_size(msg));
        skua_msg_free(msg);
    }
}

void skua_parts_invoke_section(skua_section section, skua_entry entry, skua_msg *msg)
{
    (void)SKI_SELF();
    if (goes_in_parts(msg, ski_entry_find(__func__, entry))) {
        ski_multicast_parts(section, entry, msg);
    } else {
        msg = skua_parts_copied(msg);
        skua_section_invoke(section, entry, skua_msg_data(msg), skua_msg_size(msg));
        skua_msg_free(msg);
    }
}

/* ---- life cycle -------------------------------------------------------------------------------
 */

static void parts_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_NOCOPY] = ski_calloc(1, sizeof(struct ski_slots));
}

static void parts_pe_end(struct ski_objects *objects)
{
    ski_slots_end(parts_slots(objects), NULL); /* what it names goes with the arena */
    free(parts_slots(objects));
}

const struct ski_lifecycle ski_nocopy_lifecycle = {.pe_begin = parts_pe_begin,
                                                   .pe_end   = parts_pe_end};
