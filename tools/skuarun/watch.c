/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - see watch.h. */
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "boot/job.h"

#define TERM_SECONDS    0.5 /* from SIGTERM to SIGKILL                      */
#define SUSPECT_SECONDS 0.5 /* for the report of the one that somebody lost */
#define LOOK_SECONDS    1.0 /* between two looks at the job                 */

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

static void signal_all(struct watch *w, int sig)
{
    w->ops->signal(w->arg, sig);
}

/* ---- ending -------------------------------------------------------------- */

void watch_fail(struct watch *w, int code)
{
    if (w->failed)
        return;
    w->failed   = true;
    w->code     = code;
    w->deadline = skua_time() + TERM_SECONDS;
    signal_all(w, SIGTERM);
    signal_all(w, SIGCONT);
}

/* Ends the job before anything is printed, which may take its time. */
static void blame(struct watch *w, int process, int code)
{
    if (w->failed)
        return;
    watch_fail(w, code);
    w->ops->name(w->arg, process);
}

static void died(struct watch *w, const struct ended *ended)
{
    int sig = WTERMSIG(ended->status);

    if (sig == w->asked)
        watch_fail(w, 128 + sig);
    else if (!ended->symptom)
        blame(w, ended->process, 128 + sig);
    else if (w->suspect_until <= 0) {
        w->suspect       = *ended;
        w->suspect_until = skua_time() + SUSPECT_SECONDS;
    }
}

static void exited(struct watch *w, const struct ended *ended)
{
    int code = WEXITSTATUS(ended->status);

    if (ended->state == SKI_PROCESS_LEFT) {
        if (w->code == 0)
            w->code = code;
        watch_exiting(w, code);
    } else if (ended->state == SKI_PROCESS_ATTACHED || code) {
        blame(w, ended->process, code ? code : 1);
    } else {
        w->absent = ended->process; /* all may do so; if another joins, it waits in vain */
    }
}

void watch_ended(struct watch *w, const struct ended *ended)
{
    w->alive--;
    if (WIFSIGNALED(ended->status))
        died(w, ended);
    else
        exited(w, ended);
}

void watch_joined(struct watch *w)
{
    w->joined = true;
}

void watch_exiting(struct watch *w, int code)
{
    if (w->deadline > 0)
        return;
    w->exit_code = code;
    w->deadline  = skua_time() + ski_config.exit_grace;
}

void watch_output(struct watch *w, int error)
{
    if (!error || w->failed)
        return;
    if (error == EPIPE) { /* as a program that writes into a closed pipe */
        watch_fail(w, 128 + SIGPIPE);
        return;
    }
    watch_fail(w, 1);
    fprintf(stderr, "skuarun: cannot write the output of the job: %s\n", strerror(error));
}

/* PEs that compute on after skua_exit(), or processes that ignore SIGTERM. */
static void kill_late_ones(struct watch *w)
{
    if (w->deadline <= 0 || w->killed || skua_time() < w->deadline)
        return;
    if (!w->failed && w->alive > 0) {
        fprintf(stderr,
                "skuarun: %d process(es) did not end within %g s of skua_exit(): ended them "
                "(SKUA_EXIT_GRACE)\n",
                w->alive, ski_config.exit_grace);
        w->failed = true;
        w->code   = w->exit_code;
    }
    w->killed = true;
    signal_all(w, SIGKILL);
}

void watch_time(struct watch *w)
{
    if (w->absent >= 0 && w->joined)
        blame(w, w->absent, 1);
    if (w->suspect_until > 0 && (w->alive == 0 || skua_time() >= w->suspect_until))
        blame(w, w->suspect.process, 128 + WTERMSIG(w->suspect.status));
    kill_late_ones(w);
}

/* ---- signals ------------------------------------------------------------- */

static void forward(struct watch *w, int sig)
{
    bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;

    if (ends && w->asked) {
        w->failed = w->killed = true;
        w->code               = 128 + sig;
        signal_all(w, SIGKILL);
        return;
    }
    if (ends)
        w->asked = sig;
    signal_all(w, sig);
}

void watch_signals(struct watch *w)
{
    struct signalfd_siginfo info;

    while (read(w->signals, &info, sizeof info) == sizeof info) {
        int sig = (int)info.ssi_signo;

        if (sig == SIGCHLD) {
            w->ops->reap(w->arg);
        } else if (sig == SIGTSTP) {
            signal_all(w, SIGSTOP);
            raise(SIGSTOP);
            signal_all(w, SIGCONT); /* we are back */
        } else {
            forward(w, sig);
        }
    }
}

static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTSTP);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        sigaddset(&set, forwarded[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

void watch_leave_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTIN, SIG_DFL);
}

/* ---- time ---------------------------------------------------------------- */

static void sooner(double *until, double other)
{
    if (other > 0 && other < *until)
        *until = other;
}

int watch_milliseconds(const struct watch *w, double until)
{
    double next = skua_time() + LOOK_SECONDS;

    if (!w->killed)
        sooner(&next, w->deadline);
    if (!w->failed)
        sooner(&next, w->suspect_until);
    sooner(&next, until);
    next -= skua_time();
    return next > 0 ? (int)(next * 1e3) + 1 : 0;
}

void watch_begin(struct watch *w, const struct watch_ops *ops, void *arg)
{
    *w = (struct watch){.ops = ops, .arg = arg, .signals = open_signals(), .absent = -1};
}
