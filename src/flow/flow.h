/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - declarations that the files of this layer share.
 *
 * A *frame* (skua_strand) is the activation record of a structured entry, or of a branch of it that
 * runs concurrently: its variables, the messages it holds, its waits and its resume point.  It has
 * no stack.
 */
#ifndef SKI_FLOW_H
#define SKI_FLOW_H

#include <skua/flow.h>

#include "flow/when_entry.h"

/** Returns the flow of the object @p self. */
static inline skua_flow *ski_flow_of(const skua_flow_class *of, void *self)
{
    return (skua_flow *)(void *)((char *)self + of->at);
}

/** Returns the messages that @p frame holds: an array of frame->type->arrivals. */
static inline skua_arrival *ski_frame_arrivals(skua_strand *frame)
{
    return (skua_arrival *)(void *)(frame + 1);
}

/** Returns @p msg as an arrival, which owns it. */
static inline skua_arrival ski_flow_arrival(skua_msg *msg)
{
    return (skua_arrival){skua_msg_data(msg), msg->bytes, msg};
}

/** Returns a zeroed frame at its beginning, linked as the youngest of @p flow. */
skua_strand *ski_frame_new(skua_flow *flow, void *self, const skua_strand_type *type);

#endif
