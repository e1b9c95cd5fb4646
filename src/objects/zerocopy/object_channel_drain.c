/* SPDX-License-Identifier: Apache-2.0 */
/* object_channel_drain.c - see object_channel_drain.h. */
#include "objects/zerocopy/object_channel_drain.h"

#include "base/assert.h"
#include "base/memory.h"
#include "objects/zerocopy/object_channel_msg.h"
#include "onesided/channel/channel.h"

/* Returns whether no transfer from or to the buffer of @p end is in progress or may begin. */
static bool object_end_is_drained(const struct ski_object_end *end)
{
    if (end->state.sends)
        return !end->sender || (end->drained && !end->sending);
    return !end->offered && end->state.puts >= end->state.expected;
}

/* Cancels the local completion of a put.  If the completion is about to run, it finds no end. */
static void object_end_forget_due(struct ski_object_end *end)
{
    if (!end->due)
        return;
    if (end->sender->local.kind != skua_done_nothing().kind)
        free(end->due);
    else
        end->due->end = NULL; /* it is about to run */
    end->due = NULL;
}

void ski_object_end_close_sender(struct ski_object_end *end)
{
    end->live = end->drained = end->sending = false;
    if (!end->sender)
        return;
    object_end_forget_due(end);
    end->sender->local = skua_done_nothing();
    skua_channel_close(end->sender);
    end->sender = NULL;
}

/* Stops the transfers of an end: asks the other end for the message that ends them. */
static void object_end_stop(struct ski_object_end *end)
{
    if (end->stopping)
        return;
    end->stopping = true;
    end->live     = false;
    end->kept     = (skua_channel){0}; /* the sender asks anew, wherever it is then */
    if (end->sender)
        ski_object_channel_post(end, SKI_OBJECT_CHANNEL_DRAIN, end->state.peer_epoch);
    else if (end->offered)
        ski_object_channel_post(end, SKI_OBJECT_CHANNEL_STOP, end->state.peer_epoch);
}

/* Sets an end up again, in its next epoch. */
static void object_end_resume(struct ski_object_end *end)
{
    end->stopping = false;
    end->state.epoch++;
    if (end->state.sends)
        ski_object_end_close_sender(end);
    if (end->state.over || !end->state.bound)
        return;
    if (end->state.sends)
        ski_object_channel_post(end, SKI_OBJECT_CHANNEL_OPEN, end->state.peer_epoch);
    else
        ski_object_end_offer(end);
}

static bool object_ends_are_drained(const struct ski_object_ends *ends)
{
    for (const struct ski_object_end *end = ends->first; end; end = end->next)
        if (end->stopping && !object_end_is_drained(end))
            return false;
    return true;
}

/* Sets the ends of an object up again if it stays after all. */
static void object_ends_resume(struct ski_object_ends *ends)
{
    if (ends->object->state == SKI_ALIVE && !ends->draining)
        for (struct ski_object_end *end = ends->first; end; end = end->next)
            if (end->stopping)
                object_end_resume(end);
}

void ski_object_ends_check_drained(struct ski_object_ends *ends)
{
    struct ski_object *object = ends->object;

    if (!ends->draining || !object_ends_are_drained(ends))
        return;
    ends->draining = false;
    object_ends_resume(ends);
    ski_object_ends_release(ends);
    ski_element_leave(object);
}

void ski_object_channel_element_draining(struct ski_object *object)
{
    struct ski_object_ends *ends = ski_object_ends_find(object);

    if (!ends || object->of->state == SKI_ENDED)
        return;
    ski_assert(!ends->draining);
    for (struct ski_object_end *end = ends->first; end; end = end->next)
        object_end_stop(end);
    if (object_ends_are_drained(ends))
        return;
    ends->draining = true;
    ski_element_enter(object);
}

void ski_object_channel_element_staying(struct ski_object *object)
{
    struct ski_object_ends *ends = ski_object_ends_find(object);

    if (ends)
        object_ends_resume(ends);
}

void ski_object_channel_element_blocked(struct ski_object *object)
{
    struct ski_object_ends *ends = ski_object_ends_find(object);

    if (ends && !ends->draining)
        for (struct ski_object_end *end = ends->first; end; end = end->next)
            if (end->stopping)
                object_end_resume(end);
}
