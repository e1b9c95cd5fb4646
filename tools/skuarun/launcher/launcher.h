/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - runs a distributed job: one with several arenas.
 *
 * Each arena has an agent (agent.h): one for each host, or one for each process where processes
 * share no memory (SKUA_SHARED_MEMORY=0).  The launcher starts all agents at the same time, sends
 * them the job specification, keeps the job's key-value store (kvs.h), and decides how the job
 * ends.  It opens no listening socket: everything passes through the stdin and stdout of the
 * agents.
 */
#ifndef SKUARUN_LAUNCHER_H
#define SKUARUN_LAUNCHER_H

#include "launcher/hosts.h"
#include "common/options.h"

/** Runs the job and waits for its end.  Returns the exit code of skuarun. */
int launcher_run(const struct run_options *options, const struct hosts *hosts);

#endif
