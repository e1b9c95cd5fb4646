/* SPDX-License-Identifier: Apache-2.0 */
/* inplace.c - see inplace.h. */
#include "objects/zerocopy/inplace.h"

#include <skua/interface.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/message/addr_tag.h"
#include "objects/chare/invoke.h"
#include "objects/zerocopy/learned_channel.h"
#include "onesided/rma/layout.h"

/* The bytes before the data, which are at a multiple of 16. */
static size_t bytes_before(const struct ski_landing *landing)
{
    size_t end = (size_t)((char *)(ski_landing_view(landing) + 1) - (const char *)landing);

    return (end + 15) & ~(size_t)15;
}

/* The data, if they are in the message; or room for them. */
static char *room_of(const struct ski_landing *landing)
{
    return (char *)(uintptr_t)landing + bytes_before(landing);
}

/* ---- sending -------------------------------------------------------------------------------- */

/* With room for @p room bytes of data. */
static skua_msg *new_message(const struct ski_landing *like, const void *head, size_t room)
{
    skua_msg           *msg     = skua_msg_alloc(bytes_before(like) + room);
    struct ski_landing *landing = ski_landing_of(msg);

    *landing = *like;
    if (like->head)
        memcpy(ski_landing_head(landing), head, like->head);
    return msg;
}

/* The data travel in the message. */
static skua_msg *pack(const struct ski_landing *like, const void *head, const skua_layout *simple)
{
    skua_msg       *msg = new_message(like, head, like->bytes);
    struct ski_path path;

    ski_path_make(&path, NULL, simple);
    ski_path_copy(&path, room_of(ski_landing_of(msg)), simple->at);
    return msg;
}

static SKI_COLD _Noreturn void refuse(const struct ski_entry *what, const char *why)
{
    ski_misuse("skua_invoke_landing: to %s::%s, %s", what->of->def.name, what->name, why);
}

/* Learned: true, and the message is on its way, if its data are expected. */
static bool send_apart(struct ski_pe *self, const skua_ref *ref, skua_entry entry,
                       struct ski_landing *like, const void *head, const skua_layout *simple)
{
    struct ski_berth  *berth = ski_lane_claim(self, ref, entry, like, head);
    struct ski_object *object;
    skua_msg          *msg;
    int                pe;

    if (!berth)
        return false;
    msg    = new_message(like, head, 0);
    object = ski_lane_put(self, berth, msg, simple, &pe);
    if (pe == self->pe)
        ski_invoke_here(self, object, entry, msg);
    else
        ski_invoke_at(self, pe, ref, entry, msg);
    return true;
}

void skua_invoke_landing(skua_ref ref, skua_entry entry, int64_t reference, const void *head,
                         size_t bytes, const skua_layout *from)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = ski_entry_find(__func__, entry);
    struct ski_landing      like = {.reference = reference, .head = (uint32_t)bytes};
    skua_layout             simple;

    if (!(what->flags & SKI_ENTRY_LANDS))
        refuse(what, "which was not made with skua_landing_register()");
    if (bytes > UINT32_MAX ||
        ski_layout_check(__func__, from, false, &simple, &like.bytes) != SKUA_OK)
        refuse(what, "a layout that makes no sense");
    if (!ski_config.learn_channels || !ski_landing_fn(what) ||
        !send_apart(self, &ref, entry, &like, head, &simple))
        skua_invoke(ref, entry, pack(&like, head, &simple));
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Whether it is whole, or ends before its data. */
static bool is_sound(const struct ski_landing *landing, size_t bytes, bool apart)
{
    return bytes >= sizeof *landing && bytes >= bytes_before(landing) &&
           bytes - bytes_before(landing) == (apart ? 0 : landing->bytes);
}

static SKI_COLD _Noreturn void malformed(const struct ski_entry *entry, const skua_msg *msg)
{
    ski_misuse("a message of %zu bytes from PE %d to %s::%s was not sent with "
               "skua_invoke_landing()",
               msg->bytes, msg->source, entry->of->def.name, entry->name);
}

static bool is_whole(const skua_msg *msg)
{
    return is_sound(ski_landing_of(msg), msg->bytes, false);
}

/* Its data are elsewhere. */
static bool is_apart(const skua_msg *msg)
{
    return is_sound(ski_landing_of(msg), msg->bytes, true);
}

static skua_msg *landing_whole(skua_msg *msg);

/* What it has been on its way is of no use any more, and not to be believed by who gets it next. */
static void arrived(struct ski_landing *landing)
{
    landing->lane  = NULL;
    landing->whole = NULL;
}

static void landing_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_lane *lane;

    if (!is_whole(msg) && !is_apart(msg))
        malformed(entry, msg);
    ski_landing_of(msg)->apart = 0;
    lane                       = ski_lane_arrived(object, msg);
    msg                        = landing_whole(msg);
    if (!ski_landing_of(msg)->apart && !is_whole(msg))
        malformed(entry, msg);
    arrived(ski_landing_of(msg));
    ski_msg_clear_target(msg);
    entry->entry(object + 1, msg);
    if (lane)
        ski_lane_after(object, lane);
}

static skua_msg *landing_sent_on(skua_msg *msg)
{
    skua_msg *copy;

    if (!is_apart(msg) || !ski_landing_of(msg)->apart)
        return msg;
    copy = ski_landing_copy(msg);
    skua_msg_free(msg);
    return copy;
}

static const skua_layout *view_of(struct ski_landing *landing)
{
    skua_layout *view = ski_landing_view(landing);

    if (!landing->apart) {
        view->at     = room_of(landing);
        view->bytes  = landing->bytes;
        view->levels = 0;
    }
    return view;
}

