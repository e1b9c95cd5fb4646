/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy.c - messages with nocopy arguments to one PE or element: making, receiving, using. */
#include "objects/zerocopy/nocopy.h"

#include <skua/skuac_marshal.h>

#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "objects/chare/entry.h"
#include "objects/location/location.h"
#include "objects/model/class.h"
#include "objects/model/collection.h"
#include "objects/zerocopy/nocopy_net.h"

#define NOCOPY_FEW 16 /* arguments whose kinds are not worth an allocation */

/* ---- making ---------------------------------------------------------------------------------- */

static uint32_t nocopy_kind(struct ski_pe *self, int pe, const skua_nocopy_argument *arg)
{
    /* A broadcast (no PE): each host fetches the data from here, and this host uses it in place. */
    bool pays = pe < 0 ? ski_zcopy_pays_all(self, arg->at, arg->bytes)
                       : ski_zcopy_pays(self, pe, arg->at, arg->bytes);

    return pays ? SKI_NOCOPY_BUFFER : SKI_NOCOPY_DATA;
}

static void nocopy_describe(struct ski_nocopy_arg *to, uint32_t kind,
                            const skua_nocopy_argument *arg)
{
    skua_buffer buffer =
        skua_buffer_make(arg->at, arg->bytes, SKUA_REGISTER_LATER, arg->done, arg->user);

    *to = (struct ski_nocopy_arg){.bytes = arg->bytes, .kind = kind};
    if (kind == SKI_NOCOPY_BUFFER) {
        *ski_nocopy_buffer(to) = buffer;
        return;
    }
    if (arg->bytes)
        ski_copy((char *)(to + 1), arg->at, arg->bytes);
    skua_complete(arg->done, &buffer, sizeof buffer);
}

static struct ski_nocopy_arg *nocopy_first(const skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = ski_nocopy_trailer_at(msg + 1, msg->bytes);

    return ski_nocopy_walk_in(msg + 1, trailer).next;
}

/* Makes a message to @p pe, of another host, with one argument that the driver sends without a
 * copy.  NULL: the argument must be copied. */
static skua_msg *nocopy_alloc_net(struct ski_pe *self, int pe, size_t bytes,
                                  const skua_nocopy_argument *part)
{
    skua_msg *msg = ski_nocopy_new(bytes, 1, ski_nocopy_extent(SKI_NOCOPY_BUFFER, part->bytes));

    nocopy_describe(nocopy_first(msg), SKI_NOCOPY_BUFFER, part);
    if (ski_nocopy_net_expect(self, pe, msg))
        return msg;
    skua_msg_free(msg);
    return NULL;
}

skua_msg *skua_nocopy_alloc(int pe, size_t bytes, const skua_nocopy_argument *part, unsigned n)
{
    struct ski_pe         *self   = SKI_SELF();
    size_t                 extent = 0;
    uint32_t               few[NOCOPY_FEW], *kind;
    struct ski_nocopy_arg *at;
    skua_msg              *msg;

    if (n == 1 && ski_nocopy_net_pays(self, pe, bytes, part->bytes) &&
        nocopy_kind(self, pe, part) == SKI_NOCOPY_DATA &&
        (msg = nocopy_alloc_net(self, pe, bytes, part)))
        return msg;
    kind = n <= NOCOPY_FEW ? few : ski_malloc(n * sizeof *kind);
    for (unsigned i = 0; i < n; i++) { /* once: another PE may measure the threshold meanwhile */
        kind[i] = nocopy_kind(self, pe, &part[i]);
        extent += ski_nocopy_extent(kind[i], part[i].bytes);
    }
    msg = ski_nocopy_new(bytes, n, extent);
    at  = nocopy_first(msg);
    for (unsigned i = 0; i < n; i++, at = ski_nocopy_next(at))
        nocopy_describe(at, kind[i], &part[i]);
    if (kind != few)
        free(kind);
    return msg;
}

/* Writes the arguments of @p from, with their data, after the head of @p made. */
static void nocopy_copy_args(skua_msg *made, skua_msg *from, unsigned n)
{
    struct ski_nocopy_arg *to = nocopy_first(made);

    for (unsigned i = 0; i < n; i++, to = ski_nocopy_next(to)) {
        *to = (struct ski_nocopy_arg){.bytes = skua_nocopy_bytes(from, i), .kind = SKI_NOCOPY_DATA};
        if (to->bytes)
            ski_copy((char *)(to + 1), skua_nocopy_data(from, i), to->bytes);
    }
}

