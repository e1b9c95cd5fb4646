/* SPDX-License-Identifier: Apache-2.0 */
/* when_entry.c - see when_entry.h. */
#include "flow/when_entry.h"

#include "base/assert.h"
#include "base/memory.h"
#include "flow/refnum_index.h"

struct skuac_flow_index {
    struct ski_refnum_index messages, waits;
};

static struct skuac_flow_index *when_make_index(skuac_when *entry)
{
    if (!entry->index)
        entry->index = ski_calloc(1, sizeof *entry->index);
    return entry->index;
}

static bool when_messages_indexed(const skuac_when *entry)
{
    return entry->index && entry->index->messages.slot;
}

static bool when_waits_indexed(const skuac_when *entry)
{
    return entry->index && entry->index->waits.slot;
}

static void when_drop_index(skuac_when *entry, struct ski_refnum_index *index)
{
    ski_refnum_index_destroy(index);
    if (when_messages_indexed(entry) || when_waits_indexed(entry))
        return;
    free(entry->index);
    entry->index = NULL;
}

/* Removes a list that has become empty, and with the last list the index. */
static void when_drop_list(skuac_when *entry, struct ski_refnum_index *index,
                           struct ski_refnum_list *list)
{
    ski_assert(!list->first);
    ski_refnum_remove(index, list);
    if (index->lists == 0)
        when_drop_index(entry, index);
}

void ski_when_destroy(skuac_when *entry)
{
    if (!entry->index)
        return;
    ski_refnum_index_destroy(&entry->index->messages);
    ski_refnum_index_destroy(&entry->index->waits);
    free(entry->index);
    entry->index = NULL;
}

/* ---- buffered messages -------------------------------------------------------------------- */

static void when_chain_message(struct ski_refnum_index *index, skua_msg *msg)
{
    struct ski_refnum_list *list = ski_refnum_add(index, ski_when_refnum(msg));

    msg->kept.same = NULL;
    if (list->first)
        ((skua_msg *)list->last)->kept.same = msg;
    else
        list->first = msg;
    list->last = msg;
}

static void when_index_messages(skuac_when *entry)
{
    struct ski_refnum_index *index = &when_make_index(entry)->messages;

    ski_assert(!index->slot);
    for (skua_msg *msg = entry->first; msg; msg = msg->link)
        when_chain_message(index, msg);
}

void ski_when_buffer(skuac_when *entry, skua_msg *msg)
{
    msg->link          = NULL;
    msg->kept.previous = entry->last;
    if (entry->first)
        entry->last->link = msg;
    else
        entry->first = msg;
    entry->last = msg;
    if (when_messages_indexed(entry))
        when_chain_message(&entry->index->messages, msg);
}

/* Returns the first message with @p reference from @p msg on.  If that is too far away, builds the
 * index instead and sets *far. */
static skua_msg *when_walk_messages(skuac_when *entry, skua_msg *msg, int64_t reference, bool *far)
{
    unsigned steps = 0;

    while (msg && ski_when_refnum(msg) != reference && steps++ < SKI_WHEN_STEPS_MAX)
        msg = msg->link;
    *far = msg && ski_when_refnum(msg) != reference;
    if (*far)
        when_index_messages(entry);
    return msg;
}

skua_msg *ski_when_first(skuac_when *entry, const skuac_wait *wait)
{
    struct ski_refnum_list *list;
    bool                    far = true;

    if (wait->any || !entry->first)
        return entry->first;
    if (!when_messages_indexed(entry)) {
        skua_msg *msg = when_walk_messages(entry, entry->first, wait->reference, &far);

        if (!far)
            return msg;
    }
    list = ski_refnum_find(&entry->index->messages, wait->reference);
    return list ? list->first : NULL;
}

skua_msg *ski_when_next(skuac_when *entry, const skuac_wait *wait, const skua_msg *msg)
{
    bool far = true;

    if (wait->any)
        return msg->link;
    ski_assert(ski_when_refnum(msg) == wait->reference);
    if (!when_messages_indexed(entry)) {
        skua_msg *next = when_walk_messages(entry, msg->link, wait->reference, &far);

        if (!far)
            return next;
    }
    return msg->kept.same;
}

void ski_when_unbuffer(skuac_when *entry, skua_msg *msg)
{
    if (msg->kept.previous)
        msg->kept.previous->link = msg->link;
    else
        entry->first = msg->link;
    if (msg->link)
        msg->link->kept.previous = msg->kept.previous;
    else
        entry->last = msg->kept.previous;
    if (when_messages_indexed(entry)) {
        struct ski_refnum_index *index = &entry->index->messages;
        struct ski_refnum_list  *list  = ski_refnum_find(index, ski_when_refnum(msg));

        ski_assert(list && list->first == msg); /* the oldest of its reference number */
        list->first = msg->kept.same;
        if (!list->first)
            when_drop_list(entry, index, list);
    }
}

