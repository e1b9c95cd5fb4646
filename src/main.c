/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - skua_main(), above all layers: join the job, run the layers through their stages
 * (core/pe/layer.h) and this process's PEs between them, leave.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "core/lifecycle/crash.h"
#include "core/lifecycle/pe_run.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"

struct pe_thread {
    pthread_t              thread;
    struct ski_pe_program *program;
    int                    pe;
};

static void *main_run_pe(void *arg)
{
    struct pe_thread *t = arg;

    ski_pe_run(t->program, t->pe);
    return NULL;
}

/* The PE that a thread of this process runs: its own PEs first, then the progress thread's. */
static int main_pe_of(const struct ski_boot *boot, int thread)
{
    return thread < ski_job_pes_of(boot->job, boot->process)
               ? ski_job_first_pe(boot->job, boot->process) + thread
               : ski_job_progress_pe(boot->job, boot->process);
}

/* Runs the PEs of this process, the first on the calling thread, and its progress thread, if the
 * settings ask for one. */
static void main_run_pes(const struct ski_boot *boot, int argc, char **argv, skua_start_fn start)
{
    struct ski_pe_program program = {.boot = boot, .start = start, .argc = argc, .argv = argv};
    int threads         = ski_job_pes_of(boot->job, boot->process) + ski_config.progress_thread;
    struct pe_thread *t = ski_calloc((size_t)threads, sizeof *t);

    pthread_barrier_init(&program.stopped, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        t[i] = (struct pe_thread){.program = &program, .pe = main_pe_of(boot, i)};
    for (int i = 1; i < threads; i++) {
        int error = pthread_create(&t[i].thread, NULL, main_run_pe, &t[i]);
        if (error)
            ski_fatal("cannot start the thread of PE %d: %s", t[i].pe, strerror(error));
    }
    main_run_pe(&t[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i].thread, NULL);
    pthread_barrier_destroy(&program.stopped);
    free(t);
}

/* Everything between joining the job and the first PE. */
static skua_status main_prepare(struct ski_boot *boot)
{
    static char lines[BUFSIZ]; /* of our own: MPICH takes the buffer of stdout away */
    skua_status status = SKUA_OK;

    ski_crash_install(boot);
    if (ski_boot_lays_out(boot)) {
        ski_config_check_names(); /* a launcher did both for its children */
        status = ski_layers_create(boot->job);
    }
    if (boot->mode != SKI_BOOT_SELF)
        setvbuf(stdout, lines, _IOLBF, sizeof lines); /* whole lines, as they come */
    if (status == SKUA_OK)
        status = ski_boot_barrier(boot);
    if (status == SKUA_OK)
        status = ski_layers_publish(boot);
    if (status == SKUA_OK)
        status = ski_boot_barrier(boot); /* what all have published can be asked for */
    return status;
}

int skua_main(int argc, char **argv, skua_start_fn start)
{
    static bool     entered;
    struct ski_boot boot = {0};
    int             code = EXIT_FAILURE, before = ski_tasks_count();

    if (entered)
        ski_misuse("skua_main: called twice");
    entered = true;
    ski_layers_init();
    if (ski_config_load() != SKUA_OK || ski_boot_start(&boot) != SKUA_OK)
        return EXIT_FAILURE;
    if (main_prepare(&boot) == SKUA_OK) {
        ski_tasks_set_own(
            ski_tasks_count() - before + ski_job_pes_of(boot.job, boot.process) +
            ski_config.progress_thread); /* threads of libraries, of PEs, and for progress */
        ski_layers_open(&boot);
        main_run_pes(&boot, argc, argv, start);
        ski_layers_close();
        code = ski_job_exit_code(boot.job);
        ski_crash_uninstall();
        ski_boot_end(&boot);
    }
    return code;
}
