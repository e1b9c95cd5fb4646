/* SPDX-License-Identifier: Apache-2.0 */
/* location.c - see location.h. */
#include "objects/location/location.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "core/sched/wait_report.h"
#include "objects/location/forward_window.h"
#include "objects/model/object.h"
#include "objects/model/seqnum.h"

#define TOMBSTONES_MIN 1024  /* tombstones that are kept, or as many as there are elements */
#define HINTS_MIN      65536 /* hints that are kept, or a few times as many                */

/* ---- records ------------------------------------------------------------------------ */

/* Sends the messages that wait for an element to PE @p pe, before anything that comes later. */
static void location_release(struct ski_pe *self, struct ski_absent *absent, int pe)
{
    struct skua_msg *msg;

    ski_assert((unsigned)pe < (unsigned)self->pes);
    if (pe == self->pe)
        ski_msg_unhold(self, &absent->held);
    while ((msg = ski_list_pop(&absent->held))) {
        self->held--;
        ski_msg_forward(self, pe, msg);
    }
}

/* Frees a record, with the messages that wait there: they count as received. */
static void location_free_record(struct ski_collection *all, struct ski_absent *absent)
{
    ski_held_discard(all->self, &absent->arrived);
    ski_held_discard(all->self, &absent->held);
    ski_forward_window_free(absent);
    ski_absent_free(all, absent);
}

static void location_free_records(struct ski_collection *all)
{
    for (uint64_t i = 0; all->directory.slot && i <= all->directory.mask; i++) {
        struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);

        if (absent)
            location_free_record(all, absent);
    }
    ski_absent_free_spares(all);
}

void ski_location_release_unknown(struct ski_collection *all)
{
    for (uint64_t i = 0; i <= all->directory.mask; i++) {
        struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);

        if (absent && (absent->pe == SKI_ABSENT_UNKNOWN || absent->pe == SKI_ABSENT_DELETED))
            location_release(all->self, absent, all->self->pe);
    }
}

static bool location_is_tombstone(const struct ski_collection *all, const struct ski_absent *absent)
{
    (void)all;
    return absent->pe == SKI_ABSENT_DELETED && !absent->held.first;
}

static bool location_is_hint(const struct ski_collection *all, const struct ski_absent *absent)
{
    return absent->pe >= 0 && !absent->held.first && ski_home(all, &absent->index) != all->self->pe;
}

/* Drops the records of one kind; returns how many. */
static size_t location_drop(struct ski_collection *all, bool (*is)(const struct ski_collection *all,
                                                                   const struct ski_absent *absent))
{
    struct ski_absent **found = ski_malloc(all->directory.count * sizeof(struct ski_absent *));
    size_t              count = 0;

    for (uint64_t i = 0; i <= all->directory.mask; i++) {
        struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);

        if (absent && is(all, absent))
            found[count++] = absent;
    }
    for (size_t i = 0; i < count; i++) {
        ski_directory_set(&all->directory, &found[i]->index, 0);
        location_free_record(all, found[i]);
    }
    free(found);
    return count;
}

/* Drops tombstones once they outnumber the elements here; and hints, whose elements may be deleted
 * by now without this PE hearing of it. */
static void location_limit_records(struct ski_collection *all)
{
    if (all->tombstones > TOMBSTONES_MIN + all->objects)
        all->tombstones -= (uint32_t)location_drop(all, location_is_tombstone);
    if (all->hints > HINTS_MIN + 4 * (uint64_t)all->objects) {
        location_drop(all, location_is_hint);
        all->hints = 0;
    }
}

/* ---- updates ------------------------------------------------------------------------ */

bool ski_location_is_news(const struct ski_absent *absent, const struct ski_location_update *update)
{
    if (ski_seqnum_before(update->moves, absent->moves) || ski_absent_keeps(absent))
        return false;
    /* After the last migration it can only have been deleted. */
    return absent->pe != SKI_ABSENT_DELETED || update->pe < 0 || update->moves != absent->moves;
}

/* The element was deleted: messages that wait for it create it again, or are in error. */
static void location_end_forwarding(struct ski_pe *self, struct ski_absent *absent)
{
    if (absent->forward)
        ski_msg_unhold(self, &absent->held);
    ski_forward_window_free(absent);
}

void ski_location_update(struct ski_collection *all, const skua_index *index,
                         const struct ski_location_update *update)
{
    struct ski_absent *absent;
    bool               known;

    ski_assert(update->pe < all->self->pes && update->pe >= SKI_ABSENT_DELETED);
    if (ski_element_here(all, index)) /* it has come, or come back, since */
        return;
    if (update->pe == all->self->pe) /* it was deleted since, or has not arrived yet */
        return;
    location_limit_records(all);
    all->hints += !ski_absent_find(all, index);
    absent = ski_absent_get(all, index);
    if (!ski_location_is_news(absent, update))
        return;
    all->tombstones += (uint32_t)(update->pe == SKI_ABSENT_DELETED);
    all->tombstones -= (uint32_t)(absent->pe == SKI_ABSENT_DELETED);
    known          = absent->pe >= 0;
    absent->checks = update->pe >= 0 ? 0 : absent->checks;
    absent->pe     = update->pe;
    absent->moves  = update->moves;
    all->directory.version++;
    if (known && update->pe >= 0)
        ski_forward_window_moved(all, absent);
    else if (update->pe >= 0)
        location_release(all->self, absent, update->pe);
    else
        location_end_forwarding(all->self, absent);
}

