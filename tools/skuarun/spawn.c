/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.c - see spawn.h.
 *
 * A process inherits these things: the arena's descriptor, the reading end of its
 * lifeline and, in a job that is spread, a control connection (boot/boot.h), pipes
 * for its output, and SKUA_JOB, which tells of the first three.  It is the
 * leader of a process group of its own, so that signals also reach what it
 * starts, and dies with us (the lifeline does that for the Skua program
 * itself, PR_SET_PDEATHSIG for a wrapper such as a shell around it).
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/module.h"
#include "base/topology.h"
#include "onesided/onesided.h"
#include "transport/host/host.h"

#define CODE_NOT_FOUND 127 /* as the shell has it */
#define CODE_NOT_RUN   126

bool launch_create(struct launch *launch, const struct ski_plan *plan)
{
    if (ski_boot_arena(&launch->arena, &launch->arena_fd) != SKUA_OK ||
        ski_job_create(launch->arena, plan, &launch->job) != SKUA_OK ||
        ski_host_create(launch->job, (uint32_t)ski_config.inbox_cells) != SKUA_OK ||
        ski_onesided_create(launch->job) != SKUA_OK)
        return false;
    launch->child      = ski_calloc((size_t)launch->job->here, sizeof *launch->child);
    launch->stdin_feed = (struct feed){.from = -1, .to = -1};
    launch->oom_kills  = ski_cgroup_oom_kills(SKI_CGROUP_ROOT, SKI_CGROUP_SELF);
    for (int i = 0; i < launch->job->here; i++) /* not started yet */
        launch->child[i].out.fd = launch->child[i].err.fd = launch->child[i].control = -1;
    return true;
}

/* The pipes of one process; [0] is read, [1] written.  Of its control connection
 * [0] is ours. */
struct pipes {
    int in[2], out[2], err[2], life[2], failed[2], control[2];
};

static bool make_pipes(struct pipes *p, bool spread)
{
    p->control[0] = p->control[1] = -1;
    return pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 &&
           pipe2(p->err, O_CLOEXEC) == 0 && pipe2(p->life, O_CLOEXEC) == 0 &&
           pipe2(p->failed, O_CLOEXEC) == 0 &&
           (!spread || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->control) == 0);
}

/* ---- in the child -------------------------------------------------------- */

static void bind_to_cpus(const struct ski_job *job, int process)
{
    int       first = ski_job_index(job, ski_job_first_pe(job, process));
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = first; i < first + ski_job_pes_of(job, process); i++) {
        if (job->cpu[i] == SKI_CPU_ANY)
            return;
        CPU_SET((size_t)job->cpu[i], &set);
    }
    sched_setaffinity(0, sizeof set, &set); /* a failure is reported by the PEs */
}

static void inherit(int fd)
{
    fcntl(fd, F_SETFD, 0);
}

/* What the setting malloc_arena needs; a program that goes without says so. */
static void preload_malloc(void)
{
    const char *before = getenv("LD_PRELOAD");
    char        path[4096], list[8192];

    if (!ski_config.malloc_arena || !ski_module_find("malloc", path, sizeof path))
        return;
    if (snprintf(list, sizeof list, "%s%s%s", path, before ? ":" : "", before ? before : "") <
        (int)sizeof list)
        setenv("LD_PRELOAD", list, 1);
}

