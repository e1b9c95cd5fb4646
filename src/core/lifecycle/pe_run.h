/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe_run.h - the life of a PE, on its thread:
 *
 *      create -> layers begin -> start() -> scheduler -> shutdown -> layers end -> destroy
 *      ski_pe_begin()                                    ski_pe_end()
 *
 * Between these two calls, the thread that called skua_init() runs code of the program, which calls
 * the scheduler.
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

/* The program that all PEs of a process run. */
struct ski_pe_program {
    const struct ski_boot *boot;
    skua_start_fn          start; /* or NULL */
    int                    argc;
    char                 **argv;
    pthread_barrier_t      stopped; /* of all threads that run a PE */
};

/* A PE and its thread. */
struct ski_pe_thread {
    struct ski_pe_program *program;
    int                    pe;
    pthread_t              thread;       /* unless it is the thread that joined the job */
    struct ski_pe         *self;         /* from ski_pe_begin() to ski_pe_end()         */
    void                  *signal_stack; /* of the thread, meanwhile                    */
};

/** Makes the calling thread the PE t->pe. */
void ski_pe_begin(struct ski_pe_thread *t);

/** Ends what ski_pe_begin() began.  The job is exiting. */
void ski_pe_end(struct ski_pe_thread *t);

/** Runs a PE on the calling thread, from start() to the end of the job. */
void ski_pe_run(struct ski_pe_thread *t);

#endif
