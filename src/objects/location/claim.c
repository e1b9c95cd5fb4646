/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - see claim.h. */
#include "objects/location/claim.h"

#include "base/assert.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/location/forward_window.h"
#include "objects/location/hold.h"
#include "objects/location/insertion.h"
#include "objects/location/location.h"
#include "objects/location/route.h"
#include "objects/model/element.h"

/* ---- creation ----------------------------------------------------------------------- */

void ski_undeliverable(struct ski_collection *all, const skua_index *index, const skua_msg *msg,
                       const char *why)
{
    const struct ski_entry *entry = &ski_entries[msg->handler];

    if (entry->of)
        ski_misuse("a message from PE %d to %s::%s of %s: that object %s", msg->source,
                   entry->of->def.name, entry->name, ski_element_text(all, index), why);
    ski_misuse("a message from PE %d to %s: that object %s", msg->source,
               ski_element_text(all, index), why);
}

/* Creates an element here, with what its collection was created with.  Messages of this PE to a
 * former element of this index may be in flight: the new one holds messages until they are back. */
static void claim_create_here(struct ski_collection *all, const skua_index *index,
                              const struct ski_absent *absent)
{
    uint32_t    moves = absent ? absent->moves + 1 : 0;
    size_t      bytes;
    const void *data = ski_creation_data(all, &bytes);

    (void)ski_hold_begin(all, index, moves);
    ski_element_create(all, index, moves, data, bytes);
}

/* Orders another PE to create an element, with what its collection was created with. */
static void claim_create_there(struct ski_collection *all, const skua_index *index, int pe,
                               bool claimed)
{
    skua_ref              ref = {{all->id}, *index};
    size_t                bytes;
    const void           *data = ski_creation_data(all, &bytes);
    skua_msg             *msg = ski_insertion_msg(all->self, &ref, SKI_HANDLER_INSERT, data, bytes);
    struct ski_insertion *order = skua_msg_data(msg);

    order->pe      = pe;
    order->claimed = claimed;
    ski_insertion_forward(all, index, msg);
}

/* Creates an element here because @p msg is for it.  Returns the element, unless its constructor
 * has sent it elsewhere, where the message follows. */
static struct ski_object *claim_create_for(struct ski_collection *all, const skua_index *index,
                                           struct ski_absent *absent, skua_msg *msg)
{
    struct ski_object *object;

    ski_assert(ski_home(all, index) == all->self->pe);
    if (absent && absent->held.first) { /* it waits after others */
        ski_absent_hold(all, index, msg);
        claim_create_here(all, index, absent);
        return NULL;
    }
    claim_create_here(all, index, absent);
    object = ski_element_here(all, index);
    absent = ski_absent_find(all, index);
    if (absent && absent->pe >= 0)
        ski_forward_window_send(all, absent, msg);
    else if (!object)
        ski_undeliverable(all, index, msg, "was destroyed by its constructor");
    return object;
}

/* A sender whose message is to create the element on its own PE did not claim the element, since it
 * believed it to exist. */
struct ski_object *ski_claim_create(struct ski_collection *all, const skua_index *index,
                                    struct ski_absent *absent, skua_msg *msg, unsigned flags)
{
    bool waiting = absent && absent->held.first;

    ski_assert(all->kind == SKI_ARRAY && ski_home(all, index) == all->self->pe);
    if (!(flags & SKUA_ENTRY_CREATE_HERE) || waiting || msg->source == all->self->pe ||
        msg->source >= all->self->pes)
        return claim_create_for(all, index, absent, msg);
    claim_create_there(all, index, msg->source, false);
    ski_msg_forward(all->self, msg->source, msg);
    return NULL;
}

/* ---- at the PE that claims ---------------------------------------------------------- */

void ski_claim(struct ski_collection *all, const skua_index *index, unsigned flags)
{
    struct ski_absent *absent = ski_absent_find(all, index);
    int                home = ski_home(all, index), claimant = all->self->pe;

    if (all->kind != SKI_ARRAY || (home != claimant && !(flags & SKUA_ENTRY_CREATE_HERE)) ||
        claimant >= all->self->pes || (absent && (absent->pe >= 0 || ski_absent_keeps(absent))))
        return;
    ski_assert(!ski_element_here(all, index));
    absent = ski_absent_get(all, index);
    all->tombstones -= absent->pe == SKI_ABSENT_DELETED;
    absent->pe = SKI_ABSENT_CLAIMED;
    all->directory.version++;
    ski_element_post(all->self, home, SKI_HANDLER_CLAIM, all->id, index, &claimant,
                     sizeof claimant);
}

