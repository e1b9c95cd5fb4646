/* SPDX-License-Identifier: Apache-2.0 */
/* dead_letter.c - see dead_letter.h. */
#include "objects/chare/dead_letter.h"

#include <stdlib.h>

#include "base/assert.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/chare/seed.h"
#include "objects/location/forward.h"

#define DEAD_LETTER_WARNINGS 10 /* of a PE; all dead letters are counted */

static void dead_letter_warn(struct ski_collection *all, const skua_index *index,
                             const skua_msg *msg)
{
    const struct ski_entry *entry = &ski_entries[msg->handler];
    uint64_t                count = ++all->self->stats.dropped_messages;

    if (count <= DEAD_LETTER_WARNINGS)
        ski_log(SKI_LOG_WARN,
                "a message from PE %d to %s%s%s was dropped: that object was destroyed%s",
                msg->source, ski_element_text(all, index), entry->of ? ", entry " : "",
                entry->of ? entry->name : "",
                count == DEAD_LETTER_WARNINGS ? " (more of these are counted only)" : "");
}

/* Drops the messages that wait for an object which was destroyed. */
static void dead_letter_drop(struct ski_collection *all, const skua_index *index,
                             struct ski_absent *absent)
{
    ski_assert(!absent->forward);
    for (const skua_msg *msg = absent->held.first; msg; msg = msg->link)
        dead_letter_warn(all, index, msg);
    ski_held_discard(all->self, &absent->held);
    ski_directory_set(&all->directory, index, 0);
    ski_absent_free(all, absent);
}

/* The inquiry is back at the home. */
static void dead_letter_conclude(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = ski_absent_find(all, index); /* NULL: the object has arrived */

    if (absent && absent->pe == SKI_ABSENT_UNKNOWN)
        dead_letter_drop(all, index, absent);
}

void ski_on_inquiry(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    int32_t               *what = skua_msg_data(msg);
    int                    home;

    if (!ski_element_msg(msg, sizeof *what, &all, &index))
        return;
    if (all->kind != SKI_CHARES || (*what != SKI_INQUIRY_ASKED && *what != SKI_INQUIRY_ANSWERED)) {
        ski_net_drop(all->self, msg);
        return;
    }
    home = ski_home(all, &index);
    if (*what == SKI_INQUIRY_ASKED && home != all->self->pe &&
        (unsigned)home < (unsigned)all->self->pes) {
        *what = SKI_INQUIRY_ANSWERED;
        ski_msg_forward(all->self, home, msg);
        return;
    }
    if (index.at.x[1] == home && ski_seeds_awaited(all->self->objects, msg))
        return;
    dead_letter_conclude(all, &index);
    skua_msg_free(msg);
}
