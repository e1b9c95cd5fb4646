/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_test.c - which process is blamed and which exit code a job has, for each way it ends. */
#include "processes/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "boot/job.h"
#include "survive/relaunch.h"
#include "tests/tap.h"

#define PROCESSES 3

/* What the monitor asked for. */
static struct monitor_test_calls {
    int signalled[65]; /* by signal */
    int blamed;        /* or -1     */
} monitor_test_calls;

static void monitor_test_signal(void *arg, int sig)
{
    (void)arg;
    monitor_test_calls.signalled[sig]++;
}

static void monitor_test_reap(void *arg)
{
    (void)arg;
}

static void monitor_test_report(void *arg, int process)
{
    (void)arg;
    monitor_test_calls.blamed = process;
}

static void monitor_test_resize(void *arg, int pes)
{
    (void)arg;
    (void)pes;
}

static struct monitor monitor_test_begin(void)
{
    static const struct monitor_ops ops = {monitor_test_signal, monitor_test_reap,
                                           monitor_test_report, monitor_test_resize};

    monitor_test_calls    = (struct monitor_test_calls){.blamed = -1};
    ski_config.exit_grace = 1000;
    return (struct monitor){.ops = &ops, .signals = -1, .alive = PROCESSES, .unjoined = -1};
}

static void monitor_test_exit(struct monitor *m, int process, int code, int state)
{
    monitor_process_exited(
        m, &(struct exit_report){.process = process, .status = code << 8, .state = state});
}

static void monitor_test_kill(struct monitor *m, int process, int sig, bool symptom)
{
    monitor_process_exited(m, &(struct exit_report){.process = process,
                                                    .status  = sig,
                                                    .state   = SKI_PROCESS_ATTACHED,
                                                    .symptom = symptom});
}

static void monitor_test_good_order(void)
{
    struct monitor m = monitor_test_begin();

    for (int i = 0; i < PROCESSES; i++)
        monitor_test_exit(&m, i, 5, SKI_PROCESS_LEFT);
    monitor_check_deadlines(&m);
    OK(m.alive == 0 && m.code == 5 && !m.failed && monitor_test_calls.blamed == -1,
       "skua_exit(5) in all processes: exit code 5");
    OK(monitor_test_calls.signalled[SIGTERM] == 0, "no process is signalled");
}

static void monitor_test_failures(void)
{
    struct monitor m = monitor_test_begin();

    monitor_test_kill(&m, 1, SIGSEGV, false);
    OK(m.code == 128 + SIGSEGV && monitor_test_calls.blamed == 1, "a killed process is blamed");
    OK(monitor_test_calls.signalled[SIGTERM] == 1, "the others get SIGTERM");
    monitor_test_kill(&m, 2, SIGABRT, false);
    OK(m.code == 128 + SIGSEGV && monitor_test_calls.blamed == 1, "the first failure counts");
    m.deadline = 1e-9; /* in the past */
    monitor_check_deadlines(&m);
    OK(m.killed && monitor_test_calls.signalled[SIGKILL] == 1, "SIGKILL follows at the deadline");

    m = monitor_test_begin();
    monitor_test_exit(&m, 2, 0, SKI_PROCESS_ATTACHED);
    OK(m.code == 1 && monitor_test_calls.blamed == 2, "exit(0) before skua_exit() is a failure");
    m = monitor_test_begin();
    monitor_test_exit(&m, 2, 7, SKI_PROCESS_STARTED);
    OK(m.code == 7 && monitor_test_calls.blamed == 2, "so is exit(7) before joining");
}

/* A process that lost another one is blamed only if no report of that one arrives. */
static void monitor_test_symptom(void)
{
    struct monitor m = monitor_test_begin();

    monitor_test_kill(&m, 0, SIGABRT, true);
    monitor_check_deadlines(&m);
    OK(!m.failed && monitor_test_calls.blamed == -1, "a symptom is not blamed at once");
    monitor_test_kill(&m, 2, SIGKILL, false);
    OK(m.code == 128 + SIGKILL && monitor_test_calls.blamed == 2, "the lost process is blamed");

    m = monitor_test_begin();
    monitor_test_kill(&m, 0, SIGABRT, true);
    m.suspect_until = 1e-9; /* in the past */
    monitor_check_deadlines(&m);
    OK(m.code == 128 + SIGABRT && monitor_test_calls.blamed == 0,
       "the symptom is blamed when its time is over");
}

/* A process that exits with 0 without joining is fine unless another one joins. */
static void monitor_test_unjoined(void)
{
    struct monitor m = monitor_test_begin();

    monitor_test_exit(&m, 1, 0, SKI_PROCESS_STARTED);
    monitor_check_deadlines(&m);
    OK(!m.failed && m.code == 0, "a process that does not join is no failure");
    monitor_joined(&m, 1);
    monitor_check_deadlines(&m);
    OK(m.failed && m.code == 1 && monitor_test_calls.blamed == 1, "unless another process joins");
}

