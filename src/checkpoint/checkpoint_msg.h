/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_msg.h - the messages of a checkpoint, between PE 0 (checkpoint.c) and all PEs
 * (save_step.c).
 */
#ifndef SKI_CHECKPOINT_MSG_H
#define SKI_CHECKPOINT_MSG_H

#include <skua/message.h>

#include "checkpoint/image_part.h"

#define SKI_CHECKPOINT_DIR 4096 /* bytes of the name of a directory, with its final zero */
#define SKI_CHECKPOINT_WHY 1000 /* bytes of the reason why there is no checkpoint        */

/* The kinds of requests. */
enum ski_checkpoint_kind {
    SKI_CHECKPOINT_NOW,
    SKI_CHECKPOINT_IF_DUE,
    SKI_CHECKPOINT_MAKE_DUE,
    SKI_CHECKPOINT_FLUSH, /* all writes have ended */
    SKI_CHECKPOINT_SYNC,  /* elements wait at a sync point; at PE 0 alone */
};

/* A request; the name of the directory follows, with its final zero; nothing follows: in memory. */
struct ski_checkpoint_request {
    skua_completion done;
    uint64_t        kind;
};

/* The steps of a checkpoint, on all PEs. */
enum ski_checkpoint_step {
    SKI_CHECKPOINT_PREPARE,
    SKI_CHECKPOINT_SAVE,
    SKI_CHECKPOINT_AFTER,
    SKI_CHECKPOINT_STEPS
};

/* The order to take a step. */
struct ski_checkpoint_order {
    uint64_t                step;
    struct ski_image_common common;
    int64_t                 time_ns;
    uint64_t                kept;     /* the last generation that all processes have in memory */
    uint64_t                saved;    /* of SKI_CHECKPOINT_AFTER: PEs were told to save */
    uint64_t                complete; /* of SKI_CHECKPOINT_AFTER: all PEs have saved */
    char                    dir[];    /* with its final zero; empty: in memory */
};

/* The report of a PE on a step; the reason follows if it has failed. */
struct ski_checkpoint_report {
    uint64_t step;
    int32_t  status;
    uint32_t collections, sections, channels; /* of SKI_CHECKPOINT_PREPARE: see image_part.h */
    uint32_t regions, teams;                  /* of SKI_CHECKPOINT_PREPARE */
    /* Of SKI_CHECKPOINT_PREPARE: collectives that the PE has called, of SKUA_TEAM_ALL and of
     * collective.h. */
    uint64_t team_calls, reductions;
    uint64_t chares;
    uint64_t bytes; /* of SKI_CHECKPOINT_SAVE: size of the image */
};

/* The report of a process on the file that it writes; the reason follows if it has failed. */
struct ski_checkpoint_written {
    uint64_t generation;
    int32_t  process;
    uint32_t ok;
    uint64_t bytes, head_sum;
};

#define SKI_CHECKPOINT_REQUEST_MIN sizeof(struct ski_checkpoint_request)
#define SKI_CHECKPOINT_ORDER_MIN   (sizeof(struct ski_checkpoint_order) + 1)
#define SKI_CHECKPOINT_REPORT_MIN  sizeof(struct ski_checkpoint_report)
#define SKI_CHECKPOINT_WRITTEN_MIN sizeof(struct ski_checkpoint_written)

/** Returns whether @p msg has a string after the first @p head bytes of its data, which ends with
 *  the message. */
static inline bool ski_checkpoint_has_string(skua_msg *msg, size_t head)
{
    const char *data = skua_msg_data(msg);

    return msg->bytes > head && msg->bytes - head <= SKI_CHECKPOINT_DIR &&
           data[msg->bytes - 1] == 0;
}

#endif
