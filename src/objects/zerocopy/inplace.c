/* SPDX-License-Identifier: Apache-2.0 */
/* inplace.c - see inplace.h. */
#include "objects/zerocopy/inplace.h"

#include <skua/skuac_marshal.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "objects/chare/invoke.h"
#include "objects/zerocopy/learned_channel.h"
#include "onesided/rma/copy_plan.h"

/* ---- sending --------------------------------------------------------------------------------- */

/* Returns a new message that carries its data. */
static skua_msg *inplace_pack(const struct ski_inplace *like, const void *head,
                              const skua_layout *simple)
{
    skua_msg            *msg = ski_inplace_new(like, head, like->bytes);
    struct ski_copy_plan path;

    if (like->bytes > 0) {
        ski_copy_plan_make(&path, NULL, simple);
        ski_copy_plan_run(&path, ski_inplace_room(ski_inplace_of(msg)), simple->at);
    }
    return msg;
}

static SKI_COLD _Noreturn void inplace_refuse(const struct ski_entry *what, const char *why)
{
    ski_misuse("skua_invoke_inplace: to %s::%s, %s", what->of->def.name, what->name, why);
}

/* Copies the data to where the receiver expects it, and sends the message without it. Returns false
 * if the receiver does not expect this message. */
static bool inplace_send_learned(struct ski_pe *self, const skua_ref *ref, skua_entry entry,
                                 struct ski_inplace *like, const void *head,
                                 const skua_layout *simple)
{
    struct ski_learned_slot *slot = ski_learned_channel_claim(self, ref, entry, like, head);
    struct ski_object       *object;
    skua_msg                *msg;
    int                      pe;

    if (!slot)
        return false;
    msg    = ski_inplace_new(like, head, 0);
    object = ski_learned_channel_put(self, slot, msg, simple, &pe);
    if (pe == self->pe)
        ski_invoke_here(self, object, entry, msg);
    else
        ski_invoke_at(self, pe, ref, entry, msg);
    return true;
}

void skua_invoke_inplace(skua_ref ref, skua_entry entry, int64_t reference, const void *head,
                         size_t bytes, const skua_layout *from)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = ski_entry_find(__func__, entry);
    struct ski_inplace      like = {.reference = reference, .head = (uint32_t)bytes};
    skua_layout             simple;

    if (!(what->flags & SKI_ENTRY_INPLACE))
        inplace_refuse(what, "which was not made with skua_inplace_register()");
    if (bytes > UINT32_MAX ||
        ski_layout_check_any(__func__, from, false, &simple, &like.bytes) != SKUA_OK)
        inplace_refuse(what, "the layout of the data is invalid");
    if (!ski_config.learned_channels || !ski_inplace_fn(what) || ski_layout_has_list(&simple) ||
        like.bytes == 0 || !inplace_send_learned(self, &ref, entry, &like, head, &simple))
        skua_invoke(ref, entry, inplace_pack(&like, head, &simple));
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Returns whether a message of @p bytes is well-formed: with its data, or @p apart from it. */
static bool inplace_is_sound(const struct ski_inplace *inplace, size_t bytes, bool apart)
{
    return bytes >= sizeof *inplace && bytes >= ski_inplace_bytes_before(inplace) &&
           bytes - ski_inplace_bytes_before(inplace) == (apart ? 0 : inplace->bytes);
}

static SKI_COLD _Noreturn void inplace_malformed(const struct ski_entry *entry, const skua_msg *msg)
{
    ski_misuse("a message of %zu bytes from PE %d to %s::%s was not sent with "
               "skua_invoke_inplace()",
               msg->bytes, msg->source, entry->of->def.name, entry->name);
}

static bool inplace_is_whole(const skua_msg *msg)
{
    return inplace_is_sound(ski_inplace_of(msg), msg->bytes, false);
}

static bool inplace_is_apart(const skua_msg *msg)
{
    return inplace_is_sound(ski_inplace_of(msg), msg->bytes, true);
}

static skua_msg *inplace_complete(skua_msg *msg);

/* Clears the channel that a message names: the next PE that gets the message must not use it. */
static void inplace_clear_channel(struct ski_inplace *inplace)
{
    inplace->channel = NULL;
    inplace->whole   = NULL;
}

/* Runs an entry with in-place delivery, and arms its learned channel for the next message. */
static void inplace_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_learned_channel *channel;

    if (!inplace_is_whole(msg) && !inplace_is_apart(msg))
        inplace_malformed(entry, msg);
    ski_inplace_of(msg)->apart = 0;
    channel                    = ski_learned_channel_arrived(object, msg);
    msg                        = inplace_complete(msg);
    if (!ski_inplace_of(msg)->apart && !inplace_is_whole(msg))
        inplace_malformed(entry, msg);
    ski_assert(object->state == SKI_ALIVE || object->state == SKI_LEAVING);
    inplace_clear_channel(ski_inplace_of(msg));
    ski_msg_clear_target(msg);
    entry->entry(object + 1, msg);
    if (channel)
        ski_learned_channel_arm(object, channel);
}

