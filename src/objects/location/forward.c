/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c - see forward.h; and the destruction of elements by reference. */
#include "objects/location/forward.h"

#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/location/claim.h"
#include "objects/location/closing.h"
#include "objects/location/forward_window.h"
#include "objects/location/hold.h"
#include "objects/location/route.h"
#include "objects/model/element.h"

/* Asks the PE that created a single object, by its index (chare/chare.c), whether the object is yet
 * to come: its home has the first message for it, and does not know it. */
static void forward_inquire(struct ski_collection *all, const skua_index *index)
{
    int32_t what    = SKI_INQUIRY_ASKED;
    int     creator = index->at.x[1];

    if ((unsigned)creator >= (unsigned)all->self->pes)
        ski_misuse("a message to %s: no such object was ever created",
                   ski_element_text(all, index));
    ski_element_post(all->self, creator, SKI_HANDLER_DEAD_LETTER, all->id, index, &what,
                     sizeof what);
}

/* At the home, which has no PE for the element: it is unknown, awaited or destroyed. */
static struct ski_object *forward_at_home(struct ski_collection *all, const skua_index *index,
                                          struct ski_absent *absent, skua_msg *msg, unsigned flags)
{
    bool deleted = absent && absent->pe == SKI_ABSENT_DELETED;

    msg->target &= ~SKI_TARGET_FORWARDED;
    if (msg->handler == SKI_HANDLER_ROUTE_MARKER) {
        ski_route_answer(all, index, msg, (struct ski_location_update){SKI_ABSENT_UNKNOWN, 0});
        return NULL;
    }
    if (flags & SKI_ENTRY_CREATES || all->def.flags & SKUA_ARRAY_ON_DEMAND) {
        if (msg->handler != SKI_HANDLER_DELETE)
            return ski_claim_create(all, index, absent, msg, flags);
        skua_msg_free(msg); /* there is nothing to destroy, and nothing is created for that */
        return NULL;
    }
    if (deleted && ski_closing_check(all, absent, msg))
        return NULL;
    if (deleted || (!all->open && all->kind != SKI_CHARES))
        ski_undeliverable(all, index, msg, deleted ? "was destroyed" : "does not exist");
    if (all->kind == SKI_CHARES && !absent)
        forward_inquire(all, index);
    ski_absent_hold(all, index, msg);
    ski_absent_passes(all, ski_absent_find(all, index), msg);
    return NULL;
}

/* On a PE other than the home, which does not know where the element is. */
static void forward_to_home(struct ski_collection *all, const skua_index *index,
                            struct ski_absent *absent, int home, skua_msg *msg)
{
    if (!absent) {
        ski_lookup_note(all, index);
        if (msg->target & SKI_TARGET_FORWARDED) { /* the home is ahead of the element */
            absent        = ski_absent_enter(all, index);
            absent->route = home; /* as far as this PE has sent any */
        }
    }
    if (absent)
        ski_absent_forwards(all, absent, msg);
    ski_msg_forward(all->self, home, msg);
}

/* Returns whether @p msg waits on a PE that has claimed its element.  A marker does not: an element
 * that arrives elsewhere may wait for it, and the claim for that element. */
static bool forward_is_claimed(const struct ski_absent *absent, const skua_msg *msg)
{
    return absent && absent->pe == SKI_ABSENT_CLAIMED && msg->handler != SKI_HANDLER_ROUTE_MARKER;
}

struct ski_object *ski_forward_for(struct ski_collection *all, const skua_index *index,
                                   skua_msg *msg, unsigned flags)
{
    struct ski_absent *absent;
    int                home = ski_home(all, index);

    ski_assert(!ski_element_receives(all, index));
    if (all->kind != SKI_ARRAY)
        flags = 0;
    if (flags & SKUA_ENTRY_CREATE_HERE && msg->source == all->self->pe && home != msg->source)
        ski_claim(all, index, flags); /* the send could not: a completion, or an unknown array */
    absent = ski_absent_find(all, index);
    if (absent && absent->pe >= 0)
        ski_forward_window_send(all, absent, msg);
    else if (forward_is_claimed(absent, msg))
        ski_absent_hold(all, index, msg);
    else if (absent && absent->pe == SKI_ABSENT_HOLDING)
        return ski_hold_accept(all, absent, msg);
    else if (home != all->self->pe)
        forward_to_home(all, index, absent, home, msg);
    else
        return forward_at_home(all, index, absent, msg, flags);
    return NULL;
}

struct ski_object *ski_forward(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    return ski_forward_for(all, index, msg, ski_entries[msg->handler].flags);
}

/* ---- destruction ----------------------------------------------------------------------- */

void ski_on_delete(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    struct ski_object     *object;

    if (!ski_element_msg(msg, 0, &all, &index))
        return;
    object = ski_element_receives(all, &index);
    if (!object)
        object = ski_forward(all, &index, msg);
    if (!object)
        return;
    ski_element_delete(object);
    skua_msg_free(msg);
}

/* Sends the request to destroy an element that is not here.  It is kept behind messages to the
 * element that this PE keeps. */
static void forward_post_delete(struct ski_collection *all, const skua_index *index)
{
    int       pe = ski_lookup_pe(all, index);
    skua_msg *msg;

    if (pe != all->self->pe) {
        ski_element_post(all->self, pe, SKI_HANDLER_DELETE, all->id, index, NULL, 0);
        return;
    }
    msg = ski_msg_set_target(ski_msg_copy(all->self, SKI_HANDLER_DELETE, NULL, 0), all->id, index);
    if (!ski_claim_hold(all, index, msg))
        ski_msg_post(all->self, pe, SKI_HANDLER_DELETE, msg);
}

void skua_object_destroy_ref(skua_ref ref)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, ref.of.id);

    if (all->state != SKI_EXPECTED) {
        ski_check_index(__func__, all, &ref.index);
        if (!ski_element_receives(all, &ref.index)) {
            forward_post_delete(all, &ref.index);
            return;
        }
    }
    ski_element_post(self, self->pe, SKI_HANDLER_DELETE, ref.of.id, &ref.index, NULL, 0);
}
