/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landing.h - messages whose data land (skua/landing.h), as they travel.
 *
 *      struct ski_landing | head | data, or room for them
 *
 * A message whose data have landed elsewhere has room for them all the same.  So it can be made
 * one like any other at any time, in place, and that is done before its receiver moves, or
 * deletes what it has landed in.
 */
#ifndef SKI_LANDING_H
#define SKI_LANDING_H

#include <skua/landing.h>

#include "objects/entry.h"
#include "objects/object.h"

struct ski_lane;

struct ski_landing {
    int64_t          reference;
    uint64_t         bytes;  /* of data                                          */
    uint32_t         head;   /* bytes of it                                      */
    uint32_t         apart;  /* the data have landed, at `view`                  */
    struct ski_lane *lane;   /* of the sender's host: lane.h; NULL: there is none */
    uint64_t         number; /* of messages on it, from 1 on                    */
    int64_t          step;   /* what the next reference will be beyond; 0: none is expected */
    skua_layout      view;   /* where the data are, once somebody has asked      */
    uint64_t         unused; /* a multiple of 16 */
};

_Static_assert(sizeof(struct ski_landing) % 16 == 0, "what follows is aligned");

static inline struct ski_landing *ski_landing_of(const skua_msg *msg)
{
    return (struct ski_landing *)(uintptr_t)(msg + 1);
}

/** Run an entry that is SKI_ENTRY_LANDS. */
void ski_landing_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg);

/** Bring the data of a message of such an entry into it. */
void ski_landing_fill(skua_msg *msg);

#endif