/* Returns whether messages wait at their home for an element that will be inserted. */
static bool claim_awaits_insertion(const struct ski_collection *all, const skua_index *index,
                                   const struct ski_absent *absent)
{
    return all->kind == SKI_ARRAY && all->state == SKI_EXISTS && all->open &&
           !(all->def.flags & SKUA_ARRAY_ON_DEMAND) &&
           (!absent || absent->pe == SKI_ABSENT_UNKNOWN) && ski_home(all, index) == all->self->pe;
}

bool ski_claim_hold(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    struct ski_absent *absent = ski_absent_find(all, index);

    if (absent && absent->pe != SKI_ABSENT_CLAIMED && ski_absent_keeps(absent) &&
        msg->flags & SKI_MSG_EXPEDITED)
        return false;
    if (!(absent && ski_absent_keeps(absent)) && !claim_awaits_insertion(all, index, absent))
        return false;
    absent = ski_absent_get(all, index);
    if (absent->changing || absent->pe == SKI_ABSENT_HOLDING) {
        ski_msg_hold_new(all->self, &absent->kept, msg);
    } else {
        ski_msg_hold_new(all->self, &absent->held, msg);
        if (absent->pe != SKI_ABSENT_CLAIMED) /* at the home */
            ski_absent_passes(all, absent, msg);
    }
    return true;
}

/* The element is on another PE. */
void ski_on_claimed(skua_msg *msg)
{
    const struct ski_location_update *update = skua_msg_data(msg);
    struct ski_collection            *all;
    struct ski_absent                *absent;
    skua_index                        index;

    if (!ski_element_msg(msg, sizeof *update, &all, &index))
        return;
    if ((unsigned)update->pe >= (unsigned)all->self->pes)
        ski_fatal("PE %d reported that %s is on PE %d, which does not exist", msg->source,
                  ski_element_text(all, &index), update->pe);
    absent = ski_absent_find(all, &index);
    if (absent && absent->pe == SKI_ABSENT_CLAIMED)
        ski_location_set(all, absent, update);
    else
        ski_route_update(all, &index, update);
    skua_msg_free(msg);
}

/* ---- on the way of a claim ---------------------------------------------------------- */

/* At the home, which does not know the element. */
static struct ski_object *claim_grant(struct ski_collection *all, const skua_index *index,
                                      struct ski_absent *absent, skua_msg *msg, int claimant)
{
    ski_assert(ski_home(all, index) == all->self->pe && !(absent && absent->pe >= 0));
    if (claimant == all->self->pe || (absent && absent->held.first))
        return claim_create_for(all, index, absent, msg);
    claim_create_there(all, index, claimant, true);
    skua_msg_free(msg);
    return NULL;
}

/* A claim of an element that is not here.  Old records may lead it in circles, back to its
 * sender too, until the record of its home is right.  So it never waits for another claim, which
 * might wait for this one. */
static struct ski_object *claim_forward(struct ski_collection *all, const skua_index *index,
                                        skua_msg *msg, int claimant)
{
    struct ski_absent *absent = ski_absent_find(all, index);
    int                home   = ski_home(all, index);

    if (absent && absent->pe >= 0)
        ski_forward_window_send(all, absent, msg);
    else if (absent && absent->pe == SKI_ABSENT_HOLDING && claimant != all->self->pe)
        return ski_hold_accept(all, absent, msg);
    else if (absent && absent->pe == SKI_ABSENT_HOLDING)
        skua_msg_free(msg); /* the element is here since this PE sent the claim */
    else if (home == all->self->pe)
        return claim_grant(all, index, absent, msg, claimant);
    else if (claimant != all->self->pe || (absent && absent->pe == SKI_ABSENT_CLAIMED))
        ski_msg_forward(all->self, home, msg);
    else
        skua_msg_free(msg); /* the element was here, and has gone: no answer is awaited */
    return NULL;
}

/* A claim is sent to the element like any other message, so it comes after all that its sender sent
 * before; then the sender may send there itself. */
void ski_on_claim(skua_msg *msg)
{
    struct ski_collection     *all;
    struct ski_object         *object;
    struct ski_location_update update;
    skua_index                 index;
    int                        claimant;

    if (!ski_element_msg(msg, sizeof claimant, &all, &index))
        return;
    memcpy(&claimant, skua_msg_data(msg), sizeof claimant);
    if (all->kind != SKI_ARRAY || (unsigned)claimant >= (unsigned)all->self->pes)
        ski_fatal("PE %d sent a claim of %s for PE %d, which is not valid", msg->source,
                  ski_element_text(all, &index), claimant);
    object = ski_element_receives(all, &index);
    if (!object)
        object = claim_forward(all, &index, msg, claimant);
    if (!object)
        return;
    update = (struct ski_location_update){all->self->pe, object->moves};
    if (claimant != all->self->pe)
        ski_element_post(all->self, claimant, SKI_HANDLER_CLAIMED, all->id, &index, &update,
                         sizeof update);
    skua_msg_free(msg);
}
