/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_reduction_lifecycle.c - what the life cycle of elements and collections means for
 * reductions (array_reduction.h): which elements are expected to contribute, and where
 * contributions are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "objects/collective/array_partial.h"
#include "objects/collective/array_reduction.h"
#include "objects/location/insertion.h"
#include "objects/model/element.h"
#include "objects/model/seqnum.h"

/* Reductions that an element and a PE may be apart. */
#define ARRAY_REDUCTION_AHEAD_MAX (UINT32_C(1) << 16)

/* What no element and no reduction are apart, nor those that are in flight. */
#define ARRAY_REDUCTION_NEVER (UINT32_C(1) << 30)

/* ---- elements come and go -------------------------------------------------------------------- */

static void array_reduction_element_created(struct ski_object *object)
{
    object->of->reduction->expected++;
}

static void array_reduction_insertion_begun(struct ski_collection *all, struct ski_account *account)
{
    all->reduction->expected++;
    account->next_reduction = all->reduction->first;
}

/* Adds @p by to the counts of the unreported reductions that an element has contributed to. */
static void array_reduction_count_done(struct ski_object *object, uint32_t by)
{
    struct ski_array_reduction    *r  = object->of->reduction;
    struct ski_reduction_partial **at = &r->partials;

    for (uint32_t n = r->first; ski_seqnum_before(n, object->next_reduction); n++) {
        at = ski_array_partial_seek(at, n);
        ski_assert(by == 1 || ski_array_partial_of(*at)->done > 0);
        ski_array_partial_of(*at)->done += by;
    }
}

/* Ends the contributions of an element that is counted out, or packed: the number is that of no
 * reduction here, so skua_contribute() takes the slow path, which reports the misuse. */
static void array_reduction_bar(struct ski_object *object)
{
    object->next_reduction = object->of->reduction->first + ARRAY_REDUCTION_NEVER;
}

static void array_reduction_element_deleted(struct ski_object *object)
{
    struct ski_collection      *all = object->of;
    struct ski_array_reduction *r   = all->reduction;

    array_reduction_count_done(object, UINT32_MAX); /* modulo 2^32: one less */
    if (ski_seqnum_before(r->first, object->next_reduction))
        ski_array_partial_get(r, object->next_reduction)->adjust--;
    else
        r->expected--;
    for (uint32_t n = object->next_reduction; ski_seqnum_before(n, r->first); n++)
        ski_array_reduction_send_late(all, n, &(struct ski_array_report){.expected = -1}, NULL, 0);
    array_reduction_bar(object);
}

/* Returns whether an element whose next reduction is @p next may arrive on this PE: the two are not
 * further apart than a correct program gets them. */
static bool array_reduction_in_reach(const struct ski_collection *all, uint32_t next)
{
    uint32_t ahead = next - all->reduction->first;

    return ahead <= ARRAY_REDUCTION_AHEAD_MAX || -ahead <= ARRAY_REDUCTION_AHEAD_MAX;
}

static void array_reduction_enter(struct ski_object *object)
{
    struct ski_collection         *all = object->of;
    struct ski_reduction_partial **at  = &all->reduction->partials;

    array_reduction_count_done(object, 1);
    for (uint32_t n = all->reduction->first; ski_seqnum_before(n, object->next_reduction); n++) {
        at = ski_array_partial_seek(at, n); /* the element has contributed: it has started */
        ski_array_reduction_start(all, ski_array_partial_of(*at));
    }
    ski_array_reduction_advance(all);
}

/* ---- idle report ----------------------------------------------------------------------------- */

/* Returns the first element here that has not contributed to reduction @p number, or NULL. */
static const struct ski_object *array_reduction_find_missing(const struct ski_collection *all,
                                                             uint32_t                     number)
{
    for (uint32_t i = 0; i < all->objects; i++)
        if (all->object[i] && !ski_seqnum_before(number, all->object[i]->next_reduction))
            return all->object[i];
    return NULL;
}