skua_msg *skua_nocopy_copied(skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = ski_nocopy_trailer_of(msg);
    struct ski_nocopy_walk           walk    = ski_nocopy_walk_in(msg + 1, trailer);
    const struct ski_nocopy_arg     *arg;
    size_t                           extent = 0;
    skua_msg                        *made;

    while ((arg = ski_nocopy_walk_next(&walk)))
        extent += ski_nocopy_extent(SKI_NOCOPY_DATA, arg->bytes);
    made = ski_nocopy_new(trailer->first, trailer->count, extent);
    ski_nocopy_trailer_at(made + 1, made->bytes)->posted = trailer->posted;
    memcpy(skua_msg_data(made), skua_msg_data(msg), trailer->first);
    nocopy_copy_args(made, msg, trailer->count);
    skua_nocopy_free(msg);
    return made;
}

/* ---- migrating ------------------------------------------------------------------------------- */

/* Returns the bytes of all arguments of a valid message if those that are posted are in it; *posted
 * counts them.  A tag proves that an argument is one: the message may be a plain one that looks
 * alike. */
static size_t nocopy_extent_posted(const void *data, const struct ski_nocopy_trailer *trailer,
                                   unsigned *posted)
{
    struct ski_nocopy_walk       walk   = ski_nocopy_walk_in(data, trailer);
    size_t                       extent = 0;
    const struct ski_nocopy_arg *arg;

    *posted = 0;
    while ((arg = ski_nocopy_walk_next(&walk))) {
        bool here = ski_nocopy_posted(arg) != NULL;

        *posted += here;
        extent += ski_nocopy_extent(here ? SKI_NOCOPY_DATA : arg->kind, arg->bytes);
    }
    return extent;
}

/* Writes @p from, with its data if it is posted, to @p to. */
static void nocopy_copy_arg(struct ski_nocopy_arg *to, const struct ski_nocopy_arg *from)
{
    const void *at = ski_nocopy_posted(from);

    if (!at) {
        memcpy(to, from, ski_nocopy_extent(from->kind, from->bytes));
        return;
    }
    *to = (struct ski_nocopy_arg){.bytes = from->bytes, .kind = SKI_NOCOPY_DATA};
    memcpy(to + 1, at, from->bytes);
}

