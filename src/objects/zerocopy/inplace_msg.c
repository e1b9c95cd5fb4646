/* SPDX-License-Identifier: Apache-2.0 */
/* inplace_msg.c - see inplace_msg.h. */
#include "objects/zerocopy/inplace_msg.h"

#include "base/assert.h"
#include "core/message/addr_tag.h"

skua_msg *ski_inplace_new(const struct ski_inplace *like, const void *head, size_t room)
{
    skua_msg           *msg     = skua_msg_alloc(ski_inplace_bytes_before(like) + room);
    struct ski_inplace *inplace = ski_inplace_of(msg);

    ski_assert(room == 0 || room == like->bytes);
    *inplace = *like;
    if (like->head)
        memcpy(ski_inplace_head(inplace), head, like->head);
    return msg;
}

const skua_layout *ski_inplace_set_view(struct ski_inplace *inplace)
{
    skua_layout *view = ski_inplace_view(inplace);

    if (!inplace->apart) {
        view->kind  = SKUA_LAYOUT_CONTIGUOUS;
        view->at    = ski_inplace_room(inplace);
        view->bytes = inplace->bytes;
    }
    return view;
}

skua_msg *ski_inplace_copy(const skua_msg *msg)
{
    struct ski_inplace *from = ski_inplace_of(msg), *to;
    skua_msg           *copy = ski_inplace_new(from, ski_inplace_head(from), from->bytes);
    skua_layout         room;

    to        = ski_inplace_of(copy);
    to->apart = 0;
    to->whole = NULL;
    room      = skua_layout_contiguous(ski_inplace_room(to), to->bytes);
    skua_layout_copy(&room, ski_inplace_set_view(from));
    return copy;
}

/* A copy has the tag where another message has the address of its copy. */
static skua_msg *inplace_msg_copy_tag(const skua_msg *whole, const skua_msg *msg)
{
    return (skua_msg *)(uintptr_t)ski_addr_tag(ski_self->job, SKI_TAG_INPLACE_COPY, 0,
                                               (uintptr_t)whole, (uintptr_t)msg);
}

void ski_inplace_tag_copy(skua_msg *whole, const skua_msg *msg)
{
    ski_assert(!ski_inplace_of(whole)->apart);
    ski_inplace_of(whole)->whole = inplace_msg_copy_tag(whole, msg);
}

/* A message from another host cannot contain the address of a copy that was made for it. */
bool ski_inplace_is_copy(const skua_msg *whole, const skua_msg *msg)
{
    return ski_addr_tag_readable(ski_self->job, whole,
                                 sizeof *whole + sizeof(struct ski_inplace)) &&
           ski_addr_tag_peek(&ski_inplace_of(whole)->whole) ==
               (uintptr_t)inplace_msg_copy_tag(whole, msg);
}
