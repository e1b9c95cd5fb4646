/* SPDX-License-Identifier: Apache-2.0 */
/* procs.c - processes that run and end: see procs.h. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/assert.h"
#include "base/cgroup.h"
#include "base/config.h"
#include "boot/crash_report.h"
#include "processes/procs.h"

/* ---- exits ---------------------------------------------------------------- */

static int procs_index_of(const struct procs *procs, pid_t pid)
{
    for (int i = 0; i < procs->job->local_processes; i++)
        if (procs->child[i].pid == pid)
            return i;
    return -1;
}

/* Returns whether the process aborted because it lost another one (core/lifecycle/shutdown.c). */
static bool procs_is_symptom(const struct ski_crash *crash)
{
    return atomic_load_explicit(&crash->ready, memory_order_acquire) && crash->signal == SIGABRT &&
           strncmp(crash->text, "lost PE ", 8) == 0;
}

/* Records that a process was stopped or continued.  Returns false if it has ended instead. */
static bool procs_note_stop(struct procs_child *child, int status)
{
    if (WIFSTOPPED(status))
        child->stopped = skua_time();
    else if (WIFCONTINUED(status))
        child->stopped = 0;
    else
        return false;
    return true;
}

void procs_kill_stopped(struct procs *procs)
{
    double before = skua_time() - ski_config.stop_timeout;

    for (int i = 0; ski_config.stop_timeout > 0 && i < procs->job->local_processes; i++) {
        struct procs_child *child = &procs->child[i];

        if (child->pid <= 0 || child->stopped <= 0 || child->stopped > before ||
            child->killed_stopped)
            continue;
        child->killed_stopped = true;
        kill(child->pid, SIGKILL);
    }
}

int procs_reap(struct procs *procs)
{
    int   status, i = -1;
    pid_t pid = 0;

    while (i < 0 && (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        i = procs_index_of(procs, pid);
        if (i >= 0 && procs_note_stop(&procs->child[i], status))
            i = -1;
    }
    if (i < 0)
        return -1;
    kill(-pid, SIGKILL); /* what it started and left running */
    procs->child[i].pid = 0;
    ski_assert(procs->alive > 0);
    procs->alive--;
    procs->child[i].report = (struct exit_report){
        .process = procs->job->process[i].number,
        .status  = status,
        .state   = atomic_load(&procs->job->process[i].state),
        .phase   = atomic_load(&procs->job->process[i].phase),
        .symptom = procs_is_symptom(&procs->job->process[i].crash),
        .ordered = procs->child[i].ordered,
        .survive = atomic_load(&procs->job->survive),
    };
    return i;
}

/* Returns whether a process was probably killed for exceeding the memory limit of its control
 * group: the kernel has killed a process of the group since the job began. */
static bool procs_oom_killed(const struct procs *procs, const struct exit_report *report)
{
    return WTERMSIG(report->status) == SIGKILL &&
           ski_cgroup_oom_kills(SKI_CGROUP_ROOT, SKI_CGROUP_SELF) > procs->oom_kills;
}

static void procs_signal_reason(const struct procs *procs, const struct exit_report *report,
                                const char *process_text, char reason[REASON_BYTES])
{
    size_t most = ski_cgroup_memory_max(SKI_CGROUP_ROOT, SKI_CGROUP_SELF);

    if (procs_oom_killed(procs, report) && most < SIZE_MAX)
        snprintf(
            reason, REASON_BYTES,
            "%s was killed by the kernel: its control group has used up its memory of %zu MiB; "
            "raise that limit, or use less memory outside of the arena (%zu MiB)",
            process_text, most >> 20, procs->arena->bytes >> 20);
    else
        snprintf(reason, REASON_BYTES, "%s died of signal %d (%s)%s", process_text,
                 WTERMSIG(report->status), strsignal(WTERMSIG(report->status)),
                 procs_oom_killed(procs, report) ? ": the kernel ran out of memory" : "");
}

/* Returns the state of the job in which a process exited although it should not have. */
static const char *procs_exit_moment(const struct procs *procs, const struct exit_report *report)
{
    if (report->state == SKI_PROCESS_STARTED)
        return "without joining the job";
    if (report->state == SKI_PROCESS_FINALIZED)
        return "between two phases; other processes have called skua_init() again";
    if (atomic_load(&procs->job->phased))
        return "in a phase of skua_init(), before it called skua_finalize()";
    return "before skua_exit() was called";
}

void procs_exit_reason(const struct procs *procs, int index, char reason[REASON_BYTES])
{
    const struct exit_report *report = &procs->child[index].report;
    char                      process_text[64];

    if (WIFSIGNALED(report->status) && ski_crash_text(procs->job, report->process, reason))
        return;
    ski_process_text(procs->job, report->process, -1, process_text, sizeof process_text);
    if (procs->child[index].killed_stopped)
        snprintf(reason, REASON_BYTES,
                 "%s was stopped for %g s and has been killed (SKUA_STOP_TIMEOUT)", process_text,
                 ski_config.stop_timeout);
    else if (WIFSIGNALED(report->status))
        procs_signal_reason(procs, report, process_text, reason);
    else
        snprintf(reason, REASON_BYTES, "%s exited with code %d %s", process_text,
                 WEXITSTATUS(report->status), procs_exit_moment(procs, report));
}

bool procs_program_exiting(const struct procs *procs)
{
    return ski_job_exiting(procs->job) && !atomic_load(&procs->job->phased);
}

uint32_t procs_joined_phase(const struct procs *procs)
{
    uint32_t latest = 0;

    for (int i = 0; i < procs->job->local_processes; i++) {
        uint32_t phase = atomic_load(&procs->job->process[i].phase);

        latest = phase > latest ? phase : latest;
    }
    return latest;
}

int procs_asked_size(struct procs *procs)
{
    return (int)(atomic_exchange(&procs->job->resize, 0) & INT_MAX);
}

bool procs_all_joined(const struct procs *procs)
{
    for (int i = 0; i < procs->job->local_processes; i++)
        if (atomic_load(&procs->job->process[i].phase) == 0)
            return false;
    return true;
}

/* ---- I/O forwarding ---------------------------------------------------- */

void procs_poll_fill(const struct procs *procs, struct pollfd *polls)
{
    const struct iof_input *input = &procs->input;

    *polls++ = (struct pollfd){.fd = iof_input_pending(input) ? -1 : input->from, .events = POLLIN};
    *polls++ = (struct pollfd){.fd = iof_input_pending(input) ? input->to : -1, .events = POLLOUT};
    for (int i = 0; i < procs->job->local_processes; i++) {
        *polls++ = (struct pollfd){.fd = procs->child[i].out.fd, .events = POLLIN};
        *polls++ = (struct pollfd){.fd = procs->child[i].err.fd, .events = POLLIN};
    }
}

bool procs_poll_serve(struct procs *procs, const struct pollfd *polls)
{
    bool open = false;

    for (int i = 0; i < procs->job->local_processes; i++) {
        struct procs_child *child = &procs->child[i];

        if (polls[2 + 2 * i].revents)
            iof_output_read(&child->out);
        if (polls[3 + 2 * i].revents)
            iof_output_read(&child->err);
        open |= child->out.fd >= 0 || child->err.fd >= 0;
    }
    if (polls[0].revents)
        iof_input_read(&procs->input);
    if (polls[1].revents)
        iof_input_write(&procs->input);
    return open;
}

struct iof_output *procs_prompt(const struct procs *procs)
{
    struct iof_output *out = &procs->child[0].out;

    return procs->terminal && procs->job->process[0].number == 0 && out->used > 0 ? out : NULL;
}
