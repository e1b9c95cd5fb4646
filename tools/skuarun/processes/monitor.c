/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.c - see monitor.h. */
#include "processes/monitor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/assert.h"
#include "base/config.h"
#include "boot/job.h"
#include "survive/relaunch.h"

#define TERM_SECONDS    0.5 /* from SIGTERM to SIGKILL                                     */
#define SUSPECT_SECONDS 0.5 /* to wait for the report of the process that a symptom lost   */
#define CHECK_SECONDS   1.0 /* between two checks of the state of the job                  */

static const int monitor_forwarded[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                        SIGUSR1, SIGUSR2, SIGWINCH};

static void monitor_signal_all(struct monitor *m, int sig)
{
    m->ops->signal(m->arg, sig);
}

/* ---- ending the job -------------------------------------------------------------- */

void monitor_fail(struct monitor *m, int code)
{
    if (m->failed)
        return;
    m->failed   = true;
    m->code     = code;
    m->deadline = skua_time() + TERM_SECONDS;
    monitor_signal_all(m, SIGTERM);
    monitor_signal_all(m, SIGCONT);
}

void monitor_end_epoch(struct monitor *m)
{
    m->recovering = true;
    m->killed     = true; /* no deadline is left to wait for */
    monitor_signal_all(m, SIGKILL);
}

/* Returns whether the job continues after a loss: it may, and the user has not requested its
 * end. */
static bool monitor_survives(const struct monitor *m)
{
    return m->recovery && !m->failed && !m->end_signal;
}

/* Ends the epoch because of a process that was killed. */
static void monitor_lose(struct monitor *m, const struct exit_report *report)
{
    if (m->recovering)
        return;
    recovery_lost(m->recovery, report,
                  report->symptom ? 0 : 1);   /* a symptom has lost another one */
    m->code = 128 + WTERMSIG(report->status); /* if it cannot continue */
    monitor_end_epoch(m);
    m->ops->report(m->arg, report->process);
}

bool monitor_host_lost(struct monitor *m, int lost)
{
    if (!monitor_survives(m))
        return false;
    recovery_lost(m->recovery, NULL, lost);
    if (!m->recovering) {
        m->code = 1;
        monitor_end_epoch(m);
    }
    return true;
}

void monitor_next_epoch(struct monitor *m)
{
    ski_assert(m->alive == 0);
    m->recovering    = false;
    m->killed        = false;
    m->code          = 0;
    m->joined        = 0;
    m->unjoined      = -1;
    m->deadline      = 0;
    m->suspect_until = 0;
}

/* Ends the job because of @p process.  All processes are signalled before the report, since making
 * its text may take a while. */
static void monitor_blame(struct monitor *m, int process, int code)
{
    if (m->failed || m->recovering)
        return;
    monitor_fail(m, code);
    m->ops->report(m->arg, process);
}

/* Waits a while for a process that was killed before @p report is blamed. */
static void monitor_suspect(struct monitor *m, const struct exit_report *report)
{
    if (m->suspect_until > 0)
        return;
    m->suspect       = *report;
    m->suspect_until = skua_time() + SUSPECT_SECONDS;
}

/* The suspect has to be blamed: no other process was killed. */
static void monitor_blame_suspect(struct monitor *m)
{
    const struct exit_report *report = &m->suspect;

    m->suspect_until = 0;
    if (!WIFSIGNALED(report->status))
        monitor_blame(m, report->process,
                      WEXITSTATUS(report->status) ? WEXITSTATUS(report->status) : 1);
    else if (monitor_survives(m))
        monitor_lose(m, report);
    else
        monitor_blame(m, report->process, 128 + WTERMSIG(report->status));
}

static void monitor_on_killed(struct monitor *m, const struct exit_report *report)
{
    int sig = WTERMSIG(report->status);

    if (sig == m->end_signal)
        monitor_fail(m, 128 + sig);
    else if (report->symptom)
        monitor_suspect(m, report);
    else if (monitor_survives(m))
        monitor_lose(m, report);
    else
        monitor_blame(m, report->process, 128 + sig);
}

/* Records a process that exited outside of a phase.  That is an error only if another process joins
 * the next phase, in which it would wait forever. */
static void monitor_note_unjoined(struct monitor *m, const struct exit_report *report)
{
    if (m->unjoined >= 0 && m->unjoined_phase <= report->phase)
        return;
    m->unjoined       = report->process;
    m->unjoined_phase = report->phase;
}

static void monitor_on_exited(struct monitor *m, const struct exit_report *report)
{
    int code = WEXITSTATUS(report->status);

    if (report->state == SKI_PROCESS_LEFT) {
        if (m->code == 0)
            m->code = code;
        monitor_exiting(m, code);
    } else if (report->state == SKI_PROCESS_FINALIZED) {
        if (m->code == 0)
            m->code = code;
        monitor_note_unjoined(m, report);
    } else if (report->state == SKI_PROCESS_ATTACHED || code) {
        if (monitor_survives(m)) /* it may have aborted because another process was killed */
            monitor_suspect(m, report);
        else
            monitor_blame(m, report->process, code ? code : 1);
    } else {
        monitor_note_unjoined(m, report);
    }
}

/* Another process was killed at the same time as the one for which the epoch ends. */
static void monitor_note_loss(struct monitor *m, const struct exit_report *report)
{
    if (m->recovery && m->recovery->failing && WIFSIGNALED(report->status) &&
        WTERMSIG(report->status) == SIGKILL && !report->ordered)
        recovery_lost(m->recovery, report, 1);
}

/* Ends the job, which skuarun then starts again, with --survive, unless the user has requested its
 * end. */
