/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer.h - what a layer of the runtime registers with the layers below it: the stages of its life,
 * and the calls that core makes upwards.
 *
 * ski_layers (src/builtin.c) lists the layers, the lowest first.  Stages that begin something run
 * in that order, stages that end something in the opposite one.  A stage or call that a layer does
 * not need is NULL.
 *
 *      init      create      publish      open      begin ...... end      close     reset
 *      process   job         process      process   each PE               process   process
 *
 * Handlers are registered in handler_defs.h, in-place delivery in open() (net/net.h).  The state of
 * a layer on a PE is one pointer in struct ski_pe.
 */
#ifndef SKI_LAYER_H
#define SKI_LAYER_H

#include <stdint.h>

#include <skua/status.h>

struct ski_boot;
struct ski_job;
struct ski_pe;

struct ski_layer {
    const char *name;

    /** Prepares this process, before its settings are read and before it has threads. */
    void (*init)(void);

    /** Lays out what the processes of a host share, in a fresh arena.  Called in one of them, or in
     *  the launcher.  A failure has been logged. */
    skua_status (*create)(struct ski_job *job);

    /** Publishes what other processes of the job may ask for (boot/boot.h): after a barrier that
     *  follows create(), before one that open() follows.  A failure has been logged. */
    skua_status (*publish)(const struct ski_boot *boot);

    /** Begins and ends in this process, around its PEs. */
    void (*open)(const struct ski_boot *boot);
    void (*close)(void);

    /** Forgets the job, after close(), in a process that continues (skua_finalize()): registrations
     *  stay, and all else is as before publish().  No other thread is in a call of the layer. */
    void (*reset)(void);

    /** Begins and ends on a PE, a hidden one too, on the thread of that PE. */
    void (*begin)(struct ski_pe *self);
    void (*end)(struct ski_pe *self);

    /** Called before a PE sleeps.  Returns how many nanoseconds it may sleep at most, SKI_FOREVER
     * if the layer sets no limit; 0: not at all, since something was sent. */
    uint64_t (*before_sleep)(struct ski_pe *self);

    /** Called before a call on the PE's own stack waits for something that messages cause, if
     *  self->before_wait is set. */
    void (*before_wait)(struct ski_pe *self);

    /** Called before a call of the program returns because the job ends: then the program may free
     *  memory that it passed to the runtime. */
    void (*before_exit)(struct ski_pe *self);

    /** Called again and again while PEs of this process wait for the job to end. */
    void (*during_shutdown)(void);
};

/** The layers of the runtime, the lowest first; NULL ends the list. */
extern const struct ski_layer *const ski_layers[];

/** Runs the stage `init` of all layers. */
void ski_layers_init(void);

/** Runs the stage `create` of all layers, up to the first that fails; returns its status. */
skua_status ski_layers_create(struct ski_job *job);

/** Runs the stage `publish` of all layers, up to the first that fails; returns its status. */
skua_status ski_layers_publish(const struct ski_boot *boot);

/** Runs the stage `open` of all layers. */
void ski_layers_open(const struct ski_boot *boot);

/** Runs the stage `close` of all layers, the highest first. */
void ski_layers_close(void);

/** Runs the stage `reset` of all layers, the highest first. */
void ski_layers_reset(void);

/** Runs the stage `begin` of all layers on the PE @p self. */
void ski_layers_begin(struct ski_pe *self);

/** Runs the stage `end` of all layers on the PE @p self, the highest first. */
void ski_layers_end(struct ski_pe *self);

/** Returns how many nanoseconds @p self may sleep: the least that a layer allows. */
uint64_t ski_layers_before_sleep(struct ski_pe *self);

/** Calls before_wait() of all layers. */
void ski_layers_before_wait(struct ski_pe *self);

/** Calls before_exit() of all layers. */
void ski_layers_before_exit(struct ski_pe *self);

/** Calls during_shutdown() of all layers. */
void ski_layers_during_shutdown(void);

#endif
