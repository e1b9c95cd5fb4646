/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.h - how a process joins its job, and how processes exchange data before they are connected.
 *
 * A process joins in one of three modes:
 *
 *   launched   skuarun created the arena and the job and started the process with
 *              SKUA_JOB="3,arena,lifeline,control,process" in the environment: the version of this
 *              line, three inherited descriptors, and the number of the process.
 *   external   a launcher that does not know Skua started the process: mpirun, prterun, srun or
 *              mpiexec.  The first process of each host creates arena and job
 *              (external_launcher.h).
 *   self       the program was started without a launcher.  It is the only process of the job and
 *              has SKUA_THREADS PEs.
 *
 * Processes without common memory exchange what they must know of each other, such as the addresses
 * of ports, through the launcher: each process puts values under keys, and gets a value of another
 * process when it needs it.
 *
 * A process may join, leave and join again: each time is a *phase*, counted from 1.  In the modes
 * external and self each phase has an arena and a job of its own.  The arena and the job of a
 * launched process are laid out again: the first process of the host waits until all have left the
 * phase before, and the others wait for the first.  Values are put and got for a phase, and a get
 * waits for the put of its phase, so hosts need no barrier.
 *
 * The lifeline is a pipe whose write end only the launcher holds; it never writes to it.  When the
 * launcher dies, for whatever reason, the pipe hangs up and the kernel kills the process, even in
 * the middle of a computation; no thread watches the pipe.  (F_SETSIG with SIGKILL.  Each process
 * has a pipe of its own, since signal and receiver belong to the open file.)
 */
#ifndef SKI_BOOT_H
#define SKI_BOOT_H

#include "boot/job.h"
#include "boot/job_arena.h"

#define SKI_BOOT_VARIABLE "SKUA_JOB"
#define SKI_BOOT_VERSION  3

struct ski_external_launcher;

/* A process that has joined its job. */
struct ski_boot {
    struct ski_arena *arena;
    struct ski_job   *job;
    int               process;
    uint32_t          phase; /* from 1 on */
    enum ski_boot_mode { SKI_BOOT_SELF, SKI_BOOT_LAUNCHED, SKI_BOOT_EXTERNAL } mode;
    const struct ski_external_launcher *external; /* with SKI_BOOT_EXTERNAL, else NULL */
};

/** Joins the job that started this process, or creates one of this process alone; the next phase of
 *  it, if the process has joined before.  Uses ski_config.  A failure has been logged. */
skua_status ski_boot_start(struct ski_boot *boot);

/** Returns whether this process creates the shared structures of the layers above in the arena. */
static inline bool ski_boot_lays_out(const struct ski_boot *boot)
{
    return (boot->mode != SKI_BOOT_LAUNCHED || boot->phase > 1) &&
           boot->job->local_index[boot->process] == 0;
}

/** Waits until all processes of the job have called it, under an external launcher; in a later
 * phase of a launched process, until the first process of the host has called it; otherwise returns
 * immediately. */
skua_status ski_boot_barrier(const struct ski_boot *boot);

/** Publishes @p bytes under @p key to the other processes: once for each key in a phase, and before
 * the next barrier or get.  A failure has been logged. */
skua_status ski_boot_put(const struct ski_boot *boot, const char *key, const void *value,
                         size_t bytes);

/** Gets the value that @p process has published under @p key, and waits for it.  *@p bytes is the
 *  room at @p value, then the size of the value.  Any thread may call it.  A failure has been
 *  logged. */
skua_status ski_boot_get(const struct ski_boot *boot, int process, const char *key, void *value,
                         size_t *bytes);

/** Leaves the job in an orderly way.  @p last: the process does not join again, and may have
 * external threads that still access the arena, which stays mapped. */
void ski_boot_end(struct ski_boot *boot, bool last);

/** Writes the value of SKI_BOOT_VARIABLE for one process.  Used by the launcher. */
void ski_boot_variable(char *text, size_t size, int arena_fd, int lifeline_fd, int control_fd,
                       int process);

/* ---- the control connection of a launched process ------------------------------- */

/* A SOCK_SEQPACKET to the launcher.  A process sends SKI_CONTROL_PUT with a key and a value, or
 * SKI_CONTROL_GET with a process and a key, which the launcher answers with SKI_CONTROL_VALUE once
 * that value has been put in the same phase.  Each message is one record: this head, then the
 * value. */
#define SKI_CONTROL_KEY 32
#define SKI_CONTROL_MAX 60000 /* bytes of a value */

enum { SKI_CONTROL_PUT = 1, SKI_CONTROL_GET, SKI_CONTROL_VALUE };

/* The head of a control message. */
struct ski_control {
    uint32_t kind, bytes; /* SKI_CONTROL_PUT ..., and the size of the value */
    int32_t  process;     /* the process that the value belongs to          */
    uint32_t phase;       /* of the process that puts or gets               */
    char     key[SKI_CONTROL_KEY];
};

/** Asks the launcher to start the job again with `--survive`, and ends the process, if the setting
 *  `survive` comes from the program itself: the launcher has made no memory for images.  Called
 *  before the program runs. */
void ski_boot_ask_to_survive(const struct ski_boot *boot);

#endif
