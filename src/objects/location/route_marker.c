/* SPDX-License-Identifier: Apache-2.0 */
/* route_marker.c - see route_marker.h. */
#include "objects/location/route_marker.h"

#include "base/assert.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/forward.h"
#include "objects/location/insertion.h"
#include "objects/model/object.h"

/* The messages of this PE to an element that is inserted here have come back from the home: creates
 * the element.  It gets those that have arrived, then those that were sent since. */
static void route_create(struct ski_collection *all, const skua_index *index,
                         struct ski_absent *absent)
{
    skua_msg *order = ski_list_pop(&absent->arrived);

    ski_assert(order->handler == SKI_HANDLER_INSERT);
    all->self->held--;
    absent->pe = SKI_ABSENT_UNKNOWN;
    ski_list_prepend(&absent->held, &absent->arrived);
    ski_insertion_run(all, index, order);
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
    object = ski_element_here(all, &index);
    if (object) {
        ski_route_answer(all, &index, msg,
                         (struct ski_location_update){all->self->pe, object->moves});
        return;
    }
    absent = ski_absent_find(all, &index);
    if (absent && absent->pe == SKI_ABSENT_ARRIVING && marker.pe == all->self->pe &&
        absent->moves == marker.moves) {
        skua_msg_free(msg);
        route_create(all, &index, absent);
        return;
    }
    (void)ski_forward(all, &index, msg);
}
