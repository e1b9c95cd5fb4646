/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_remote.h - locks in a job that is spread over several arenas.
 *
 * There the queue of a lock cannot be a list in memory of those who wait.  The owner
 * of the lock keeps it, or the helper of its process: who wants the lock asks, is told
 * when it is his turn, and says when he is done.  Turns are in the order of asking.
 *
 *   TAKE   to the owner: lock, and the ticket of who waits
 *   GRANT  back: the ticket
 *   GIVE   to the owner: lock
 *
 * A ticket is the number of a wait in its process; the grant goes to the PE that asked, or
 * for threads that are no PEs to the first of their process or its helper, who raises a
 * counter there.
 */
#ifndef SKI_LOCK_REMOTE_H
#define SKI_LOCK_REMOTE_H

#include <skua/atomic.h>
#include <skua/message.h>

#define SKI_LOCK_LEAST 32

/** Take and give back lock @p i of PE @p pe; take is false if the job ends. */
bool ski_lock_far(skua_locks locks, int pe, size_t i);
void ski_unlock_far(skua_locks locks, int pe, size_t i);

void ski_on_lock(skua_msg *msg);

#endif
