/* SPDX-License-Identifier: Apache-2.0 */
/* location.c - see location.h. */
#include "objects/location/location.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "core/sched/wait_report.h"
#include "objects/location/forward_window.h"
#include "objects/location/hold.h"
#include "objects/location/lookup.h"
#include "objects/model/object.h"
#include "objects/model/seqnum.h"

#define TOMBSTONES_MIN 1024  /* tombstones that are kept, or as many as there are elements */
#define HINTS_MIN      65536 /* hints that are kept, or a few times as many                */

/* ---- records ------------------------------------------------------------------------ */

/* Sends messages that wait for an element to PE @p pe, before anything that comes later. */
static void location_release(struct ski_pe *self, struct ski_list *held, int pe)
{
    struct skua_msg *msg;

    ski_assert((unsigned)pe < (unsigned)self->pes);
    if (pe == self->pe)
        ski_msg_unhold(self, held);
    while ((msg = ski_list_pop(held))) {
        self->held--;
        ski_msg_forward(self, pe, msg);
    }
}

/* Frees a record, with the messages that wait there: they count as received. */
static void location_free_record(struct ski_collection *all, struct ski_absent *absent)
{
    ski_forward_window_free(absent);
    all->holding -= absent->object != NULL;
    absent->object = NULL; /* it is destroyed with its collection */
    ski_held_discard(all->self, &absent->direct);
    ski_held_discard(all->self, &absent->held);
    ski_held_discard(all->self, &absent->kept);
    ski_absent_free(all, absent);
}

static void location_free_records(struct ski_collection *all)
{
    for (uint64_t i = 0; all->directory.slot && i <= all->directory.mask; i++) {
        struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);

        if (absent)
            location_free_record(all, absent);
    }
    ski_held_discard(all->self, &all->behind);
    ski_absent_free_spares(all);
    free(all->sent_home);
    all->sent_home      = NULL;
    all->sent_home_bits = 0;
}

/* Drops a record of which only the route remains, to the home. */
static void location_forget(struct ski_collection *all, struct ski_absent *absent)
{
    ski_lookup_note(all, &absent->index);
    ski_directory_set(&all->directory, &absent->index, 0);
    location_free_record(all, absent);
}

void ski_location_release_unknown(struct ski_collection *all)
{
    for (uint64_t i = 0; i <= all->directory.mask; i++) {
        struct ski_absent *absent = ski_directory_absent(all->directory.slot[i].value);

        if (absent && (absent->pe == SKI_ABSENT_UNKNOWN || absent->pe == SKI_ABSENT_DELETED))
            location_release(all->self, &absent->held, all->self->pe);
    }
}

static bool location_is_tombstone(const struct ski_collection *all, const struct ski_absent *absent)
{
    (void)all;
    return absent->pe == SKI_ABSENT_DELETED && !absent->held.first && !absent->changing;
}

static bool location_is_hint(const struct ski_collection *all, const struct ski_absent *absent)
{
    return absent->pe >= 0 && !absent->held.first && !absent->changing &&
           ski_home(all, &absent->index) != all->self->pe;
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
        if (found[i]->route >= 0 || found[i]->forwarded)
            ski_lookup_note(all, &found[i]->index);
        ski_directory_set(&all->directory, &found[i]->index, 0);
        location_free_record(all, found[i]);
    }
    free(found);
    return count;
}

/* Drops tombstones once they outnumber the elements here; and hints, whose elements may be
 * destroyed by now without this PE hearing of it. */
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

/* Returns whether an update says more than the record of an absent element. */
static bool location_is_news(const struct ski_absent          *absent,
                             const struct ski_location_update *update)
{
    if (ski_seqnum_before(update->moves, absent->moves) || ski_absent_expected(absent))
        return false;
    /* After the last migration it can only have been destroyed. */
    return absent->pe != SKI_ABSENT_DELETED || update->pe < 0 || update->moves != absent->moves;
}

/* The element was destroyed: messages that wait for it create it again, or are in error. */
static void location_end_forwarding(struct ski_pe *self, struct ski_absent *absent)
{
    bool forwards = absent->forward;

    ski_forward_window_free(absent);
    if (forwards)
        ski_msg_unhold(self, &absent->held);
}

