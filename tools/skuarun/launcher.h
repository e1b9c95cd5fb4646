/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - a job that is spread: several hosts, or one whose processes keep apart.
 *
 * There is an agent for each arena (agent.h): one on each host, or one for each
 * process where processes do not share memory (SKUA_SHARED_MEMORY=0).  The launcher starts
 * them all at once, tells them what to run, keeps what the processes tell each other,
 * and decides how the job ends.  Nothing listens anywhere: all goes over the agents'
 * stdin and stdout.
 */
#ifndef SKUARUN_LAUNCHER_H
#define SKUARUN_LAUNCHER_H

#include "hosts.h"
#include "options.h"

/** Run it; returns the exit code. */
int launcher_run(const struct options *options, const struct hosts *hosts);

#endif