static void monitor_start_again(struct monitor *m, uint32_t milliseconds)
{
    if (m->end_signal)
        monitor_fail(m, 128 + m->end_signal);
    if (m->failed)
        return;
    m->code   = relaunch_ask(milliseconds) ? 0 : 1;
    m->failed = m->killed = true;
    monitor_signal_all(m, SIGKILL);
}

void monitor_process_exited(struct monitor *m, const struct exit_report *report)
{
    ski_assert(m->alive > 0);
    m->alive--;
    if (m->recovering) {
        monitor_note_loss(m, report);
        return;
    }
    if (report->survive && !m->recovery) {
        monitor_start_again(m, report->survive);
        return;
    }
    if (WIFSIGNALED(report->status))
        monitor_on_killed(m, report);
    else
        monitor_on_exited(m, report);
}

void monitor_joined(struct monitor *m, uint32_t phase)
{
    if (m->joined < phase)
        m->joined = phase;
}

void monitor_exiting(struct monitor *m, int code)
{
    if (m->deadline > 0 || m->recovering)
        return;
    m->exit_code = code;
    m->deadline  = skua_time() + ski_config.exit_grace;
}

void monitor_output_error(struct monitor *m, int error)
{
    if (!error || m->failed)
        return;
    if (error == EPIPE) { /* exit as a program does that writes to a closed pipe */
        monitor_fail(m, 128 + SIGPIPE);
        return;
    }
    monitor_fail(m, 1);
    fprintf(stderr, "skuarun: cannot write the output of the job: %s\n", strerror(error));
}

/* Kills the processes that are still alive at the deadline: after skua_exit(), or after SIGTERM. */
static void monitor_kill_overdue(struct monitor *m)
{
    if (m->deadline <= 0 || m->killed || skua_time() < m->deadline)
        return;
    if (!m->failed && m->alive > 0) {
        fprintf(stderr,
                "skuarun: %d process(es) did not exit within %g s of skua_exit() and were killed "
                "(SKUA_EXIT_GRACE)\n",
                m->alive, ski_config.exit_grace);
        m->failed = true;
        m->code   = m->exit_code ? m->exit_code : 1; /* what they computed on is lost */
    }
    m->killed = true;
    monitor_signal_all(m, SIGKILL);
}

void monitor_check_deadlines(struct monitor *m)
{
    if (m->unjoined >= 0 && m->joined > m->unjoined_phase)
        monitor_blame(m, m->unjoined, 1);
    if (m->suspect_until > 0 && (m->alive == 0 || skua_time() >= m->suspect_until))
        monitor_blame_suspect(m);
    monitor_kill_overdue(m);
}

/* ---- signals ------------------------------------------------------------- */

static void monitor_forward_signal(struct monitor *m, int sig)
{
    bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;

    if (ends && m->end_signal) {
        m->failed = m->killed = true;
        m->code               = 128 + sig;
        monitor_signal_all(m, SIGKILL);
        return;
    }
    if (ends) {
        m->end_signal = sig;
        m->code       = relaunch_wanted() ? 128 + sig : m->code; /* it is not started again */
        relaunch_cancel();
    }
    monitor_signal_all(m, sig);
}

void monitor_read_signals(struct monitor *m)
{
    struct signalfd_siginfo info;

    while (read(m->signals, &info, sizeof info) == sizeof info) {
        int sig = (int)info.ssi_signo;

        if (sig == SIGCHLD) {
            m->ops->reap(m->arg);
        } else if (sig == SKI_RESIZE_SIGNAL) {
            m->ops->resize(m->arg, info.ssi_int);
        } else if (sig == SIGTSTP) {
            monitor_signal_all(m, SIGSTOP);
            raise(SIGSTOP);
            monitor_signal_all(m, SIGCONT); /* SIGCONT has arrived */
        } else {
            monitor_forward_signal(m, sig);
        }
    }
}

/* Returns whether the parent of skuarun has it ignore a signal, as nohup does. */
static bool monitor_ignores(int sig)
{
    struct sigaction action;

    return (sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM) &&
           sigaction(sig, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
           action.sa_handler == SIG_IGN;
}

/* Blocks the signals that skuarun reads.  One that is ignored is not among them: a signalfd would
 * report it all the same.  The processes of the job and the agents inherit that it is ignored. */
static int monitor_open_signals(void)
{
    sigset_t set;

    signal(SIGCHLD, SIG_DFL); /* ignored, children would end without a signal and a status */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTSTP);
    sigaddset(&set, SKI_RESIZE_SIGNAL);
    for (size_t i = 0; i < sizeof monitor_forwarded / sizeof *monitor_forwarded; i++)
        if (!monitor_ignores(monitor_forwarded[i]))
            sigaddset(&set, monitor_forwarded[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

void monitor_restore_signals(bool checkpoints)
{
    sigset_t set;

    sigemptyset(&set);
    if (checkpoints)
        sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTIN, SIG_DFL);
}

/* ---- time ---------------------------------------------------------------- */

static void monitor_earlier(double *until, double other)
{
    if (other > 0 && other < *until)
        *until = other;
}

int monitor_poll_timeout(const struct monitor *m, double until)
{
    double next = skua_time() + CHECK_SECONDS;

    if (!m->killed)
        monitor_earlier(&next, m->deadline);
    if (!m->failed)
        monitor_earlier(&next, m->suspect_until);
    monitor_earlier(&next, until);
    next -= skua_time();
    return next > 0 ? (int)(next * 1e3) + 1 : 0;
}

bool monitor_begin(struct monitor *m, const struct monitor_ops *ops, void *arg)
{
    *m =
        (struct monitor){.ops = ops, .arg = arg, .signals = monitor_open_signals(), .unjoined = -1};
    if (m->signals < 0)
        fprintf(stderr, "skuarun: cannot receive signals: signalfd: %s\n", strerror(errno));
    return m->signals >= 0;
}
