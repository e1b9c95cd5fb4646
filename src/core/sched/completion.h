/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completions whose result is already in a message. */
#ifndef SKI_COMPLETION_H
#define SKI_COMPLETION_H

#include <skua/completion.h>
#include <skua/message.h>

/** Performs @p done as skua_complete() does; the result is what follows the first
 *  SKI_COMPLETE_MIN bytes of @p msg.  Takes ownership of @p msg.  A future of this PE keeps the
 * message, so that nothing is copied. */
void ski_complete_with(skua_completion done, skua_msg *msg);

/** Returns whether a completion can be saved in a checkpoint: it contains no address of its
 *  process, or one that a restarted job keeps. */
bool ski_completion_is_value(const skua_completion *done);

/** Adapts a completion from a checkpoint to this job: it takes effect on a PE that this job has,
 *  even if the former job had more PEs.  The division of the isomalloc range has been restored
 *  before.  Returns NULL, or the reason why there is no such completion. */
const char *ski_completion_restore(skua_completion *done);

#endif