/* Returns the message to send to another PE, which carries its data. */
static skua_msg *inplace_sent_on(skua_msg *msg)
{
    skua_msg *copy;

    if (!inplace_is_apart(msg) || !ski_inplace_of(msg)->apart)
        return msg;
    copy = ski_inplace_copy(msg);
    skua_msg_free(msg);
    return copy;
}

bool ski_inplace_accept(skua_msg *msg)
{
    struct ski_inplace *inplace = ski_inplace_of(msg);

    if (!inplace_is_sound(inplace, msg->bytes, false))
        return false;
    inplace->apart = 0;
    inplace_clear_channel(inplace);
    return true;
}

/* Returns the message, or the copy with its data that replaces it. */
static skua_msg *inplace_complete(skua_msg *msg)
{
    skua_msg *whole = inplace_is_apart(msg) ? ski_inplace_of(msg)->whole : NULL;
    size_t    bytes;

    if (SKI_LIKELY(!whole) || !ski_inplace_is_copy(whole, msg))
        return msg;
    ski_assert(!ski_inplace_of(whole)->apart && whole != msg);
    ski_inplace_of(whole)->whole = NULL;
    bytes                        = whole->bytes;
    memcpy(whole, msg, sizeof *msg);
    whole->bytes = bytes;
    skua_msg_free(msg);
    return whole;
}

int64_t skua_inplace_reference(const skua_msg *msg)
{
    return ski_inplace_of(msg)->reference;
}

const void *skua_inplace_head(const skua_msg *msg, size_t *bytes)
{
    const struct ski_inplace *inplace = ski_inplace_of(msg);

    if (bytes)
        *bytes = inplace->head;
    return ski_inplace_head(inplace);
}

const skua_layout *skua_inplace_data(skua_msg *msg)
{
    return ski_inplace_set_view(ski_inplace_of(msg));
}

void skua_inplace_withdraw(void *self)
{
    ski_learned_channel_withdraw(ski_object_of(self));
}

/* ---- registration ---------------------------------------------------------------------------- */

static void inplace_discard(skua_msg *msg)
{
    ski_learned_channel_dropped(msg);
    skua_msg_free(inplace_complete(msg));
}

skua_entry skua_inplace_register(skua_class of, const char *name, skua_entry_fn fn,
                                 skua_inplace_fn land, unsigned flags)
{
    struct ski_inplace_entry *made = ski_malloc(sizeof *made); /* never freed, as entries are not */

    if (flags & ~(SKUA_ENTRY_EXPEDITED | SKI_ENTRY_CREATES))
        ski_misuse("%s(\"%s\"): an entry for in-place delivery is not threaded, inline or sync",
                   __func__, name);
    made->ops  = (struct ski_entry_ops){.run        = inplace_run,
                                        .to_forward = inplace_complete,
                                        .to_resend  = inplace_sent_on,
                                        .discard    = inplace_discard};
    made->land = land;
    return ski_entry_add(
        __func__, of,
        &(struct ski_entry){
            .name = name, .entry = fn, .flags = flags | SKI_ENTRY_INPLACE, .ops = &made->ops},
        ski_on_invoke);
}

/* ---- for code that skuac generates ----------------------------------------------------------- */

const void *skuac_found_head(const void *data, size_t bytes, size_t head, int64_t *reference,
                             const char *entry)
{
    const struct ski_inplace *inplace = data;

    if (!inplace_is_sound(inplace, bytes, inplace->apart) || inplace->head != head)
        skuac_malformed(entry, bytes);
    *reference = inplace->reference;
    return ski_inplace_head(inplace);
}

const skua_layout *skuac_found_inplace(const void *data, size_t bytes, long long count, size_t each,
                                       const char *entry)
{
    struct ski_inplace *inplace = (struct ski_inplace *)(uintptr_t)data;

    if (count < 0 || (uint64_t)count > PTRDIFF_MAX / each ||
        inplace->bytes != (uint64_t)count * each)
        skuac_malformed(entry, bytes);
    return ski_inplace_set_view(inplace);
}

void skuac_check_inplace(const skua_layout *from, long long count, size_t each, const char *entry,
                         const char *parameter)
{
    size_t bytes = skua_layout_bytes(from);

    if (count < 0)
        skuac_bad_length(entry, parameter, count);
    if (bytes != skuac_span(count, each, entry, parameter))
        ski_misuse("%s: the layout of `%s' has %zu bytes, and %lld items of %zu are declared",
                   entry, parameter, bytes, count, each);
}
