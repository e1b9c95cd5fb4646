/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completions whose result lies in a message already. */
#ifndef SKI_COMPLETION_H
#define SKI_COMPLETION_H

#include <skua/completion.h>
#include <skua/message.h>

/** skua_complete() with what lies behind the first SKI_COMPLETE_LEAST bytes of @p msg, which is
 *  given away.  A future of this PE keeps the message, and nothing is copied. */
void ski_complete_with(skua_completion done, skua_msg *msg);

#endif