void ski_location_update(struct ski_collection *all, const skua_index *index,
                         const struct ski_location_update *update)
{
    struct ski_absent *absent;
    bool               known, same;

    ski_assert(update->pe < all->self->pes && update->pe >= SKI_ABSENT_DELETED);
    if (ski_element_here(all, index)) /* it has come, or come back, since */
        return;
    if (update->pe == all->self->pe) /* it was destroyed since, or has not arrived yet */
        return;
    location_limit_records(all);
    all->hints += !ski_absent_find(all, index);
    absent = ski_absent_get(all, index);
    if (!location_is_news(absent, update))
        return;
    all->tombstones += (uint32_t)(update->pe == SKI_ABSENT_DELETED);
    all->tombstones -= (uint32_t)(absent->pe == SKI_ABSENT_DELETED);
    known          = absent->pe >= 0;
    same           = absent->pe == update->pe && absent->moves == update->moves;
    absent->checks = update->pe >= 0 ? 0 : absent->checks;
    absent->pe     = update->pe;
    absent->moves  = update->moves;
    all->directory.version++;
    if (known && update->pe >= 0)
        ski_forward_window_moved(all, absent, same);
    else if (update->pe >= 0 && ski_home(all, index) == all->self->pe)
        ski_forward_window_release(all, absent);
    else if (update->pe >= 0)
        location_release(all->self, &absent->held, update->pe);
    else
        location_end_forwarding(all->self, absent);
}

void ski_location_set(struct ski_collection *all, struct ski_absent *absent,
                      const struct ski_location_update *at)
{
    ski_assert(absent->pe == SKI_ABSENT_CLAIMED && !absent->object && !absent->changing);
    absent->pe    = SKI_ABSENT_UNKNOWN;
    absent->moves = at->moves; /* whatever was recorded: the home may have forgotten more */
    absent->route = SKI_ROUTE_NONE;
    all->directory.version++;
    if (at->pe >= 0 && at->pe != all->self->pe) {
        absent->route = absent->held.first ? at->pe : SKI_ROUTE_NONE;
        ski_location_update(all, &absent->index, at);
        return;
    }
    location_release(all->self, &absent->held, ski_home(all, &absent->index));
    location_forget(all, absent);
}

void ski_location_clear(struct ski_collection *all, struct ski_absent *absent,
                        const struct ski_location_update *at)
{
    int home = ski_home(all, &absent->index), to;

    ski_assert(absent->changing && !ski_absent_expected(absent));
    if (at && at->pe >= 0) {
        ski_location_update(all, &absent->index, at); /* unless this PE has heard more since */
    } else if (at && home != all->self->pe) {
        all->tombstones -= (uint32_t)(absent->pe == SKI_ABSENT_DELETED);
        absent->pe = SKI_ABSENT_UNKNOWN; /* whatever was recorded: the home knows of no element */
    }
    absent->changing = absent->own = false; /* not before: records that change are not dropped */
    absent->route                  = SKI_ROUTE_NONE;
    all->directory.version++;
    to = absent->pe >= 0 ? absent->pe : home;
    if (to != all->self->pe && absent->kept.first)
        absent->route = to;
    location_release(all->self, &absent->kept, to);
    if (absent->pe == SKI_ABSENT_UNKNOWN && home != all->self->pe)
        location_forget(all, absent);
}

/* The messages of this PE to the element are in its queue: they went no other way while the element
 * was here. */
struct ski_absent *ski_location_left(struct ski_collection *all, const skua_index *index,
                                     const struct ski_location_update *update)
{
    struct ski_absent *absent;

    ski_assert(ski_element_here(all, index) && update->pe != all->self->pe);
    location_limit_records(all);
    /* An element that holds messages has a record. */
    absent = SKI_UNLIKELY(all->holding) ? ski_absent_get(all, index) : ski_absent_enter(all, index);
    ski_assert(absent->pe == (absent->object ? SKI_ABSENT_HOLDING : SKI_ABSENT_UNKNOWN));
    all->holding -= absent->object != NULL;
    absent->object = NULL;
    absent->asked  = false;
    absent->pe     = update->pe;
    absent->moves  = update->moves;
    if (!absent->changing)
        absent->route = update->pe >= 0 ? all->self->pe : SKI_ROUTE_NONE;
    all->directory.version++;
    all->hints++;
    all->tombstones += (uint32_t)(update->pe == SKI_ABSENT_DELETED);
    return absent;
}

