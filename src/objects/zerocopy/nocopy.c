/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy.c - see nocopy.h.
 *
 * The description of arguments in a message may come from another host.  nocopy_trailer(), through
 * which all of it is read, checks that the arguments are within the message; buffers, and the
 * addresses where the program wanted data, have tags (core/message/addr_tag.h); and what happens
 * when other PEs have finished with an argument is named (core/data/slot_table.h), so that it
 * happens once, whatever they send.
 */
#include "objects/zerocopy/nocopy.h"

#include <skua/skuac_marshal.h>

#include <stdlib.h>
#include <string.h>

#include <skua/topology.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/data/slot_table.h"
#include "core/pe/builtin.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "objects/model/msg_target.h"
#include "objects/model/class.h"
#include "objects/model/collection.h"
#include "objects/chare/entry.h"
#include "objects/location/location.h"
#include "onesided/buffer/buffer.h"

#define NOCOPY_ALIGN ((size_t)16)

static size_t nocopy_align(size_t bytes)
{
    return (bytes + NOCOPY_ALIGN - 1) & ~(NOCOPY_ALIGN - 1);
}

/* ---- the layout of a message ----------------------------------------------------------------- */

/* The bytes of an argument with what follows it. */
static size_t nocopy_arg_extent(uint32_t kind, uint64_t bytes)
{
    return sizeof(struct ski_nocopy_arg) +
           nocopy_align(kind == SKI_NOCOPY_DATA ? bytes : sizeof(skua_buffer));
}

static skua_buffer *nocopy_buffer(const struct ski_nocopy_arg *arg)
{
    return (skua_buffer *)(uintptr_t)(arg + 1);
}

/* Whether @p count arguments, the first of which is at @p at, fill a message to @p end. */
static bool nocopy_args_fit(const char *data, size_t at, size_t end, uint32_t count)
{
    for (; count > 0; count--) {
        const struct ski_nocopy_arg *arg = (const struct ski_nocopy_arg *)(const void *)(data + at);

        if (at > end || end - at < sizeof *arg || arg->kind > SKI_NOCOPY_BUFFER ||
            (arg->kind == SKI_NOCOPY_DATA && arg->bytes > end - at) ||
            nocopy_arg_extent(arg->kind, arg->bytes) > end - at ||
            (arg->kind == SKI_NOCOPY_BUFFER && nocopy_buffer(arg)->bytes != arg->bytes))
            return false;
        at += nocopy_arg_extent(arg->kind, arg->bytes);
    }
    return at == end;
}

/* Where the trailer of a message is. */
static struct ski_nocopy_trailer *nocopy_trailer_at(const void *data, size_t bytes)
{
    return (struct ski_nocopy_trailer *)((uintptr_t)data + bytes) - 1;
}

/* The trailer of a message, which says where the arguments are; NULL: the message is not valid. */
static struct ski_nocopy_trailer *nocopy_trailer(const void *data, size_t bytes)
{
    struct ski_nocopy_trailer *trailer = NULL;

    if (bytes >= sizeof *trailer && bytes % NOCOPY_ALIGN == 0)
        trailer = nocopy_trailer_at(data, bytes);
    if (!trailer || trailer->magic != SKI_NOCOPY_MAGIC ||
        trailer->first > bytes - sizeof *trailer ||
        !nocopy_args_fit(data, nocopy_align(trailer->first), bytes - sizeof *trailer,
                         trailer->count))
        return NULL;
    return trailer;
}

static struct ski_nocopy_trailer *nocopy_trailer_of(const skua_msg *msg)
{
    struct ski_nocopy_trailer *trailer = nocopy_trailer(msg + 1, msg->bytes);

    if (!trailer)
        ski_misuse("a message of %zu bytes from PE %d has no parts: was it made with "
                   "skua_nocopy_alloc()?",
                   msg->bytes, msg->source);
    return trailer;
}

static struct ski_nocopy_arg *nocopy_first_in(const void                      *data,
                                              const struct ski_nocopy_trailer *trailer)
{
    return (struct ski_nocopy_arg *)((uintptr_t)data + nocopy_align(trailer->first));
}

static struct ski_nocopy_arg *nocopy_first(const skua_msg                  *msg,
                                           const struct ski_nocopy_trailer *trailer)
{
    return nocopy_first_in(msg + 1, trailer);
}