static void array_reduction_idle_report(struct ski_collection *all, struct ski_text *text)
{
    for (struct ski_reduction_partial *at = all->reduction->partials; at; at = at->next) {
        const struct ski_array_partial *partial = ski_array_partial_of(at);
        const struct ski_object        *missing = array_reduction_find_missing(all, at->number);

        if (!partial->started || !missing)
            continue;
        ski_text_item(text, "reduction %u of %s waits for %u of its %u objects here, such as %s",
                      at->number, all->class->def.name, all->live - partial->done, all->live,
                      ski_object_text(missing));
        return;
    }
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void array_reduction_collection_added(struct ski_collection *all)
{
    ski_assert(!all->reduction);
    all->reduction = ski_calloc(1, sizeof *all->reduction);
}

/* No reduction completes any more.  Without partial results, a contribution of an element that is
 * about to be destroyed takes the slow path, which reports it. */
static void array_reduction_collection_ending(struct ski_collection *all)
{
    ski_reduction_list_free(&all->reduction->partials);
}

static void array_reduction_collection_freed(struct ski_collection *all)
{
    ski_reduction_list_free(&all->reduction->partials);
    free(all->reduction);
}

static void array_reduction_element_added(struct ski_object *object)
{
    object->next_reduction = object->of->reduction->first;
}

static void array_reduction_element_arrived(struct ski_object *object, int from)
{
    (void)from;
    array_reduction_enter(object);
}

static void array_reduction_element_inserted(struct ski_object        *object,
                                             const struct ski_account *account)
{
    object->next_reduction = account->next_reduction;
    array_reduction_enter(object);
}

static bool array_reduction_account_valid(const struct ski_collection *all,
                                          const struct ski_account    *account)
{
    return array_reduction_in_reach(all, account->next_reduction);
}

static size_t array_reduction_packed_bytes(const struct ski_object *object)
{
    return sizeof object->next_reduction;
}

static void array_reduction_save(const struct ski_object *object, void *to)
{
    memcpy(to, &object->next_reduction, sizeof object->next_reduction);
}

/* The element leaves.  It is counted out here and not when it has departed, as its class's
 * `destroy`, which may contribute by mistake, runs before that. */
static void array_reduction_pack(struct ski_object *object, void *to)
{
    array_reduction_save(object, to);
    array_reduction_count_done(object, UINT32_MAX);
    array_reduction_bar(object);
}

static bool array_reduction_packed_valid(const struct ski_collection *all, const void *from,
                                         size_t bytes)
{
    uint32_t next;

    if (bytes != sizeof next)
        return false;
    memcpy(&next, from, sizeof next);
    return array_reduction_in_reach(all, next);
}

static void array_reduction_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    ski_assert(bytes == sizeof object->next_reduction);
    memcpy(&object->next_reduction, from, bytes);
}

static const struct ski_baggage array_reduction_baggage = {.least  = sizeof(uint32_t),
                                                           .pack   = array_reduction_pack,
                                                           .valid  = array_reduction_packed_valid,
                                                           .unpack = array_reduction_unpack};

/* Whether the number is valid can only be checked once all reductions are restored
 * (array_reduction_saved.h). */
static const char *array_reduction_restore_part(struct ski_object *object, const void *from,
                                                size_t bytes)
{
    if (bytes != sizeof object->next_reduction)
        return "the number of its next reduction is damaged";
    array_reduction_unpack(object, from, bytes);
    return NULL;
}

static const struct ski_saved_part array_reduction_saved = {
    array_reduction_packed_bytes, array_reduction_save, array_reduction_restore_part, NULL};

const struct ski_lifecycle ski_array_reduction_lifecycle = {
    .collection_added     = array_reduction_collection_added,
    .collection_populated = ski_array_reduction_advance,
    .collection_ending    = array_reduction_collection_ending,
    .collection_freed     = array_reduction_collection_freed,
    .collection_report    = array_reduction_idle_report,
    .element_added        = array_reduction_element_added,
    .element_created      = array_reduction_element_created,
    .element_deleted      = array_reduction_element_deleted,
    .element_removed      = ski_array_reduction_removed,
    .element_arrived      = array_reduction_element_arrived,
    .insertion_begun      = array_reduction_insertion_begun,
    .element_inserted     = array_reduction_element_inserted,
    .account_valid        = array_reduction_account_valid,
    .baggage              = &array_reduction_baggage,
    .saved                = &array_reduction_saved,
};
