/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procs_start.c - starting processes: see procs.h.
 *
 * A process inherits the descriptor of the arena, the reading end of its lifeline, in a distributed
 * job a control connection (boot/boot.h), pipes for its output, and the variable SKUA_JOB, which
 * names the first three.  It leads a process group of its own, so that signals also reach what it
 * starts.  It is killed when skuarun ends: the lifeline does that for the Skua program itself,
 * PR_SET_PDEATHSIG for a wrapper around it, such as a shell.
 */
#include "processes/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/module.h"
#include "base/rlimit.h"
#include "base/topology.h"
#include "common/fd.h"
#include "onesided/onesided.h"
#include "processes/monitor.h"
#include "transport/host/host.h"

#define CODE_NOT_FOUND 127 /* exit codes as of the shell */
#define CODE_NOT_RUN   126
#define TASK_EXITING   0x4 /* PF_EXITING of the kernel, in the flags of /proc/PID/stat */

bool procs_create(struct procs *procs, const struct ski_job_params *plan)
{
    if (ski_boot_arena(&procs->arena, &procs->arena_fd) != SKUA_OK ||
        ski_job_create(procs->arena, plan, &procs->job) != SKUA_OK ||
        ski_host_create(procs->job, (uint32_t)ski_config.inbox_cells) != SKUA_OK ||
        ski_onesided_create(procs->job) != SKUA_OK)
        return false;
    ski_job_divide_arena(procs->job);
    procs->alive       = 0;
    procs->checkpoints = strcmp(ski_config.checkpoint_dir, "none") != 0;
    procs->child       = ski_calloc((size_t)procs->job->local_processes, sizeof *procs->child);
    procs->input       = (struct iof_input){.from = -1, .to = -1};
    procs->oom_kills   = ski_cgroup_oom_kills(SKI_CGROUP_ROOT, SKI_CGROUP_SELF);
    for (int i = 0; i < procs->job->local_processes; i++) /* none is started yet */
        procs->child[i].out.fd = procs->child[i].err.fd = procs->child[i].control =
            procs->child[i].lifeline                    = -1;
    return true;
}

/* The pipes of one process: [0] is the reading end, [1] the writing end.  Of the control
 * connection, [0] is the end of skuarun.  `failed` carries the errno of exec, or is closed by it.
 */
struct procs_pipes {
    int in[2], out[2], err[2], life[2], failed[2], control[2];
};

static bool procs_make_pipes(struct procs_pipes *p, bool spread)
{
    p->control[0] = p->control[1] = -1;
    return pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 &&
           pipe2(p->err, O_CLOEXEC) == 0 && pipe2(p->life, O_CLOEXEC) == 0 &&
           pipe2(p->failed, O_CLOEXEC) == 0 &&
           (!spread || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->control) == 0);
}

/* ---- in the child -------------------------------------------------------- */

static void procs_bind_cpus(const struct ski_job *job, int process)
{
    int       first = ski_job_index(job, ski_job_first_pe(job, process));
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = first; i < first + ski_job_pes_of(job, process); i++) {
        if (job->cpu[i] == SKI_CPU_ANY)
            return;
        CPU_SET((size_t)job->cpu[i], &set);
    }
    sched_setaffinity(0, sizeof set, &set); /* the PEs report a failure */
}

static void procs_inherit_fd(int fd)
{
    fcntl(fd, F_SETFD, 0);
}

/* Preloads the module that SKUA_MALLOC_ARENA needs.  A program that runs without it logs so. */
static void procs_preload_malloc(void)
{
    const char *before = getenv("LD_PRELOAD");
    char        path[4096], list[8192];

    if (!ski_config.malloc_arena || !ski_module_find("malloc", path, sizeof path))
        return;
    if (strpbrk(path, ": ")) {
        ski_log(SKI_LOG_WARN, "LD_PRELOAD cannot name %s, whose path has a space or a colon", path);
        return;
    }
    if (snprintf(list, sizeof list, "%s%s%s", path, before ? ":" : "", before ? before : "") <
        (int)sizeof list)
        setenv("LD_PRELOAD", list, 1);
}

/* Gives the program the same addresses in every process, for user threads that migrate.  Some
 * containers forbid it; the program then reports that such threads cannot migrate. */
