/* SPDX-License-Identifier: Apache-2.0 */
/* route.c - see route.h. */
#include "objects/location/route.h"

#include "base/assert.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/location/forward_window.h"
#include "objects/location/location.h"
#include "objects/model/seqnum.h"

/* The answer to a marker. */
struct route_clear {
    struct ski_location_update at;    /* the element; pe is SKI_ABSENT_UNKNOWN if there is none */
    uint32_t                   moves; /* as in the marker                                       */
};

_Static_assert(sizeof(struct ski_location_update) == SKI_LOCATED_MIN, "see route.h");
_Static_assert(sizeof(struct ski_route_marker) == SKI_ROUTE_MARKER_MIN, "see route.h");
_Static_assert(sizeof(struct route_clear) == SKI_ROUTE_CLEAR_MIN, "see route.h");

static void route_send_marker(struct ski_collection *all, const skua_index *index, int pe,
                              uint32_t moves)
{
    struct ski_route_marker marker = {all->self->pe, moves};

    ski_assert(pe != all->self->pe);
    ski_element_post(all->self, pe, SKI_HANDLER_ROUTE_MARKER, all->id, index, &marker,
                     sizeof marker);
}

void ski_route_answer(struct ski_collection *all, const skua_index *index, skua_msg *msg,
                      struct ski_location_update at)
{
    struct ski_route_marker marker;
    struct route_clear      clear = {.at = at};

    memcpy(&marker, skua_msg_data(msg), sizeof marker);
    clear.moves = marker.moves;
    ski_element_post(all->self, marker.pe, SKI_HANDLER_ROUTE_CLEAR, all->id, index, &clear,
                     sizeof clear);
    skua_msg_free(msg);
}

/* Ends the job if @p msg says that an element is on @p pe, which is no PE, and less than @p least
 * of SKI_ABSENT_... */
static void route_check(struct ski_collection *all, const skua_index *index, const skua_msg *msg,
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
    struct ski_absent *absent = ski_absent_find(all, index);
    int                self   = all->self->pe, former;

    if (absent && absent->pe == SKI_ABSENT_CHANGING) {
        if (update->pe >= 0 && update->pe != self &&
            ski_seqnum_before(absent->told.moves, update->moves))
            absent->told = *update; /* for the time when the marker is answered */
        return;
    }
    former = ski_element_here(all, index) ? self : ski_lookup_pe(all, index);
    if (update->pe < 0 || update->pe == self || update->pe == former || former == self ||
        ski_home(all, index) == self || (absent && !ski_location_is_news(absent, update))) {
        ski_location_update(all, index, update);
        return;
    }
    all->hints += !absent;
    absent = ski_absent_get(all, index);
    all->tombstones -= (uint32_t)(absent->pe == SKI_ABSENT_DELETED);
    ski_forward_window_free(absent); /* windows are for messages that wait at the home */
    absent->pe    = SKI_ABSENT_CHANGING;
    absent->moves = update->moves;
    absent->told  = *update;
    all->directory.version++;
    route_send_marker(all, index, former, update->moves);
}

void ski_on_located(skua_msg *msg)
{
    const struct ski_location_update *update = skua_msg_data(msg);
    struct ski_collection            *all;
    skua_index                        index;

    if (!ski_element_msg(msg, sizeof *update, &all, &index))
        return;
    route_check(all, &index, msg, update->pe, SKI_ABSENT_DELETED);
    ski_route_update(all, &index, update);
    skua_msg_free(msg);
}

void ski_on_route_clear(skua_msg *msg)
{
    struct ski_collection     *all;
    struct ski_absent         *absent;
    struct route_clear         clear;
    struct ski_location_update told;
    skua_index                 index;

    if (!ski_element_msg(msg, sizeof clear, &all, &index))
        return;
    memcpy(&clear, skua_msg_data(msg), sizeof clear);
    absent = ski_absent_find(all, &index);
    route_check(all, &index, msg, clear.at.pe, SKI_ABSENT_UNKNOWN);
    skua_msg_free(msg);
    if (!absent || absent->pe != SKI_ABSENT_CHANGING || absent->moves != clear.moves)
        return; /* the element has been here since */
    told = absent->told;
    ski_location_set(all, absent, &clear.at);
    if (clear.at.pe >= 0 && ski_seqnum_before(clear.at.moves, told.moves))
        ski_route_update(all, &index, &told);
}

/* ---- a PE that an element is inserted on -------------------------------------------- */

bool ski_route_await(struct ski_collection *all, const skua_index *index, uint32_t moves,
                     skua_msg *msg)
{
    struct ski_absent *absent;

    ski_assert(ski_home(all, index) != all->self->pe && !ski_element_here(all, index));
    if (all->kind != SKI_ARRAY || !ski_route_noted(all, index))
        return false;
    absent = ski_absent_get(all, index);
    all->tombstones -= (uint32_t)(absent->pe == SKI_ABSENT_DELETED);
    ski_forward_window_free(absent); /* as above */
    absent->pe    = SKI_ABSENT_ARRIVING;
    absent->moves = moves;
    ski_list_init(&absent->arrived);
    ski_msg_hold(all->self, &absent->arrived, msg);
    all->directory.version++;
    route_send_marker(all, index, ski_home(all, index), moves);
    return true;
}