skua_msg *ski_nocopy_copy_posted(const skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = ski_nocopy_trailer(msg + 1, msg->bytes);
    struct ski_nocopy_walk           walk;
    struct ski_nocopy_arg           *from, *to;
    unsigned                         posted;
    size_t                           extent;
    skua_msg                        *made;

    if (!trailer)
        return NULL;
    extent = nocopy_extent_posted(msg + 1, trailer, &posted);
    if (posted == 0)
        return NULL;
    made = ski_nocopy_new(trailer->first, trailer->count, extent);
    ski_nocopy_trailer_at(made + 1, made->bytes)->posted = trailer->posted;
    memcpy(skua_msg_data(made), msg + 1, trailer->first);
    walk = ski_nocopy_walk_in(msg + 1, trailer);
    for (to = nocopy_first(made); (from = ski_nocopy_walk_next(&walk)); to = ski_nocopy_next(to))
        nocopy_copy_arg(to, from);
    return made;
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Copies data that arrived in the message to where the program wants it. */
static void nocopy_copy_to(struct ski_nocopy_arg *arg, void *to)
{
    if (!to)
        return;
    ski_nocopy_set_posted(arg, to);
    if (arg->bytes)
        memcpy(to, arg + 1, arg->bytes);
}

/* In place of an entry: a handler received the message. */
static const skua_entry nocopy_no_entry = {UINT32_MAX};

/* Delivers a message again, whose arguments are here now, to an element that may have migrated or
 * have been destroyed since. */
static void nocopy_redeliver(const skua_ref *ref, skua_entry entry, skua_msg *msg)
{
    struct ski_collection *all = ski_collection_find(ski_self->objects, ref->of.id);
    struct ski_object     *object;

    if (!all || all->state == SKI_ENDED || ski_element_died_here(all, &ref->index))
        skua_nocopy_free(msg);
    else if ((object = ski_element_here(all, &ref->index)))
        ski_entry_run(object, &ski_self->objects->run[entry.id], msg);
    else
        skua_invoke(*ref, entry, msg);
}

static void nocopy_go_on(struct ski_nocopy_pending *pending)
{
    struct ski_nocopy_pending is = *pending;

    free(pending);
    if (is.entry.id == nocopy_no_entry.id)
        ski_msg_post(ski_self, ski_self->pe, is.msg->handler, is.msg);
    else
        nocopy_redeliver(&is.to.ref, is.entry, is.msg);
    if (is.posted)
        ski_element_leave(is.posted);
}

/* Returns whether this PE reaches all arguments of a message. */
static bool nocopy_all_reachable(const struct ski_pe *self, const skua_msg *msg)
{
    struct ski_nocopy_walk       walk = ski_nocopy_walk(msg);
    const struct ski_nocopy_arg *arg;

    while ((arg = ski_nocopy_walk_buffer(&walk)))
        if (!ski_buffer_ptr(self, ski_nocopy_buffer(arg)))
            return false;
    return true;
}

/* Copies or fetches all arguments to where the program wants them, @p to. Returns whether all are
 * here. An object that named memory of its own neither migrates nor is destroyed while data are
 * fetched into it. */
static bool nocopy_bring(skua_msg *msg, void *self, skua_entry entry, void *const *to)
{
    struct ski_nocopy_walk     walk    = ski_nocopy_walk(msg);
    struct ski_nocopy_pending *pending = ski_nocopy_pending_new(msg, nocopy_go_on);
    struct ski_nocopy_arg     *arg;

    pending->entry = entry;
    if (self)
        pending->to.ref = skua_ref_of(self);
    if (self && to) {
        pending->posted = ski_object_of(self);
        ski_element_enter(pending->posted);
    }
    for (unsigned i = 0; (arg = ski_nocopy_walk_next(&walk)); i++) {
        void *place = to ? to[i] : NULL;

        if (arg->kind == SKI_NOCOPY_DATA)
            nocopy_copy_to(arg, place);
        else if (place || !ski_buffer_ptr(ski_self, ski_nocopy_buffer(arg)))
            ski_nocopy_fetch(pending, arg, place);
    }
    if (!ski_nocopy_fetched(pending))
        return false;
    if (self && to)
        ski_element_leave(ski_object_of(self)); /* its entry runs, so it stays */
    return true;
}

bool skua_nocopy_ready_entry(skua_msg *msg, void *self, skua_entry entry, skua_nocopy_post_fn post)
{
    struct ski_nocopy_trailer *trailer = ski_nocopy_trailer_of(msg);
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
    skua_buffer *buffer = ski_nocopy_buffer(arg);

    if (ski_buffer_fetch_wait(SKI_SELF(), buffer) < 0)
        ski_misuse("a nocopy argument of a message cannot be fetched from PE %d", buffer->pe);
    return buffer->at;
}

static const void *nocopy_data(struct ski_nocopy_arg *arg)
{
    const void *at = ski_nocopy_posted(arg);

    if (at)
        return at;
    if (arg->kind == SKI_NOCOPY_DATA)
        return arg + 1;
    at = ski_buffer_ptr(SKI_SELF(), ski_nocopy_buffer(arg));
    return at || arg->bytes == 0 ? at : nocopy_fetch_now(arg);
}

const void *skua_nocopy_data(skua_msg *msg, unsigned i)
{
    return nocopy_data(ski_nocopy_arg_at(msg, i));
}

void skua_nocopy_free(skua_msg *msg)
{
    struct ski_nocopy_walk       walk = ski_nocopy_walk(msg);
    const struct ski_nocopy_arg *arg;

    while ((arg = ski_nocopy_walk_buffer(&walk)))
        skua_complete(ski_nocopy_buffer(arg)->done, ski_nocopy_buffer(arg), sizeof(skua_buffer));
    skua_msg_free(msg);
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
    struct ski_nocopy_walk walk = ski_nocopy_walk(msg);

    return ski_nocopy_walk_buffer(&walk) && !entry->method;
}

/* Any entry may get messages with nocopy arguments; those of the runtime have observers of their
 * own. */
static bool nocopy_discard(skua_msg *msg)
{
    if (!ski_entries[msg->handler].of || !ski_nocopy_is_marked(msg))
        return false;
    ski_nocopy_drop(msg);
    return true;
}

const struct ski_lifecycle ski_nocopy_lifecycle = {.discard = nocopy_discard};

/* ---- for code that skuac generates ----------------------------------------------------------- */

static void nocopy_malformed(const char *entry, size_t bytes)
{
    ski_misuse("%s: a message of %zu bytes does not hold its arguments; were all parts of the "
               "program translated and compiled from the same interface file?",
               entry, bytes);
}

const void *skuac_found_nocopy(const void *data, size_t bytes, size_t *end, long long count,
                               size_t each, const char *entry)
{
    size_t                 at  = ski_nocopy_align(*end);
    struct ski_nocopy_arg *arg = (struct ski_nocopy_arg *)((uintptr_t)data + at);

    if (at > bytes || bytes - at < sizeof *arg || count < 0 ||
        (uint64_t)count > PTRDIFF_MAX / each || arg->bytes != (uint64_t)count * each ||
        arg->kind > SKI_NOCOPY_BUFFER ||
        bytes - at < ski_nocopy_extent(arg->kind, arg->kind == SKI_NOCOPY_DATA ? arg->bytes : 0))
        nocopy_malformed(entry, bytes);
    *end = at + ski_nocopy_extent(arg->kind, arg->bytes);
    return nocopy_data(arg);
}

void skuac_found_nocopy_end(const void *data, size_t bytes, size_t *end, const char *entry)
{
    (void)data;
    if (bytes < *end || bytes - *end < sizeof(struct ski_nocopy_trailer))
        nocopy_malformed(entry, bytes);
    *end += sizeof(struct ski_nocopy_trailer);
}
