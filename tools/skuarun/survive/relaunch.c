/* SPDX-License-Identifier: Apache-2.0 */
/* relaunch.c - see relaunch.h. */
#include "survive/relaunch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RELAUNCH_VARIABLE "SKUARUN_RELAUNCH" /* set while skuarun executes itself */

static bool     relaunch_done; /* this process was executed by relaunch_exec() */
static uint32_t relaunch_milliseconds;

void relaunch_begin(void)
{
    relaunch_done = getenv(RELAUNCH_VARIABLE) != NULL;
    if (relaunch_done)
        prctl(PR_SET_NAME, "skuarun"); /* not "exe", as it was started as /proc/self/exe */
    unsetenv(RELAUNCH_VARIABLE);
}

bool relaunch_ask(uint32_t milliseconds)
{
    if (!relaunch_done) {
        relaunch_milliseconds = milliseconds;
        return true;
    }
    fprintf(stderr, "skuarun: the program requests survival of the death of a process "
                    "(SKUA_SURVIVE), which the options of skuarun forbid: omit --set=survive\n");
    return false;
}

void relaunch_cancel(void)
{
    relaunch_milliseconds = 0;
}

bool relaunch_wanted(void)
{
    return relaunch_milliseconds > 0;
}

_Noreturn void relaunch_exec(char **argv)
{
    char seconds[32];

    snprintf(seconds, sizeof seconds, "%.3f", relaunch_milliseconds / 1e3);
    setenv("SKUA_SURVIVE", seconds, 1);
    setenv(RELAUNCH_VARIABLE, "1", 1);
    execv("/proc/self/exe", argv);
    fprintf(stderr, "skuarun: cannot execute itself for --survive: %s\n", strerror(errno));
    exit(1);
}
