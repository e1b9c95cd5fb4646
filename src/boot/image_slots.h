/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_slots.h - memory of a host that survives the processes of a job (skuarun --survive).
 *
 * An *image* is the packed state of one process at a checkpoint.  The launcher's agent of a host
 * makes a *slot* for each process of the host, and one for each process of another host whose
 * *buddy* runs here: a process copies its image to its buddy, so that it outlives the host.  A slot
 * has two memfds, which hold one image each: the last complete one, and the one that is being
 * written.  Agent and processes hold the descriptors, the agent for the whole job, so an image
 * outlives the process that wrote it, and nothing is left when the job is over.
 *
 * The processes of a job are started, and after a failure killed and started again; each of these
 * times is an *epoch*, counted from 1.  SKUA_IMAGES="EPOCH,GENERATION;PROCESS:FD:FD:READ;..." tells
 * a process the epoch, the generation of images to restore (0: the program begins anew), the slots
 * that its host has, and which of them the PEs of the host read.  Each image of the generation is
 * read on one host, whatever the hosts are on which the processes of the new epoch run.
 *
 * What a memfd contains is described in checkpoint/store_memory.h.  A process begins to write a
 * generation after all processes have completed the one before, and never into the memfd of that
 * one, so the last generation that all completed is always there.  Before an epoch begins, its
 * agents empty the memfds of all other generations than the one that is restored: a generation that
 * was not completed and is written again in the new epoch never mixes with its remains.
 */
#ifndef SKI_IMAGE_SLOTS_H
#define SKI_IMAGE_SLOTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "boot/job.h"

#define SKI_IMAGES_VARIABLE "SKUA_IMAGES"
#define SKI_RESTART_MEMORY  "memory" /* the value of the setting restart: from image slots */

/* The signal by which `skua resize' asks the launcher for another number of PEs: its value. */
#define SKI_RESIZE_SIGNAL (SIGRTMIN + 4)

/* The mark in the output of a process: this text, the generation in decimal, and the end.  It is an
 * application program command, which terminals do not show. */
#define SKI_OUTPUT_MARK     "\033_skua:generation:"
#define SKI_OUTPUT_MARK_END "\033\\"

/* A slot: the two memfds for images of one process. */
struct ski_image_slot {
    int process;
    int fd[2];
    int read; /* 1: the PEs of this host restore the image of the generation, else 0 */
};

/* The slots that a process has inherited. */
struct ski_image_slots {
    int                    epoch;      /* from 1 on; 0: the job was not started with --survive */
    uint64_t               generation; /* to restore; 0: none */
    int                    count;
    struct ski_image_slot *slot;
};

/** Returns the slots of this process, read from SKI_IMAGES_VARIABLE at the first call; epoch is 0
 *  if the variable is missing or is not what a launcher writes, which has been logged.  Call it
 *  first before the process has several threads. */
const struct ski_image_slots *ski_image_slots(void);

/** Returns the slot of @p process, or NULL if this host has none. */
const struct ski_image_slot *ski_image_slot_find(const struct ski_image_slots *slots, int process);

/** Writes the value of SKI_IMAGES_VARIABLE into memory that the caller frees.  Used by the
 *  launcher. */
char *ski_image_slots_text(const struct ski_image_slots *slots);

/** Reads the value of SKI_IMAGES_VARIABLE.  Returns false, and changes nothing, if it is malformed;
 *  else the caller frees slots->slot. */
bool ski_image_slots_parse(const char *text, struct ski_image_slots *slots);

/** Flushes the output of the program to the launcher. */
void ski_image_flush_output(void);

/** Records that @p process has completed its image of @p generation and the copy of its buddy, or
 * has restored it: the launcher learns it, and the process marks the place in the output of the
 * process where the program continues after a restart.  Called in one thread of the process while
 * no other one runs the program. */
void ski_image_completed(struct ski_job *job, int process, uint64_t generation);

/** Returns the process that keeps a copy of the image of @p process: one on the next host, or -1 if
 *  the job has one host. */
int ski_job_buddy(const struct ski_job *job, int process);

#endif
