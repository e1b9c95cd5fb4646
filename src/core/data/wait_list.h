/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_list.h - a FIFO of waiters.
 *
 * A list is circular and represented by a pointer to its last entry, so that both ends are reached
 * in one step.  It is a void pointer, NULL if it is empty, since public types contain it.  Entries
 * are on the stacks of the waiters.
 */
#ifndef SKI_WAIT_LIST_H
#define SKI_WAIT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/assert.h"

struct skua_thread;

/* A waiter, on its own stack. */
struct ski_waiter {
    struct ski_waiter  *next;
    struct skua_thread *thread; /* NULL: the PE's own stack waits */
    bool                woken;
};

/** Appends @p waiter, which is in no list. */
static inline void ski_wait_list_append(void **list, struct ski_waiter *waiter)
{
    struct ski_waiter *last = *list;

    ski_assert(!waiter->next && !waiter->woken);
    waiter->next = last ? last->next : waiter;
    if (last)
        last->next = waiter;
    *list = waiter;
}

/** Removes and returns the waiter that came first; NULL: the list is empty. */
static inline struct ski_waiter *ski_wait_list_take(void **list)
{
    struct ski_waiter *last = *list, *first = last ? last->next : NULL;

    if (first == last)
        *list = NULL;
    else
        last->next = first->next;
    return first;
}

/** Removes @p waiter, which is in the list and has given up waiting. */
static inline void ski_wait_list_remove(void **list, struct ski_waiter *waiter)
{
    struct ski_waiter *before = *list;

    ski_assert(before && !waiter->woken);
    while (before->next != waiter)
        before = before->next;
    before->next = waiter->next;
    if (*list == waiter)
        *list = before == waiter ? NULL : before;
}

#endif
