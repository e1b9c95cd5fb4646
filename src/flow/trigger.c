/* SPDX-License-Identifier: Apache-2.0 */
/* trigger.c - see trigger.h. */
#include "flow/trigger.h"

#include "base/memory.h"
#include "flow/reference.h"

struct skua_flow_index {
    struct ski_references messages, waits;
};

static struct skua_flow_index *index_of(skua_trigger *trigger)
{
    if (!trigger->index)
        trigger->index = ski_calloc(1, sizeof *trigger->index);
    return trigger->index;
}

static bool messages_indexed(const skua_trigger *trigger)
{
    return trigger->index && trigger->index->messages.slot;
}

static bool waits_indexed(const skua_trigger *trigger)
{
    return trigger->index && trigger->index->waits.slot;
}

static void drop_index(skua_trigger *trigger, struct ski_references *all)
{
    ski_references_destroy(all);
    if (messages_indexed(trigger) || waits_indexed(trigger))
        return;
    free(trigger->index);
    trigger->index = NULL;
}

/* Take out what was the last of its reference. */
static void drop_list(skua_trigger *trigger, struct ski_references *all, struct ski_reference *list)
{
    ski_reference_remove(all, list);
    if (all->lists == 0)
        drop_index(trigger, all);
}

void ski_trigger_destroy(skua_trigger *trigger)
{
    if (!trigger->index)
        return;
    ski_references_destroy(&trigger->index->messages);
    ski_references_destroy(&trigger->index->waits);
    free(trigger->index);
    trigger->index = NULL;
}

/* ---- messages --------------------------------------------------------------------------- */

static void chain(struct ski_references *all, skua_msg *msg)
{
    struct ski_reference *list = ski_reference_add(all, ski_kept_reference(msg));

    msg->kept.same = NULL;
    if (list->first)
        ((skua_msg *)list->last)->kept.same = msg;
    else
        list->first = msg;
    list->last = msg;
}

static void index_messages(skua_trigger *trigger)
{
    struct ski_references *all = &index_of(trigger)->messages;

    for (skua_msg *msg = trigger->first; msg; msg = msg->link)
        chain(all, msg);
}

void ski_kept_add(skua_trigger *trigger, skua_msg *msg)
{
    msg->link          = NULL;
    msg->kept.previous = trigger->last;
    if (trigger->first)
        trigger->last->link = msg;
    else
        trigger->first = msg;
    trigger->last = msg;
    if (messages_indexed(trigger))
        chain(&trigger->index->messages, msg);
}

/* From @p msg on, the first of a reference; makes an index rather than go far. */
static skua_msg *walk(skua_trigger *trigger, skua_msg *msg, int64_t reference, bool *far)
{
    unsigned steps = 0;

    while (msg && ski_kept_reference(msg) != reference && steps++ < SKI_FLOW_FEW)
        msg = msg->link;
    *far = msg && ski_kept_reference(msg) != reference;
    if (*far)
        index_messages(trigger);
    return msg;
}

skua_msg *ski_kept_first(skua_trigger *trigger, const skua_wait *wait)
{
    struct ski_reference *list;
    bool                  far = true;

    if (wait->any || !trigger->first)
        return trigger->first;
    if (!messages_indexed(trigger)) {
        skua_msg *msg = walk(trigger, trigger->first, wait->reference, &far);

        if (!far)
            return msg;
    }
    list = ski_reference_find(&trigger->index->messages, wait->reference);
    return list ? list->first : NULL;
}

skua_msg *ski_kept_next(skua_trigger *trigger, const skua_wait *wait, const skua_msg *msg)
{
    bool far = true;

    if (wait->any)
        return msg->link;
    if (!messages_indexed(trigger)) {
        skua_msg *next = walk(trigger, msg->link, wait->reference, &far);

        if (!far)
            return next;
    }
    return msg->kept.same;
}

void ski_kept_take(skua_trigger *trigger, skua_msg *msg)
{
    if (msg->kept.previous)
        msg->kept.previous->link = msg->link;
    else
        trigger->first = msg->link;
    if (msg->link)
        msg->link->kept.previous = msg->kept.previous;
    else
        trigger->last = msg->kept.previous;
    if (messages_indexed(trigger)) {
        struct ski_references *all  = &trigger->index->messages;
        struct ski_reference  *list = ski_reference_find(all, ski_kept_reference(msg));

        list->first = msg->kept.same;
        if (!list->first)
            drop_list(trigger, all, list);
    }
}

