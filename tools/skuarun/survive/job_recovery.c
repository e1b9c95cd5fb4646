/* SPDX-License-Identifier: Apache-2.0 */
/* job_recovery.c - see job_recovery.h. */
#include "survive/job_recovery.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <skua/time.h>

#include "checkpoint/store_file.h"

void recovery_begin(struct recovery *r, const struct run_options *options, int pes)
{
    *r = (struct recovery){.on      = options->survive,
                           .epoch   = 1,
                           .pes     = pes,
                           .spare   = options->spare,
                           .verbose = options->verbose,
                           .began   = skua_time(),
                           .started = (int64_t)time(NULL)};
}

/* With --verbose, prints what happens to the job, and when. */
static void recovery_trace(const struct recovery *r, const char *what)
{
    if (r->on && r->verbose)
        fprintf(stderr, "skuarun: %.3f s, epoch %d: %s\n", skua_time() - r->began, r->epoch, what);
}

/* ---- what is recorded ------------------------------------------------------------- */

/* Returns whether the signal comes from what the process itself did. */
static bool recovery_is_fault(const struct exit_report *report)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

    for (size_t i = 0; !report->symptom && i < sizeof faults / sizeof *faults; i++)
        if (WTERMSIG(report->status) == faults[i])
            return true;
    return false;
}

void recovery_lost(struct recovery *r, const struct exit_report *report, int lost)
{
    if (!r->failing) {
        r->failing   = true;
        r->failed_at = skua_time();
        recovery_trace(r, "a process is lost");
    }
    r->lost += lost;
    if (!report || !recovery_is_fault(report))
        return;
    if (r->has_fault && r->fault.process == report->process && r->fault.status == report->status)
        r->attempts = RECOVERY_MAX; /* it would happen again */
    r->fault     = *report;
    r->has_fault = true;
}

/* Prints one line: from which checkpoint the job continues, and how long the recovery took. */
static void recovery_announce(struct recovery *r)
{
    const char *folder = getenv("SKUA_RESTART");
    double      now    = skua_time();
    char        from[4200];

    r->announced = true;
    if (r->generation && r->resized)
        snprintf(from, sizeof from, "checkpoint %" PRIu64 " in memory", r->generation);
    else if (r->generation)
        snprintf(from, sizeof from,
                 "checkpoint %" PRIu64 " in memory, taken %.2f s before the failure", r->generation,
                 r->failed_at - r->completed_at);
    else if (folder && *folder && strcmp(folder, "none") != 0)
        snprintf(from, sizeof from, "the checkpoint in %s", folder);
    else
        snprintf(from, sizeof from, "the beginning: there is no checkpoint yet");
    fprintf(stderr, "skuarun: epoch %d, with %d PE(s), resumed after %.2f s from %s\n", r->epoch,
            r->pes, now - r->failed_at, from);
}

void recovery_started(struct recovery *r)
{
    recovery_trace(r, "processes are started");
    r->joined    = false;
    r->announced = r->epoch == 1;
    if (!r->announced && !r->generation)
        recovery_announce(r);
}

/* If the epoch has restored its images, prints that.  Returns whether this call detected it. */
static bool recovery_restored(struct recovery *r, uint64_t generation)
{
    if (r->announced || r->generation == 0 || generation < r->generation)
        return false;
    recovery_trace(r, "images are restored");
    recovery_announce(r);
    return true;
}

bool recovery_completed(struct recovery *r, uint64_t generation)
{
    bool restored = recovery_restored(r, generation);

    if (generation <= r->completed)
        return restored && r->resize > 0; /* the request was lost with the previous processes */
    recovery_trace(r, "a checkpoint is complete");
    r->completed    = generation;
    r->completed_at = skua_time();
    r->attempts     = 0;
    r->has_fault    = false;
    return false;
}

bool recovery_joined(struct recovery *r)
{
    bool first = !r->joined;

    r->joined = true;
    return first && r->epoch > 1 && r->generation == 0 && r->resize > 0;
}

bool recovery_resize(struct recovery *r, int pes)
{
    bool ready = recovery_may_resize(r); /* the epoch is being ended for another number */

    r->resize = 0;
    if (!r->on)
        fprintf(stderr,
                "skuarun: the number of PEs stays %d: only a job with --survive can change it\n",
                r->pes);
    else if (pes >= 1 && pes <= SKI_JOB_PES_MAX && pes != r->pes)
        r->resize = pes;
    if (!ready)
        r->resize_after = r->completed;
    return r->resize > 0;
}

bool recovery_may_resize(const struct recovery *r)
{
    return r->resize > 0 && r->completed > r->resize_after;
}

/* ---- checkpoints on disk ---------------------------------------------------------- */

/* Returns whether a generation in the folder has been completed by this job: the manifest is its
 * last file. */
