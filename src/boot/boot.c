/* SPDX-License-Identifier: Apache-2.0 */
/* boot.c - see boot.h. */
#include "boot/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "boot/image_slots.h"
#include "base/futex.h"
#include "base/sanitizer.h"
#include "boot/mpi_launcher.h"
#include "boot/pmix.h"

void ski_boot_variable(char *text, size_t size, int arena_fd, int lifeline_fd, int boot_control_fd,
                       int process)
{
    snprintf(text, size, "%d,%d,%d,%d,%d", SKI_BOOT_VERSION, arena_fd, lifeline_fd, boot_control_fd,
             process);
}

static struct ski_boot boot_launched; /* of a launched process that has joined; job is set */
static uint32_t        boot_phases;   /* phases that this process has joined */
static int             boot_control_fd   = -1; /* to the launcher */
static pthread_mutex_t boot_control_lock = PTHREAD_MUTEX_INITIALIZER;

/* Makes the kernel kill this process when the launcher, which holds the write end, is gone. */
static bool boot_hold_lifeline(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(fd, F_SETOWN, getpid()) == 0 && fcntl(fd, F_SETSIG, SIGKILL) == 0 &&
           fcntl(fd, F_SETFL, flags | O_ASYNC) == 0;
}

/* Returns whether the launcher died before the lifeline was armed. */
static bool boot_launcher_gone(int fd)
{
    char byte;
    int  flags = fcntl(fd, F_GETFL);

    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return read(fd, &byte, 1) == 0;
}

/* Attaches this process to the arena of its job and to the lifeline of its launcher. */
static skua_status boot_join(struct ski_boot *boot, int arena_fd, int lifeline_fd)
{
    skua_status status = ski_boot_attach_arena(arena_fd, &boot->arena);

    if (status != SKUA_OK)
        return status;
    close(arena_fd);
    boot->job = ski_job_of(boot->arena);
    if (!ski_job_has_process(boot->job, boot->process))
        return ski_fail(SKUA_ERR_INVAL, "the arena holds no job with a process %d", boot->process);
    if (!boot_hold_lifeline(lifeline_fd)) {
        ski_log(SKI_LOG_ERROR, "descriptor %d is not a lifeline (%s)", lifeline_fd,
                strerror(errno));
        return SKUA_ERR_INVAL;
    }
    if (boot_launcher_gone(lifeline_fd))
        raise(SIGKILL);
    return SKUA_OK;
}

/* Joins the job that @p line, written by the launcher, describes. */
static skua_status boot_start_launched(struct ski_boot *boot, const char *line)
{
    int version, arena_fd, lifeline_fd;
    int n = sscanf(line, "%d,%d,%d,%d,%d", &version, &arena_fd, &lifeline_fd, &boot_control_fd,
                   &boot->process);
    skua_status status;

    if (n < 1 || (version == SKI_BOOT_VERSION && n != 5)) {
        ski_log(SKI_LOG_ERROR, SKI_BOOT_VARIABLE "=%s is not what a launcher writes", line);
        return SKUA_ERR_INVAL;
    }
    if (version != SKI_BOOT_VERSION) {
        ski_log(SKI_LOG_ERROR,
                "started by a launcher of another version of Skua (%d, not %d): use the skuarun of "
                "the installation that the program was built with",
                version, SKI_BOOT_VERSION);
        return SKUA_ERR_MISMATCH;
    }
    status = boot_join(boot, arena_fd, lifeline_fd);
    if (status == SKUA_OK) {
        if (boot_control_fd >= 0)
            fcntl(boot_control_fd, F_SETFD, FD_CLOEXEC);
        ski_clock_set(&boot->job->clock);
        unsetenv(SKI_BOOT_VARIABLE); /* a child of this process is not part of the job */
        unsetenv("SKUA_RESTART");    /* nor is it restarted; the setting is loaded */
    }
    return status;
}

/* srun without PMI starts processes that do not know of each other: each would compute the whole
 * problem.  The variables of Slurm are also those of a program that a task starts, so this is no
 * error. */
static void boot_warn_of_slurm(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *task = getenv("SLURM_PROCID");

    if (tasks && task && atoi(tasks) > 1 && atoi(task) == 0)
        ski_log(SKI_LOG_WARN,
                "srun has started %s processes without PMI, so each is a job of its own; for one "
                "job use srun --mpi=pmix",
                tasks);
}

