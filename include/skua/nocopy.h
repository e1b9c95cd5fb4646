/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy.h - messages with zero-copy (nocopy) arguments.
 *
 * The sender makes a message with data of its own, the *head*, and *nocopy arguments*: memory that
 * it does not change until a completion reports that it may be reused. Small arguments
 * are copied into the message; large ones are described in it (buffer.h).
 *
 * @code
 *     skua_nocopy_argument part = {x, bytes, skua_done_count(&free_again), 0};
 *     skua_msg            *msg  = skua_nocopy_alloc(pe, sizeof head, &part, 1);
 *
 *     memcpy(skua_msg_data(msg), &head, sizeof head);
 *     skua_send(pe, handler, msg); // or skua_invoke(ref, entry, msg)
 * @endcode
 *
 * The receiver begins with skua_nocopy_ready() and ends with skua_nocopy_free():
 *
 * @code
 *     static void on_block(skua_msg *msg)
 *     {
 *         if (!skua_nocopy_ready(msg, NULL))
 *             return; // it is delivered again when all arguments are here
 *         use(skua_msg_data(msg), skua_nocopy_data(msg, 0));
 *         skua_nocopy_free(msg);
 *     }
 * @endcode
 *
 * An argument that the receiver can access by load and store (in the same process, or in the arena
 * of the host, such as memory of skua_buffer_alloc()) is used in place; the sender's completion
 * happens when the receiver frees the message. Other arguments are fetched into memory of the
 * runtime or, with a `post` function, into memory that the receiver names; the sender's completion
 * then happens when the data have arrived.
 *
 * Later messages may overtake a message whose arguments are being fetched from another host. All
 * functions are called on a PE. Interface files provide this as `nocopy` and `nocopypost`.
 */
#ifndef SKUA_NOCOPY_H
#define SKUA_NOCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/buffer.h>
#include <skua/object.h>
#include <skua/section.h>

SKUA_BEGIN_DECLS

/** A nocopy argument of a message, as the sender describes it. It is a plain value: it has no
 *  `size` member and will not grow. */
typedef struct {
    const void     *at;
    size_t          bytes;
    skua_completion done; /* the memory may be reused; the result is its skua_buffer */
    uint64_t        user; /* passed on in that buffer */
} skua_nocopy_argument;

/** In place of a PE: the message will be sent to all PEs. */
#define SKUA_ALL_PES (-1)

/** Allocates a message to @p pe (for an object: skua_location()) with @p bytes of uninitialised
 *  head and @p n arguments. The completion of an argument that is copied into the message happens
 *  within the call, or after the message was sent to another host. */
SKUA_API skua_msg *skua_nocopy_alloc(int pe, size_t bytes, const skua_nocopy_argument *part,
                                     unsigned n);

/** Sends @p msg, made for SKUA_ALL_PES, to @p handler on all PEs, and consumes it. An argument is
 *  transferred to each host once, and all receivers of the host read the same memory; it may be
 *  reused when all receivers have freed the message. */
SKUA_API void skua_nocopy_broadcast(skua_handler handler, skua_msg *msg);

/** Sends @p msg, made for SKUA_ALL_PES, to @p entry of all objects of a collection, and consumes
 *  it. Arguments are transferred as by skua_nocopy_broadcast(). */
SKUA_API void skua_nocopy_invoke_all(skua_collection all, skua_entry entry, skua_msg *msg);

/** Sends @p msg, made for SKUA_ALL_PES, to @p entry of all members of a section, and consumes it.
 *  An argument is transferred once along each branch of the section's tree that leads to another
 *  host. */
SKUA_API void skua_nocopy_invoke_section(skua_section section, skua_entry entry, skua_msg *msg);

/** Returns a message with all arguments of @p msg copied into it, for functions that take plain
 *  data. Consumes @p msg. */
SKUA_API skua_msg *skua_nocopy_copied(skua_msg *msg);

/* ---- receiving ---------------------------------------------------------------------------- */

/** Names the destinations of arguments: sets to[i] for each argument that it has memory for; the
 *  others stay NULL. It may use the head and skua_nocopy_bytes(). */
typedef void (*skua_nocopy_post_fn)(void *self, skua_msg *msg, void **to);

/** Returns true if all arguments of a message that a handler received are accessible. Otherwise the
 *  runtime fetches them and delivers the message to the handler again. @p post, which gets NULL for
 *  the object, may name the destinations; NULL: none. */
SKUA_API bool skua_nocopy_ready(skua_msg *msg, skua_nocopy_post_fn post);

/** Returns true if all arguments of a message that @p entry of the object @p self received are
 *  accessible. Otherwise the runtime fetches them and delivers the message again, to the object
 *  wherever it is then. @p post may name the destinations; NULL: none. */
SKUA_API bool skua_nocopy_ready_entry(skua_msg *msg, void *self, skua_entry entry,
                                      skua_nocopy_post_fn post);

/** Returns the number of arguments of a message. */
SKUA_API unsigned skua_nocopy_count(const skua_msg *msg);

/** Returns the size of the head of a message with nocopy arguments. */
SKUA_API size_t skua_nocopy_head_bytes(const skua_msg *msg);

/** Returns the size of argument @p i of a message. */
SKUA_API size_t skua_nocopy_bytes(const skua_msg *msg, unsigned i);

/** Returns the data of argument @p i, after skua_nocopy_ready() returned true. */
SKUA_API const void *skua_nocopy_data(skua_msg *msg, unsigned i);

/** Frees a message with nocopy arguments. The completions of arguments that were used in place
 *  happen. */
SKUA_API void skua_nocopy_free(skua_msg *msg);

SKUA_END_DECLS

#endif
