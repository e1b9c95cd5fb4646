/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_io_thread.h - a thread that makes one call at a time, beside one of the PE.
 *
 * The kernel copies what a PE sends or receives on the CPU of the caller, which bounds the
 * bandwidth of a connection.  Where CPUs are idle, a port has an *I/O thread* on one of them: while
 * the PE sends or receives on one rail of a peer, its I/O thread does on another (tcp_rail.c).  A
 * call begins and ends within one call of the driver, so memory, queues and connections belong to
 * the PE as ever, and the I/O thread sees none of them but the bytes of its call.  A call is a
 * system call or a function of the runtime, which copies or combines data that the thread then
 * sends, or has received: they are in the cache of its CPU.
 *
 * No call blocks.  The thread polls for the next one for a while and then sleeps.  A call that it
 * has not begun when the PE needs the result, because it was asleep or has no CPU, is withdrawn:
 * the PE continues without it.  Where threads outnumber the CPUs after all, the PE loses its CPU
 * often; then the thread does more harm than good, and ski_io_is_crowded() says so.
 */
#ifndef SKI_TCP_IO_THREAD_H
#define SKI_TCP_IO_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#define SKI_IO_PARTS_MAX 48 /* parts of a call, at most */

struct ski_io_thread;

/** Starts a thread on one of @p count CPUs.  Returns NULL, with errno set, if that fails. */
struct ski_io_thread *ski_io_thread_start(const int *cpu, int count);

/** Ends a thread that has no call; NULL is allowed. */
void ski_io_thread_stop(struct ski_io_thread *io);

/** Begins to send from @p parts, SKI_IO_PARTS_MAX at most. */
void ski_io_begin_send(struct ski_io_thread *io, int fd, const struct iovec *part, size_t parts);

/** Begins to receive at most @p bytes at @p to. */
void ski_io_begin_recv(struct ski_io_thread *io, int fd, void *to, size_t bytes);

/** Begins to call @p fn with @p arg. */
void ski_io_begin_run(struct ski_io_thread *io, void (*fn)(void *arg), void *arg);

/** Returns whether the PE shares its CPU, so that the thread is better stopped. */
bool ski_io_is_crowded(const struct ski_io_thread *io);

/** Ends the call that was begun.  Returns what it returned, with errno set as it did; -1 with
 * EAGAIN if it was withdrawn.  A function of ski_io_begin_run() returns 0. */
ssize_t ski_io_end(struct ski_io_thread *io);

#endif