/* ---- waits -------------------------------------------------------------------------------- */

/* Appends @p wait to the list of its reference number; keeps its age. */
static void when_chain_wait(struct ski_refnum_index *index, skuac_wait *wait)
{
    struct ski_refnum_list *list = ski_refnum_add(index, wait->reference);
    skuac_wait             *last = list->last;

    ski_assert(!wait->any);
    ski_assert(!list->first || last->age < wait->age);
    wait->next     = NULL;
    wait->previous = list->first ? last : NULL;
    if (list->first)
        last->next = wait;
    else
        list->first = wait;
    list->last = wait;
}

void ski_when_add_wait(skuac_when *entry, skuac_wait *wait)
{
    if (wait->any || !when_waits_indexed(entry)) {
        skuac_flow_wait(entry, wait);
    } else {
        wait->age = ++wait->frame->flow->age;
        when_chain_wait(&entry->index->waits, wait);
    }
}

/* Unlinks @p wait from the list with the ends @p first and @p last. */
static void when_unlink_wait(skuac_wait *wait, skuac_wait **first, skuac_wait **last)
{
    ski_assert(wait->previous || *first == wait);
    ski_assert(wait->next || *last == wait);
    if (wait->previous)
        wait->previous->next = wait->next;
    else
        *first = wait->next;
    if (wait->next)
        wait->next->previous = wait->previous;
    else
        *last = wait->previous;
}

static void when_remove_indexed(skuac_when *entry, skuac_wait *wait)
{
    struct ski_refnum_index *index = &entry->index->waits;
    struct ski_refnum_list  *list  = ski_refnum_find(index, wait->reference);
    skuac_wait              *first = list->first;
    skuac_wait              *last  = list->last;

    when_unlink_wait(wait, &first, &last);
    list->first = first;
    list->last  = last;
    if (!first)
        when_drop_list(entry, index, list);
}

void ski_when_remove_wait(skuac_when *entry, skuac_wait *wait)
{
    if (wait->any || !when_waits_indexed(entry))
        when_unlink_wait(wait, &entry->waits, &entry->waits_last);
    else
        when_remove_indexed(entry, wait);
}

/* Moves the waits with a reference number to the index, which is dropped if there are none. */
static void when_index_waits(skuac_when *entry)
{
    struct ski_refnum_index *index = &when_make_index(entry)->waits;
    skuac_wait              *next;

    for (skuac_wait *wait = entry->waits; wait; wait = next) {
        next = wait->next;
        if (wait->any)
            continue;
        when_unlink_wait(wait, &entry->waits, &entry->waits_last);
        when_chain_wait(index, wait);
    }
    if (!index->slot)
        when_drop_index(entry, index);
}

/* Returns the first wait from @p wait on that is younger than @p age. */
static skuac_wait *when_younger(skuac_wait *wait, uint64_t age)
{
    while (wait && wait->age <= age)
        wait = wait->next;
    return wait;
}

static void when_search_index(struct ski_when_search *search)
{
    struct ski_refnum_list *list = ski_refnum_find(&search->entry->index->waits, search->reference);

    search->here = when_younger(search->entry->waits, search->age);
    search->same = when_younger(list ? list->first : NULL, search->age);
}

void ski_when_search_begin(struct ski_when_search *search, skuac_when *entry, int64_t reference)
{
    *search = (struct ski_when_search){
        entry, reference, entry->waits, NULL, 0, 0, when_waits_indexed(entry)};
    if (search->indexed)
        when_search_index(search);
}

/* Returns the next match in the list of the when-entry. */
static skuac_wait *when_search_list(struct ski_when_search *search)
{
    skuac_wait *wait = search->here;

    while (wait && !wait->any && wait->reference != search->reference) {
        wait = wait->next;
        search->steps++;
    }
    return wait;
}

skuac_wait *ski_when_search_next(struct ski_when_search *search)
{
    skuac_wait *found;

    search->here = when_search_list(search);
    if (search->steps++ > SKI_WHEN_STEPS_MAX && !search->indexed) {
        search->indexed = true;
        when_index_waits(search->entry);
        if (when_waits_indexed(search->entry))
            when_search_index(search);
    }
    found = search->here;
    if (search->same && (!found || search->same->age < found->age)) {
        found        = search->same;
        search->same = found->next;
    } else if (found) {
        search->here = found->next;
    }
    if (found) {
        ski_assert(found->age > search->age);
        search->age = found->age;
    }
    return found;
}
