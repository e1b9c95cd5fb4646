/* SPDX-License-Identifier: Apache-2.0 */
/* home.c - see home.h. */
#include "objects/location/home.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/location/index_map.h"

/* The home in the index of a single object is a PE of the job that created it, which may have had
 * more PEs than the one that was restarted. */
static int home_of_chare(const struct ski_pe *self, int home)
{
    return SKI_LIKELY(home < self->pes) ? home : home % self->pes;
}

int ski_home(const struct ski_collection *all, const skua_index *index)
{
    switch (all->kind) {
    case SKI_GROUP: return index->at.x[0];
    case SKI_CHARES: return home_of_chare(all->self, index->at.x[0]);
    case SKI_PROCESS_GROUP: return skua_process_first(index->at.x[0]);
    default: return ski_index_map_home(&all->def, index, all->self->pes);
    }
}

struct ski_absent *ski_absent_find(const struct ski_collection *all, const skua_index *index)
{
    return ski_directory_absent(ski_directory_find(&all->directory, index));
}

struct ski_absent *ski_absent_answered(skua_msg *msg, void *answer, size_t bytes,
                                       struct ski_collection **all)
{
    skua_index index;

    if (!ski_element_msg(msg, bytes, all, &index))
        return NULL;
    memcpy(answer, skua_msg_data(msg), bytes);
    skua_msg_free(msg);
    return ski_absent_find(*all, &index);
}

struct ski_absent *ski_absent_get(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = ski_absent_find(all, index);

    return absent ? absent : ski_absent_enter(all, index);
}

/* Thousands of elements may migrate at a time, and come back: records are kept, since the C
 * library's malloc() keeps few blocks at hand. */
struct ski_absent *ski_absent_enter(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = all->spare;

    ski_assert(!ski_absent_find(all, index));
    if (absent)
        all->spare = absent->spare;
    else
        absent = ski_malloc(sizeof *absent);
    *absent =
        (struct ski_absent){.index = *index, .pe = SKI_ABSENT_UNKNOWN, .route = SKI_ROUTE_NONE};
    ski_list_init(&absent->held);
    ski_list_init(&absent->kept);
    ski_list_init(&absent->direct);
    ski_directory_set(&all->directory, index, (uintptr_t)absent | SKI_ABSENT_BIT);
    return absent;
}

void ski_absent_free(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(!absent->held.first && !absent->kept.first && !absent->direct.first);
    ski_assert(!absent->forward && !absent->object);
    absent->spare = all->spare;
    all->spare    = absent;
}

void ski_absent_free_spares(struct ski_collection *all)
{
    struct ski_absent *absent;

    while ((absent = all->spare)) {
        all->spare = absent->spare;
        free(absent);
    }
}

void ski_absent_hold(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    ski_msg_hold(all->self, &ski_absent_get(all, index)->held, msg);
}

void ski_absent_forwards(struct ski_collection *all, struct ski_absent *absent, const skua_msg *msg)
{
    absent->forwarded = true;
    /* Not by one that may be behind the last probe (route.h). */
    absent->returned |= msg->target & SKI_TARGET_FORWARDED && !ski_queue_is_behind(msg);
    ski_absent_passes(all, absent, msg);
}

/* A message that was forwarded between hosts has lost its source (ski_msg_forward()). */
static bool home_is_own(const struct ski_pe *self, const skua_msg *msg)
{
    return msg->source == self->pe || ski_job_index(self->job, msg->source) < 0;
}

void ski_absent_passes(struct ski_collection *all, struct ski_absent *absent, const skua_msg *msg)
{
    if (home_is_own(all->self, msg) &&
        (absent->route == SKI_ROUTE_NONE || absent->route == all->self->pe))
        absent->own = true;
}

void ski_location_send(struct ski_collection *all, int to, const skua_index *index,
                       const struct ski_location_update *update)
{
    ski_element_post(all->self, to, SKI_HANDLER_LOCATION, all->id, index, update, sizeof *update);
}