static struct ski_nocopy_arg *nocopy_next(struct ski_nocopy_arg *arg)
{
    return (struct ski_nocopy_arg *)((uintptr_t)arg + nocopy_arg_extent(arg->kind, arg->bytes));
}

static struct ski_nocopy_arg *nocopy_arg_at(const skua_msg *msg, unsigned i)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    struct ski_nocopy_arg           *arg     = nocopy_first(msg, trailer);

    if (i >= trailer->count)
        ski_misuse("part %u of a message that has %u", i, trailer->count);
    while (i-- > 0)
        arg = nocopy_next(arg);
    return arg;
}

unsigned skua_nocopy_count(const skua_msg *msg)
{
    return nocopy_trailer_of(msg)->count;
}

size_t skua_nocopy_head_bytes(const skua_msg *msg)
{
    return nocopy_trailer_of(msg)->first;
}

size_t skua_nocopy_bytes(const skua_msg *msg, unsigned i)
{
    return nocopy_arg_at(msg, i)->bytes;
}

/* ---- making ---------------------------------------------------------------------------------- */

static uint32_t nocopy_kind(const struct ski_pe *self, int pe, const skua_nocopy_argument *arg)
{
    /* A broadcast (no PE): each host fetches the data from here, and this host uses it in place. */
    return ski_zcopy_pays(self, pe < 0 ? self->pe : pe, arg->at, arg->bytes) ? SKI_NOCOPY_BUFFER
                                                                             : SKI_NOCOPY_DATA;
}

static void nocopy_describe(struct ski_nocopy_arg *to, uint32_t kind,
                            const skua_nocopy_argument *arg)
{
    skua_buffer buffer =
        skua_buffer_make(arg->at, arg->bytes, SKUA_REGISTER_LATER, arg->done, arg->user);

    *to = (struct ski_nocopy_arg){.bytes = arg->bytes, .kind = kind};
    if (kind == SKI_NOCOPY_BUFFER) {
        *nocopy_buffer(to) = buffer;
        return;
    }
    if (arg->bytes)
        memcpy(to + 1, arg->at, arg->bytes);
    skua_complete(arg->done, &buffer, sizeof buffer);
}

skua_msg *skua_nocopy_alloc(int pe, size_t bytes, const skua_nocopy_argument *part, unsigned n)
{
    struct ski_pe         *self = SKI_SELF();
    size_t                 end  = nocopy_align(bytes);
    struct ski_nocopy_arg *at;
    skua_msg              *msg;

    for (unsigned i = 0; i < n; i++)
        end += nocopy_arg_extent(nocopy_kind(self, pe, &part[i]), part[i].bytes);
    msg = skua_msg_alloc(end + sizeof(struct ski_nocopy_trailer));
    *nocopy_trailer_at(msg + 1, msg->bytes) =
        (struct ski_nocopy_trailer){.magic = SKI_NOCOPY_MAGIC, .first = bytes, .count = n};
    at = nocopy_first(msg, nocopy_trailer_at(msg + 1, msg->bytes));
    for (unsigned i = 0; i < n; i++, at = nocopy_next(at))
        nocopy_describe(at, nocopy_kind(self, pe, &part[i]), &part[i]);
    return msg;
}

skua_msg *skua_nocopy_copied(skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    struct ski_nocopy_arg           *from    = nocopy_first(msg, trailer), *to;
    size_t                           end     = nocopy_align(trailer->first);
    skua_msg                        *made;

    for (unsigned i = 0; i < trailer->count; i++, from = nocopy_next(from))
        end += nocopy_arg_extent(SKI_NOCOPY_DATA, from->bytes);
    made = skua_msg_alloc(end + sizeof *trailer);
    memcpy(skua_msg_data(made), skua_msg_data(msg), trailer->first);
    memcpy((char *)skua_msg_data(made) + end, trailer, sizeof *trailer);
    from = nocopy_first(msg, trailer);
    to   = nocopy_first(made, trailer);
    for (unsigned i = 0; i < trailer->count; i++, from = nocopy_next(from), to = nocopy_next(to)) {
        *to = (struct ski_nocopy_arg){.bytes = from->bytes, .kind = SKI_NOCOPY_DATA};
        if (from->bytes)
            memcpy(to + 1, skua_nocopy_data(msg, i), from->bytes);
    }
    skua_nocopy_free(msg);
    return made;
}

/* ---- fetching -------------------------------------------------------------------------------- */

