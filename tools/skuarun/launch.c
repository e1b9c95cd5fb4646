/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - processes that run, and end: see spawn.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/cgroup.h"
#include "base/config.h"
#include "boot/crash_report.h"
#include "spawn.h"

/* ---- ends ---------------------------------------------------------------- */

static int index_of(const struct launch *launch, pid_t pid)
{
    for (int i = 0; i < launch->job->here; i++)
        if (launch->child[i].pid == pid)
            return i;
    return -1;
}

/* Whether it gave up because it lost another (core/net/shutdown.c). */
static bool is_symptom(const struct ski_crash *crash)
{
    return atomic_load_explicit(&crash->ready, memory_order_acquire) && crash->signal == SIGABRT &&
           strncmp(crash->text, "lost PE ", 8) == 0;
}

/* A process has been stopped, or goes on; false: it has ended. */
static bool note_stop(struct child *child, int status)
{
    if (WIFSTOPPED(status))
        child->stopped = skua_time();
    else if (WIFCONTINUED(status))
        child->stopped = 0;
    else
        return false;
    return true;
}

void launch_give_up(struct launch *launch)
{
    double before = skua_time() - ski_config.stop_timeout;

    for (int i = 0; ski_config.stop_timeout > 0 && i < launch->job->here; i++) {
        struct child *child = &launch->child[i];

        if (child->pid <= 0 || child->stopped <= 0 || child->stopped > before || child->given_up)
            continue;
        child->given_up = true;
        kill(child->pid, SIGKILL);
    }
}

int launch_reap(struct launch *launch)
{
    int   status, i = -1;
    pid_t pid = 0;

    while (i < 0 && (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        i = index_of(launch, pid);
        if (i >= 0 && note_stop(&launch->child[i], status))
            i = -1;
    }
    if (i < 0)
        return -1;
    kill(-pid, SIGKILL); /* what it started and left behind */
    launch->child[i].pid = 0;
    launch->alive--;
    launch->child[i].ended = (struct ended){
        .process = launch->job->process[i].number,
        .status  = status,
        .state   = atomic_load(&launch->job->process[i].state),
        .symptom = is_symptom(&launch->job->process[i].crash),
    };
    return i;
}

/* Returns whether a process that was killed probably exceeded the memory that its control group
 * allows: the kernel has killed one of the group since the job began. */
static bool launch_killed_for_memory(const struct launch *launch, const struct ended *ended)
{
    return WTERMSIG(ended->status) == SIGKILL &&
           ski_cgroup_oom_kills(SKI_CGROUP_ROOT, SKI_CGROUP_SELF) > launch->oom_kills;
}

static void launch_why_signal(const struct launch *launch, const struct ended *ended,
                              const char *who, char why[WHY_BYTES])
{
    size_t most = ski_cgroup_memory_max(SKI_CGROUP_ROOT, SKI_CGROUP_SELF);

    if (launch_killed_for_memory(launch, ended) && most < SIZE_MAX)
        snprintf(
            why, WHY_BYTES,
            "%s was killed by the kernel for want of memory: its control group allows %zu MiB; "
            "raise that limit, or use less memory outside of the arena (%zu MiB)",
            who, most >> 20, launch->arena->bytes >> 20);
    else
        snprintf(why, WHY_BYTES, "%s died of signal %d (%s)%s", who, WTERMSIG(ended->status),
                 strsignal(WTERMSIG(ended->status)),
                 launch_killed_for_memory(launch, ended) ? ": the kernel has no memory left" : "");
}

void launch_why(const struct launch *launch, int index, char why[WHY_BYTES])
{
    const struct ended *ended = &launch->child[index].ended;
    char                who[64];

    if (WIFSIGNALED(ended->status) && ski_crash_text(launch->job, ended->process, why))
        return;
    ski_process_text(launch->job, ended->process, -1, who, sizeof who);
    if (launch->child[index].given_up)
        snprintf(why, WHY_BYTES, "%s was stopped for %g s and is given up (SKUA_STOP_TIMEOUT)", who,
                 ski_config.stop_timeout);
    else if (WIFSIGNALED(ended->status))
        launch_why_signal(launch, ended, who, why);
    else
        snprintf(why, WHY_BYTES, "%s exited with code %d %s", who, WEXITSTATUS(ended->status),
                 ended->state == SKI_PROCESS_STARTED ? "without joining the job"
                                                     : "before skua_exit() was called");
}

bool launch_joined(const struct launch *launch)
{
    for (int i = 0; i < launch->job->here; i++)
        if (atomic_load(&launch->job->process[i].state) != SKI_PROCESS_STARTED)
            return true;
    return false;
}

/* ---- input and output ---------------------------------------------------- */

void launch_fill(const struct launch *launch, struct pollfd *polls)
{
    const struct feed *feed = &launch->stdin_feed;

    *polls++ = (struct pollfd){.fd = feed_full(feed) ? -1 : feed->from, .events = POLLIN};
    *polls++ = (struct pollfd){.fd = feed_full(feed) ? feed->to : -1, .events = POLLOUT};
    for (int i = 0; i < launch->job->here; i++) {
        *polls++ = (struct pollfd){.fd = launch->child[i].out.fd, .events = POLLIN};
        *polls++ = (struct pollfd){.fd = launch->child[i].err.fd, .events = POLLIN};
    }
}

bool launch_serve(struct launch *launch, const struct pollfd *polls)
{
    bool open = false;

    for (int i = 0; i < launch->job->here; i++) {
        struct child *child = &launch->child[i];

        if (polls[2 + 2 * i].revents)
            stream_read(&child->out);
        if (polls[3 + 2 * i].revents)
            stream_read(&child->err);
        open |= child->out.fd >= 0 || child->err.fd >= 0;
    }
    if (polls[0].revents)
        feed_read(&launch->stdin_feed);
    if (polls[1].revents)
        feed_write(&launch->stdin_feed);
    return open;
}

struct stream *launch_prompt(const struct launch *launch)
{
    struct stream *out = &launch->child[0].out;

    return launch->terminal && launch->job->process[0].number == 0 && out->used > 0 ? out : NULL;
}