static void procs_fix_addresses(void)
{
    int now = personality(0xffffffff);

    if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
        ski_log(SKI_LOG_WARN, "SKUA_ASLR=0 has no effect: the system forbids it (%s)",
                strerror(errno));
}

/* Passes the image slots to the process. */
static void procs_pass_images(const struct host_images *images)
{
    char *text = ski_image_slots_text(&images->slots);

    for (int i = 0; i < images->slots.count; i++) {
        procs_inherit_fd(images->slots.slot[i].fd[0]);
        procs_inherit_fd(images->slots.slot[i].fd[1]);
    }
    setenv(SKI_IMAGES_VARIABLE, text, 1);
}

/* Connects the standard streams of this process to the launcher; only process 0 has an input. */
static void procs_redirect(const struct procs_pipes *p, int process)
{
    if (process == 0) {
        dup2(p->in[0], STDIN_FILENO);
    } else {
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    dup2(p->out[1], STDOUT_FILENO);
    dup2(p->err[1], STDERR_FILENO);
}

static _Noreturn void procs_exec(const struct procs *procs, const struct run_options *options,
                                 const struct procs_pipes *p, int process, pid_t launcher)
{
    char job[64];
    int  error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(CODE_NOT_RUN); /* skuarun ended between fork() and prctl() */
    monitor_restore_signals(procs->checkpoints);
    procs_redirect(p, process);
    procs_bind_cpus(procs->job, process);
    procs_inherit_fd(procs->arena_fd);
    procs_inherit_fd(p->life[0]);
    if (p->control[1] >= 0)
        procs_inherit_fd(p->control[1]);
    ski_boot_variable(job, sizeof job, procs->arena_fd, p->life[0], p->control[1], process);
    setenv(SKI_BOOT_VARIABLE, job, 1);
    if (procs->survival)
        procs_pass_images(&procs->survival->images);
    procs_preload_malloc();
    if (!ski_config.aslr)
        procs_fix_addresses();
    execvp(options->command[0], options->command);
    error = errno;
    _exit(write(p->failed[1], &error, sizeof error) == sizeof error ? CODE_NOT_RUN : 1);
}

/* ---- in the launcher ----------------------------------------------------- */

static void procs_set_label(struct iof_output *stream, const struct ski_job *job, int process)
{
    int first = ski_job_first_pe(job, process), pes = ski_job_pes_of(job, process);

    if (pes == 1)
        snprintf(stream->label, sizeof stream->label, "[%d] ", first);
    else
        snprintf(stream->label, sizeof stream->label, "[%d-%d] ", first, first + pes - 1);
}

/* Sets up one output of a process.  With --survive it begins with the incomplete line that the
 * epoch before has left. */
static struct iof_output procs_output(const struct procs *procs, int process, int fd, int to)
{
    struct iof_output output = {.fd = fd, .to = to};

    if (procs->survival) {
        struct output_history *history =
            &procs->survival->history[2 * process + to - STDOUT_FILENO];

        output.history     = history;
        output.text        = history->unprinted.text;
        output.used        = history->unprinted.end;
        output.room        = history->unprinted.room;
        history->unprinted = (struct buffer){0};
    }
    return output;
}

/* Keeps the ends of skuarun and closes those of the process. */
static void procs_keep_ends(struct procs *procs, const struct run_options *options,
                            const struct procs_pipes *p, int index)
{
    struct procs_child *child   = &procs->child[index];
    int                 process = procs->job->process[index].number;

    close(p->in[0]), close(p->out[1]), close(p->err[1]), close(p->life[0]), close(p->failed[1]);
    if (p->control[1] >= 0)
        close(p->control[1]);
    child->lifeline = p->life[1];
    child->control  = p->control[0];
    child->out      = procs_output(procs, process, p->out[0], STDOUT_FILENO);
    child->err      = procs_output(procs, process, p->err[0], STDERR_FILENO);
    if (options->label) {
        procs_set_label(&child->out, procs->job, process);
        procs_set_label(&child->err, procs->job, process);
    }
    if (process == 0) {
        procs->input.to = p->in[1];
        fcntl(p->in[1], F_SETFL, O_NONBLOCK);
    } else {
        close(p->in[1]);
    }
}

/* Explains why exec failed.  A name without a slash is searched in PATH alone, which the user may
 * not have meant. */
static void procs_exec_error(const char *program, int error, char reason[REASON_BYTES])
{
    bool        missing = error == ENOENT && access(program, X_OK) == 0;
    struct stat file;

    if (error == EACCES && stat(program, &file) == 0 && S_ISDIR(file.st_mode))
        error = EISDIR;
    if (missing && !strchr(program, '/'))
        snprintf(reason, REASON_BYTES,
                 "cannot run %s: %s in PATH; to run the one in this directory, write ./%s", program,
                 strerror(error), program);
    else
        snprintf(reason, REASON_BYTES, "cannot run %s: %s%s", program, strerror(error),
                 missing ? ": the interpreter that its first line names, or its dynamic linker"
                         : "");
}

static bool procs_start_one(struct procs *procs, const struct run_options *options, int index,
                            int *code, char reason[REASON_BYTES])
{
    struct procs_child *child   = &procs->child[index];
    int                 process = procs->job->process[index].number;
    struct procs_pipes  p;
    pid_t               launcher = getpid();
    int                 error    = 0;

    if (!procs_make_pipes(&p, ski_job_is_distributed(procs->job)) || (child->pid = fork()) < 0) {
        child->pid = 0;
        snprintf(reason, REASON_BYTES, "cannot start process %d of %d: %s%s", process,
                 procs->job->processes, strerror(errno), ski_rlimit_advice(errno));
        *code = 1;
        return false;
    }
    if (child->pid == 0)
        procs_exec(procs, options, &p, process, launcher);
    setpgid(child->pid, child->pid); /* parent and child both do it, so neither has to wait */
    procs->alive++;
    procs_keep_ends(procs, options, &p, index);
    /* exec closes the pipe if it succeeds; else the child writes its errno. */
    if (read(p.failed[0], &error, sizeof error) == sizeof error) {
        procs_exec_error(options->command[0], error, reason);
        *code = error == ENOENT ? CODE_NOT_FOUND : CODE_NOT_RUN;
    }
    close(p.failed[0]);
    return error == 0;
}

static void procs_announce(const struct procs *procs, int index)
{
    const struct ski_job *job     = procs->job;
    int                   process = job->process[index].number;
    int                   first   = ski_job_first_pe(job, process);

    fprintf(stderr, "skuarun: process %d is pid %d, with", process, (int)procs->child[index].pid);
    for (int pe = first; pe < first + ski_job_pes_of(job, process); pe++) {
        int cpu = job->cpu[ski_job_index(job, pe)];
        fprintf(stderr, "%s PE %d", pe > first ? "," : "", pe);
        if (cpu != SKI_CPU_ANY)
            fprintf(stderr, " on CPU %d", cpu);
    }
    fprintf(stderr, "\n");
}

/* Prints where the PEs are on the machine. */
static void procs_print_map(const struct ski_job *job)
{
    int *pe = ski_calloc((size_t)job->local_pes, sizeof *pe);

    for (int i = 0; i < job->local_pes; i++)
        pe[i] = ski_job_pe_at(job, i);
    ski_topology_print_map(stderr, "skuarun: ", pe, job->cpu, job->local_pes);
    if (ski_cpus_allowed(INT_MAX) < INT_MAX)
        fprintf(stderr, "skuarun: the control groups allow %d CPU%s at a time%s\n",
                ski_cpus_allowed(INT_MAX), ski_cpus_allowed(INT_MAX) == 1 ? "" : "s",
                job->cpu[0] == SKI_CPU_ANY ? ": PEs are not bound" : "");
    free(pe);
}

bool procs_start(struct procs *procs, const struct run_options *options, int *code,
                 char reason[REASON_BYTES])
{
    for (int i = 0; i < procs->job->local_processes; i++) {
        if (!procs_start_one(procs, options, i, code, reason))
            return false;
        if (options->verbose)
            procs_announce(procs, i);
    }
    if (options->verbose)
        procs_print_map(procs->job);
    return true;
}

/* Returns what SIGUSR1 is sent to: the program that has joined the job.  The id that a program of
 * another PID namespace has recorded is that of a process outside of the group, or of none. */
static pid_t procs_program(const struct procs *procs, int i)
{
    pid_t group   = procs->child[i].pid;
    pid_t program = (pid_t)atomic_load(&procs->job->process[i].pid);

    return program > 0 && getpgid(program) == group ? program : -group;
}

void procs_ask_checkpoint(struct procs *procs)
{
    if (!procs->checkpoint_asked || !procs_all_joined(procs))
        return;
    procs->checkpoint_asked = false;
    for (int i = 0; i < procs->job->local_processes; i++)
        if (procs->child[i].pid > 0 &&
            atomic_load(&procs->job->process[i].state) == SKI_PROCESS_ATTACHED)
            kill(procs_program(procs, i), SIGUSR1);
}

/* Returns whether the process has ended, and waits to be reaped. */
static bool procs_has_ended(const struct procs_child *child)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child->pid;
}