struct nocopy_pending;

/* An argument that is being fetched. */
struct nocopy_fetch {
    struct nocopy_pending *pending;
    struct ski_nocopy_arg *arg;
    uint64_t               name; /* in the completion of the fetch */
    skua_buffer            here; /* where the data goes */
    void *block;                 /* memory of the runtime; NULL: it goes to memory of the program */
};

static struct ski_slots *nocopy_names(const struct ski_objects *objects)
{
    return objects->slot[SKI_SLOT_NOCOPY];
}

/* A completion that calls @p fn once, with the name of @p item. */
static skua_completion nocopy_done_once(skua_done_fn fn, void *item, uint64_t *name)
{
    *name = ski_slots_add(nocopy_names(ski_self->objects), item);
    return skua_done_call(fn, (void *)(uintptr_t)*name);
}

/* The item of a name, which is removed unless it @p stays; NULL: it was removed before. */
static void *nocopy_named(void *name, bool stays)
{
    struct ski_slots *all  = nocopy_names(ski_self->objects);
    void             *item = ski_slots_find(all, (uintptr_t)name);

    if (item && !stays)
        ski_slots_remove(all, (uintptr_t)name);
    return item;
}

/* A message that waits for arguments which are being fetched. */
struct nocopy_pending {
    skua_msg *msg;
    uint32_t  waiting;
    void (*go_on)(struct nocopy_pending *pending);
    skua_ref            ref; /* the element that the message is for */
    skua_entry          entry;
    skua_collection     all;       /* the collection that it is for; 0: `entry` is a handler */
    bool                processes; /* the collection is a process group */
    struct nocopy_fetch fetch[];
};

static void nocopy_free_fetched(void *arg, const void *data, size_t bytes)
{
    void *block = nocopy_named(arg, false);

    (void)data, (void)bytes;
    if (block)
        skua_buffer_free(block);
}

/* A completion that frees memory of the runtime to which an argument was fetched. */
static skua_completion nocopy_done_free(void *block)
{
    uint64_t name;

    return nocopy_done_once(nocopy_free_fetched, block, &name);
}

static struct nocopy_pending *nocopy_new_pending(skua_msg *msg,
                                                 void (*go_on)(struct nocopy_pending *pending))
{
    uint32_t               n       = nocopy_trailer_of(msg)->count;
    struct nocopy_pending *pending = ski_malloc(sizeof *pending + n * sizeof *pending->fetch);

    *pending = (struct nocopy_pending){.msg = msg, .waiting = 1, .go_on = go_on};
    return pending;
}

static uint64_t nocopy_posted_tag(const struct ski_nocopy_arg *arg)
{
    return ski_addr_tag(ski_self->job, SKI_TAG_NOCOPY, ski_self->pe, (uintptr_t)arg->posted,
                        arg->bytes);
}

static void nocopy_set_posted(struct ski_nocopy_arg *arg, void *at)
{
    arg->posted     = at;
    arg->posted_tag = nocopy_posted_tag(arg);
}

/* An argument has been fetched: the message describes its new place from now on. */
static void nocopy_arg_fetched(void *arg, const void *data, size_t bytes)
{
    struct nocopy_fetch   *fetch   = nocopy_named(arg, false);
    struct nocopy_pending *pending = fetch ? fetch->pending : NULL;

    (void)data, (void)bytes;
    if (!fetch)
        return;
    fetch->here.done = fetch->block ? nocopy_done_free(fetch->block) : skua_done_nothing();
    *nocopy_buffer(fetch->arg) = fetch->here;
    if (!fetch->block)
        nocopy_set_posted(fetch->arg, fetch->here.at);
    ski_assert(pending->waiting > 0);
    if (--pending->waiting > 0)
        return;
    ski_assert(ski_self->held > 0);
    ski_self->held--;
    pending->go_on(pending);
}

static void nocopy_fetch(struct nocopy_pending *pending, unsigned i, struct ski_nocopy_arg *arg,
                         void *to)
{
    struct nocopy_fetch *fetch = &pending->fetch[i];
    skua_buffer          here, from = *nocopy_buffer(arg);
    skua_completion      done;

    ski_assert(arg->kind == SKI_NOCOPY_BUFFER);
    *fetch       = (struct nocopy_fetch){.pending = pending, .arg = arg};
    fetch->block = to ? NULL : skua_buffer_alloc(arg->bytes);
    done         = nocopy_done_once(nocopy_arg_fetched, fetch, &fetch->name);
    here         = fetch->here =
        skua_buffer_make(to ? to : fetch->block, arg->bytes, SKUA_REGISTER_LATER, done, from.user);
    pending->waiting++;
    if (skua_buffer_get(&here, &from) < 0)
        ski_misuse("part %u of a message from PE %d cannot be fetched", i, pending->msg->source);
}