/* Creates a job of this process alone: the program was started without a launcher. */
static skua_status boot_start_self(struct ski_boot *boot)
{
    int pes = (int)ski_config.threads;
    /* A single PE is not bound: the kernel's scheduler serves it best. */
    struct ski_job_params plan = {
        .pes = pes, .pes_per_process = pes, .pin = pes > 1 ? ski_config.pin : "none"};
    int         fd;
    skua_status status = ski_boot_arena(&boot->arena, &fd);

    if (status != SKUA_OK)
        return status;
    close(fd);
    boot->process = 0;
    status        = ski_job_create(boot->arena, &plan, &boot->job);
    if (status != SKUA_OK)
        ski_arena_detach(boot->arena);
    return status;
}

static skua_status boot_start_external(struct ski_boot *boot)
{
    struct ski_external_join join   = {.launcher = ski_mpi_launcher_present() ? &ski_mpi_launcher
                                                                              : &ski_pmix_launcher,
                                       .phase    = boot->phase};
    skua_status              status = ski_external_launcher_start(&join);

    boot->arena    = join.arena;
    boot->job      = join.job;
    boot->process  = join.process;
    boot->external = join.launcher;
    return status;
}

/* Joins the next phase.  The first process of the host clears the arena when all have left it; the
 * others wait in ski_boot_barrier(). */
static void boot_start_again(struct ski_boot *boot)
{
    struct ski_process *process;
    uint32_t            left;

    boot->arena   = boot_launched.arena;
    boot->job     = boot_launched.job;
    boot->process = boot_launched.process;
    process       = ski_job_process(boot->job, boot->process);
    atomic_store(&process->phase, boot->phase); /* the launcher sees that it waits for the others */
    if (boot->job->local_index[boot->process] != 0)
        return;
    /* Pairs with the release in boot_leave_phase(). */
    while ((left = atomic_load_explicit(&boot->job->ends, memory_order_acquire)) <
           (uint32_t)boot->job->local_processes)
        ski_futex_wait(&boot->job->ends, left, SKI_FOREVER);
    ski_job_next_phase(boot->job);
}

/* Claims the slot of this process in the job.  Only one program can use it. */
static skua_status boot_claim_slot(struct ski_boot *boot)
{
    struct ski_process *process = ski_job_process(boot->job, boot->process);
    int32_t             fresh   = boot_launched.job ? SKI_PROCESS_FINALIZED : SKI_PROCESS_STARTED;

    ski_assert(ski_job_has_process(boot->job, boot->process));
    if (atomic_compare_exchange_strong(&process->state, &fresh, SKI_PROCESS_ATTACHED)) {
        atomic_store(&process->pid, (int32_t)getpid());
        atomic_store(&process->phase, boot->phase);
        boot_phases = boot->phase;
        if (boot->mode == SKI_BOOT_LAUNCHED)
            boot_launched = *boot;
        return SKUA_OK;
    }
    ski_log(SKI_LOG_ERROR,
            "process %d of the job has joined already: start one program in each, not two after "
            "another; a launcher inside of a job, such as mpirun, is started by `env "
            "-u " SKI_BOOT_VARIABLE "'",
            boot->process);
    return SKUA_ERR_INVAL;
}

skua_status ski_boot_start(struct ski_boot *boot)
{
    const char *line   = getenv(SKI_BOOT_VARIABLE);
    skua_status status = SKUA_OK;

    boot->phase = boot_phases + 1;
    if (boot_launched.job) {
        boot->mode = SKI_BOOT_LAUNCHED;
        boot_start_again(boot);
    } else if (line) {
        boot->mode = SKI_BOOT_LAUNCHED;
        status     = boot_start_launched(boot, line);
    } else if (ski_mpi_launcher_present() || ski_pmix_launcher_present()) {
        boot->mode = SKI_BOOT_EXTERNAL;
        status     = boot_start_external(boot);
    } else {
        boot->mode = SKI_BOOT_SELF;
        boot_warn_of_slurm();
        status = boot_start_self(boot);
    }
    if (status != SKUA_OK)
        return status;
    ski_sanitizer_one_process(boot->job->local_processes == 1);
    return boot_claim_slot(boot);
}

void ski_boot_ask_to_survive(const struct ski_boot *boot)
{
    double milliseconds = ski_config.survive * 1e3;

    if (boot->mode != SKI_BOOT_LAUNCHED || !(milliseconds > 0) || ski_image_slots()->epoch > 0)
        return;
    if (!(milliseconds >= 1))
        milliseconds = 1;
    atomic_store(&boot->job->survive,
                 milliseconds < UINT32_MAX ? (uint32_t)milliseconds : UINT32_MAX);
    _exit(0); /* text that main() has not flushed does not come twice */
}

