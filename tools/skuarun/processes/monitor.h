/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.h - decides how a job ends.
 *
 * The process that runs a job (onehost.c, or launcher.c with its agents) informs the monitor of
 * each process that ended and of each signal; the monitor calls back to signal all processes and to
 * report the one that is to blame.  A job ends
 *   - in good order: every process has returned from skua_main() after skua_exit(), or has exited
 *     between phases (skua_init()), which all processes have joined equally often;
 *   - with a failure: the first process that is killed, or exits without skua_exit(), is reported
 * in one line, and all others get SIGTERM and half a second later SIGKILL;
 *   - on request: a signal is forwarded to all processes; a second one kills them immediately.
 *
 * With --survive a process that is killed does not end the job but its epoch: all processes are
 * killed, and the caller starts the next epoch (survive/job_recovery.h).
 *
 * A process that aborted because it lost another one is only a symptom.  The report of that other
 * process may follow, so the monitor waits for it before it blames the symptom.
 */
#ifndef SKUARUN_MONITOR_H
#define SKUARUN_MONITOR_H

#include <stdbool.h>

#include "common/exit_report.h"
#include "survive/job_recovery.h"

struct monitor_ops {
    void (*signal)(void *arg, int sig); /* send a signal to all processes that are alive        */
    void (*reap)(void *arg);            /* SIGCHLD has arrived: collect the children that ended */
    void (*report)(void *arg, int process); /* print how the process that is to blame ended */
    void (*resize)(void *arg, int pes);     /* the user asked for another number of PEs     */
};

struct monitor {
    const struct monitor_ops *ops;
    void                     *arg;
    int                       signals;    /* a signalfd                                           */
    int                       alive;      /* processes that have not ended                        */
    bool                      failed;     /* the job is being ended; the reason has been printed  */
    int                       code;       /* exit code of skuarun                                 */
    int                       end_signal; /* the signal that asked skuarun to end, or 0           */
    bool                      killed;     /* SIGKILL has been sent to all                         */
    uint32_t                  joined;     /* the latest phase that some process has joined        */
    int                       unjoined;   /* a process that exited without joining the next phase,
                                             in good order; or -1                                 */
    uint32_t           unjoined_phase;    /* the last phase that it joined; 0: none               */
    int                exit_code;         /* the argument of skua_exit()                          */
    double             deadline;          /* when to send SIGKILL; 0: not set                     */
    struct exit_report suspect;           /* a symptom that may have to be blamed                 */
    double             suspect_until;     /* when to blame it; 0: there is none                */
    struct recovery   *recovery;          /* NULL: the job does not survive a loss             */
    bool               recovering;        /* the epoch is being ended; the next one follows    */
};

/** Sets up a monitor without processes.  From now on signals are read by monitor_read_signals().
 *  Returns false if that is impossible; the reason has been printed. */
bool monitor_begin(struct monitor *monitor, const struct monitor_ops *ops, void *arg);

/** Restores the default handling of signals, before exec.  With @p checkpoints SIGUSR1, which makes
 * a checkpoint due, stays blocked until the runtime of the new program catches it (checkpoint.c),
 * or the monitor of skuarun, if that executes itself: before, it would end the process. */
void monitor_restore_signals(bool checkpoints);

/** Ends the epoch: all processes are killed, and the job continues with the next one. */
void monitor_end_epoch(struct monitor *monitor);

/** Returns whether the job continues with another epoch once all processes have ended. */
static inline bool monitor_goes_on(const struct monitor *monitor)
{
    return monitor->recovering && !monitor->failed && !monitor->end_signal;
}

/** Prepares for the processes of the next epoch, of which none is alive yet. */
void monitor_next_epoch(struct monitor *monitor);

/** Records the loss of @p lost processes with their host.  Returns false if the job does not
 * survive it; the caller then ends it. */
bool monitor_host_lost(struct monitor *monitor, int lost);

/** Records that a process has ended. */
void monitor_process_exited(struct monitor *monitor, const struct exit_report *report);

/** Records that some process has joined phase @p phase, from 1 on.  May be called again. */
void monitor_joined(struct monitor *monitor, uint32_t phase);

/** Records that the job has called skua_exit() with @p code.  May be called again. */
void monitor_exiting(struct monitor *monitor, int code);

/** Ends the job with an exit code.  The first call wins; its caller prints the reason. */
void monitor_fail(struct monitor *monitor, int code);

/** Records that skuarun's own output failed with @p error, an errno; 0: it did not fail. */
void monitor_output_error(struct monitor *monitor, int error);

/** Handles the signals that have arrived. */
void monitor_read_signals(struct monitor *monitor);

/** Acts on the deadlines that have passed. */
void monitor_check_deadlines(struct monitor *monitor);

/** Returns the timeout for poll(), in milliseconds, to the next deadline, or to the time @p until
 * if that is not 0 and earlier. */
int monitor_poll_timeout(const struct monitor *monitor, double until);

#endif