static _Noreturn void become(const struct launch *launch, const struct options *options,
                             const struct pipes *p, int process, pid_t launcher)
{
    char job[64];
    int  error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(CODE_NOT_RUN); /* it died just before */
    watch_leave_signals();
    if (process == 0) {
        dup2(p->in[0], STDIN_FILENO);
    } else {
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    dup2(p->out[1], STDOUT_FILENO);
    dup2(p->err[1], STDERR_FILENO);
    bind_to_cpus(launch->job, process);
    inherit(launch->arena_fd);
    inherit(p->life[0]);
    if (p->control[1] >= 0)
        inherit(p->control[1]);
    ski_boot_variable(job, sizeof job, launch->arena_fd, p->life[0], p->control[1], process);
    setenv(SKI_BOOT_VARIABLE, job, 1);
    preload_malloc();
    execvp(options->command[0], options->command);
    error = errno;
    _exit(write(p->failed[1], &error, sizeof error) == sizeof error ? CODE_NOT_RUN : 1);
}

/* ---- in the launcher ----------------------------------------------------- */

static void set_label(struct stream *stream, const struct ski_job *job, int process)
{
    int first = ski_job_first_pe(job, process), pes = ski_job_pes_of(job, process);

    if (pes == 1)
        snprintf(stream->label, sizeof stream->label, "[%d] ", first);
    else
        snprintf(stream->label, sizeof stream->label, "[%d-%d] ", first, first + pes - 1);
}

/* Keeps our ends of the pipes, closes the others. */
static void keep_ends(struct launch *launch, const struct options *options, const struct pipes *p,
                      int index)
{
    struct child *child   = &launch->child[index];
    int           process = launch->job->process[index].number;

    close(p->in[0]), close(p->out[1]), close(p->err[1]), close(p->life[0]), close(p->failed[1]);
    if (p->control[1] >= 0)
        close(p->control[1]);
    child->lifeline = p->life[1];
    child->control  = p->control[0];
    child->out      = (struct stream){.fd = p->out[0], .to = STDOUT_FILENO};
    child->err      = (struct stream){.fd = p->err[0], .to = STDERR_FILENO};
    if (options->label) {
        set_label(&child->out, launch->job, process);
        set_label(&child->err, launch->job, process);
    }
    if (process == 0) {
        launch->stdin_feed.to = p->in[1];
        fcntl(p->in[1], F_SETFL, O_NONBLOCK);
    } else {
        close(p->in[1]);
    }
}

/* A name without a slash is looked for in PATH alone; that may not be what its writer meant. */
static void why_not_run(const char *program, int error, char why[WHY_BYTES])
{
    bool here = error == ENOENT && !strchr(program, '/') && access(program, X_OK) == 0;

    snprintf(why, WHY_BYTES, "cannot run %s: %s%s%s", program, strerror(error),
             here ? " in PATH; for the one in this folder say ./" : "", here ? program : "");
}

static bool start_one(struct launch *launch, const struct options *options, int index, int *code,
                      char why[WHY_BYTES])
{
    struct child *child   = &launch->child[index];
    int           process = launch->job->process[index].number;
    struct pipes  p;
    pid_t         launcher = getpid();
    int           error    = 0;

    if (!make_pipes(&p, ski_job_spread(launch->job)) || (child->pid = fork()) < 0) {
        child->pid = 0;
        snprintf(why, WHY_BYTES, "cannot start process %d of %d: %s", process,
                 launch->job->processes, strerror(errno));
        *code = 1;
        return false;
    }
    if (child->pid == 0)
        become(launch, options, &p, process, launcher);
    setpgid(child->pid, child->pid); /* both sides do it: neither need wait */
    launch->alive++;
    keep_ends(launch, options, &p, index);
    /* The pipe closes when the program runs, or brings the reason why not. */
    if (read(p.failed[0], &error, sizeof error) == sizeof error) {
        why_not_run(options->command[0], error, why);
        *code = error == ENOENT ? CODE_NOT_FOUND : CODE_NOT_RUN;
    }
    close(p.failed[0]);
    return error == 0;
}

static void announce(const struct launch *launch, int index)
{
    const struct ski_job *job     = launch->job;
    int                   process = job->process[index].number;
    int                   first   = ski_job_first_pe(job, process);

    fprintf(stderr, "skuarun: process %d is pid %d, with", process, (int)launch->child[index].pid);
    for (int pe = first; pe < first + ski_job_pes_of(job, process); pe++) {
        int cpu = job->cpu[ski_job_index(job, pe)];
        fprintf(stderr, "%s PE %d", pe > first ? "," : "", pe);
        if (cpu != SKI_CPU_ANY)
            fprintf(stderr, " on CPU %d", cpu);
    }
    fprintf(stderr, "\n");
}

bool launch_start(struct launch *launch, const struct options *options, int *code,
                  char why[WHY_BYTES])
{
    for (int i = 0; i < launch->job->here; i++) {
        if (!start_one(launch, options, i, code, why))
            return false;
        if (options->verbose)
            announce(launch, i);
    }
    return true;
}

void launch_signal(struct launch *launch, int signal)
{
    for (int i = 0; i < launch->job->here; i++)
        if (launch->child[i].pid > 0)
            kill(-launch->child[i].pid, signal);
}

void launch_destroy(struct launch *launch)
{
    free(launch->child);
    ski_arena_detach(launch->arena);
    close(launch->arena_fd);
}