/* Whether no argument is being fetched.  Else the message is held, and go_on() will be called. */
static bool nocopy_all_fetched(struct nocopy_pending *pending)
{
    ski_assert(pending->waiting > 0);
    if (--pending->waiting > 0) {
        ski_self->held++;
        return false;
    }
    free(pending);
    return true;
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Copies data that came in the message to where the program wants it. */
static void nocopy_copy_to(struct ski_nocopy_arg *arg, void *to)
{
    if (!to)
        return;
    nocopy_set_posted(arg, to);
    if (arg->bytes)
        memcpy(to, arg + 1, arg->bytes);
}

/* In place of an entry: a handler received the message. */
static const skua_entry nocopy_no_entry = {UINT32_MAX};

/* Delivers a message again, whose arguments are here now, to an element that may have migrated or
 * have been deleted since. */
static void nocopy_redeliver(const skua_ref *ref, skua_entry entry, skua_msg *msg)
{
    struct ski_collection *all = ski_collection_find(ski_self->objects, ref->of.id);
    struct ski_object     *object;

    if (!all || all->state == SKI_ENDED || ski_element_died_here(all, &ref->index))
        skua_nocopy_free(msg);
    else if ((object = ski_element_here(all, &ref->index)))
        ski_entry_run(object, ski_entry_find("skua_nocopy_ready_entry", entry), msg);
    else
        skua_invoke(*ref, entry, msg);
}

static void nocopy_resume(struct nocopy_pending *pending)
{
    struct nocopy_pending is = *pending;

    free(pending);
    if (is.entry.id == nocopy_no_entry.id)
        ski_msg_post(ski_self, ski_self->pe, is.msg->handler, is.msg);
    else
        nocopy_redeliver(&is.ref, is.entry, is.msg);
}

/* Whether this PE reaches all arguments of a message. */
static bool nocopy_all_reachable(const struct ski_pe *self, const skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    struct ski_nocopy_arg           *arg     = nocopy_first(msg, trailer);

    for (unsigned i = 0; i < trailer->count; i++, arg = nocopy_next(arg))
        if (arg->kind == SKI_NOCOPY_BUFFER && !ski_buffer_ptr(self, nocopy_buffer(arg)))
            return false;
    return true;
}

/* Copies or fetches all arguments to where the program wants them, @p to.  Whether all are here. */
static bool nocopy_bring(skua_msg *msg, void *self, skua_entry entry, void *const *to)
{
    struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    struct ski_nocopy_arg     *arg     = nocopy_first(msg, trailer);
    struct nocopy_pending     *pending = nocopy_new_pending(msg, nocopy_resume);

    pending->entry = entry;
    if (self)
        pending->ref = skua_ref_of(self);
    for (unsigned i = 0; i < trailer->count; i++, arg = nocopy_next(arg)) {
        void *place = to ? to[i] : NULL;

        if (arg->kind == SKI_NOCOPY_DATA)
            nocopy_copy_to(arg, place);
        else if (place || !ski_buffer_ptr(ski_self, nocopy_buffer(arg)))
            nocopy_fetch(pending, i, arg, place);
    }
    return nocopy_all_fetched(pending);
}

bool skua_nocopy_ready_entry(skua_msg *msg, void *self, skua_entry entry, skua_nocopy_post_fn post)
{
    struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    void                     **to;
    bool                       here;

    if (!post || trailer->posted)
        return nocopy_all_reachable(SKI_SELF(), msg) || nocopy_bring(msg, self, entry, NULL);
    trailer->posted = 1;
    to              = ski_calloc(trailer->count, sizeof *to);
    post(self, msg, to);
    here = nocopy_bring(msg, self, entry, to);
    free(to);
    return here;
}

bool skua_nocopy_ready(skua_msg *msg, skua_nocopy_post_fn post)
{
    return skua_nocopy_ready_entry(msg, NULL, nocopy_no_entry, post);
}

/* ---- using ----------------------------------------------------------------------------------- */

/* Fetches an argument of a message that has migrated with its element, away from the data. */
static const void *nocopy_fetch_now(struct ski_nocopy_arg *arg)
{
    skua_counter over  = SKUA_COUNTER_INIT;
    void        *block = skua_buffer_alloc(arg->bytes);
    skua_buffer  here, from = *nocopy_buffer(arg);

    here = skua_buffer_make(block, arg->bytes, SKUA_REGISTER_LATER, skua_done_count(&over), 0);
    if (skua_buffer_get(&here, &from) < 0)
        ski_misuse("a part of a message cannot be fetched from PE %d", from.pe);
    skua_counter_wait(&over, 1);
    here.done           = nocopy_done_free(block);
    *nocopy_buffer(arg) = here;
    return block;
}

static const void *nocopy_data(struct ski_nocopy_arg *arg)
{
    const void *at;

    if (arg->posted && arg->posted_tag == nocopy_posted_tag(arg))
        return arg->posted;
    if (arg->kind == SKI_NOCOPY_DATA)
        return arg + 1;
    at = ski_buffer_ptr(SKI_SELF(), nocopy_buffer(arg));
    return at || arg->bytes == 0 ? at : nocopy_fetch_now(arg);
}

const void *skua_nocopy_data(skua_msg *msg, unsigned i)
{
    return nocopy_data(nocopy_arg_at(msg, i));
}

void skua_nocopy_free(skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    struct ski_nocopy_arg           *arg     = nocopy_first(msg, trailer);

    for (unsigned i = 0; i < trailer->count; i++, arg = nocopy_next(arg))
        if (arg->kind == SKI_NOCOPY_BUFFER)
            skua_complete(nocopy_buffer(arg)->done, nocopy_buffer(arg), sizeof(skua_buffer));
    skua_msg_free(msg);
}

static void nocopy_malformed(const char *entry, size_t bytes)
{
    ski_misuse("%s: a message of %zu bytes does not hold its arguments; were all parts of the "
               "program translated and compiled from the same interface file?",
               entry, bytes);
}

const void *skuac_found_nocopy(const void *data, size_t bytes, size_t *end, long long count,
                               size_t each, const char *entry)
{
    size_t                 at  = nocopy_align(*end);
    struct ski_nocopy_arg *arg = (struct ski_nocopy_arg *)((uintptr_t)data + at);

    if (at > bytes || bytes - at < sizeof *arg || count < 0 ||
        (uint64_t)count > PTRDIFF_MAX / each || arg->bytes != (uint64_t)count * each ||
        arg->kind > SKI_NOCOPY_BUFFER ||
        bytes - at < nocopy_arg_extent(arg->kind, arg->kind == SKI_NOCOPY_DATA ? arg->bytes : 0))
        nocopy_malformed(entry, bytes);
    *end = at + nocopy_arg_extent(arg->kind, arg->bytes);
    return nocopy_data(arg);
}

void skuac_found_nocopy_end(const void *data, size_t bytes, size_t *end, const char *entry)
{
    (void)data;
    if (bytes < *end || bytes - *end < sizeof(struct ski_nocopy_trailer))
        nocopy_malformed(entry, bytes);
    *end += sizeof(struct ski_nocopy_trailer);
}

/* ---- to all ---------------------------------------------------------------------------------- */

/* An argument that several PEs or copies use. */
struct nocopy_share {
    uint32_t    left;
    skua_buffer buffer; /* its completion is called when the last has finished */
};

/* For one PE of a host: where the message that follows goes. */
struct nocopy_route {
    skua_collection all;       /* 0: `id` is a handler */
    uint32_t        id;        /* of an entry or a handler */
    uint32_t        processes; /* the collection is a process group */
};

_Static_assert(sizeof(struct nocopy_route) + sizeof(struct ski_nocopy_trailer) == SKI_NOCOPY_LEAST,
               "see nocopy.h");

static void nocopy_share_done(void *arg, const void *data, size_t bytes)
{
    struct nocopy_share *share = nocopy_named(arg, true);

    (void)data, (void)bytes;
    ski_assert(!share || share->left > 0);
    if (!share || --share->left > 0)
        return;
    nocopy_named(arg, false);
    skua_complete(share->buffer.done, &share->buffer, sizeof share->buffer);
    ski_pool_free(&ski_self->pool, share);
}

/* A share is in the arena, as the messages that name it are: both go with it when the job ends. */
static struct nocopy_share *nocopy_new_share(uint32_t users, const skua_buffer *buffer)
{
    struct nocopy_share *share = ski_pool_alloc(&ski_self->pool, sizeof *share);

    if (!share)
        ski_fatal("PE %d has no memory for a message with parts; raise SKUA_ARENA_SIZE",
                  ski_self->pe);
    ski_assert(users > 0);
    *share = (struct nocopy_share){users, *buffer};
    return share;
}

/* Gives each argument a share of @p users. */
static void nocopy_share_args(skua_msg *msg, uint32_t users)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    struct ski_nocopy_arg           *arg     = nocopy_first(msg, trailer);
    uint64_t                         name;

    for (unsigned i = 0; i < trailer->count; i++, arg = nocopy_next(arg))
        if (arg->kind == SKI_NOCOPY_BUFFER)
            nocopy_buffer(arg)->done = nocopy_done_once(
                nocopy_share_done, nocopy_new_share(users, nocopy_buffer(arg)), &name);
}