/* Returns whether SIGKILL is pending for the process, or the kernel frees what it had: it was
 * killed or exits, but cannot be reaped yet.  A zombie here is a main thread that has ended before
 * others (proc_pid_stat(5): fields 3, 9 and 31). */
static bool procs_is_ending(const struct procs_child *child)
{
    char               path[64], text[1024], state = 'Z', *fields;
    unsigned           flags   = 0;
    unsigned long long pending = 0;
    FILE              *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)child->pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    fields = strrchr(text, ')'); /* the end of the name */
    return fields &&
           sscanf(fields,
                  ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                  "%*u %*u %*d %*u %*u %*u %*u %*u %*u %llu",
                  &state, &flags, &pending) == 3 &&
           state != 'Z' && (flags & TASK_EXITING || pending & 1ULL << (SIGKILL - 1));
}

void procs_signal(struct procs *procs, int signal)
{
    if (procs->checkpoints && signal == SIGUSR1) {
        procs->checkpoint_asked = true;
        procs_ask_checkpoint(procs);
        return;
    }
    for (int i = 0; i < procs->job->local_processes; i++) {
        struct procs_child *child = &procs->child[i];

        if (child->pid <= 0)
            continue;
        child->ordered |= signal == SIGKILL && !procs_has_ended(child) && !procs_is_ending(child);
        kill(-child->pid, signal);
    }
}

