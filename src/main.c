/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - skua_main(), skua_init() and skua_finalize(), above all layers: join the job, run the
 * layers through their stages (core/pe/layer.h) and this process's PEs between them, leave.
 *
 *      skua_init()       settings, boot, layers, threads of the other PEs; the caller is a PE
 *      skua_finalize()   the scheduler until the job exits; all of it in reverse; reset
 *      skua_main()       begins as skua_init() does, start(), the scheduler; ends for good
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/onesided.h>
#include <skua/pe.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/params_check.h"
#include "base/rlimit.h"
#include "base/saved_state.h"
#include "base/tasks.h"
#include "base/version.h"
#include "boot/image_slots.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/restore.h"
#include "core/lifecycle/crash.h"
#include "core/lifecycle/pe_run.h"
#include "core/pe/layer.h"
#include "core/pe/malloc_arena.h"
#include "core/pe/pe.h"
#include "core/sched/blocked.h"
#include "core/sched/scheduler.h"
#include "objects/services/finalize.h"
#include "onesided/pe/onesided_pe.h"

#undef skua_main /* the functions behind the macros of the header */
#undef skua_init

enum main_stage {
    MAIN_OUTSIDE, /* a phase may begin                        */
    MAIN_INSIDE,  /* of a phase, or of skua_main()            */
    MAIN_OVER,    /* the process cannot join again: main_why  */
};

static _Atomic int main_stage;
static const char *main_why; /* with MAIN_OVER */

/* The phase that this process is in. */
static struct {
    struct ski_boot        boot;
    struct ski_pe_program  program;
    struct ski_pe_thread  *thread; /* of PEs, the first being the caller's, and for progress */
    int                    threads;
    struct ski_saved_state state;
    bool                   embedded; /* it began with skua_init() */
    skua_start_fn          start;    /* of skua_init(), or NULL   */
} phase;

/* ---- PEs ------------------------------------------------------------------------------ */

static void *main_run_pe(void *arg)
{
    ski_pe_run(arg);
    return NULL;
}

/* Returns the PE that a thread of this process runs: its own PEs first, then the progress
 * thread's. */
static int main_pe_of(const struct ski_boot *boot, int thread)
{
    return thread < ski_job_pes_of(boot->job, boot->process)
               ? ski_job_first_pe(boot->job, boot->process) + thread
               : ski_job_progress_pe(boot->job, boot->process);
}

/* Starts the threads of the PEs of this process but the first, and its progress thread, if the
 * settings ask for one. */
static void main_start_pes(const struct ski_boot *boot)
{
    phase.threads = ski_job_pes_of(boot->job, boot->process) + ski_config.progress_thread;
    phase.thread  = ski_calloc((size_t)phase.threads, sizeof *phase.thread);
    pthread_barrier_init(&phase.program.stopped, NULL, (unsigned)phase.threads);
    for (int i = 0; i < phase.threads; i++) {
        struct ski_pe_thread *t = &phase.thread[i];
        int                   error;

        *t    = (struct ski_pe_thread){.program = &phase.program, .pe = main_pe_of(boot, i)};
        error = i > 0 ? pthread_create(&t->thread, NULL, main_run_pe, t) : 0;
        if (error)
            ski_fatal("cannot start the thread of PE %d: %s%s", t->pe, strerror(error),
                      ski_rlimit_advice(error));
    }
}

static void main_join_pes(void)
{
    for (int i = 1; i < phase.threads; i++)
        pthread_join(phase.thread[i].thread, NULL);
    pthread_barrier_destroy(&phase.program.stopped);
    free(phase.thread);
}

/* ---- joining and leaving -------------------------------------------------------------- */

/* Everything between joining the job and the first PE. */
static skua_status main_prepare(struct ski_boot *boot)
{
    skua_status status = SKUA_OK;

    ski_crash_install(boot);
    if (ski_boot_lays_out(boot)) {
        ski_config_check_names(); /* a launcher did both for its children */
        status = ski_layers_create(boot->job);
        if (status == SKUA_OK)
            ski_job_divide_arena(boot->job);
    }
    if (status == SKUA_OK)
        status = ski_boot_barrier(boot);
    if (status == SKUA_OK)
        status = ski_layers_publish(boot);
    if (status == SKUA_OK)
        status = ski_boot_barrier(boot); /* what all have published can be asked for */
    return status;
}

