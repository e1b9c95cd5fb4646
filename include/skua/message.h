/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - messages and the handlers that they run.
 *
 * A message is memory with one owner. Sending transfers the ownership: within a host only the
 * address is passed, at any size, and nothing is copied. The handler that receives a message owns
 * it and either frees it, sends it on, or keeps it.
 *
 * Order. Messages from one PE to another PE at one priority are delivered in the order in which
 * they were sent. Messages of different senders or priorities are not ordered.
 *
 * All functions are called on a PE: in start, handlers, user threads and callbacks. Sending to a PE
 * that does not exist, or to a handler that was not registered, ends the job with an error.
 */
#ifndef SKUA_MESSAGE_H
#define SKUA_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** A message: a header and data, in memory that has one owner. The address is the handle;
 *  skua_msg_data() returns that of the data. */
typedef struct skua_msg skua_msg;

/** A handler: runs on the PE that a message was sent to and owns @p msg. */
typedef void (*skua_handler_fn)(skua_msg *msg);

/** A registered handler. A zeroed value, as in a static variable, is not a handler. */
typedef struct {
    uint32_t id;
} skua_handler;

/** Largest size of the data that skua_send_copy() sends inside a queue cell: one cache line moves
 *  and nothing is allocated. */
#define SKUA_INLINE_MAX 48

/** Size of the header of a message, before its data: one cache line. */
#define SKUA_MSG_HEADER 64

/** Registers a handler for the life of the program, before skua_main(). Every process registers the
 *  same names in the same order; otherwise the job ends at start with an error that names the
 *  handler. @p name must stay valid for the life of the program. Returns the handler, to which
 *  every PE may send. */
SKUA_API skua_handler skua_handler_register(const char *name, skua_handler_fn fn);

/** Allocates a message with @p bytes of uninitialised data. Never returns NULL: when the arena is
 *  full the job ends with an error that says what to do. */
SKUA_API skua_msg *skua_msg_alloc(size_t bytes);

/** Allocates a message as skua_msg_alloc() does, for callers that can continue without it. Sets
 *  *msg on SKUA_OK. Returns SKUA_ERR_NOMEM, logged with the setting to raise, when the arena is
 *  full. */
SKUA_API skua_status skua_msg_try_alloc(size_t bytes, skua_msg **msg);

/** Allocates a message as skua_msg_alloc() does, with space for a priority of up to @p bits
 *  bits. */
SKUA_API skua_msg *skua_msg_alloc_bits(size_t bytes, size_t bits);

/** Frees a message. Any PE that owns it may call this, no matter which PE allocated it. The setting
 *  checked_messages detects messages that are freed or sent twice, or used afterwards. */
SKUA_API void skua_msg_free(skua_msg *msg);

/** Returns the data of a message, aligned to 64 bytes. */
static inline void *skua_msg_data(skua_msg *msg)
{
    return (char *)msg + SKUA_MSG_HEADER;
}

/** Returns the size of a message's data, as allocated or sent. */
SKUA_API size_t skua_msg_size(const skua_msg *msg);

/** Returns the PE that sent a message last. */
SKUA_API int skua_msg_source(const skua_msg *msg);

/** Sets the priority of a message. Among the messages that wait on a PE, the one with the smallest
 *  priority runs next; the default is 0. A priority is an integer or a bit string, compared as the
 *  binary fraction 0.b1b2b3... (an integer is the string of its 32 bits with the sign bit inverted,
 *  so 0 is 0.1). A message keeps its priority when it is sent on. */
SKUA_API void skua_msg_set_priority(skua_msg *msg, int32_t priority);

/** Sets the priority of a message to a bit string: @p words hold the bits, most significant first.
 *  Returns SKUA_ERR_INVAL if there are more bits than were given to skua_msg_alloc_bits(). */
SKUA_API skua_status skua_msg_set_priority_bits(skua_msg *msg, const uint32_t *words, size_t bits);

/** Marks a message as expedited or not. An expedited message bypasses the queue. A message keeps
 *  the mark when it is sent on. */
SKUA_API void skua_msg_set_expedited(skua_msg *msg, bool expedited);

/** Sends @p msg to @p handler on @p pe, which may be the caller's, and transfers its ownership.
 *  Returns immediately, unless memory is short: then it waits for a receiver that is behind (the
 *  setting `backpressure`). A user thread yields meanwhile; for any other caller nothing else runs
 *  on the PE. */
SKUA_API void skua_send(int pe, skua_handler handler, skua_msg *msg);

/** Sends a copy of @p bytes at @p data to @p handler on @p pe. The caller may reuse the data when
 *  the call returns. */
SKUA_API void skua_send_copy(int pe, skua_handler handler, const void *data, size_t bytes);

/** Sends a copy of @p bytes at @p data to @p handler on @p pe with an integer priority. The caller
 *  may reuse the data when the call returns. */
SKUA_API void skua_send_copy_prio(int pe, skua_handler handler, const void *data, size_t bytes,
                                  int32_t priority);

/** Puts @p msg into the caller's own queue for @p handler and transfers its ownership: skua_send()
 *  to the calling PE. */
SKUA_API void skua_enqueue(skua_handler handler, skua_msg *msg);

SKUA_END_DECLS

#endif