/* A process that exits between phases is fine unless another one joins the next phase. */
static void monitor_test_phases(void)
{
    struct monitor m = monitor_test_begin();

    monitor_joined(&m, 2);
    monitor_process_exited(
        &m, &(struct exit_report){
                .process = 2, .status = 3 << 8, .state = SKI_PROCESS_FINALIZED, .phase = 2});
    monitor_check_deadlines(&m);
    OK(!m.failed && m.code == 3 && m.deadline <= 0,
       "an exit between phases gives its code, and the others their time");
    monitor_joined(&m, 1); /* an agent that lags behind */
    monitor_check_deadlines(&m);
    OK(!m.failed, "a phase that the process has joined is no reason");
    monitor_joined(&m, 3);
    monitor_check_deadlines(&m);
    OK(m.failed && monitor_test_calls.blamed == 2, "the next one is");
}

/* Of the processes that end while an epoch is ended, those are lost that the launcher did not kill.
 */
static void monitor_test_losses(void)
{
    static const struct run_options options = {.survive = true, .spare = 0};
    struct recovery                 recovery;
    struct monitor                  m = monitor_test_begin();

    recovery_begin(&recovery, &options, PROCESSES);
    m.recovery = &recovery;
    monitor_test_kill(&m, 0, SIGKILL, false);
    OK(m.recovering && recovery.lost == 1, "a process is lost, and the epoch ends");
    monitor_test_kill(&m, 1, SIGKILL, false);
    OK(recovery.lost == 2, "another one was killed at the same time");
    monitor_process_exited(&m,
                           &(struct exit_report){.process = 2, .status = SIGKILL, .ordered = 1});
    OK(recovery.lost == 2 && !m.failed, "one that the launcher has killed is not lost");
}

static void monitor_test_overdue(void)
{
    struct monitor m = monitor_test_begin();

    monitor_exiting(&m, 3);
    monitor_exiting(&m, 4);
    OK(m.deadline > skua_time() && m.exit_code == 3, "skua_exit() sets a deadline, once");
    m.deadline = 1e-9;
    monitor_check_deadlines(&m);
    OK(m.killed && m.code == 3, "processes that go on after it are killed");
    OK(monitor_poll_timeout(&m, 0) > 0, "poll() then waits for the next check");
    m = monitor_test_begin();
    monitor_exiting(&m, 0);
    m.deadline = 1e-9;
    monitor_check_deadlines(&m);
    OK(m.killed && m.code == 1, "that is a failure also after skua_exit(0)");
}

static void monitor_test_output(void)
{
    struct monitor m = monitor_test_begin();

    monitor_output_error(&m, 0);
    OK(!m.failed, "output without an error continues");
    monitor_output_error(&m, EPIPE);
    OK(m.failed && m.code == 128 + SIGPIPE, "a closed pipe ends the job as SIGPIPE does");
    OK(monitor_poll_timeout(&m, 0) <= 501, "poll() waits for SIGKILL at most");
    OK(monitor_poll_timeout(&m, 1e-9) == 0, "and not at all for a time in the past");
}

/* Sends a signal to the monitor, as if the user had sent it to skuarun. */
static void monitor_test_send(struct monitor *m, int sig)
{
    struct signalfd_siginfo info = {.ssi_signo = (uint32_t)sig};
    int                     ends[2];

    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    CHECK(write(ends[1], &info, sizeof info) == sizeof info);
    m->signals = ends[0];
    monitor_read_signals(m);
    close(ends[0]);
    close(ends[1]);
}

/* A process that ends because the program asks to survive. */
static void monitor_test_ask(struct monitor *m, int process)
{
    monitor_process_exited(
        m, &(struct exit_report){
               .process = process, .status = 0, .state = SKI_PROCESS_ATTACHED, .survive = 1000});
}

static void monitor_test_relaunch(void)
{
    struct monitor m = monitor_test_begin();

    monitor_test_ask(&m, 0);
    OK(relaunch_wanted() && m.failed && m.code == 0 && monitor_test_calls.signalled[SIGKILL] == 1,
       "a job that asks to survive is ended, and started again");
    monitor_test_send(&m, SIGTERM);
    OK(!relaunch_wanted() && m.code == 128 + SIGTERM, "unless the user ends it meanwhile");
    m = monitor_test_begin();
    monitor_test_send(&m, SIGINT);
    monitor_test_ask(&m, 0);
    monitor_test_ask(&m, 1);
    OK(!relaunch_wanted() && m.code == 128 + SIGINT && monitor_test_calls.blamed == -1,
       "or has ended it before");
}

int main(void)
{
    monitor_test_good_order();
    monitor_test_failures();
    monitor_test_symptom();
    monitor_test_unjoined();
    monitor_test_phases();
    monitor_test_losses();
    monitor_test_overdue();
    monitor_test_output();
    monitor_test_relaunch();
    return tap_end();
}
