/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe_run.h - the life of a PE, on its thread:
 *
 *      create -> layers begin -> start() -> scheduler -> shutdown -> layers end -> destroy
 *
 * A hidden PE (transport/host/host.h) of a progress thread has no start(); the one for external
 * threads is only created, since it has no thread of its own.
 */
#ifndef SKI_PE_RUN_H
#define SKI_PE_RUN_H

#include <pthread.h>

#include <skua/pe.h>

#include "boot/boot.h"

struct ski_pe;

/** Creates the state of PE @p pe, on the thread that will use it. */
struct ski_pe *ski_pe_create(const struct ski_boot *boot, int pe);

/** Frees the state of a PE, whose layers have ended. */
void ski_pe_destroy(struct ski_pe *self);

/* What all PEs of a process run. */
struct ski_pe_program {
    const struct ski_boot *boot;
    skua_start_fn          start;
    int                    argc;
    char                 **argv;
    pthread_barrier_t      stopped; /* of all threads that run a PE */
};

/** Runs PE @p pe on the calling thread until the job ends. */
void ski_pe_run(struct ski_pe_program *program, int pe);

#endif
