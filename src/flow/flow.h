/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h - what the parts of this layer know of each other. */
#ifndef SKI_FLOW_H
#define SKI_FLOW_H

#include <skua/flow.h>

#include "flow/trigger.h"

static inline skua_flow *ski_flow_of(const skua_flow_class *of, void *self)
{
    return (skua_flow *)(void *)((char *)self + of->at);
}

static inline skua_arrival *ski_strand_arrivals(skua_strand *strand)
{
    return (skua_arrival *)(void *)(strand + 1);
}

/** What comes with a message, which is the holder's. */
static inline skua_arrival ski_arrival_of(skua_msg *msg)
{
    return (skua_arrival){skua_msg_data(msg), msg->bytes, msg};
}

/** A strand at its beginning, linked as the youngest, all else of it zero. */
skua_strand *ski_strand_new(skua_flow *flow, void *self, const skua_strand_type *type);

#endif
