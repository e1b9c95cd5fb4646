/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - declarations that the files of this layer share.
 *
 * A *frame* (skuac_frame) is the activation record of a structured entry, or of a branch of it that
 * runs concurrently: its variables, the messages it holds, its waits and its resume point.  It has
 * no stack.
 */
#ifndef SKI_FLOW_H
#define SKI_FLOW_H

#include <skua/skuac_flow.h>

#include "flow/when_entry.h"

struct ski_object;
struct ski_text;

/** Returns the flow of the object @p self. */
static inline skuac_flow *ski_flow_of(const skuac_flow_class *of, void *self)
{
    return (skuac_flow *)(void *)((char *)self + of->at);
}

/** Returns the messages that @p frame holds: an array of frame->type->arrivals. */
static inline skuac_arrival *ski_frame_arrivals(skuac_frame *frame)
{
    return (skuac_arrival *)(void *)(frame + 1);
}

/** Returns @p msg as an arrival, which owns it. */
static inline skuac_arrival ski_flow_arrival(skua_msg *msg)
{
    return (skuac_arrival){skua_msg_data(msg), msg->bytes, msg};
}

/** Returns a zeroed frame at its beginning, linked as the youngest of @p flow. */
skuac_frame *ski_frame_new(skuac_flow *flow, void *self, const skuac_frame_type *type);

/** Returns whether a frame of @p object waits for messages, and appends to @p text, unless it is
 * NULL, for which, and how many others are buffered. */
bool ski_flow_report(const struct ski_object *object, struct ski_text *text);

#endif