skua_status ski_boot_barrier(const struct ski_boot *boot)
{
    uint32_t open;

    ski_assert(boot->phase > 0 && boot->phase == boot_phases);
    if (boot->external)
        return boot->external->barrier();
    if (boot->mode == SKI_BOOT_LAUNCHED && ski_boot_lays_out(boot))
        ski_job_open_phase(boot->job, boot->phase);
    /* Pairs with the release in ski_job_open_phase().  If that process dies before, the launcher
     * ends this one. */
    while (boot->mode == SKI_BOOT_LAUNCHED &&
           (open = atomic_load_explicit(&boot->job->phase, memory_order_acquire)) < boot->phase)
        ski_futex_wait(&boot->job->phase, open, SKI_FOREVER);
    return SKUA_OK;
}

/* ---- exchange of data ----------------------------------------------------------- */

/* Sends a record to the launcher: a value under @p key, or the request for one. */
static skua_status boot_send_control(uint32_t kind, int process, const char *key, const void *value,
                                     size_t bytes)
{
    struct ski_control head = {
        .kind = kind, .bytes = (uint32_t)bytes, .process = process, .phase = boot_phases};
    struct iovec  parts[] = {{&head, sizeof head}, {(void *)(uintptr_t)value, bytes}};
    struct msghdr record  = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t       n;

    ski_assert(boot_control_fd >= 0 && strlen(key) < sizeof head.key);
    snprintf(head.key, sizeof head.key, "%s", key);
    if (bytes > SKI_CONTROL_MAX)
        return ski_fail(SKUA_ERR_RANGE, "cannot publish %s: %zu bytes are more than %d", key, bytes,
                        SKI_CONTROL_MAX);
    do
        n = sendmsg(boot_control_fd, &record, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return SKUA_OK;
    return ski_fail(SKUA_ERR_SYSTEM, "cannot send %s to the launcher: %s", key, strerror(errno));
}

/* Receives the reply to a request for a value, of at most *@p bytes. */
static skua_status boot_recv_value(int process, const char *key, void *value, size_t *bytes)
{
    struct ski_control head;
    struct iovec       parts[] = {{&head, sizeof head}, {value, *bytes}};
    struct msghdr      record  = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t            n;

    ski_assert(boot_control_fd >= 0);
    do
        n = recvmsg(boot_control_fd, &record, 0);
    while (n < 0 && errno == EINTR);
    if (n < (ssize_t)sizeof head || head.kind != SKI_CONTROL_VALUE || head.process != process ||
        head.bytes != (size_t)n - sizeof head)
        return ski_fail(SKUA_ERR_SYSTEM, "the launcher does not send the %s of process %d", key,
                        process);
    *bytes = head.bytes;
    return SKUA_OK;
}

static skua_status boot_ask_launcher(int process, const char *key, void *value, size_t *bytes)
{
    skua_status status;

    pthread_mutex_lock(&boot_control_lock);
    status = boot_send_control(SKI_CONTROL_GET, process, key, NULL, 0);
    if (status == SKUA_OK)
        status = boot_recv_value(process, key, value, bytes);
    pthread_mutex_unlock(&boot_control_lock);
    return status;
}

skua_status ski_boot_put(const struct ski_boot *boot, const char *key, const void *value,
                         size_t bytes)
{
    char text[SKI_EXTERNAL_KEY];

    if (boot->external)
        return boot->external->put(ski_external_key(key, boot->phase, text), value, bytes);
    return boot_send_control(SKI_CONTROL_PUT, boot->process, key, value, bytes);
}

skua_status ski_boot_get(const struct ski_boot *boot, int process, const char *key, void *value,
                         size_t *bytes)
{
    char text[SKI_EXTERNAL_KEY];

    if (boot->external)
        return boot->external->get(process, ski_external_key(key, boot->phase, text), value, bytes);
    return boot_ask_launcher(process, key, value, bytes);
}

/* ---- the end -------------------------------------------------------------------- */

/* Leaves a phase: the process has no pointer into the arena that the next phase clears. */
static void boot_leave_phase(struct ski_boot *boot)
{
    ski_assert(atomic_load(&boot->job->ends) < (uint32_t)boot->job->local_processes);
    atomic_store(&ski_job_process(boot->job, boot->process)->state, SKI_PROCESS_FINALIZED);
    if (boot->mode != SKI_BOOT_LAUNCHED) {
        ski_arena_detach(boot->arena);
        return;
    }
    /* Release: pairs with the acquire in boot_start_again(). */
    atomic_fetch_add_explicit(&boot->job->ends, 1, memory_order_release);
    ski_futex_wake_all(&boot->job->ends);
}

void ski_boot_end(struct ski_boot *boot, bool last)
{
    ski_assert(ski_job_has_process(boot->job, boot->process));
    if (boot->external)
        boot->external->end(last);
    if (last)
        atomic_store(&ski_job_process(boot->job, boot->process)->state, SKI_PROCESS_LEFT);
    else
        boot_leave_phase(boot);
}