/* Sends a message to all PEs of this host, or to one of each process; all reach the arguments. */
static void nocopy_spread_here(skua_msg *msg, const struct nocopy_route *to)
{
    const struct ski_job *job   = ski_self->job;
    int                   count = to->processes ? job->local_processes : job->local_pes;

    nocopy_share_args(msg, (uint32_t)count);
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

static void nocopy_spread_pending(struct nocopy_pending *pending)
{
    struct nocopy_route to = {pending->all, pending->entry.id, pending->processes};

    nocopy_spread_here(pending->msg, &to);
    free(pending);
}

/* Whether all PEs of this host reach the data of a buffer. */
static bool nocopy_is_shared(const struct ski_pe *self, const skua_buffer *buffer)
{
    return ski_buffer_ptr(self, buffer) &&
           (ski_arena_contains(self->job->arena, buffer->at) ||
            (self->job->local_processes == 1 && ski_config.direct) || self->job->local_pes == 1);
}

/* Fetches the arguments that some PE of the host does not reach into the arena.  Whether none is
 * being fetched. */
static bool nocopy_fetch_unshared(struct nocopy_pending *pending)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(pending->msg);
    struct ski_nocopy_arg           *arg     = nocopy_first(pending->msg, trailer);

    for (unsigned i = 0; i < trailer->count; i++, arg = nocopy_next(arg))
        if (arg->kind == SKI_NOCOPY_BUFFER && !nocopy_is_shared(ski_self, nocopy_buffer(arg)))
            nocopy_fetch(pending, i, arg, NULL);
    return nocopy_all_fetched(pending);
}

