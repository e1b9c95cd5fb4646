/* SPDX-License-Identifier: Apache-2.0 */
/* dead_letter.c - see dead_letter.h. */
#include "objects/location/dead_letter.h"

#include <stdlib.h>

#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/chare/msg_target.h"
#include "objects/location/location.h"
#include "objects/chare/seed.h"

#define TOLD 10 /* messages to deleted objects that a PE warns of; all are counted */

enum { ASKED, ANSWERED };

/* The PE that created the object: see chare.c. */
static int departed_creator(const skua_index *index)
{
    return index->at.x[1];
}

void ski_departed_inquire(struct ski_collection *all, const skua_index *index)
{
    int32_t what    = ASKED;
    int     creator = departed_creator(index);

    if ((unsigned)creator >= (unsigned)all->self->pes)
        ski_misuse("a message to %s: there never was such an object", ski_element_text(all, index));
    ski_post_about(all->self, creator, SKI_HANDLER_INQUIRY, all->id, index, &what, sizeof what);
}

static void departed_warn(struct ski_collection *all, const skua_index *index, const skua_msg *msg)
{
    const struct ski_entry *entry = &ski_entries[msg->handler];
    uint64_t                count = ++all->self->stats.departed;

    if (count <= TOLD)
        ski_log(
            SKI_LOG_WARN, "a message from PE %d to %s%s%s was dropped: that object was deleted%s",
            msg->source, ski_element_text(all, index), entry->of ? ", entry " : "",
            entry->of ? entry->name : "", count == TOLD ? " (more of these are counted only)" : "");
}

/* Drops what waits for an object that will not come. */
static void departed_drop(struct ski_collection *all, const skua_index *index,
                          struct ski_absent *place)
{
    for (const skua_msg *msg = place->held.first; msg; msg = msg->link)
        departed_warn(all, index, msg);
    ski_discard_held(all->self, &place->held);
    ski_directory_set(&all->directory, index, 0);
    free(place);
}

/* The inquiry is back at the home. */
static void departed_conclude(struct ski_collection *all, const skua_index *index)
{
    uintptr_t          value = ski_directory_find(&all->directory, index);
    struct ski_absent *place;

    if (!(value & SKI_IS_PLACE)) /* it has come */
        return;
    place = (struct ski_absent *)(value ^ SKI_IS_PLACE);
    if (place->pe == SKI_PLACE_UNKNOWN)
        departed_drop(all, index, place);
}

void ski_on_inquiry(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    int32_t               *what = skua_msg_data(msg);
    int                    home;

    if (!ski_about(msg, sizeof *what, &all, &index))
        return;
    if (all->kind != SKI_CHARES || (*what != ASKED && *what != ANSWERED)) {
        ski_far_drop(all->self, msg);
        return;
    }
    home = ski_home(all, &index);
    if (*what == ASKED && home != all->self->pe && (unsigned)home < (unsigned)all->self->pes) {
        *what = ANSWERED;
        ski_pass_on(all->self, home, msg);
        return;
    }
    if (departed_creator(&index) == home && ski_seeds_awaited(all->self->objects, msg))
        return;
    departed_conclude(all, &index);
    skua_msg_free(msg);
}
