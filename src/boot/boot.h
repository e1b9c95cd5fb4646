/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.h - who am I, and who are the others?
 *
 * A program learns it in one of these ways:
 *
 *   launched   skuarun made the arena and the job and started us with
 *              SKUA_JOB="2,arena,lifeline,control,process" in the environment: the
 *              version of this line, three inherited descriptors, our number.
 *   foreign    mpirun, prterun, srun or mpiexec did, who know nothing of Skua: the
 *              first process of each host makes arena and job (external_launcher.h).
 *   self       nobody did: we are the only process, with SKUA_THREADS PEs.
 *
 * Processes that share no memory tell each other what they must know, the
 * addresses of their ports, through whoever started them: each puts what it has
 * to say, and gets what it needs of another when it needs it.
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
#define SKI_BOOT_VERSION  2

struct ski_foreign;

struct ski_boot {
    struct ski_arena *arena;
    struct ski_job   *job;
    int               process;
    enum ski_way { SKI_BOOT_SELF, SKI_BOOT_LAUNCHED, SKI_BOOT_FOREIGN } way;
    const struct ski_foreign *foreign; /* of the last: external_launcher.h */
};

/** Join the job that started us, or make one of our own.  Uses ski_config.
 *  A failure has been logged. */
skua_status_t ski_boot_start(struct ski_boot *boot);

/** Whether this process is to lay out what the layers above share in the job. */
static inline bool ski_boot_lays_out(const struct ski_boot *boot)
{
    return boot->way != SKI_BOOT_LAUNCHED && boot->job->place[boot->process] == 0;
}

/** Whether the job in our arena has a process with our number here. */
bool ski_boot_is_here(const struct ski_boot *boot);

/** Wait until all processes have come here, if no launcher has done our work. */
skua_status_t ski_boot_barrier(const struct ski_boot *boot);

/** Tell the others @p bytes under @p key: once for each key, and before the next
 *  barrier or get.  A failure has been logged. */
skua_status_t ski_boot_put(const struct ski_boot *boot, const char *key, const void *value,
                           size_t bytes);

/** What @p process has told under @p key, waited for; *bytes is the room, then the
 *  size.  Any thread.  A failure has been logged. */
skua_status_t ski_boot_get(const struct ski_boot *boot, int process, const char *key, void *value,
                           size_t *bytes);

/** Leave in good order. */
void ski_boot_end(struct ski_boot *boot);

/** An arena for a new job, of the size, place and thrift that the settings say. */
skua_status_t ski_boot_arena(struct ski_arena **arena, int *fd);

/** Returns the bytes of the arena that ski_boot_arena() makes: as the setting says, or a share of
 *  the memory that this process may have. */
size_t ski_boot_arena_bytes(void);

/** The launcher's side of SKI_BOOT_VARIABLE: the value for one process. */
void ski_boot_variable(char *text, size_t size, int arena_fd, int lifeline_fd, int control_fd,
                       int process);

/* ---- the control connection of a launched process ------------------------------- */

/* A SOCK_SEQPACKET to the launcher.  Up: SKI_CONTROL_PUT with a key and a value, or
 * SKI_CONTROL_GET with a process and a key, which is answered by SKI_CONTROL_VALUE when
 * that has been put.  Each is one record: this head, then the value. */
#define SKI_CONTROL_KEY  32
#define SKI_CONTROL_MOST 60000 /* bytes of a value */

enum { SKI_CONTROL_PUT = 1, SKI_CONTROL_GET, SKI_CONTROL_VALUE };

struct ski_control {
    uint32_t kind, bytes; /* of the value */
    int32_t  process;     /* whose it is  */
    char     key[SKI_CONTROL_KEY];
};

#endif
