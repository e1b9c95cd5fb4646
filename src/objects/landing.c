/* SPDX-License-Identifier: Apache-2.0 */
/* landing.c - see landing.h. */
#include "objects/landing.h"

#include <skua/interface.h>

#include "base/config.h"
#include "objects/address.h"
#include "objects/lane.h"
#include "onesided/layout.h"

static size_t aligned(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static char *head_of(const struct ski_landing *landing)
{
    return (char *)(uintptr_t)(landing + 1);
}

/* The data, if they are in the message; or room for them. */
static char *room_of(const struct ski_landing *landing)
{
    return head_of(landing) + aligned(landing->head);
}

/* ---- sending -------------------------------------------------------------------------------- */

/* The data travel in the message. */
static void pack(const struct ski_landing *landing, const skua_layout *simple)
{
    struct ski_path path;

    ski_path_make(&path, NULL, simple);
    ski_path_copy(&path, room_of(landing), simple->at);
}

static skua_msg *new_message(int64_t reference, const void *head, size_t head_bytes, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(sizeof(struct ski_landing) + aligned(head_bytes) + bytes);
    struct ski_landing *landing = ski_landing_of(msg);

    *landing =
        (struct ski_landing){.reference = reference, .bytes = bytes, .head = (uint32_t)head_bytes};
    if (head_bytes)
        memcpy(head_of(landing), head, head_bytes);
    return msg;
}

void skua_invoke_landing(skua_ref ref, skua_entry entry, int64_t reference, const void *head,
                         size_t bytes, const skua_layout *from)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_entry *what = ski_entry_find(__func__, entry);
    skua_layout             simple;
    size_t                  all;
    skua_msg               *msg;

    if (!(what->flags & SKI_ENTRY_LANDS))
        ski_misuse("%s: %s::%s was not made with skua_landing_register()", __func__,
                   what->of->def.name, what->name);
    if (bytes > UINT32_MAX || ski_layout_check(__func__, from, false, &simple, &all) != SKUA_OK)
        ski_misuse("%s: to %s::%s", __func__, what->of->def.name, what->name);
    msg = new_message(reference, head, bytes, all);
    if (!ski_config.learn_channels || !what->land ||
        !ski_lane_send(self, &ref, entry, msg, &simple))
        pack(ski_landing_of(msg), &simple);
    skua_invoke(ref, entry, msg);
}

/* ---- arriving -------------------------------------------------------------------------------- */

static bool is_sound(const struct ski_landing *landing, size_t bytes)
{
    size_t left = bytes - sizeof *landing;

    return bytes >= sizeof *landing && aligned(landing->head) <= left &&
           landing->bytes == left - aligned(landing->head);
}

void ski_landing_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_lane *lane;

    if (!is_sound(ski_landing_of(msg), msg->bytes))
        ski_misuse("a message of %zu bytes from PE %d to %s::%s was not sent with "
                   "skua_invoke_landing()",
                   msg->bytes, msg->source, entry->of->def.name, entry->name);
    ski_landing_of(msg)->apart = 0;
    lane                       = ski_lane_arrived(object, entry, msg);
    ski_msg_strip(msg);
    entry->entry(object + 1, msg);
    if (lane)
        ski_lane_after(object, lane);
}

static const skua_layout *view_of(struct ski_landing *landing)
{
    if (!landing->apart)
        landing->view = skua_layout_of(room_of(landing), landing->bytes);
    return &landing->view;
}

void ski_landing_fill(skua_msg *msg)
{
    struct ski_landing *landing = ski_landing_of(msg);
    skua_layout         room    = skua_layout_of(room_of(landing), landing->bytes);

    if (!landing->apart)
        return;
    skua_layout_copy(&room, &landing->view);
    landing->apart = 0;
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
    return head_of(landing);
}

const skua_layout *skua_landing_data(skua_msg *msg)
{
    return view_of(ski_landing_of(msg));
}

void skua_landing_withdraw(void *self)
{
    ski_lanes_withdraw(ski_object_of(self));
}

/* ---- what skuac's output stands on --------------------------------------------------------------
 */

const void *skua_found_head(const void *data, size_t bytes, size_t head, int64_t *reference,
                            const char *entry)
{
    const struct ski_landing *landing = data;

    if (!is_sound(landing, bytes) || landing->head != head)
        skua_malformed(entry, bytes);
    *reference = landing->reference;
    return head_of(landing);
}

const skua_layout *skua_found_landing(const void *data, size_t bytes, long long count, size_t each,
                                      const char *entry)
{
    struct ski_landing *landing = (struct ski_landing *)(uintptr_t)data;

    if (count < 0 || (uint64_t)count > bytes / each || landing->bytes != (uint64_t)count * each)
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