/* ---- elements come and go ----------------------------------------------------------- */

static void location_absence_ended(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(absent->pe != SKI_ABSENT_DELETED || all->tombstones > 0);
    if (SKI_UNLIKELY(absent->pe == SKI_ABSENT_HOLDING)) {
        ski_hold_enter(all, absent);
        return;
    }
    ski_assert(!absent->changing && !absent->kept.first);
    all->tombstones -= absent->pe == SKI_ABSENT_DELETED;
    if (SKI_UNLIKELY(absent->forward || absent->held.first)) {
        ski_forward_window_arrived(all, absent);
        ski_forward_window_free(absent);
    }
    ski_absent_free(all, absent);
}

/* Leaves tombstones of a destroyed element, here and at its home. */
static void location_element_deleted(struct ski_object *object)
{
    struct ski_collection     *all = object->of;
    struct ski_absent         *absent;
    skua_index                 index  = ski_object_index_get(object);
    struct ski_location_update update = {SKI_ABSENT_DELETED, object->moves};
    int                        home   = ski_home(all, &index);

    ski_assert(ski_element_here(all, &index) == object);
    absent = ski_location_left(all, &index, &update); /* also elsewhere: older ones are ignored */
    if (home != all->self->pe)
        ski_location_send(all, home, &index, &update);
    if (SKI_UNLIKELY(ski_absent_waits(absent)))
        ski_hold_deleted(all, absent);
    if (SKI_UNLIKELY(all->behind.first)) /* those for other elements are kept again */
        ski_msg_unhold(all->self, &all->behind);
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

static size_t location_count(const struct ski_list *list)
{
    size_t count = 0;

    for (const skua_msg *msg = list->first; msg; msg = msg->link)
        count++;
    return count;
}

/* Returns how many messages wait for an element that does not exist, or for one whose PE is not
 * known, or which has not arrived yet (@p known). */
static size_t location_waiting(const struct ski_absent *absent, bool known)
{
    bool expected = ski_absent_expected(absent);

    return (known == expected ? location_count(&absent->held) : 0) +
           (known ? location_count(&absent->kept) + location_count(&absent->direct) : 0);
}

/* Appends how many messages are held for elements: @p why. */
static void location_report_held(struct ski_collection *all, struct ski_text *text, bool known,
                                 const char *why)
{
    const struct ski_absent *first    = NULL;
    size_t                   elements = 0, messages = 0;

    for (uint64_t i = 0; all->directory.slot && i <= all->directory.mask; i++) {
        const struct ski_absent *absent  = ski_directory_absent(all->directory.slot[i].value);
        size_t                   waiting = absent ? location_waiting(absent, known) : 0;

        if (!waiting)
            continue;
        first = first ? first : absent;
        elements++;
        messages += waiting;
    }
    if (elements)
        ski_text_item(text, "%zu messages are held for %zu objects %s, such as %s", messages,
                      elements, why, ski_element_text(all, &first->index));
}

static void location_report(struct ski_collection *all, struct ski_text *text)
{
    location_report_held(all, text, false, "that do not exist");
    location_report_held(all, text, true, "until their PE is known");
    if (all->behind.first)
        ski_text_item(text, "%zu messages are held for objects of %s that are being destroyed",
                      location_count(&all->behind), all->class->def.name);
}

const struct ski_lifecycle ski_location_lifecycle = {
    .absence_ended     = location_absence_ended,
    .element_deleted   = location_element_deleted,
    .collection_ended  = location_free_records,
    .collection_freed  = location_free_records,
    .collection_report = location_report,
    .late              = (const uint32_t[]){SKI_HANDLER_LOCATION, SKI_HANDLER_FORWARD_PROBE,
                                            SKI_HANDLER_FORWARD_PROBED, SKI_HANDLER_ROUTE_MARKER,
                                            SKI_HANDLER_ROUTE_CLEAR, SKI_HANDLER_HOLD_REPORT,
                                            SKI_HANDLER_HOLD_FLUSHED, 0},
};
