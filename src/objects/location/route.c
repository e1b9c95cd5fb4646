/* SPDX-License-Identifier: Apache-2.0 */
/* route.c - see route.h. */
#include "objects/location/route.h"

#include "base/assert.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/forward_window.h"
#include "objects/location/location.h"

_Static_assert(sizeof(struct ski_location_update) == SKI_LOCATED_MIN, "see route.h");
_Static_assert(sizeof(struct ski_route_marker) == SKI_ROUTE_MARKER_MIN, "see route.h");
_Static_assert(sizeof(struct ski_route_clear) == SKI_ROUTE_CLEAR_MIN, "see route.h");

void ski_route_answer(struct ski_collection *all, const skua_index *index, skua_msg *msg,
                      struct ski_location_update at)
{
    struct ski_route_marker marker;
    struct ski_route_clear  clear = {.at = at};

    memcpy(&marker, skua_msg_data(msg), sizeof marker);
    clear.number = marker.number;
    ski_element_post(all->self, marker.pe, SKI_HANDLER_ROUTE_CLEAR, all->id, index, &clear,
                     sizeof clear);
    skua_msg_free(msg);
}

void ski_route_check(struct ski_collection *all, const skua_index *index, const skua_msg *msg,
                     int32_t pe, int32_t least)
{
    if (pe >= all->self->pes || pe < least)
        ski_fatal("PE %d reported that %s is on PE %d, which does not exist", msg->source,
                  ski_element_text(all, index), pe);
}

/* ---- a PE that learns of another location -------------------------------------------- */

void ski_route_update(struct ski_collection *all, const skua_index *index,
                      const struct ski_location_update *update)
{
    bool               known = ski_absent_find(all, index);
    struct ski_absent *absent;

    ski_location_update(all, index, update);
    absent = ski_absent_find(all, index);
    if (!absent || absent->pe < 0 || ski_home(all, index) == all->self->pe)
        return;
    if (!known) /* it is notified since it has sent to the home */
        absent->route = ski_home(all, index);
    if (!absent->changing && absent->route >= 0 && absent->route != all->self->pe &&
        absent->route != absent->pe)
        ski_lookup_change(all, absent);
}

void ski_on_located(skua_msg *msg)
{
    const struct ski_location_update *update = skua_msg_data(msg);
    struct ski_collection            *all;
    skua_index                        index;

    if (!ski_element_msg(msg, sizeof *update, &all, &index))
        return;
    ski_route_check(all, &index, msg, update->pe, SKI_ABSENT_DELETED);
    ski_route_update(all, &index, update);
    skua_msg_free(msg);
}

void ski_on_hold_report(skua_msg *msg)
{
    struct ski_collection     *all;
    struct ski_absent         *absent;
    struct ski_location_update update;
    skua_index                 index;

    if (!ski_element_msg(msg, sizeof update, &all, &index))
        return;
    memcpy(&update, skua_msg_data(msg), sizeof update);
    ski_route_check(all, &index, msg, update.pe, 0);
    if (ski_home(all, &index) != all->self->pe) {
        ski_net_drop(all->self, msg);
        return;
    }
    ski_route_update(all, &index, &update);
    absent = ski_absent_find(all, &index);
    if (absent && absent->pe == update.pe && absent->moves == update.moves)
        ski_forward_window_report(all, absent, msg);
    else
        skua_msg_free(msg); /* the element has left */
}