static void nocopy_to_host(skua_msg *msg, const struct nocopy_route *to)
{
    struct nocopy_pending *pending = nocopy_new_pending(msg, nocopy_spread_pending);

    pending->all       = to->all;
    pending->entry.id  = to->id;
    pending->processes = to->processes;
    if (nocopy_fetch_unshared(pending))
        nocopy_spread_here(msg, to);
}

/* Whether a message for a host, which may come from another host, is valid and names a handler or
 * an entry. */
static bool nocopy_is_sound(const struct nocopy_route *to, const void *data, size_t bytes)
{
    if (!nocopy_trailer(data, bytes) || !ski_pe_has_handler(ski_self, to->id))
        return false;
    return to->all.id ? ski_entries[to->id].of != NULL : ski_builtin_accepts(to->id, bytes);
}

void ski_on_nocopy(skua_msg *msg)
{
    struct nocopy_route to;
    size_t              bytes = msg->bytes - sizeof to;
    skua_msg           *inner;

    memcpy(&to, skua_msg_data(msg), sizeof to);
    if (!nocopy_is_sound(&to, (char *)skua_msg_data(msg) + sizeof to, bytes)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    inner =
        ski_msg_copy(ski_self, SKI_HANDLER_NOCOPY, (char *)skua_msg_data(msg) + sizeof to, bytes);
    skua_msg_free(msg);
    nocopy_to_host(inner, &to);
}

/* Sends a message to one PE of each other host, and to the PEs of this one. */
static void nocopy_to_all(struct ski_pe *self, skua_msg *msg, const struct nocopy_route *to)
{
    int hosts = skua_hosts(), own = skua_host_of(self->pe);

    if (hosts > 1)
        nocopy_share_args(msg, (uint32_t)hosts);
    for (int host = 0; host < hosts; host++) {
        skua_msg *outer;

        if (host == own)
            continue;
        outer = skua_msg_alloc(sizeof *to + msg->bytes);
        memcpy(skua_msg_data(outer), to, sizeof *to);
        memcpy((char *)skua_msg_data(outer) + sizeof *to, skua_msg_data(msg), msg->bytes);
        outer->handler = SKI_HANDLER_NOCOPY;
        outer->source  = self->pe;
        ski_msg_post(self, skua_host_pe(host, 0), SKI_HANDLER_NOCOPY, outer);
    }
    nocopy_to_host(msg, to);
}

void skua_nocopy_broadcast(skua_handler handler, skua_msg *msg)
{
    nocopy_to_all(SKI_SELF(), msg, &(struct nocopy_route){.id = handler.id});
}

/* ---- behind a header of another module ------------------------------------------------------- */

skua_msg *ski_nocopy_prepend(const void *head, size_t bytes, skua_msg *msg)
{
    skua_msg *made;

    ski_assert(bytes % NOCOPY_ALIGN == 0);
    made = ski_msg_with_header(head, bytes, skua_msg_data(msg), msg->bytes);
    nocopy_trailer_at(made + 1, made->bytes)->first += bytes;
    skua_msg_free(msg);
    return made;
}

void ski_nocopy_broadcast(struct ski_pe *self, uint32_t handler, skua_msg *msg)
{
    nocopy_to_all(self, msg, &(struct nocopy_route){.id = handler});
}

bool ski_nocopy_reachable(skua_msg *msg)
{
    struct nocopy_pending *pending = nocopy_new_pending(msg, nocopy_resume);

    pending->entry = nocopy_no_entry;
    return nocopy_fetch_unshared(pending);
}

void ski_nocopy_hold(skua_msg *msg)
{
    nocopy_share_args(msg, 1);
}

void ski_nocopy_count_copy(const void *data, size_t bytes)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer(data, bytes);
    struct ski_nocopy_arg           *arg     = nocopy_first_in(data, trailer);

    for (unsigned i = 0; i < trailer->count; i++, arg = nocopy_next(arg))
        if (arg->kind == SKI_NOCOPY_BUFFER)
            ((struct nocopy_share *)nocopy_named(nocopy_buffer(arg)->done.with.arg, true))->left++;
}

