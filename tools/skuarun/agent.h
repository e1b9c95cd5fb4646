/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - skuarun --agent: holds the processes of one arena for a launcher.
 *
 * It hears from the launcher on stdin and answers on stdout, in frames (frame.h);
 * what it has to complain of itself goes to stderr.  It decides nothing: which
 * process is to blame and when the others are ended, the launcher says.  When that
 * is gone, stdin ends, and the agent and its processes with it.
 */
#ifndef SKUARUN_AGENT_H
#define SKUARUN_AGENT_H

/** Returns the exit code. */
int agent_run(void);

#endif