void ski_location_set(struct ski_collection *all, struct ski_absent *absent,
                      const struct ski_location_update *at)
{
    ski_assert(ski_absent_keeps(absent) && !absent->arrived.first);
    absent->pe    = SKI_ABSENT_UNKNOWN;
    absent->moves = at->moves; /* whatever was recorded: the home may have forgotten more */
    all->directory.version++;
    if (at->pe >= 0 && at->pe != all->self->pe) {
        ski_location_update(all, &absent->index, at);
        return;
    }
    location_release(all->self, absent, ski_home(all, &absent->index));
    ski_directory_set(&all->directory, &absent->index, 0);
    location_free_record(all, absent);
}

void ski_location_left(struct ski_collection *all, const skua_index *index,
                       const struct ski_location_update *update)
{
    struct ski_absent *absent;

    ski_assert(ski_element_here(all, index) && update->pe != all->self->pe);
    location_limit_records(all);
    absent        = ski_absent_enter(all, index);
    absent->pe    = update->pe;
    absent->moves = update->moves;
    all->hints++;
    all->tombstones += (uint32_t)(update->pe == SKI_ABSENT_DELETED);
}

/* ---- elements come and go ----------------------------------------------------------- */

static void location_absence_ended(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(absent->pe != SKI_ABSENT_DELETED || all->tombstones > 0);
    all->tombstones -= absent->pe == SKI_ABSENT_DELETED;
    if (SKI_UNLIKELY(absent->forward || absent->held.first)) {
        ski_forward_window_arrived(all, absent);
        ski_forward_window_free(absent);
    }
    ski_absent_free(all, absent);
}

static void location_element_deleted(struct ski_object *object)
{
    struct ski_collection     *all    = object->of;
    skua_index                 index  = ski_object_index_get(object);
    struct ski_location_update update = {SKI_ABSENT_DELETED, object->moves};
    int                        home   = ski_home(all, &index);

    ski_assert(ski_element_here(all, &index) == object);
    ski_location_left(all, &index, &update); /* also elsewhere: older updates are ignored */
    if (home != all->self->pe)
        ski_location_send(all, home, &index, &update);
}

/* ---- questions ---------------------------------------------------------------------- */

bool ski_element_gone(const struct ski_collection *all, const skua_index *index)
{
    const struct ski_absent *absent = ski_absent_find(all, index);

    if (ski_home(all, index) != all->self->pe) /* it may have been inserted again */
        return false;
    if (absent && absent->pe != SKI_ABSENT_UNKNOWN)
        return absent->pe == SKI_ABSENT_DELETED;
    return !all->open && all->kind == SKI_ARRAY;
}

bool ski_element_deleted(const struct ski_collection *all, const skua_index *index)
{
    return ski_absent_find(all, index) && ski_element_gone(all, index) &&
           !(all->def.flags & SKUA_ARRAY_ON_DEMAND);
}

bool ski_element_died_here(const struct ski_collection *all, const skua_index *index)
{
    const struct ski_object *object = ski_element_here(all, index);
    const struct ski_absent *absent = all->directory.slot ? ski_absent_find(all, index) : NULL;

    if (object)
        return object->state == SKI_DYING || object->state == SKI_DEAD;
    return absent && absent->pe == SKI_ABSENT_DELETED;
}

/* Appends how many messages are held for elements, which this PE keeps its messages to, or not:
 * @p why. */
static void location_report_held(struct ski_collection *all, struct ski_text *text, bool keeps,
                                 const char *why)
{
    const struct ski_absent *first    = NULL;
    size_t                   elements = 0, messages = 0;

    for (uint64_t i = 0; all->directory.slot && i <= all->directory.mask; i++) {
        const struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);

        if (!absent || !absent->held.first || ski_absent_keeps(absent) != keeps)
            continue;
        first = first ? first : absent;
        elements++;
        for (const skua_msg *msg = absent->held.first; msg; msg = msg->link)
            messages++;
    }
    if (elements)
        ski_text_item(text, "%zu messages are held for %zu objects %s, such as %s", messages,
                      elements, why, ski_element_text(all, &first->index));
}

static void location_report(struct ski_collection *all, struct ski_text *text)
{
    location_report_held(all, text, false, "that do not exist");
    location_report_held(all, text, true, "until their PE is known");
}

const struct ski_lifecycle ski_location_lifecycle = {
    .absence_ended     = location_absence_ended,
    .element_deleted   = location_element_deleted,
    .collection_ended  = location_free_records,
    .collection_freed  = location_free_records,
    .collection_report = location_report,
    .late              = (const uint32_t[]){SKI_HANDLER_LOCATION, SKI_HANDLER_FORWARD_PROBE,
                                            SKI_HANDLER_FORWARD_PROBED, SKI_HANDLER_ROUTE_MARKER,
                                            SKI_HANDLER_ROUTE_CLEAR, 0},
};
