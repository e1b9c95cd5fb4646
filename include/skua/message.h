/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - messages, and the handlers they run.
 *
 * A message is memory with one owner.  Sending gives it away: inside a host
 * its address travels, at any size, and nothing is copied.  The handler that
 * receives it owns it and ends that by freeing it, sending it on, or keeping
 * it for later.
 *
 * Order.  Messages from one PE to one other PE at one priority are delivered
 * in the order in which they were sent.  Nothing is promised between messages
 * of different senders or priorities.
 *
 * All calls belong on a PE: in start, handlers, user threads and callbacks.
 * Sending to a PE that does not exist, or with a handler that was never
 * registered, ends the job with a line that says so.
 */
#ifndef SKUA_MESSAGE_H
#define SKUA_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

typedef struct skua_msg skua_msg;

/** What runs on the PE that a message was sent to.  It owns @p msg. */
typedef void (*skua_handler_fn)(skua_msg *msg);

/** A registered handler.  Zero, as a static variable is at first, never is one. */
typedef struct {
    uint32_t id;
} skua_handler;

/** Messages up to this size travel inside their queue cell when they are sent
 *  with skua_send_copy(): one cache line moves, nothing is allocated. */
#define SKUA_INLINE_MAX 48

/** Bytes of a message before its data: one cache line. */
#define SKUA_MSG_HEADER 64

/**
 * Register a handler, before skua_main().  Every process registers the same
 * names in the same order; a job whose processes differ ends at start with a
 * line that names the handler.  @p name must live as long as the program.
 */
SKUA_API skua_handler skua_register(const char *name, skua_handler_fn fn);

/** A message with room for @p bytes of data, undefined at first.  Never NULL:
 *  when the arena is full the job ends with a line that says what to do. */
SKUA_API skua_msg *skua_msg_alloc(size_t bytes);

/** The same for those who can go on without: *msg is set on SKUA_OK, and
 *  SKUA_ERR_NOMEM (logged, with the setting to raise) leaves it alone. */
SKUA_API skua_status_t skua_msg_try_alloc(size_t bytes, skua_msg **msg);

/** As skua_msg_alloc(), with room for a priority of up to @p bits bits. */
SKUA_API skua_msg *skua_msg_alloc_bits(size_t bytes, size_t bits);

/** Give a message back.  Any PE may, whoever allocated it.  A message that is freed or sent
 *  twice, or used after that, is found with the setting checked_messages. */
SKUA_API void skua_msg_free(skua_msg *msg);

/** Free a message at the end of the `when` that it came to: for what skuac writes. */
SKUA_API void skua_msg_free_when(skua_msg *msg);

/** Its data: 64-byte aligned. */
static inline void *skua_msg_data(skua_msg *msg)
{
    return (char *)msg + SKUA_MSG_HEADER;
}

/** Bytes of its data, as allocated or sent. */
SKUA_API size_t skua_msg_size(const skua_msg *msg);

/** The PE that sent it. */
SKUA_API int skua_msg_source(const skua_msg *msg);

/**
 * Priorities.  Among the messages waiting on a PE the one with the smallest
 * priority runs next; 0 is what a message has at first.  A priority is an
 * integer or a bit string, compared as the binary fraction 0.b1b2b3... (an
 * integer is the string of its 32 bits, sign bit inverted, so 0 is 0.1).  An
 * expedited message passes the queue.  A message keeps these when sent on.
 */
SKUA_API void skua_msg_set_priority(skua_msg *msg, int32_t priority);

/** @p words hold the bits, most significant first; no more than were given to
 *  skua_msg_alloc_bits(), else SKUA_ERR_INVAL. */
SKUA_API skua_status_t skua_msg_set_priority_bits(skua_msg *msg, const uint32_t *words,
                                                  size_t bits);

SKUA_API void skua_msg_set_expedited(skua_msg *msg, bool expedited);

/** Give @p msg to @p handler on @p pe, which may be the caller's.  Returns at once,
 *  but while memory is short waits for a receiver that runs behind (the setting
 *  `backpressure`): a user thread yields then, any other caller runs nothing. */
SKUA_API void skua_send(int pe, skua_handler handler, skua_msg *msg);

/** Send a copy of @p bytes at @p data, which the caller may reuse at once. */
SKUA_API void skua_send_copy(int pe, skua_handler handler, const void *data, size_t bytes);

/** The same, with an integer priority. */
SKUA_API void skua_send_copy_prio(int pe, skua_handler handler, const void *data, size_t bytes,
                                  int32_t priority);

/** Put @p msg into the caller's own queue: skua_send() to oneself. */
SKUA_API void skua_enqueue(skua_handler handler, skua_msg *msg);

SKUA_END_DECLS

#endif
