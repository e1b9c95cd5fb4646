/* SPDX-License-Identifier: Apache-2.0 */
/* route_marker.c - see route_marker.h. */
#include "objects/location/route_marker.h"

#include "base/assert.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/forward.h"
#include "objects/location/forward_window.h"
#include "objects/location/hold.h"
#include "objects/location/location.h"
#include "objects/model/object.h"

/* Returns whether the own marker comes from the queue that the element left, and no message of this
 * PE was before it. */
static bool route_left_nothing(const struct ski_collection *all, const struct ski_absent *absent)
{
    return !absent->own && absent->route == all->self->pe && !absent->object;
}

/* Returns whether @p msg, which has come from the home, goes back there, as those before it. */
static bool route_goes_back(const struct ski_absent *absent, const skua_msg *msg)
{
    return absent->returned && msg->target & SKI_TARGET_FORWARDED;
}

/* Ends the wait for the own marker @p msg, if the element is here or no message of this PE was
 * before the marker.  Returns false if the marker has to follow such messages to the home. */
static bool route_end_wait(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    bool passed = msg->target & SKI_TARGET_FORWARDED || absent->route != all->self->pe;

    if (absent->object && !route_goes_back(absent, msg)) {
        skua_msg_free(msg);
        ski_hold_marked(all, absent, passed);
        return true;
    }
    if (route_left_nothing(all, absent)) {
        skua_msg_free(msg);
        ski_location_clear(all, absent, NULL);
        return true;
    }
    return false;
}

void ski_on_route_marker(skua_msg *msg)
{
    struct ski_collection  *all;
    struct ski_object      *object;
    struct ski_absent      *absent;
    struct ski_route_marker marker;
    skua_index              index;

    if (!ski_element_msg(msg, sizeof marker, &all, &index))
        return;
    memcpy(&marker, skua_msg_data(msg), sizeof marker);
    if ((unsigned)marker.pe >= (unsigned)all->self->pes) {
        ski_net_drop(all->self, msg);
        return;
    }
    object = ski_element_receives(all, &index);
    absent = object ? NULL : ski_absent_find(all, &index);
    if (absent && absent->changing && marker.pe == all->self->pe &&
        absent->marker == marker.number) {
        if (route_end_wait(all, absent, msg))
            return;
        absent->queued = ski_home(all, &index) == all->self->pe;
    }
    if (!object)
        object = ski_forward(all, &index, msg);
    if (object)
        ski_route_answer(all, &index, msg,
                         (struct ski_location_update){all->self->pe, object->moves});
}

void ski_on_route_clear(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *absent;
    struct ski_route_clear clear;
    skua_index             index;

    if (!ski_element_msg(msg, sizeof clear, &all, &index))
        return;
    memcpy(&clear, skua_msg_data(msg), sizeof clear);
    ski_route_check(all, &index, msg, clear.at.pe, SKI_ABSENT_UNKNOWN);
    skua_msg_free(msg);
    absent = ski_absent_find(all, &index);
    if (!absent || !absent->changing || absent->marker != clear.number)
        return;
    if (absent->object)
        ski_hold_marked(all, absent, true);
    else
        ski_location_clear(all, absent, &clear.at);
}

void ski_on_probed(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *absent;
    skua_index             index;

    if (!ski_element_msg(msg, SKI_PROBED_MIN, &all, &index))
        return;
    absent = ski_absent_find(all, &index);
    if (absent) {
        ski_forward_window_probed(all, absent, msg);
        ski_hold_settle(all, absent);
    }
    skua_msg_free(msg);
}
