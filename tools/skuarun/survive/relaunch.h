/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relaunch.h - a program that requests to survive the death of its processes (SKUA_SURVIVE, set by
 * the program itself) is started again, as if skuarun had been called with --survive.
 *
 * Its processes end as soon as they have joined the job, before any of them runs the program, so
 * nothing is lost but what main() has done.  skuarun executes itself with the setting in the
 * environment: no part of it has to change while a job runs.
 */
#ifndef SKUARUN_RELAUNCH_H
#define SKUARUN_RELAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/** Records that this process was executed by relaunch_exec(), and gives it its name again.  Called
 * first. */
void relaunch_begin(void);

/** Records that the program requests survival, with a checkpoint every @p milliseconds.  Returns
 * false after printing why not, if skuarun has been executed for that already. */
bool relaunch_ask(uint32_t milliseconds);

/** Withdraws the request of the program: the user ends the job. */
void relaunch_cancel(void);

/** Returns whether the program has requested survival, so that relaunch_exec() is to be called. */
bool relaunch_wanted(void);

/** Executes skuarun again, with its arguments.  The caller has called monitor_restore_signals(), so
 * no signal is blocked, and SIGPIPE and SIGTTIN have their default actions, however skuarun was
 * started. */
_Noreturn void relaunch_exec(char **argv);

#endif
