/* SPDX-License-Identifier: Apache-2.0 */
/* save_step.h - the steps of a checkpoint on each PE (checkpoint.h). */
#ifndef SKI_SAVE_STEP_H
#define SKI_SAVE_STEP_H

#include <skua/checkpoint.h>

#include "checkpoint/checkpoint_msg.h"

/** Returns what the image of @p self is of. */
struct ski_image_id ski_save_step_id(const struct ski_pe           *self,
                                     const struct ski_image_common *common, int64_t time_ns);

/** Calls the functions of the program for @p moment, on the first PE of a process. */
void ski_save_step_call_hooks(const struct ski_pe *self, skua_checkpoint_moment moment);

/** Handler: the next step of the checkpoint in progress. */
void ski_on_checkpoint_order(skua_msg *msg);

/** Returns why no image can be made of a PE that @p report is of and @p self, which is PE 0: one of
 *  them has called a collective of all PEs, and the other has not; or NULL. */
const char *ski_save_step_disagrees(const struct ski_pe                *self,
                                    const struct ski_checkpoint_report *report);

#endif
