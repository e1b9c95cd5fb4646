/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completions whose result lies in a message already. */
#ifndef SKI_COMPLETION_H
#define SKI_COMPLETION_H

#include <skua/completion.h>
#include <skua/message.h>

/** Performs @p done as skua_complete() does; the result is what follows the first
 *  SKI_COMPLETE_LEAST bytes of @p msg.  The caller gives @p msg away.  A future of this PE keeps
 * the message, and nothing is copied. */
void ski_complete_with(skua_completion done, skua_msg *msg);

/** Returns whether a completion is a value: it names no address of its process, or one that a
 *  restarted job keeps, so it can be kept in a checkpoint. */
bool ski_completion_is_value(const skua_completion *done);

/** Adapts a completion from a checkpoint, which is a value, to this job: it takes effect on a PE
 *  that this job has, also if the former job had more PEs.  The division of the isomalloc range has
 *  been restored before.  Returns NULL, or the reason why there is no such completion. */
const char *ski_completion_restore(skua_completion *done);

#endif
