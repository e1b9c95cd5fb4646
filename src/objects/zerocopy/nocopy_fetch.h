/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy_fetch.h - a message that waits while nocopy arguments of it are fetched.
 *
 *      pending = ski_nocopy_pending_new(msg, go_on);
 *      ski_nocopy_fetch(pending, arg, NULL);           for each that is not here
 *      if (ski_nocopy_fetched(pending))                none is being fetched: msg can be used
 *
 * Else `go_on` is called with the message when the last argument has arrived, and frees the record.
 * Meanwhile the message counts as held (core/message/msg_counts.h), so the job is not quiescent.
 */
#ifndef SKI_NOCOPY_FETCH_H
#define SKI_NOCOPY_FETCH_H

#include "objects/zerocopy/nocopy_msg.h"
#include "onesided/buffer/buffer_fetch.h"

/* Where a message goes when its arguments are here. */
struct ski_nocopy_route {
    skua_collection all;       /* 0: `id` is a handler */
    uint32_t        id;        /* of an entry or a handler */
    uint32_t        processes; /* the collection is a process group */
};

/* A message that waits for arguments. */
struct ski_nocopy_pending {
    skua_msg *msg;
    uint32_t  waiting; /* number of arguments, and 1 for ski_nocopy_fetched() */
    uint32_t  fetches; /* fetches that have begun */
    void (*go_on)(struct ski_nocopy_pending *pending);
    union {
        skua_ref                ref;   /* the element that the message is for */
        struct ski_nocopy_route route; /* the PEs */
    } to;
    struct ski_object      *posted; /* the element, which data are fetched into; or NULL */
    skua_entry              entry;  /* the entry of that element */
    struct ski_buffer_fetch fetch[];
};

/** Returns the record of @p msg, none of whose arguments is being fetched yet. */
struct ski_nocopy_pending *ski_nocopy_pending_new(skua_msg *msg,
                                                  void (*go_on)(struct ski_nocopy_pending *));

/** Fetches an argument to @p to, where the program wants it; NULL: to memory of the runtime. */
void ski_nocopy_fetch(struct ski_nocopy_pending *pending, struct ski_nocopy_arg *arg, void *to);

/** Returns whether no argument is being fetched: the record is freed.  Else go_on() will be
 *  called. */
bool ski_nocopy_fetched(struct ski_nocopy_pending *pending);

/** Records on this PE that the program has the data of @p arg at @p at. */
void ski_nocopy_set_posted(struct ski_nocopy_arg *arg, void *at);

/** Returns where the program has the data of @p arg on this PE, or NULL. */
void *ski_nocopy_posted(const struct ski_nocopy_arg *arg);

#endif
