/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_recovery.h - whether and how a job continues after it has lost a process (skuarun --survive).
 *
 * The processes of an epoch are all killed and started again; none is repaired.  The next epoch
 * restores the newest generation of images that is complete, or else the newest checkpoint on disk
 * that this job has written, or else the program starts from the beginning.  A job ends when a
 * process dies of the same fault again, or after RECOVERY_MAX epochs, without a new generation in
 * between.
 */
#ifndef SKUARUN_JOB_RECOVERY_H
#define SKUARUN_JOB_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"
#include "common/exit_report.h"
#include "survive/host_images.h"

#define RECOVERY_MAX 20

/** How many processes may be replaced: any number. */
#define RECOVERY_SPARE_ANY (-1)

struct recovery {
    bool               on;         /* the job was started with --survive                     */
    int                epoch;      /* the present one, from 1 on                             */
    uint64_t           generation; /* that the present epoch restored; 0: none               */
    uint64_t           completed;  /* the newest generation that all processes have completed */
    double             completed_at;
    int                pes;          /* of the present epoch                                   */
    int                spare;        /* processes that may still be replaced, or ..._ANY       */
    int                attempts;     /* recoveries since the last new generation               */
    struct exit_report fault;        /* the last process that died of a fault of its own       */
    bool               has_fault;    /* since the last new generation                          */
    double             failed_at;    /* when the loss was noticed                              */
    int                lost;         /* processes lost in the present epoch                    */
    bool               announced;    /* it was printed that the epoch continues                 */
    bool               joined;       /* all processes of the present epoch have joined          */
    bool               verbose;      /* print what happens                                      */
    double             began;        /* when the job began                                      */
    bool               failing;      /* the present epoch has lost a process, or a connection   */
    int                resize;       /* PEs that were asked for (skua resize); 0: none         */
    bool               resized;      /* the present epoch began for that                       */
    int                pes_before;   /* PEs of the epoch before a resized one                  */
    uint64_t           resize_after; /* it happens at a newer generation than this one        */
    int64_t            started; /* the time of the start of the job, for files of checkpoints */
};

/** Begins the first epoch of a job of @p pes PEs. */
void recovery_begin(struct recovery *recovery, const struct run_options *options, int pes);

/** Records the loss of @p lost processes: 0 if one aborted because it has lost another one, which
 *  is counted itself.  @p report says how one of them died, or is NULL if their host was lost. */
void recovery_lost(struct recovery *recovery, const struct exit_report *report, int lost);

/** Records that all processes have completed @p generation, or restored it, which is printed.
 *  Returns whether the epoch has just restored its images and a resize waits for a checkpoint,
 * which the caller makes due.  An earlier signal could end a program that has not begun to handle
 * it. */
bool recovery_completed(struct recovery *recovery, uint64_t generation);

/** Records that all processes of the present epoch have joined; may be called again.  Returns
 * whether the epoch restores no images, so that recovery_completed() does not see it begin, and a
 * resize waits for a checkpoint, which the caller makes due. */
bool recovery_joined(struct recovery *recovery);

/** Decides how to continue when all processes of the epoch have ended, by the complete images of
 * all hosts, and sets epoch, generation and pes of the next one.  SKUA_RESTART in the environment
 *  becomes "memory", or the folder to restore.  Returns false after printing why the job cannot go
 *  on. */
bool recovery_next(struct recovery *recovery, struct image_record *record, int count, int threads);

/** Records that @p pes PEs were requested.  Returns whether a checkpoint has to be made now; if the
 *  job cannot change its size, it has printed why. */
bool recovery_resize(struct recovery *recovery, int pes);

/** Returns whether the job has a new generation from which it restarts with another number of PEs.
 */
bool recovery_may_resize(const struct recovery *recovery);

/** Records that the processes of the present epoch have been started.  Prints a line if they start
 *  from the beginning or read files. */
void recovery_started(struct recovery *recovery);

#endif
