/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_again.h - a program that asks to survive the death of its processes (SKUA_SURVIVE, set by
 * the program itself) is started again, as if skuarun had been called with --survive.
 *
 * Its processes end as soon as they have joined the job, before any of them runs the program, so
 * nothing is lost but what main() has done.  skuarun executes itself with the setting in the
 * environment: no part of it has to change its mind while a job runs.
 */
#ifndef SKUARUN_RUN_AGAIN_H
#define SKUARUN_RUN_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

/** Records that this process was executed by run_again().  Called first. */
void run_again_begin(void);

/** Records that the program asks to survive, with a checkpoint every @p milliseconds.  Returns
 * false after printing why not, if skuarun has been executed for that already. */
bool run_again_ask(uint32_t milliseconds);

/** Withdraws what the program has asked for: the user ends the job. */
void run_again_cancel(void);

/** Returns whether the program has asked for it, and run_again() is to be called. */
bool run_again_wanted(void);

/** Executes skuarun again, with its arguments and the signals that it was started with. */
_Noreturn void run_again(char **argv);

#endif
