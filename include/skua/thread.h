/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - user threads: many to a PE, switched by the runtime.
 *
 * A thread runs on the PE that created it, until it waits, yields or ends;
 * meanwhile that PE delivers messages.  Use one where code wants to block.
 * A switch costs some ten nanoseconds, a thread the pages of stack it touches.
 *
 * All calls belong on the thread's PE, except skua_thread_resume() and
 * skua_thread_resume_on().  Mutexes and conditions are for the threads of one PE;
 * nothing else runs on it between two waits, so they are needed only where a
 * thread waits in the middle of an update.
 */
#ifndef SKUA_THREAD_H
#define SKUA_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

typedef struct skua_thread skua_thread;

/** Create a thread that runs fn(arg); it becomes ready, behind the messages
 *  that wait already.  @p stack_bytes 0 takes the setting stack_size.  Below
 *  the stack lies a guard: overrunning it ends the job with a line that says
 *  so.  Join or detach it.  Ends the job when no stack can be had. */
SKUA_API skua_thread *skua_thread_create(void (*fn)(void *arg), void *arg, size_t stack_bytes);

/** A name for messages about it; must live as long as the thread. */
SKUA_API void skua_thread_set_name(skua_thread *thread, const char *name);

/** The calling thread, or NULL on the PE's own stack. */
SKUA_API skua_thread *skua_thread_self(void);

/** Let what is ready run, then go on. */
SKUA_API void skua_thread_yield(void);

/** Stop until skua_thread_resume(); a resume that came before is not lost. */
SKUA_API void skua_thread_suspend(void);

/** Make a suspended thread ready; on its PE, or any other of the host. */
SKUA_API void skua_thread_resume(skua_thread *thread);

/** Make a suspended thread of PE @p pe ready, from wherever. */
SKUA_API void skua_thread_resume_on(int pe, skua_thread *thread);

/** Wait until it ends (as in completion.h), and give it back. */
SKUA_API void skua_thread_join(skua_thread *thread);

/** Give it back as soon as it ends; the handle is of no use any more. */
SKUA_API void skua_thread_detach(skua_thread *thread);

/** A lock; zero is unlocked.  Handed over in the order of asking. */
typedef struct {
    void *waiters; /* the runtime's */
    bool  locked;
} skua_mutex;

/** A condition; zero is ready for use. */
typedef struct {
    void *waiters; /* the runtime's */
} skua_cond;

#define SKUA_MUTEX_INIT                                                                            \
    {                                                                                              \
        NULL, false                                                                                \
    }
#define SKUA_COND_INIT                                                                             \
    {                                                                                              \
        NULL                                                                                       \
    }

/** True: it is ours.  False: the job ends (see completion.h). */
SKUA_API bool skua_mutex_lock(skua_mutex *mutex);
SKUA_API bool skua_mutex_trylock(skua_mutex *mutex);
SKUA_API void skua_mutex_unlock(skua_mutex *mutex);

/** Unlock @p mutex, wait for a signal, lock it again.  False: the job ends, and
 *  the mutex is not ours. */
SKUA_API bool skua_cond_wait(skua_cond *cond, skua_mutex *mutex);
SKUA_API void skua_cond_signal(skua_cond *cond);
SKUA_API void skua_cond_broadcast(skua_cond *cond);

SKUA_END_DECLS

#endif
