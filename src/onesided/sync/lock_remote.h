/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_remote.h - locks in a job that spans several hosts.
 *
 * There the queue of waiters cannot be a list in their memory.  The owner of the lock, or the
 * progress thread of its process, keeps the queue: a PE requests the lock, waits for the grant, and
 * reports the release.  The lock is granted in the order of the requests.
 *
 *   ACQUIRE  to the owner: the lock, and the ticket of the waiter
 *   GRANT    back: the ticket
 *   RELEASE  to the owner: the lock
 *
 * A ticket is the number of a wait in its process.  The grant goes to the PE that asked or, for
 * external threads, to one of their process whose scheduler runs; it raises a counter there.
 */
#ifndef SKI_LOCK_REMOTE_H
#define SKI_LOCK_REMOTE_H

#include <skua/atomic.h>
#include <skua/message.h>

#define SKI_LOCK_MIN 32

/** Acquires lock @p i of PE @p pe. Returns false if the job ends. */
bool ski_lock_remote(skua_locks locks, int pe, size_t i);

/** Releases lock @p i of PE @p pe. */
void ski_unlock_remote(skua_locks locks, int pe, size_t i);

/** Frees the queues of locks that the calling thread served as a PE, which ends. */
void ski_lock_queues_end(void);

/** Returns whether a lock of the calling PE is held, in a job that spans several hosts and has no
 *  progress thread. */
bool ski_lock_queues_exist(void);

/** Handles a message of the protocol of remote locks. */
void ski_on_lock(skua_msg *msg);

#endif
