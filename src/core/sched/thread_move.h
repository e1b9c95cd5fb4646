/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_move.h - user threads that run for an object and move with it to another PE.
 *
 * Such a thread and its stack fill a slot of the isomalloc range, so all addresses on the stack
 * stay valid.  It moves only while it waits (enum ski_thread_wait), and it leaves nothing behind: a
 * thread that is ready is taken out of the queue, and the list that it waits in moves as well, as a
 * part of a stack or of the object.  Inside a host only the address of the slot travels.  Between
 * hosts the bytes from the stack pointer to the end of the slot do.
 *
 * The return addresses on a stack must be valid at the destination (pe/code_map.h).
 */
#ifndef SKI_THREAD_MOVE_H
#define SKI_THREAD_MOVE_H

#include "core/isomalloc/isomalloc.h"
#include "core/sched/thread.h"

/** Returns the bytes that a slot needs for a thread with a stack of the setting stack_size. */
size_t ski_thread_slot_bytes(void);

/** Creates a detached thread that runs fn(@p arg) for @p object and moves with it; @p list is the
 *  list of the object's threads, in memory that moves as well.  NULL: there is no slot. */
struct skua_thread *ski_thread_create_owned(struct ski_pe *self, void (*fn)(void *arg), void *arg,
                                            void *object, struct skua_thread **list);

/** Frees a thread that ran for an object and has ended. */
void ski_thread_free_owned(struct ski_pe *self, struct skua_thread *thread);

/** Returns the PE on which to resume @p thread, an address in the isomalloc range that is not
 * trusted: this PE if the thread is here; else where it may be.  @p pe is its last known PE.
 * SKI_ISO_FREE: there is no such thread. */
int ski_thread_find_owned(struct ski_pe *self, const struct skua_thread *thread, int pe);

/** Returns whether @p thread waits in something that moves, as far as the thread itself is
 *  concerned. */
bool ski_thread_can_move(const struct skua_thread *thread);

/** Returns whether @p thread, which can move, is in the queue of its PE. */
bool ski_thread_is_queued(const struct skua_thread *thread);

/** Takes @p thread, which can move, out of the queue and the list of this PE.  The caller then
 * copies its slot, if need be, and lets it depart (ski_isomalloc_depart()). */
void ski_thread_depart(struct ski_pe *self, struct skua_thread *thread, int to);

/** Returns the first byte of a waiting thread that must be copied to another host. */
static inline char *ski_thread_used(const struct skua_thread *thread)
{
    return thread->fiber.context;
}

/** Returns the first byte after the slot of @p thread. */
static inline char *ski_thread_slot_end(const struct skua_thread *thread)
{
    return thread->stack.low + thread->stack.guard + ski_isomalloc_slot_bytes();
}

/** Returns the thread in the slot @p slot. */
struct skua_thread *ski_thread_in_slot(char *slot);

/** Adds a thread whose slot has arrived, with its memory, to the list of this PE. */
void ski_thread_arrive(struct ski_pe *self, const struct ski_iso_move *move);

/** Suspends the calling thread, which asks to be moved; returns when it has been moved or its
 * request was denied (struct skua_thread: migrated). */
void ski_thread_wait_to_migrate(struct ski_pe *self, struct ski_call call);

/** Continues a thread in ski_thread_wait_to_migrate(), which returns @p status. */
void ski_thread_answer_migrate(struct ski_pe *self, struct skua_thread *thread, skua_status status);

#endif
