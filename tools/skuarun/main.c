/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - skuarun: starts a job, forwards its input, output and signals, and
 * sees to it that all of it ends together.
 *
 * One loop around poll().  The job ends
 *   - in good order: every process has left skua_main() after skua_exit();
 *   - with a failure: the first process that dies, or leaves without
 *     skua_exit(), is named in one line and all others are ended, with SIGTERM
 *     at first and SIGKILL half a second later;
 *   - on request: a signal is forwarded; a second one ends everything at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/memory.h"
#include "boot/crash_report.h"
#include "spawn.h"

#define TERM_SECONDS  0.5  /* from SIGTERM to SIGKILL                              */
#define DRAIN_SECONDS 0.25 /* for output that somebody else holds open at the end  */
#define LOOK_SECONDS  1.0  /* between two looks at the job                         */
#define PROMPT_MS     100  /* an unfinished line of process 0 on a terminal waits so long */

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

struct state {
    struct launch launch;
    int           signals;  /* a signalfd                                          */
    bool          failed;   /* the job is being ended, for a reason that was said  */
    int           code;     /* what we exit with                                   */
    int           asked;    /* the signal that asked us to end, or 0               */
    bool          killed;   /* SIGKILL has been sent                               */
    int           absent;   /* a process that ended well but never joined, or -1   */
    double        deadline; /* when to send it; 0: not                             */
    double        drain;    /* all processes have ended: when to stop reading; 0   */
};

/* ---- ending -------------------------------------------------------------- */

static void end_job(struct state *s, int code)
{
    if (s->failed)
        return;
    s->failed   = true;
    s->code     = code;
    s->deadline = skua_time() + TERM_SECONDS;
    launch_signal(&s->launch, SIGTERM);
    launch_signal(&s->launch, SIGCONT);
}

static void say_absent(struct state *s, int process, int code)
{
    char who[64];

    end_job(s, code ? code : 1);
    ski_process_text(s->launch.job, process, -1, who, sizeof who);
    fprintf(stderr, "skuarun: %s exited with code %d without joining the job\n", who, code);
}

static bool any_joined(const struct ski_job *job)
{
    for (int i = 0; i < job->processes; i++)
        if (atomic_load(&job->process[i].state) != SKI_PROCESS_STARTED)
            return true;
    return false;
}

static void died(struct state *s, int process, int sig)
{
    struct ski_job *job = s->launch.job;
    char            who[64];

    if (s->failed)
        return;
    end_job(s, 128 + sig); /* before anything is printed, which may take its time */
    if (sig == s->asked)
        return;
    if (!ski_crash_print(job, process, "skuarun")) {
        ski_process_text(job, process, -1, who, sizeof who);
        fprintf(stderr, "skuarun: %s died of signal %d (%s)\n", who, sig, strsignal(sig));
    }
}

static void exited(struct state *s, int process, int code)
{
    struct ski_job *job   = s->launch.job;
    int32_t         state = atomic_load(&job->process[process].state);
    char            who[64];

    if (state == SKI_PROCESS_LEFT) {
        if (s->code == 0)
            s->code = code;
        if (s->deadline <= 0)
            s->deadline = skua_time() + ski_config.exit_grace;
    } else if (!s->failed && state == SKI_PROCESS_ATTACHED) {
        end_job(s, code ? code : 1);
        ski_process_text(job, process, -1, who, sizeof who);
        fprintf(stderr, "skuarun: %s exited with code %d before skua_exit() was called\n", who,
                code);
    } else if (!s->failed && code) {
        say_absent(s, process, code);
    } else {
        s->absent = process; /* all may do so; if another joins, it waits in vain */
    }
}

/* Whether a process went away that others wait for. */
static void look_for_absent(struct state *s)
{
    if (s->absent >= 0 && !s->failed && any_joined(s->launch.job))
        say_absent(s, s->absent, 0);
}

static void reap(struct state *s)
{
    int   status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        int process = 0;

        while (process < s->launch.job->processes && s->launch.child[process].pid != pid)
            process++;
        if (process == s->launch.job->processes)
            continue;
        kill(-pid, SIGKILL); /* what it started and left behind */
        s->launch.child[process].pid = 0;
        s->launch.alive--;
        if (WIFSIGNALED(status))
            died(s, process, WTERMSIG(status));
        else
            exited(s, process, WEXITSTATUS(status));
    }
}

/* PEs that compute on after skua_exit(), or processes that ignore SIGTERM. */
static void kill_late_ones(struct state *s)
{
    if (s->deadline <= 0 && ski_job_exiting(s->launch.job))
        s->deadline = skua_time() + ski_config.exit_grace;
    if (s->deadline <= 0 || s->killed || skua_time() < s->deadline)
        return;
    if (!s->failed) {
        fprintf(stderr,
                "skuarun: %d process(es) did not end within %g s of skua_exit(): ended them "
                "(SKUA_EXIT_GRACE)\n",
                s->launch.alive, ski_config.exit_grace);
        s->failed = true;
        s->code   = ski_job_exit_code(s->launch.job);
    }
    s->killed = true;
    launch_signal(&s->launch, SIGKILL);
}

/* ---- signals ------------------------------------------------------------- */

