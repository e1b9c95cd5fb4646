/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher_frames.h - what the launcher does with the frames that agents send (protocol/frame.h).
 *
 * A frame comes from another host, so its contents are checked before they are used: a process that
 * it names must be one of the agent's, and sizes and counts must be possible.
 */
#ifndef SKUARUN_LAUNCHER_FRAMES_H
#define SKUARUN_LAUNCHER_FRAMES_H

#include "launcher/launcher_state.h"

/** Acts on a frame from @p agent.  Returns false if the frame is invalid. */
bool launcher_on_frame(struct launcher *l, struct remote_agent *agent, const struct frame *frame);

#endif