/* ---- waits -------------------------------------------------------------------------------- */

/* To the end of the list of its reference; its age stays. */
static void wait_by_reference(struct ski_references *all, skua_wait *wait)
{
    struct ski_reference *list = ski_reference_add(all, wait->reference);
    skua_wait            *last = list->last;

    wait->next     = NULL;
    wait->previous = list->first ? last : NULL;
    if (list->first)
        last->next = wait;
    else
        list->first = wait;
    list->last = wait;
}

void ski_wait_add(skua_trigger *trigger, skua_wait *wait)
{
    if (wait->any || !waits_indexed(trigger)) {
        skua_flow_wait(trigger, wait);
    } else {
        wait->age = ++wait->strand->flow->age;
        wait_by_reference(&trigger->index->waits, wait);
    }
}

/* Out of a list whose ends are at @p first and @p last. */
static void unlink_wait(skua_wait *wait, skua_wait **first, skua_wait **last)
{
    if (wait->previous)
        wait->previous->next = wait->next;
    else
        *first = wait->next;
    if (wait->next)
        wait->next->previous = wait->previous;
    else
        *last = wait->previous;
}

static void remove_by_reference(skua_trigger *trigger, skua_wait *wait)
{
    struct ski_references *all   = &trigger->index->waits;
    struct ski_reference  *list  = ski_reference_find(all, wait->reference);
    skua_wait             *first = list->first;
    skua_wait             *last  = list->last;

    unlink_wait(wait, &first, &last);
    list->first = first;
    list->last  = last;
    if (!first)
        drop_list(trigger, all, list);
}

void ski_wait_remove(skua_trigger *trigger, skua_wait *wait)
{
    if (wait->any || !waits_indexed(trigger))
        unlink_wait(wait, &trigger->waits, &trigger->waits_last);
    else
        remove_by_reference(trigger, wait);
}

/* Those for a reference move to lists of their own, unless there are none. */
static void index_waits(skua_trigger *trigger)
{
    struct ski_references *all = &index_of(trigger)->waits;
    skua_wait             *next;

    for (skua_wait *wait = trigger->waits; wait; wait = next) {
        next = wait->next;
        if (wait->any)
            continue;
        unlink_wait(wait, &trigger->waits, &trigger->waits_last);
        wait_by_reference(all, wait);
    }
    if (!all->slot)
        drop_index(trigger, all);
}

/* Where a search goes on in a list that begins with @p wait. */
static skua_wait *younger(skua_wait *wait, uint64_t age)
{
    while (wait && wait->age <= age)
        wait = wait->next;
    return wait;
}

static void search_index(struct ski_search *search)
{
    struct ski_reference *list =
        ski_reference_find(&search->trigger->index->waits, search->reference);

    search->here = younger(search->trigger->waits, search->age);
    search->same = younger(list ? list->first : NULL, search->age);
}

void ski_search_begin(struct ski_search *search, skua_trigger *trigger, int64_t reference)
{
    *search =
        (struct ski_search){trigger, reference, trigger->waits, NULL, 0, 0, waits_indexed(trigger)};
    if (search->indexed)
        search_index(search);
}

/* The next of the one list that may have it. */
static skua_wait *search_here(struct ski_search *search)
{
    skua_wait *wait = search->here;

    while (wait && !wait->any && wait->reference != search->reference) {
        wait = wait->next;
        search->steps++;
    }
    return wait;
}

skua_wait *ski_search_next(struct ski_search *search)
{
    skua_wait *found;

    search->here = search_here(search);
    if (search->steps++ > SKI_FLOW_FEW && !search->indexed) {
        search->indexed = true;
        index_waits(search->trigger);
        if (waits_indexed(search->trigger))
            search_index(search);
    }
    found = search->here;
    if (search->same && (!found || search->same->age < found->age)) {
        found        = search->same;
        search->same = found->next;
    } else if (found) {
        search->here = found->next;
    }
    if (found)
        search->age = found->age;
    return found;
}
