/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - skuarun --agent: runs the processes of one arena on behalf of a launcher.
 *
 * The agent receives frames (frame.h) from the launcher on stdin and sends frames on stdout; its
 * own diagnostics go to stderr.  It makes no decision about the job: the launcher decides which
 * process is to blame and when the others are killed.  When the launcher dies, stdin reaches its
 * end, and the agent kills its processes and exits.
 */
#ifndef SKUARUN_AGENT_H
#define SKUARUN_AGENT_H

/** Runs the agent until its processes have ended.  Returns the exit code of skuarun. */
int agent_run(void);

#endif
