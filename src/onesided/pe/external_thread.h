/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_thread.h - calls of this layer from threads that are not PEs.
 *
 * A process has one hidden PE for all its external threads.  It is created when a thread first
 * needs it, and one thread at a time runs as it: from ski_caller_enter() to ski_caller_leave(),
 * under a lock.
 *
 * Non-blocking operations stay in flight on that PE when their call returns.  External threads
 * receive the replies in later calls, such as skua_handle_wait(), and PEs of the process before
 * they sleep.  The number of operations in flight is published whenever the lock is released, so a
 * thread that reads 0 needs no lock, and sees what the operations have written.  Messages in the
 * send backlog count as well, so PEs poll until the last completion has been sent.
 *
 * A process that leaves skua_main() waits for external threads that are inside of a call, and
 * refuses new ones.
 */
#ifndef SKI_EXTERNAL_THREAD_H
#define SKI_EXTERNAL_THREAD_H

#include "core/pe/pe.h"

struct ski_msg_counts;

/* The PE that the calling thread runs as during a call. */
struct ski_caller {
    struct ski_pe *self;
    bool           external; /* the hidden PE of external threads */
};

/** Makes the calling thread run as a PE.  Returns false, to an external thread, if the process is
 *  leaving skua_main(); then the call must return. */
bool ski_caller_enter(struct ski_caller *caller);

/** Ends what ski_caller_enter() began.  Everything that an external thread sent has been handed to
 *  an inbox or the driver when this returns; operations may be in flight. */
void ski_caller_leave(struct ski_caller *caller);

/** Releases the PE of external threads to others, between ski_caller_enter() and ski_caller_leave()
 *  of an external thread that waits.  The process does not leave skua_main() meanwhile. */
void ski_caller_pause(struct ski_caller *caller);

/** Ends what ski_caller_pause() began. */
void ski_caller_resume(struct ski_caller *caller);

/** Returns whether operations of external threads of this process may be in flight, or messages of
 *  theirs wait for room.  Returns false if what the operations have written is visible to the
 * caller, and the driver uses no memory of theirs. */
bool ski_external_outstanding(void);

/** Receives what has arrived for the PE of external threads while operations of theirs are in
 *  flight: called before a PE of the process sleeps.  Returns how long it may sleep. */
uint64_t ski_external_before_sleep(struct ski_pe *self);

/** Announces that an external thread waits in memory of the job, so that the process does not
 *  leave skua_main() before ski_external_leave().  Returns false if it is leaving already. */
bool ski_external_enter(void);

/** Ends what ski_external_enter() began. */
void ski_external_leave(void);

/** Returns the messages that the PE of external threads has sent and received
 *  (core/message/msg_counts.h).  While a thread holds the lock they are unknown: `sent` is then
 *  larger than any number of messages received, never smaller than the true number.  Any thread. */
struct ski_msg_counts ski_external_msg_counts(void);

/** Accepts external threads, in a process of @p boot; their PE has its states made by @p begin and
 *  freed by @p end. */
void ski_external_open(const struct ski_boot *boot, void (*begin)(struct ski_pe *self),
                       void (*end)(struct ski_pe *self));

/** Waits until no external thread is inside of a call, refuses new ones, and ends their PE. */
void ski_external_close(void);

/** Progresses the port of the external threads' PE, on which no thread may be left: called by the
 *  other PEs of a process while it leaves skua_main(). */
void ski_external_progress(void);

#endif