static void forward(struct state *s, int sig)
{
    bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;

    if (ends && s->asked) {
        s->failed = s->killed = true;
        s->code               = 128 + sig;
        launch_signal(&s->launch, SIGKILL);
        return;
    }
    if (ends)
        s->asked = sig;
    launch_signal(&s->launch, sig);
}

static void on_signal(struct state *s)
{
    struct signalfd_siginfo info;

    while (read(s->signals, &info, sizeof info) == sizeof info) {
        int sig = (int)info.ssi_signo;

        if (sig == SIGCHLD) {
            reap(s);
        } else if (sig == SIGTSTP) {
            launch_signal(&s->launch, SIGSTOP);
            raise(SIGSTOP);
            launch_signal(&s->launch, SIGCONT); /* we are back */
        } else {
            forward(s, sig);
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

/* ---- the loop ------------------------------------------------------------ */

static int milliseconds_left(const struct state *s)
{
    double until = skua_time() + LOOK_SECONDS;

    if (s->deadline > 0 && !s->killed && s->deadline < until)
        until = s->deadline;
    if (s->drain > 0 && s->drain < until)
        until = s->drain;
    until -= skua_time();
    return until > 0 ? (int)(until * 1e3) + 1 : 0;
}

/* An unfinished line of process 0, a prompt perhaps, shown on a terminal. */
static bool has_prompt(const struct state *s)
{
    return s->launch.child[0].out.used > 0 && isatty(STDOUT_FILENO);
}

/* Called before each piece of output: waits until @p fd takes it, and attends to
 * signals and the dead meanwhile.  False: we were asked to end, all processes
 * have, and nobody takes it. */
static bool wait_for_output(int fd, void *arg)
{
    struct state *s = arg;

    for (;;) {
        struct pollfd polls[] = {{.fd = fd, .events = POLLOUT},
                                 {.fd = s->signals, .events = POLLIN}};

        poll(polls, 2, milliseconds_left(s));
        if (polls[0].revents)
            return true;
        if (polls[1].revents)
            on_signal(s);
        kill_late_ones(s);
        if (s->asked && s->launch.alive == 0)
            return false;
    }
}

static size_t fill_poll(struct state *s, struct pollfd *polls)
{
    struct feed *feed = &s->launch.stdin_feed;
    bool         full = feed->begin < feed->end;
    size_t       n    = 0;

    polls[n++] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    polls[n++] = (struct pollfd){.fd = full ? -1 : feed->from, .events = POLLIN};
    polls[n++] = (struct pollfd){.fd = full ? feed->to : -1, .events = POLLOUT};
    for (int i = 0; i < s->launch.job->processes; i++) {
        polls[n++] = (struct pollfd){.fd = s->launch.child[i].out.fd, .events = POLLIN};
        polls[n++] = (struct pollfd){.fd = s->launch.child[i].err.fd, .events = POLLIN};
    }
    return n;
}

/* Reads what there is to read; true while some output is open. */
static bool serve(struct state *s, const struct pollfd *polls)
{
    bool open = false;

    for (int i = 0; i < s->launch.job->processes; i++) {
        struct child *child = &s->launch.child[i];
        if (polls[3 + 2 * i].revents)
            stream_read(&child->out);
        if (polls[4 + 2 * i].revents)
            stream_read(&child->err);
        open |= child->out.fd >= 0 || child->err.fd >= 0;
    }
    if (polls[1].revents)
        feed_read(&s->launch.stdin_feed);
    if (polls[2].revents)
        feed_write(&s->launch.stdin_feed);
    if (polls[0].revents)
        on_signal(s);
    return open;
}

/* Nobody takes our output: a closed pipe, a full disk. */
static void look_for_broken(struct state *s)
{
    int error = stream_error();

    if (!error || s->failed)
        return;
    if (error == EPIPE) { /* as a program that writes into a closed pipe */
        end_job(s, 128 + SIGPIPE);
        return;
    }
    end_job(s, 1);
    fprintf(stderr, "skuarun: cannot write the output of the job: %s\n", strerror(error));
}

static void run(struct state *s)
{
    struct pollfd *polls = ski_calloc(3 + 2 * (size_t)s->launch.job->processes, sizeof *polls);
    bool           open  = true;

    while (s->launch.alive > 0 || (open && skua_time() < s->drain)) {
        size_t n      = fill_poll(s, polls);
        bool   prompt = has_prompt(s);
        int    ready  = poll(polls, n, prompt ? PROMPT_MS : milliseconds_left(s));

        if (ready == 0 && prompt)
            stream_flush(&s->launch.child[0].out);
        if (ready > 0)
            open = serve(s, polls);
        look_for_broken(s);
        look_for_absent(s);
        kill_late_ones(s);
        if (s->launch.alive == 0 && s->drain <= 0)
            s->drain = skua_time() + DRAIN_SECONDS;
    }
    free(polls);
}

static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A standard descriptor that we were started without must not become another's. */
static void open_standard(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = dup(fd);
    close(fd);
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv);
    struct state   s       = {.absent = -1};
    int            code    = 0;

    open_standard();
    if (ski_config_load() != SKUA_OK)
        return 2;
    ski_config_check_names();
    raise_file_limit();
    if (!launch_create(&s.launch, &options))
        return 1;
    s.signals = open_signals();
    stream_on_wait(wait_for_output, &s);
    if (!launch_start(&s.launch, &options, &code))
        end_job(&s, code);
    run(&s);
    launch_destroy(&s.launch);
    return s.code;
}