skua_msg *ski_nocopy_copy(uint32_t handler, const void *data, size_t bytes, size_t head)
{
    skua_msg *msg;

    if (nocopy_trailer_at(data, bytes)->first < head)
        ski_misuse("a message of %zu bytes has parts that begin before its data", bytes);
    msg = ski_msg_copy(ski_self, handler, (const char *)data + head, bytes - head);
    nocopy_trailer_at(msg + 1, msg->bytes)->first -= head;
    ski_nocopy_count_copy(data, bytes);
    return msg;
}

void ski_nocopy_drop(skua_msg *msg)
{
    if (ski_pe_exiting(ski_self))
        skua_msg_free(msg);
    else
        skua_nocopy_free(msg);
}

bool ski_nocopy_goes_as_is(const skua_msg *msg, const struct ski_entry *entry)
{
    const struct ski_nocopy_trailer *trailer = nocopy_trailer_of(msg);
    const struct ski_nocopy_arg     *arg     = nocopy_first(msg, trailer);

    for (unsigned i = 0; i < trailer->count;
         i++, arg = nocopy_next((struct ski_nocopy_arg *)(uintptr_t)arg))
        if (arg->kind == SKI_NOCOPY_BUFFER)
            return !entry->method;
    return false;
}

void ski_nocopy_invoke_group(struct ski_pe *self, skua_collection all, skua_entry entry,
                             bool processes, skua_msg *msg)
{
    nocopy_to_all(self, msg, &(struct nocopy_route){all, entry.id, processes});
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void nocopy_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_NOCOPY] = ski_calloc(1, sizeof(struct ski_slots));
}

static void nocopy_pe_end(struct ski_objects *objects)
{
    ski_slots_end(nocopy_names(objects), NULL); /* the items go with the arena */
    free(nocopy_names(objects));
}

const struct ski_lifecycle ski_nocopy_lifecycle = {.pe_begin = nocopy_pe_begin,
                                                   .pe_end   = nocopy_pe_end};
