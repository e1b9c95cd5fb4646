/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_list.h - messages in a row, chained through their headers: first in, first out.
 *
 * `last` points at the link that the next message goes into, so adding one
 * never branches; a list must therefore not be moved.
 */
#ifndef SKI_MSG_LIST_H
#define SKI_MSG_LIST_H

#include <stddef.h>

#include "core/data/msg.h"

struct ski_list {
    struct skua_msg  *first;
    struct skua_msg **last;
};

static inline void ski_list_init(struct ski_list *list)
{
    list->first = NULL;
    list->last  = &list->first;
}

static inline void ski_list_push(struct ski_list *list, struct skua_msg *msg)
{
    msg->link   = NULL;
    *list->last = msg;
    list->last  = &msg->link;
}

/** Put what @p other has before all that @p list has; @p other is empty then. */
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

/** The oldest message, taken out; or NULL. */
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
