/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - saving the state of a program, and continuing from it in another job.
 *
 * A *checkpoint* holds the objects of a program with their control flow, its collections, the
 * read-only variables, reductions that some elements have contributed to, object channels, teams,
 * regions with their contents (skua_region_set_restart()), user threads of elements that could
 * migrate to another host (SKUA_ENTRY_THREADED), and memory that the program has registered. It is
 * made at a *sync point*: a moment at which the program waits for the checkpoint and has nothing
 * else to do. The runtime waits for quiescence, and each PE packs its objects by the `pup` of their
 * classes.
 *
 * @code
 *     // The target of a reduction: all elements wait. next_step continues the program.
 *     static void step_done(skua_ref main, skua_entry next_step)
 *     {
 *         skua_checkpoint_if_due(skua_done_invoke(main, next_step));
 *     }
 * @endcode
 *
 * A job that is started with `skuarun --restart DIR` does not call `begin` of skua_program(), nor
 * the function of skua_main(): all that is in the checkpoint is restored, on any number of PEs, and
 * the completion of that checkpoint happens again, with `restarted` set in its result.
 *
 * A checkpoint cannot contain what belongs to a process: open files, addresses outside of what a
 * `pup` packs, counters, futures and callbacks of completions, other user threads and the stack of
 * `start`. If the runtime detects one of these, the checkpoint fails with an error that names it,
 * and the program continues. Channels of PEs and timers do not exist after a restart, nor do teams
 * after a restart on another number of PEs; the program creates them again.
 */
#ifndef SKUA_CHECKPOINT_H
#define SKUA_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** What the completion of a checkpoint gets as its result. */
typedef struct {
    uint64_t generation; /* the number of the checkpoint in its directory, from 1 on; 0: none */
    int32_t  status;     /* a skua_status: SKUA_OK, or why there is no checkpoint */
    uint32_t restarted;  /* 1: this job was restarted from the checkpoint; 0: it has made it */
} skua_checkpoint_result;

/** Moments of a checkpoint at which functions of the program are called
 *  (skua_checkpoint_hook()). */
typedef enum {
    SKUA_CHECKPOINT_BEFORE,  /**< the program is quiescent, and nothing has been saved */
    SKUA_CHECKPOINT_AFTER,   /**< everything has been saved, or the checkpoint has failed */
    SKUA_CHECKPOINT_RESTART, /**< the job was restarted, and everything has been restored */
} skua_checkpoint_moment;

/** A function that is called at a moment of a checkpoint. It must not send messages, except at
 *  SKUA_CHECKPOINT_RESTART, and must not wait. */
typedef void (*skua_checkpoint_fn)(void *arg);

/**
 * Makes a checkpoint in directory @p dir, which is created if it does not exist, or, if @p dir is
 * NULL, in memory alone, where it serves a job of `skuarun --survive`. The runtime waits for
 * quiescence and saves the state of all PEs. Then @p done happens, with a skua_checkpoint_result;
 * the files may still be written while the program continues. If a checkpoint fails, an error is
 * logged, earlier checkpoints remain, and the program continues. The result of @p done has the
 * status if the state could not be saved; if its files cannot be written afterwards, the result of
 * skua_checkpoint_flush() has it.
 *
 * @p done is part of the checkpoint, so it must be a value: it invokes an entry
 * (skua_done_invoke(), skua_done_invoke_all()), sends to a handler (skua_done_send()), or does
 * nothing. It may also be a future or counter on the stack of a user thread that is in the
 * checkpoint, or in its object. A completion with any other address of the process ends the job
 * with an error.
 *
 * May be called on any PE, in a handler or entry, or in a user thread. A request that comes while
 * a checkpoint is in progress waits for it.
 */
SKUA_API void skua_checkpoint(const char *dir, skua_completion done);

/**
 * Makes a checkpoint as skua_checkpoint() does if one is due; performs @p done with generation 0 if
 * none is. A checkpoint is due when checkpoint_every seconds have passed since the last one, or
 * since the job began, and when a process of the job or its launcher has received SIGUSR1. A
 * program calls this function at each point where a checkpoint is possible; PE 0 decides. A sync
 * point of skua_at_sync() is such a point as well: the runtime makes a checkpoint there if one is
 * due, before it resumes the elements.
 */
SKUA_API void skua_checkpoint_if_due(skua_completion done);

/** Performs @p done, with a skua_checkpoint_result, when all checkpoints have been written to their
 *  directories, or could not be: its status is that of the last one. A program calls this function
 *  before skua_exit() if its last checkpoint matters. A job that
 *  exits while files are written completes them only if that takes less than the setting
 *  exit_grace.
 *  @p done must be a value, as for skua_checkpoint(). May be called on any PE. */
SKUA_API void skua_checkpoint_flush(skua_completion done);

/** Makes a checkpoint due, as SIGUSR1 does. May be called on any PE. */
SKUA_API void skua_checkpoint_make_due(void);

/** Requests another number of PEs, @p pes, from the launcher, as the command `skua resize` does. A
 *  checkpoint in memory becomes due; when the program has made it, all processes are started again
 *  from it, and objects are distributed over the new PEs: the completion of that checkpoint happens
 *  with `restarted` set. Passing the present number withdraws the request. Returns SKUA_OK;
 *  SKUA_ERR_INVAL, logged, for a number that no job has; SKUA_ERR_UNSUPPORTED, logged, if the job
 *  was not started by skuarun with --survive. May be called on any PE. */
SKUA_API skua_status skua_resize(int pes);

/** Adds @p bytes at @p memory of each process to checkpoints, such as the state of a random number
 *  generator. Called before skua_main() or skua_program(), in every process, in the same order.
 *  @p name must stay valid and be unique. In a restarted job with more processes, process i gets
 *  the contents of process i modulo the former number; in one with fewer, the rest is dropped. */
SKUA_API void skua_checkpoint_register(const char *name, void *memory, size_t bytes);

/** Calls fn(arg) on the first PE of each process at @p moment of each checkpoint: to flush files,
 *  or to open them again. Called before skua_main() or skua_program(). Functions of one moment are
 *  called in the order of registration. */
SKUA_API void skua_checkpoint_hook(skua_checkpoint_moment moment, skua_checkpoint_fn fn, void *arg);

SKUA_END_DECLS

#endif