/* Makes it impossible to join again. */
static void main_close(const char *why)
{
    main_why = why;
    atomic_store(&main_stage, MAIN_OVER);
}

/* Makes stdout write whole lines, as they come, for a launcher that labels them.  No other thread
 * may use stdout yet. */
static void main_buffer_lines(void)
{
    static char lines[BUFSIZ]; /* of our own: MPICH takes the buffer of stdout away */

    setvbuf(stdout, lines, _IOLBF, sizeof lines);
}

/* Decides whether this process has a progress thread, as all processes of the job do: PEs send
 * their requests to it. */
static void main_settle_progress(const struct ski_job *job)
{
    if (ski_config.progress_thread < 0)
        ski_config.progress_thread = job->hosts > 1;
}

/* Reads the settings and checks them.  Nothing has begun: after a failure the caller may try again.
 */
static skua_status main_load_settings(const char *const *settings, bool embedded)
{
    skua_status status = ski_version_check();

    ski_layers_init();
    if (status == SKUA_OK)
        status = ski_config_load_with(settings);
    if (status == SKUA_OK && embedded && ski_restore_wanted())
        status =
            ski_fail(SKUA_ERR_UNSUPPORTED, "skua_init: a phase of a program cannot be restarted "
                                           "from a checkpoint (SKUA_RESTART)");
    if (status == SKUA_OK && !ski_restore_possible())
        status = ski_fail(SKUA_ERR_INVAL, "SKUA_RESTART=" SKI_RESTART_MEMORY
                                          ": this process has no checkpoint in memory; only "
                                          "skuarun --survive sets this value");
    return status;
}

/* A child of fork() shares the arena and the connections of its parent, without being a PE: it
 * would corrupt them.  Its calls are refused, and how it ends is not reported as an end of the PE.
 */
static void main_note_fork(void)
{
    if (atomic_load(&main_stage) != MAIN_INSIDE)
        return;
    ski_self = NULL;
    ski_onesided_set_job(NULL, -1);
    ski_crash_uninstall();
    main_close("it is a child of fork() of one that is in a job");
}

static void main_watch_forks(void)
{
    pthread_atfork(NULL, NULL, main_note_fork);
}

/* Begins the phase: this process becomes part of the job. */
static skua_status main_begin_phase(const struct ski_pe_program *program, bool embedded)
{
    skua_status status;

    phase.boot         = (struct ski_boot){0};
    phase.program      = *program;
    phase.program.boot = &phase.boot;
    if (ski_restore_wanted()) /* the checkpoint has what `start` began */
        phase.program.start = ski_restore_start;
    phase.embedded = embedded;
    ski_saved_state_save(&phase.state);
    ski_checkpoint_block_signal();
    status = ski_boot_start(&phase.boot);
    if (status == SKUA_OK) {
        main_settle_progress(phase.boot.job);
        if (!embedded)
            ski_boot_ask_to_survive(&phase.boot);
        status = main_prepare(&phase.boot);
    }
    if (status != SKUA_OK)
        main_close("it could not join the job before");
    return status;
}

/* Joins the job; the caller becomes a PE next. */
static skua_status main_join(const struct ski_pe_program *program, const char *const *settings,
                             bool embedded)
{
    static pthread_once_t once   = PTHREAD_ONCE_INIT;
    int                   before = ski_tasks_count();
    skua_status           status = main_load_settings(settings, embedded);

    if (status == SKUA_OK)
        status = main_begin_phase(program, embedded);
    if (status != SKUA_OK)
        return status;
    /* Not before the exit of the former phase has been reset, which the launcher would mistake for
     * that of skua_main(). */
    atomic_store(&phase.boot.job->phased, embedded);
    ski_tasks_set_own(
        ski_tasks_count() - before + ski_job_pes_of(phase.boot.job, phase.boot.process) +
        ski_config.progress_thread); /* threads of libraries, of PEs, and for progress */
    ski_layers_open(&phase.boot);
    atomic_store(&main_stage, MAIN_INSIDE);
    pthread_once(&once, main_watch_forks);
    if (!embedded && phase.boot.mode != SKI_BOOT_SELF)
        main_buffer_lines();
    main_start_pes(&phase.boot);
    return SKUA_OK;
}

