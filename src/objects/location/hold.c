/* SPDX-License-Identifier: Apache-2.0 */
/* hold.c - see hold.h. */
#include "objects/location/hold.h"

#include "base/assert.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/location/forward_window.h"
#include "objects/location/lookup.h"

/* ---- arrival ------------------------------------------------------------------------ */

/* Returns whether messages of this PE to an absent element may be in flight by a route that no
 * marker follows. */
static bool hold_route_is_open(const struct ski_collection *all, const struct ski_absent *absent)
{
    return !absent->changing && absent->route >= 0 && absent->route != all->self->pe;
}

/* Returns whether a record shows that no earlier message to its element is in flight. */
static bool hold_is_clear(const struct ski_collection *all, const struct ski_absent *absent)
{
    return !absent->changing && !absent->forwarded && !absent->own && !absent->forward &&
           !hold_route_is_open(all, absent);
}

/* Returns whether earlier messages to an element that arrives may be in flight. */
static bool hold_is_needed(struct ski_collection *all, struct ski_absent *absent, int home)
{
    if (absent->pe == SKI_ABSENT_CLAIMED)
        return false;
    if (absent->changing || hold_route_is_open(all, absent))
        return true;
    if (home == all->self->pe)
        return ski_forward_window_flush(all, absent);
    return absent->forwarded || absent->own;
}

/* Sends the report of an arrival to the home, behind all that this PE has sent there. */
static void hold_report(struct ski_collection *all, struct ski_absent *absent, int home)
{
    struct ski_location_update update = {all->self->pe, absent->moves};

    ski_forward_window_free(absent); /* windows are for messages that wait at the home */
    absent->asked = true;
    ski_element_post(all->self, home, SKI_HANDLER_HOLD_REPORT, all->id, &absent->index, &update,
                     sizeof update);
}

bool ski_hold_begin(struct ski_collection *all, const skua_index *index, uint32_t moves)
{
    struct ski_absent *absent = ski_absent_find(all, index);
    int                home;

    ski_assert(!ski_element_here(all, index));
    if (absent ? hold_is_clear(all, absent) : !ski_lookup_noted(all, index))
        return false;
    home = ski_home(all, index);
    if (!absent && home == all->self->pe)
        return false;
    if (!absent) {
        absent        = ski_absent_enter(all, index);
        absent->route = home;
    }
    if (!hold_is_needed(all, absent, home))
        return false;
    all->tombstones -= (uint32_t)(absent->pe == SKI_ABSENT_DELETED);
    absent->pe    = SKI_ABSENT_HOLDING;
    absent->moves = moves;
    all->directory.version++;
    if (hold_route_is_open(all, absent) && absent->route != home)
        ski_lookup_change(all, absent);
    else if (hold_route_is_open(all, absent))
        absent->own = true; /* by way of the home, as what this PE has forwarded */
    if (home == all->self->pe)
        (void)ski_forward_window_flush(all, absent);
    else
        hold_report(all, absent, home);
    return true;
}

void ski_hold_enter(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(absent->pe == SKI_ABSENT_HOLDING && !absent->object);
    absent->object = ski_element_here(all, &absent->index);
    all->holding++;
    ski_directory_set(&all->directory, &absent->index, (uintptr_t)absent | SKI_ABSENT_BIT);
    ski_hold_settle(all, absent);
}

/* ---- messages ----------------------------------------------------------------------- */

struct ski_object *ski_hold_accept(struct ski_collection *all, struct ski_absent *absent,
                                   skua_msg *msg)
{
    int home = ski_home(all, &absent->index);

    ski_assert(absent->pe == SKI_ABSENT_HOLDING && absent->object);
    if (msg->flags & SKI_MSG_EXPEDITED)
        return absent->object;
    if (home == all->self->pe) {
        ski_forward_window_send(all, absent, msg);
    } else if (!(msg->target & SKI_TARGET_FORWARDED)) {
        ski_msg_hold(all->self, &absent->direct, msg);
    } else if (absent->returned) { /* behind others that were sent back */
        ski_msg_forward(all->self, home, msg);
    } else {
        return absent->object;
    }
    return NULL;
}

/* ---- the end ------------------------------------------------------------------------ */

/* The marker of the home itself may be among the messages that the home sends on: those that the
 * home has kept are behind them. */
static bool hold_is_over(const struct ski_absent *absent)
{
    return absent->object && !absent->asked && (!absent->changing || absent->queued) &&
           ski_forward_window_is_flushed(absent);
}

void ski_hold_settle(struct ski_collection *all, struct ski_absent *absent)
{
    if (!hold_is_over(absent))
        return;
    ski_directory_set(&all->directory, &absent->index, (uintptr_t)absent->object);
    absent->object = NULL;
    all->holding--;
    ski_list_prepend(&absent->kept, &absent->direct);
    ski_list_prepend(&absent->kept, &absent->held); /* at the home */
    ski_list_prepend(&absent->held, &absent->kept);
    ski_forward_window_arrived(all, absent);
    ski_forward_window_free(absent);
    ski_absent_free(all, absent);
}

void ski_hold_marked(struct ski_collection *all, struct ski_absent *absent, bool passed)
{
    ski_assert(absent->object && absent->changing);
    absent->changing = false;
    if (passed) { /* the home has queued those that came back before it */
        absent->own   = ski_home(all, &absent->index) == all->self->pe;
        absent->route = SKI_ROUTE_NONE;
    }
    ski_hold_settle(all, absent);
}

void ski_hold_departed(struct ski_collection *all, struct ski_absent *absent)
{
    int       home = ski_home(all, &absent->index);
    skua_msg *msg;

    ski_assert(absent->pe >= 0 && !absent->object);
    if (home == all->self->pe)
        ski_forward_window_moved(all, absent, false);
    while ((msg = ski_list_pop(&absent->direct))) {
        all->self->held--;
        ski_absent_forwards(all, absent, msg);
        ski_msg_forward(all->self, home, msg);
    }
    if (absent->kept.first && !absent->changing)
        ski_lookup_change(all, absent);
}

void ski_hold_deleted(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(absent->pe == SKI_ABSENT_DELETED && !absent->object);
    ski_forward_window_free(absent);
    if (!absent->changing)
        ski_list_prepend(&absent->held, &absent->kept);
    ski_list_prepend(&absent->held, &absent->direct);
    ski_msg_unhold(all->self, &absent->held);
}

void ski_on_hold_flushed(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *absent;
    uint32_t               moves;

    absent = ski_absent_answered(msg, &moves, sizeof moves, &all);
    if (!absent || !absent->object || !absent->asked || absent->moves != moves)
        return; /* the element has left since */
    absent->asked = absent->forwarded = false;
    if (!absent->changing) {
        absent->own   = false;
        absent->route = SKI_ROUTE_NONE;
    }
    ski_hold_settle(all, absent);
}
