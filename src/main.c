/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - skua_main(), above all layers: join the job, run this process's PEs,
 * leave. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "core/pe/crash.h"
#include "core/pe/pe_data.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/pe/malloc_arena.h"
#include "objects/chare/class.h"
#include "objects/services/host_topology.h"
#include "objects/objects.h"
#include "onesided/onesided.h"

struct pe_thread {
    pthread_t              thread;
    const struct ski_boot *boot;
    int                    pe;
    const struct ski_life *life;
};

static void *run_pe(void *arg)
{
    struct pe_thread *t = arg;

    ski_pe_run(t->boot, t->pe, t->life);
    return NULL;
}

/* The layers above core, on a PE that begins or ends; hidden ones too. */
static void begin_layers(struct ski_pe *self)
{
    ski_onesided_begin(self);
    ski_objects_begin(self);
}

/* Of this process: all that run in it. */
static pthread_barrier_t stopped;

/* Objects may look at those of other PEs of the process (skua_object_here()), so they stay
 * until all have stopped running. */
static void end_layers(struct ski_pe *self)
{
    pthread_barrier_wait(&stopped);
    ski_objects_end(self);
    ski_onesided_end(self);
}

/* Runs the PEs of this process, the first on the calling thread, and its helper,
 * if the settings ask for one. */
static void run_pes(const struct ski_boot *boot, int argc, char **argv, skua_start_fn start)
{
    int                   first   = ski_job_first_pe(boot->job, boot->process);
    int                   pes     = ski_job_pes_of(boot->job, boot->process);
    const struct ski_life life    = {begin_layers, start, end_layers, argc, argv};
    const struct ski_life helping = {begin_layers, NULL, end_layers, argc, argv};
    int                   threads = pes + ski_config.progress_thread;
    struct pe_thread     *t       = ski_calloc((size_t)threads, sizeof *t);

    for (int i = 0; i < pes; i++)
        t[i] = (struct pe_thread){.boot = boot, .pe = first + i, .life = &life};
    if (ski_config.progress_thread)
        t[pes] = (struct pe_thread){
            .boot = boot, .pe = ski_job_helper(boot->job, boot->process), .life = &helping};
    pthread_barrier_init(&stopped, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++) {
        int error = pthread_create(&t[i].thread, NULL, run_pe, &t[i]);
        if (error)
            ski_fatal("cannot start the thread of PE %d: %s", t[i].pe, strerror(error));
    }
    run_pe(&t[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i].thread, NULL);
    pthread_barrier_destroy(&stopped);
    free(t);
}

/* What the PEs of the job share, above the arena; a launcher has made it already. */
static skua_status_t lay_out(struct ski_job *job)
{
    skua_status_t status = ski_host_create(job, (uint32_t)ski_config.inbox_cells);

    return status == SKUA_OK ? ski_onesided_create(job) : status;
}

/* Everything between joining the job and the first PE. */
static skua_status_t prepare(struct ski_boot *boot)
{
    static char   lines[BUFSIZ]; /* of our own: MPICH takes stdout its buffer away */
    skua_status_t status = SKUA_OK;

    ski_crash_install(boot);
    if (ski_boot_lays_out(boot)) {
        ski_config_check_names(); /* the launcher did it for its children */
        status = lay_out(boot->job);
    }
    if (boot->way != SKI_BOOT_SELF)
        setvbuf(stdout, lines, _IOLBF, sizeof lines); /* whole lines, as they come */
    if (status == SKUA_OK)
        status = ski_boot_barrier(boot);
    if (status == SKUA_OK)
        status = ski_handlers_agree(boot->job, boot->process);
    if (status == SKUA_OK)
        status = ski_far_open(boot);
    if (status == SKUA_OK)
        status = ski_hosts_open(boot);
    if (status == SKUA_OK)
        status = ski_boot_barrier(boot); /* the ports of all are known */
    return status;
}

int skua_main(int argc, char **argv, skua_start_fn start)
{
    static bool     entered;
    struct ski_boot boot = {0};
    int             code = EXIT_FAILURE, before = ski_tasks();

    if (entered)
        ski_misuse("skua_main: called twice");
    entered = true;
    ski_handlers_init();
    ski_entries_init(); /* before there are threads that would all do it */
    if (ski_config_load() != SKUA_OK || ski_boot_start(&boot) != SKUA_OK)
        return EXIT_FAILURE;
    if (prepare(&boot) == SKUA_OK) {
        ski_tasks_own(
            ski_tasks() - before + ski_job_pes_of(boot.job, boot.process) +
            ski_config.progress_thread); /* those of libraries, of PEs, and of the helper */
        ski_data_open();
        ski_onesided_open(&boot);
        ski_share_open(boot.job->host);
        run_pes(&boot, argc, argv, start);
        ski_onesided_close();
        ski_hosts_close();
        ski_far_close();
        ski_data_close();
        code = ski_job_exit_code(boot.job);
        ski_crash_uninstall();
        ski_boot_end(&boot);
    }
    return code;
}
