/* SPDX-License-Identifier: Apache-2.0 */
/* run_again.c - see run_again.h. */
#include "survive/run_again.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_AGAIN_VARIABLE "SKUARUN_AGAIN" /* set while skuarun executes itself */

static bool     run_again_done; /* this process was executed by run_again() */
static uint32_t run_again_milliseconds;

void run_again_begin(void)
{
    run_again_done = getenv(RUN_AGAIN_VARIABLE) != NULL;
    unsetenv(RUN_AGAIN_VARIABLE);
}

bool run_again_ask(uint32_t milliseconds)
{
    if (!run_again_done) {
        run_again_milliseconds = milliseconds;
        return true;
    }
    fprintf(stderr, "skuarun: the program asks to survive the death of a process (SKUA_SURVIVE), "
                    "which the options of skuarun forbid: leave out --set=survive\n");
    return false;
}

void run_again_cancel(void)
{
    run_again_milliseconds = 0;
}

bool run_again_wanted(void)
{
    return run_again_milliseconds > 0;
}

_Noreturn void run_again(char **argv)
{
    char seconds[32];

    snprintf(seconds, sizeof seconds, "%.3f", run_again_milliseconds / 1e3);
    setenv("SKUA_SURVIVE", seconds, 1);
    setenv(RUN_AGAIN_VARIABLE, "1", 1);
    execv("/proc/self/exe", argv);
    fprintf(stderr, "skuarun: cannot execute itself for --survive: %s\n", strerror(errno));
    exit(1);
}