skua_msg *ski_landing_copy(const skua_msg *msg)
{
    struct ski_landing *from = ski_landing_of(msg), *to;
    skua_msg           *copy = new_message(from, ski_landing_head(from), from->bytes);
    skua_layout         room;

    to        = ski_landing_of(copy);
    to->apart = 0;
    to->whole = NULL;
    room      = skua_layout_of(room_of(to), to->bytes);
    skua_layout_copy(&room, view_of(from));
    return copy;
}

bool ski_landing_came(skua_msg *msg)
{
    struct ski_landing *landing = ski_landing_of(msg);

    if (!is_sound(landing, msg->bytes, false))
        return false;
    landing->apart = 0;
    arrived(landing);
    return true;
}

/* In the place where another message would have the address of its copy. */
static skua_msg *landing_whole_tag(const skua_msg *whole)
{
    return (skua_msg *)(uintptr_t)ski_addr_tag(ski_self->job, SKI_TAG_WHOLE, 0, (uintptr_t)whole,
                                               0);
}

void ski_landing_tag_whole(skua_msg *whole)
{
    ski_landing_of(whole)->whole = landing_whole_tag(whole);
}

/* What a message names is its copy if it has that tag, which cannot have been sent to us. */
static bool landing_is_copy(const skua_msg *whole)
{
    return ski_addr_tag_may_look(ski_self->job, whole,
                                 sizeof *whole + sizeof(struct ski_landing)) &&
           ski_addr_tag_peek(&ski_landing_of(whole)->whole) == (uintptr_t)landing_whole_tag(whole);
}

static skua_msg *landing_whole(skua_msg *msg)
{
    skua_msg *whole = is_apart(msg) ? ski_landing_of(msg)->whole : NULL;
    size_t    bytes;

    if (SKI_LIKELY(!whole) || ski_job_index(ski_self->job, msg->source) < 0 ||
        !landing_is_copy(whole))
        return msg;
    ski_landing_of(whole)->whole = NULL;
    bytes                        = whole->bytes;
    memcpy(whole, msg, sizeof *msg);
    whole->bytes = bytes;
    skua_msg_free(msg);
    return whole;
}

int64_t skua_landing_reference(const skua_msg *msg)
{
    return ski_landing_of(msg)->reference;
}

const void *skua_landing_head(const skua_msg *msg, size_t *bytes)
{
    const struct ski_landing *landing = ski_landing_of(msg);

    if (bytes)
        *bytes = landing->head;
    return ski_landing_head(landing);
}

const skua_layout *skua_landing_data(skua_msg *msg)
{
    return view_of(ski_landing_of(msg));
}

void skua_landing_withdraw(void *self)
{
    ski_lanes_withdraw(ski_object_of(self));
}

/* ---- registration ------------------------------------------------------------------------------
 */

/* An entry whose data land. */
struct landing_entry {
    struct ski_entry_ops ops; /* first */
    skua_land_fn         land;
};

skua_land_fn ski_landing_fn(const struct ski_entry *entry)
{
    return ((const struct landing_entry *)(const void *)entry->ops)->land;
}

static void landing_discard(skua_msg *msg)
{
    ski_lane_dropped(msg);
    skua_msg_free(landing_whole(msg));
}

skua_entry skua_landing_register(skua_class of, const char *name, skua_entry_fn fn,
                                 skua_land_fn land, unsigned flags)
{
    struct landing_entry *made = ski_malloc(sizeof *made); /* for as long as the process */

    if (flags & ~(SKUA_ENTRY_EXPEDITED | SKI_ENTRY_CREATES))
        ski_misuse("%s(\"%s\"): an entry whose data land is not threaded, inline or sync", __func__,
                   name);
    made->ops  = (struct ski_entry_ops){.run        = landing_run,
                                        .to_forward = landing_whole,
                                        .to_resend  = landing_sent_on,
                                        .discard    = landing_discard};
    made->land = land;
    return ski_entry_add(
        __func__, of,
        &(struct ski_entry){
            .name = name, .entry = fn, .flags = flags | SKI_ENTRY_LANDS, .ops = &made->ops},
        ski_on_invoke);
}

/* ---- what skuac's output stands on --------------------------------------------------------------
 */

const void *skua_found_head(const void *data, size_t bytes, size_t head, int64_t *reference,
                            const char *entry)
{
    const struct ski_landing *landing = data;

    if (!is_sound(landing, bytes, landing->apart) || landing->head != head)
        skua_malformed(entry, bytes);
    *reference = landing->reference;
    return ski_landing_head(landing);
}

const skua_layout *skua_found_landing(const void *data, size_t bytes, long long count, size_t each,
                                      const char *entry)
{
    struct ski_landing *landing = (struct ski_landing *)(uintptr_t)data;

    if (count < 0 || (uint64_t)count > PTRDIFF_MAX / each ||
        landing->bytes != (uint64_t)count * each)
        skua_malformed(entry, bytes);
    return view_of(landing);
}

void skua_check_landing(const skua_layout *from, long long count, size_t each, const char *entry,
                        const char *parameter)
{
    size_t bytes = ski_layout_bytes(from);

    if (count < 0)
        skua_bad_length(entry, parameter, count);
    if (bytes != skua_span(count, each, entry, parameter))
        ski_misuse("%s: the layout of `%s' has %zu bytes, and %lld items of %zu are declared",
                   entry, parameter, bytes, count, each);
}