static void procs_close_ends(struct procs_child *child)
{
    fd_close(&child->lifeline);
    fd_close(&child->control);
    fd_close(&child->out.fd);
    fd_close(&child->err.fd);
    free(child->out.text);
    free(child->err.text);
}

void procs_destroy(struct procs *procs)
{
    for (int i = 0; i < procs->job->local_processes; i++)
        procs_close_ends(&procs->child[i]);
    fd_close(&procs->input.to);
    free(procs->child);
    ski_arena_detach(procs->arena);
    close(procs->arena_fd);
}

/* ---- epochs ------------------------------------------------------------------------ */

bool procs_begin_epoch(struct procs *procs, struct procs_survival *survival,
                       const struct host_images_plan *plan)
{
    int wanted = 2 * procs->job->processes;

    if (wanted > survival->histories) {
        survival->history =
            ski_realloc(survival->history, (size_t)wanted * sizeof *survival->history);
        memset(survival->history + survival->histories, 0,
               (size_t)(wanted - survival->histories) * sizeof *survival->history);
        survival->histories = wanted;
    }
    procs->survival    = survival;
    procs->checkpoints = true;
    return host_images_prepare(&survival->images, procs->job, plan);
}

void procs_rewind_output(struct procs *procs, uint64_t generation)
{
    for (int i = 0; i < procs->job->local_processes; i++) {
        if (!procs->child[i].out.history)
            continue; /* it was not started */
        iof_output_rewind(&procs->child[i].out, generation);
        iof_output_rewind(&procs->child[i].err, generation);
    }
}

void procs_end_output(struct procs *procs)
{
    for (int i = 0; i < procs->job->local_processes; i++) {
        iof_output_end(&procs->child[i].out);
        iof_output_end(&procs->child[i].err);
    }
}

uint64_t procs_generation(const struct procs *procs)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < procs->job->local_processes; i++) {
        uint64_t generation = atomic_load(&procs->job->process[i].generation);

        least = generation < least ? generation : least;
    }
    return least;
}

void procs_survival_free(struct procs_survival *survival)
{
    for (int i = 0; i < survival->histories; i++)
        output_history_free(&survival->history[i]);
    free(survival->history);
    host_images_close(&survival->images);
    *survival = (struct procs_survival){0};
}
