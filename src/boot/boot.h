/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.h - who am I, and who are the others?
 *
 * A program learns it in one of three ways:
 *
 *   launched   skuarun made the arena and the job and started us with
 *              SKUA_JOB="1,arena,lifeline,process" in the environment: the
 *              version of this line, two inherited descriptors, our number.
 *   pmix       mpirun, prterun or srun did, who know nothing of Skua: process 0
 *              makes arena and job (pmix.h).
 *   self       nobody did: we are the only process, with SKUA_THREADS PEs.
 *
 * The lifeline is a pipe whose other end the launcher alone holds and never
 * writes to.  When the launcher dies, however, the pipe hangs up and the
 * kernel kills us, whether or not some PE is in the middle of a computation:
 * no thread watches it.  (F_SETSIG with SIGKILL; each process has a pipe of
 * its own, since the signal and its receiver belong to the open file.)
 */
#ifndef SKI_BOOT_H
#define SKI_BOOT_H

#include "boot/job.h"

#define SKI_BOOT_VARIABLE "SKUA_JOB"
#define SKI_BOOT_VERSION  1

struct ski_boot {
    struct ski_arena *arena;
    struct ski_job   *job;
    int               process;
    enum ski_way { SKI_BOOT_SELF, SKI_BOOT_LAUNCHED, SKI_BOOT_PMIX } way;
};

/** Join the job that started us, or make one of our own.  Uses ski_config.
 *  A failure has been logged. */
skua_status_t ski_boot_start(struct ski_boot *boot);

/** Whether this process is to lay out what the layers above share in the job. */
static inline bool ski_boot_lays_out(const struct ski_boot *boot)
{
    return boot->way != SKI_BOOT_LAUNCHED && boot->process == 0;
}

/** Wait until all processes have come here, if no launcher has done our work. */
skua_status_t ski_boot_barrier(const struct ski_boot *boot);

/** Leave in good order. */
void ski_boot_end(struct ski_boot *boot);

/** An arena for a new job, of the size, place and thrift that the settings say. */
skua_status_t ski_boot_arena(struct ski_arena **arena, int *fd);

/** The launcher's side of SKI_BOOT_VARIABLE: the value for one process. */
void ski_boot_variable(char *text, size_t size, int arena_fd, int lifeline_fd, int process);

#endif
