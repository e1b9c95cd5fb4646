/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - user-level threads, many per PE, scheduled by the runtime.
 *
 * A thread runs on the PE that created it until it waits, yields or ends; the PE delivers messages
 * in between. The thread of a threaded entry (SKUA_ENTRY_THREADED) moves with its object to another
 * PE, with its stack, while it waits in skua_thread_yield(), skua_thread_suspend(),
 * skua_migrate_now(), or for a future or counter in the object or on the stack of one of its
 * threads. It stays in all other waits, and while it holds a mutex. Across a wait in which it can
 * move, it must not keep the address of a thread-local variable or of errno, nor what belongs to
 * its PE, such as a timer or a pointer from skua_object_local(). A thread has a rounding mode, and
 * other control of floating-point numbers, of its own, at first those of its creator. Threads are
 * for code that needs to block. A switch costs about ten nanoseconds, a thread the stack pages that
 * it touches.
 *
 * All functions are called on the thread's PE, except skua_thread_resume() and
 * skua_thread_resume_on(). Mutexes and conditions synchronise the threads of one PE. Nothing else
 * runs on the PE between two waits of a thread, so they are needed only if a thread waits in the
 * middle of an update.
 */
#ifndef SKUA_THREAD_H
#define SKUA_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** A user thread. The handle is valid on its PE until the thread is joined or, if it is detached,
 *  ends. The handle of a threaded entry stays the same when the thread migrates. */
typedef struct skua_thread skua_thread;

/** Creates a user thread that runs fn(arg) on the calling PE. It becomes ready, after the messages
 *  that are queued. With @p stack_bytes 0 the stack has the size of the setting stack_size. A guard
 *  page is below the stack: an overflow ends the job with an error. The thread must be joined or
 *  detached. Ends the job if no stack can be allocated. */
SKUA_API skua_thread *skua_thread_create(void (*fn)(void *arg), void *arg, size_t stack_bytes);

/** Names a thread in errors. @p name must stay valid as long as the thread. */
SKUA_API void skua_thread_set_name(skua_thread *thread, const char *name);

/** Returns the calling thread, or NULL on the PE's own stack. */
SKUA_API skua_thread *skua_thread_self(void);

/** Lets other ready threads and messages of the PE run, then continues the calling thread; that of
 *  a threaded entry perhaps on another PE. */
SKUA_API void skua_thread_yield(void);

/** Suspends the calling thread until skua_thread_resume(). An earlier resume is not lost. The
 *  thread of a threaded entry may continue on another PE. */
SKUA_API void skua_thread_suspend(void);

/** Makes a suspended thread ready. Called on its PE or on any other PE of the host. */
SKUA_API void skua_thread_resume(skua_thread *thread);

/** Makes a suspended thread of @p pe ready. Called on any PE. A thread that has migrated from @p pe
 *  since is resumed where it is. */
SKUA_API void skua_thread_resume_on(int pe, skua_thread *thread);

/** Waits until a thread ends (as in completion.h) and frees it. */
SKUA_API void skua_thread_join(skua_thread *thread);

/** Detaches a thread: it is freed when it ends, and its handle becomes invalid. */
SKUA_API void skua_thread_detach(skua_thread *thread);

/** A mutex for the threads of one PE. Zero is unlocked. Waiters acquire it in the order of their
 *  calls. */
typedef struct {
    void *waiters; /* internal */
    bool  locked;
} skua_mutex;

/** A condition variable for the threads of one PE. Zero is its initial value. */
typedef struct {
    void *waiters; /* internal */
} skua_cond;

/** Initial value of a skua_mutex. */
#define SKUA_MUTEX_INIT                                                                            \
    {                                                                                              \
        NULL, false                                                                                \
    }

/** Initial value of a skua_cond. */
#define SKUA_COND_INIT                                                                             \
    {                                                                                              \
        NULL                                                                                       \
    }

/** Locks a mutex, waiting for it. Returns false, without the lock, when the job ends first. */
SKUA_API bool skua_mutex_lock(skua_mutex *mutex);

/** Locks a mutex if it is free. Returns true if the caller holds it now. */
SKUA_API bool skua_mutex_trylock(skua_mutex *mutex);

/** Unlocks a mutex that the caller holds. The thread that has waited longest acquires it. */
SKUA_API void skua_mutex_unlock(skua_mutex *mutex);

/** Unlocks @p mutex, waits for a signal and locks it again. Returns false, without the lock, when
 *  the job ends first. */
SKUA_API bool skua_cond_wait(skua_cond *cond, skua_mutex *mutex);

/** Wakes the thread that has waited longest for a condition variable, if there is one. */
SKUA_API void skua_cond_signal(skua_cond *cond);

/** Wakes all threads that wait for a condition variable. */
SKUA_API void skua_cond_broadcast(skua_cond *cond);

SKUA_END_DECLS

#endif