/* Leaves the job after the caller was a PE.  Returns the exit code. */
static int main_leave(bool last)
{
    bool keeps = last || ski_malloc_arena_in_use(); /* memory of the program is in the arena */
    int  code;

    main_join_pes();
    ski_layers_close();
    code = ski_job_exit_code(phase.boot.job);
    ski_crash_uninstall();
    if (!keeps)
        ski_layers_reset();
    ski_boot_end(&phase.boot, keeps);
    ski_saved_state_restore(&phase.state);
    if (keeps)
        main_close(last ? "skua_main() is for programs that use Skua once; see skua_init()"
                        : "memory of the program is in the arena (SKUA_MALLOC_ARENA)");
    else
        atomic_store(&main_stage, MAIN_OUTSIDE);
    return code;
}

/* ---- a whole program ------------------------------------------------------------------ */

int skua_main(int argc, char **argv, skua_start_fn start)
{
    struct ski_pe_program program = {.start = start, .argc = argc, .argv = argv};

    if (atomic_load(&main_stage) != MAIN_OUTSIDE)
        ski_misuse("skua_main: called %s", atomic_load(&main_stage) == MAIN_INSIDE
                                               ? "in a phase; skua_finalize() ends it"
                                               : "twice, or after skua_init() had failed");
    if (main_join(&program, NULL, false) != SKUA_OK)
        return EXIT_FAILURE;
    ski_pe_run(&phase.thread[0]);
    return main_leave(true);
}

/* ---- phases --------------------------------------------------------------------------- */

bool skua_initialized(void)
{
    return atomic_load(&main_stage) == MAIN_INSIDE;
}

/* The start function of a PE whose thread Skua has made: the phase does not end before it returns.
 */
static void main_start_other(int argc, char **argv)
{
    if (phase.start)
        phase.start(argc, argv);
    ski_finalize_announce(ski_self);
}

skua_status skua_init(const skua_init_params *params)
{
    struct ski_pe_program program = {.start = main_start_other};
    skua_status           status;

    if (params && !ski_params_known(params->size, sizeof *params))
        return ski_params_refuse(__func__, "skua_init_params", params->size, sizeof *params);
    if (atomic_load(&main_stage) == MAIN_INSIDE)
        return ski_refuse(SKUA_ERR_INVAL, "skua_init: called in a phase; skua_finalize() ends it");
    if (atomic_load(&main_stage) == MAIN_OVER)
        return ski_refuse(SKUA_ERR_UNSUPPORTED,
                          "skua_init: this process cannot join a job again: %s", main_why);
    phase.start = params ? params->start : NULL;
    if (params) {
        program.argc = params->argc;
        program.argv = params->argv;
    }
    status = main_join(&program, params ? params->settings : NULL, true);
    if (status != SKUA_OK)
        return status;
    ski_pe_begin(&phase.thread[0]);
    return SKUA_OK;
}

static struct ski_pe *main_finalizing_pe(void)
{
    struct ski_pe *self = ski_self;

    if (atomic_load(&main_stage) != MAIN_INSIDE || !phase.embedded)
        ski_misuse("skua_finalize: called without skua_init()");
    if (!self || self != phase.thread[0].self)
        ski_misuse("skua_finalize: called on another thread than skua_init()");
    if (self->thread || self->loop.depth > 0)
        ski_misuse("skua_finalize: called in %s", self->thread ? "a user thread" : "a handler");
    return self;
}

/* Runs the scheduler until all processes have called skua_finalize() and nothing is left to do. */
static void main_finish(struct ski_pe *self)
{
    struct ski_blocked blocked;

    skua_flush_all();
    ski_finalize_announce(self);
    ski_blocked_push(self, &blocked, (struct ski_call){"skua_finalize", NULL});
    ski_scheduler_run(self);
    ski_blocked_pop(self, &blocked);
}

int skua_finalize(void)
{
    struct ski_pe *self = main_finalizing_pe();

    ski_pe_check_exit(self);
    if (!ski_pe_exiting(self))
        main_finish(self);
    ski_pe_end(&phase.thread[0]);
    return main_leave(false);
}
