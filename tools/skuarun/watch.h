/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - what becomes of a job.
 *
 * Whoever watches a job, skuarun on one host or the launcher of agents on several,
 * tells this module of each process that ended, and is told when all have to be
 * signalled and which process is to be named.  The job ends
 *   - in good order: every process has left skua_main() after skua_exit();
 *   - with a failure: the first process that dies, or leaves without
 *     skua_exit(), is named in one line and all others are ended, with SIGTERM
 *     at first and SIGKILL half a second later;
 *   - on request: a signal is forwarded; a second one ends everything at once.
 *
 * A process that gave up because it lost another is a symptom: the report of that
 * other one is on its way, and is waited for before the symptom is named.
 */
#ifndef SKUARUN_WATCH_H
#define SKUARUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* How a process ended. */
struct ended {
    int32_t process;
    int32_t status;  /* as waitpid() has it             */
    int32_t state;   /* enum ski_process_state, at last */
    int32_t symptom; /* it had lost another             */
};

struct watch_ops {
    void (*signal)(void *arg, int sig);   /* send it to all that live               */
    void (*reap)(void *arg);              /* a child has ended                      */
    void (*name)(void *arg, int process); /* say how it ended: the job ends of that */
};

struct watch {
    const struct watch_ops *ops;
    void                   *arg;
    int                     signals;       /* a signalfd                                         */
    int                     alive;         /* processes                                          */
    bool                    failed;        /* the job is being ended, for a reason that was said */
    int                     code;          /* what we exit with                                  */
    int                     asked;         /* the signal that asked us to end, or 0              */
    bool                    killed;        /* SIGKILL has been sent                              */
    bool                    joined;        /* some process has                                   */
    int                     absent;        /* a process that ended well but never joined, or -1  */
    int                     exit_code;     /* of skua_exit() */
    double                  deadline;      /* when to send SIGKILL; 0: not                    */
    struct ended            suspect;       /* a symptom */
    double                  suspect_until; /* when to name it; 0: there is none */
};

/** Begin, with no process yet: signals come by watch_signals() from now on. */
void watch_begin(struct watch *watch, const struct watch_ops *ops, void *arg);

/** In a child: signals as they were before. */
void watch_leave_signals(void);

/** A process ended. */
void watch_ended(struct watch *watch, const struct ended *ended);

/** Some process has joined the job; it exits, with @p code.  May be said again. */
void watch_joined(struct watch *watch);
void watch_exiting(struct watch *watch, int code);

/** End the job, for a reason that the caller says, once. */
void watch_fail(struct watch *watch, int code);

/** Our own output has failed with @p error, an errno, or 0. */
void watch_output(struct watch *watch, int error);

/** Attend to signals that have arrived, and to the time. */
void watch_signals(struct watch *watch);
void watch_time(struct watch *watch);

/** Milliseconds to the next thing that watch_time() has to do, or to @p until if
 *  that is not 0 and earlier. */
int watch_milliseconds(const struct watch *watch, double until);

#endif
