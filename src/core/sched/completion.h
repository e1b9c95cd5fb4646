/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completions whose result lies in a message already. */
#ifndef SKI_COMPLETION_H
#define SKI_COMPLETION_H

#include <skua/completion.h>
#include <skua/message.h>

/** skua_complete() with what lies after the first SKI_COMPLETE_LEAST bytes of @p msg, which is
 * given away.  A future of this PE keeps the message, and nothing is copied. */
void ski_complete_with(skua_completion done, skua_msg *msg);

/** Returns whether a completion is a value: it names no address of its process, or one that a
 *  restarted job keeps, so it can be kept in a checkpoint. */
bool ski_completion_is_value(const skua_completion *done);

/** Lets a completion that is a value, and comes from a checkpoint, take effect on a PE of this job,
 *  which may have fewer.  The division of the isomalloc range is restored already.  Returns NULL,
 * or why there is no such completion. */
const char *ski_completion_restore(skua_completion *done);

#endif
