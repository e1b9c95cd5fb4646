/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - making a checkpoint: PE 0 handles one request at a time.
 *
 *      request    a PE asks PE 0 for a checkpoint, or whether one is due
 *      quiet PE 0 waits until no message is in flight (objects/services/quiescence.h)
 *      prepare    each PE calls the hooks of the program, checks whether its state can be saved,
 *                 and reports the result and the highest ids in use
 *      save       each PE writes its image to memory (image.h), and reports; the last PE of each
 *                 process lets the writer thread write the file of the process (image_store.h)
 *      after      hooks again; then PE 0 performs the completion of the request
 *      written    each process reports when its file is on the disk; then PE 0 commits the
 *                 generation (commit.h), and handles the next request
 *
 * No message of the program is in flight from `quiet` until `after`, so what the PEs save one after
 * the other is one state of the program.  A checkpoint that fails on one PE fails on all.
 */
#ifndef SKI_CHECKPOINT_H
#define SKI_CHECKPOINT_H

#include <skua/message.h>

#include "checkpoint/checkpoint_msg.h"
#include "core/pe/layer.h"

/** Performs, at PE 0 of a restarted job, the completion of the checkpoint @p from. */
void ski_checkpoint_restarted(struct ski_pe *self, const struct ski_image_common *from);

/** Blocks SIGUSR1 in this thread if it makes a checkpoint due, before the process joins the job:
 * from then on skuarun may send it.  The layer unblocks it when it has a handler. */
void ski_checkpoint_block_signal(void);

/** The layer above all others. */
extern const struct ski_layer ski_checkpoint_layer;

/** Handler, at PE 0: a request. */
void ski_on_checkpoint_request(skua_msg *msg);

/** Handler, at PE 0: a PE has taken a step. */
void ski_on_checkpoint_report(skua_msg *msg);

/** Handler, at PE 0: a process has written its file. */
void ski_on_checkpoint_written(skua_msg *msg);

#endif
