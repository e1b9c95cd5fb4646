/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buddy.h - copies of images on another host.
 *
 * In a job on several hosts that survives their loss, a process sends its images to its buddy
 * (ski_job_buddy()), which writes them into the image slot that its host has for the process.  The
 * images travel in pieces, of which BUDDY_WINDOW are in flight at a time.  Their headers, without
 * which they are not valid, are sent last, when all other pieces have been acknowledged.
 */
#ifndef SKI_BUDDY_H
#define SKI_BUDDY_H

#include <skua/message.h>
#include <skua/status.h>

#include "checkpoint/image_format.h"

struct ski_pe;

/* A copy that is being sent. */
struct ski_buddy_copy;

/* Called on the sending PE when the buddy has all images, or when a piece could not be written. */
typedef void ski_buddy_done_fn(struct ski_pe *self, skua_status status);

/* A piece of an image; its bytes follow. */
struct ski_buddy_piece {
    uint64_t generation;
    uint64_t kept;   /* the generation that must stay */
    uint64_t offset; /* in the image */
    int32_t  process;
    int32_t  index; /* the index in its process of the PE whose image it is */
    uint64_t first; /* 1: the images that the memory held before are invalid */
};

/* The answer to a piece. */
struct ski_buddy_answer {
    uint64_t generation;
    int64_t  status; /* a skua_status */
};

#define SKI_BUDDY_PIECE_MIN  (sizeof(struct ski_buddy_piece) + 1)
#define SKI_BUDDY_ANSWER_MIN sizeof(struct ski_buddy_answer)

/** Sends the images of this process, all of which are complete in its store, to its buddy, and
 * calls @p done when the buddy has them.  Returns false if the process needs no buddy: its job has
 * one host, or was not started by skuarun --survive. */
bool ski_buddy_send(struct ski_pe *self, const struct ski_image_id *id, uint64_t kept,
                    ski_buddy_done_fn *done);

/** Handler: a piece of an image of another process. */
void ski_on_buddy_piece(skua_msg *msg);

/** Handler: the buddy has written a piece. */
void ski_on_buddy_answer(skua_msg *msg);

#endif