static bool recovery_wrote(const struct recovery *r, const char *folder, uint64_t generation)
{
    char       *path = ski_store_generation_path(folder, generation);
    char        manifest[4096];
    struct stat file;
    bool        wrote;

    wrote =
        snprintf(manifest, sizeof manifest, "%s/" SKI_MANIFEST_NAME, path) < (int)sizeof manifest &&
        stat(manifest, &file) == 0 && (int64_t)file.st_mtime >= r->started;
    free(path);
    return wrote;
}

/* Returns whether the folder has a checkpoint that this job has written. */
static bool recovery_has_files(const struct recovery *r, const char *folder)
{
    struct ski_store_generation *list;
    char                         reason[SKI_STORE_REASON];
    int                          count;
    bool                         has = false;

    if (!folder || !*folder || strcmp(folder, "none") == 0)
        return false;
    count = ski_store_file_list(folder, &list, reason);
    for (int i = 0; i < count; i++)
        has |= recovery_wrote(r, folder, list[i].number);
    free(list);
    return has;
}

/* ---- the next epoch ---------------------------------------------------------------- */

/* Takes the PEs of lost processes from the job that has no spare processes left. */
static bool recovery_use_spares(struct recovery *r, int threads)
{
    if (r->spare == RECOVERY_SPARE_ANY)
        return true;
    if (r->spare >= r->lost) {
        r->spare -= r->lost;
        return true;
    }
    r->pes -= (r->lost - r->spare) * threads;
    r->spare = 0;
    if (r->pes <= 0 && r->lost > 1) /* all were killed at once */
        r->pes = threads;
    if (r->pes > 0)
        return true;
    fprintf(stderr, "skuarun: the job has no processes left (--spare)\n");
    return false;
}

static bool recovery_may_go_on(const struct recovery *r)
{
    if (r->attempts < RECOVERY_MAX)
        return true;
    if (r->has_fault)
        fprintf(stderr,
                "skuarun: process %d died of signal %d again without a new checkpoint in "
                "between: the job is ended\n",
                r->fault.process, WTERMSIG(r->fault.status));
    else
        fprintf(stderr,
                "skuarun: %d recoveries without a new checkpoint: the job is ended; take "
                "checkpoints more often (--survive=SECONDS)\n",
                r->attempts);
    return false;
}

/* Chooses what the next epoch restores. */
static bool recovery_choose(struct recovery *r, uint64_t newest)
{
    const char *folder = getenv("SKUA_CHECKPOINT_DIR");

    r->generation = newest;
    if (r->generation) {
        setenv("SKUA_RESTART", SKI_RESTART_MEMORY, 1);
    } else if (recovery_has_files(r, folder)) {
        setenv("SKUA_RESTART", folder, 1);
    } else if (r->completed) {
        fprintf(stderr,
                "skuarun: both copies of some images of checkpoint %" PRIu64 " in memory are lost, "
                "and there is no checkpoint on disk (SKUA_CHECKPOINT_DIR): the job ends\n",
                r->completed);
        return false;
    }
    r->completed    = r->generation;
    r->resize_after = r->completed; /* generations that follow may have the numbers of lost ones */
    return true;
}

/* If the epoch of a resize was lost before its images were restored, gives the job its previous
 * number of PEs, which its regions, for example, may require.  Processes that died because of the
 * resize do not count as lost. */
static void recovery_undo_resize(struct recovery *r, uint64_t newest)
{
    if (!r->resized || r->announced || !r->failing || newest > r->generation)
        return;
    r->pes  = r->pes_before;
    r->lost = r->has_fault ? 0 : r->lost;
    fprintf(stderr, "skuarun: the job cannot be resized; it continues with %d PEs\n", r->pes);
    r->has_fault = false;
    r->attempts  = 0;
    r->resize    = 0;
}

bool recovery_next(struct recovery *r, struct image_record *record, int count, int threads)
{
    uint64_t newest = host_images_newest(record, count);
    int      resize;

    recovery_trace(r, "all processes have ended");
    recovery_undo_resize(r, newest);
    r->announced = true; /* nothing more of the former epoch is printed */
    recovery_completed(r, newest);
    resize        = recovery_may_resize(r) && !r->failing ? r->resize : 0;
    r->pes_before = r->pes;
    if (resize)
        r->pes = resize;
    else if (!recovery_may_go_on(r) || !recovery_use_spares(r, threads))
        return false;
    if (!recovery_choose(r, newest))
        return false;
    r->attempts += resize == 0;
    r->resize  = resize ? 0 : r->resize;
    r->resized = resize > 0;
    if (resize)
        r->failed_at = r->completed_at; /* the time of the restart counts from the checkpoint */
    r->lost    = 0;
    r->failing = false;
    r->epoch++;
    return true;
}
