/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - making a checkpoint: PE 0 takes one request after the other.
 *
 *      request    a PE asks PE 0 for a checkpoint, or whether one is due
 *      quiet      PE 0 waits until no message is under way (objects/services/quiescence.h)
 *      prepare    each PE calls the hooks of the program, looks whether its state can be saved, and
 *                 reports that and the highest ids that it has given out
 *      save       each PE writes its image (image.h), and reports
 *      after      hooks once more; then PE 0 performs the completion of the request
 *
 * No message of the program is under way from `quiet` until `after`, so what the PEs save one after
 * the other is one state of the program.  A checkpoint that fails on one PE is given up on all.
 */
#ifndef SKI_CHECKPOINT_H
#define SKI_CHECKPOINT_H

#include <skua/checkpoint.h>
#include <skua/message.h>

#include "core/pe/layer.h"

struct ski_image_common;
struct ski_pe;

/** Calls the functions of the program for @p moment, on the first PE of a process. */
void ski_checkpoint_call_hooks(const struct ski_pe *self, skua_checkpoint_moment moment);

/** At PE 0: this job was restarted from the checkpoint @p from; performs its completion. */
void ski_checkpoint_restarted(struct ski_pe *self, const struct ski_image_common *from);

/** The layer above all others. */
extern const struct ski_layer ski_checkpoint_layer;

/** Handler, at PE 0: a request. */
void ski_on_checkpoint_request(skua_msg *msg);

/** Handler: the next step of the checkpoint that is under way. */
void ski_on_checkpoint_order(skua_msg *msg);

/** Handler, at PE 0: a PE has taken the step. */
void ski_on_checkpoint_report(skua_msg *msg);

#define SKI_CHECKPOINT_REQUEST_LEAST 48
#define SKI_CHECKPOINT_ORDER_LEAST   8
#define SKI_CHECKPOINT_REPORT_LEAST  40

#endif
