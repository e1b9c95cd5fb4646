/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_job.h - a unit test that needs PEs runs a job of three threads in a process of its own: a
 * process begins the runtime once, and all unit tests are one program.
 */
#ifndef UNIT_JOB_H
#define UNIT_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/skua.h>

#define UNIT_JOB_PES 3

/** Runs @p set_up, which registers handlers, and then @p start on each PE. Returns true if the job
 *  succeeds. */
static inline bool unit_job(void (*set_up)(void), skua_start_fn start)
{
    char *args[] = {(char[]){"unit"}, NULL};
    int   status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        setenv("SKUA_THREADS", "3", 1);
        setenv("SKUA_PIN", "none", 1);
        set_up();
        _exit(skua_main(1, args, start));
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/** Waits, on PE 0 in its start function, until the job is quiescent. */
static inline void unit_job_settle(void)
{
    skua_counter quiet = SKUA_COUNTER_INIT;

    skua_quiescence(skua_done_count(&quiet));
    skua_counter_wait(&quiet, 1);
}

#endif
