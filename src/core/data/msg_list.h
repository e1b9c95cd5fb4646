/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_list.h - a FIFO of messages, linked through their headers.
 *
 * `last` points at the link that the next message goes into, so that pushing one never branches.  A
 * list must therefore not be moved in memory.
 */
#ifndef SKI_MSG_LIST_H
#define SKI_MSG_LIST_H

#include <stddef.h>

#include "base/assert.h"
#include "core/data/msg.h"

/* Messages, the oldest first. */
struct ski_list {
    struct skua_msg  *first;
    struct skua_msg **last;
};

/** Makes @p list empty. */
static inline void ski_list_init(struct ski_list *list)
{
    list->first = NULL;
    list->last  = &list->first;
}

/** Appends @p msg. */
static inline void ski_list_push(struct ski_list *list, struct skua_msg *msg)
{
    ski_assert(list->last && !*list->last);
    msg->link   = NULL;
    *list->last = msg;
    list->last  = &msg->link;
}

/** Moves all messages of @p other before those of @p list. */
static inline void ski_list_prepend(struct ski_list *list, struct ski_list *other)
{
    if (!other->first)
        return;
    *other->last = list->first;
    if (!list->first)
        list->last = other->last;
    list->first = other->first;
    ski_list_init(other);
}

/** Removes and returns the oldest message; NULL: the list is empty. */
static inline struct skua_msg *ski_list_pop(struct ski_list *list)
{
    struct skua_msg *msg = list->first;

    if (!msg)
        return NULL;
    list->first = msg->link;
    if (!list->first)
        list->last = &list->first;
    return msg;
}

#endif
