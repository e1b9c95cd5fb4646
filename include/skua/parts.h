/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - messages with large parts that stay where they are until the receiver has them.
 *
 * The sender makes a message with data of its own, the *head*, and *parts*: memory that it keeps
 * and leaves alone until it is told that a part is free again.  Small parts are copied into the
 * message, large ones are described in it (buffer.h).
 *
 *     skua_part part = {x, bytes, skua_done_count(&free_again), 0};
 *     skua_msg *msg  = skua_parts_alloc(pe, sizeof head, &part, 1);
 *     memcpy(skua_msg_data(msg), &head, sizeof head);
 *     skua_send(pe, handler, msg);                or skua_invoke(ref, entry, msg)
 *
 * The receiver begins with skua_parts_here(), and ends with skua_parts_free():
 *
 *     static void on_block(skua_msg *msg)
 *     {
 *         if (!skua_parts_here(msg, NULL, SKUA_NO_ENTRY, NULL))
 *             return;                             it comes again when all is there
 *         use(skua_msg_data(msg), skua_part_data(msg, 0));
 *         skua_parts_free(msg);
 *     }
 *
 * A part that the receiver reaches by load and store (of the same process; of the arena of the
 * host, as what skua_buffer_alloc() gives) is used in place, and its sender is told when the
 * receiver is through with it.  Others are brought into memory of the runtime's.  Or, with a
 * `post` function, into memory that the receiver names: then the sender is told when it is there.
 *
 * A message whose parts come from another host may be passed by later ones meanwhile.
 * All calls belong on a PE.  Interface files have this as `nocopy` and `nocopypost`.
 */
#ifndef SKUA_PARTS_H
#define SKUA_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/buffer.h>
#include <skua/flow.h>
#include <skua/object.h>
#include <skua/section.h>

SKUA_BEGIN_DECLS

/** A part as its sender gives it. */
typedef struct {
    const void     *at;
    size_t          bytes;
    skua_completion done; /* it may be used again; gets a skua_buffer that describes it */
    uint64_t        user; /* in that buffer                                             */
} skua_part;

/** In the place of a PE: the message will be sent to all. */
#define SKUA_ALL_PES (-1)

/** In the place of an entry, in a handler. */
#define SKUA_NO_ENTRY ((skua_entry){UINT32_MAX})

/** A message for @p pe (skua_where() of an object) with @p bytes of its own, undefined at first,
 *  and @p n parts.  What was copied is told to be free at once. */
SKUA_API skua_msg *skua_parts_alloc(int pe, size_t bytes, const skua_part *part, unsigned n);

/** Give it, made for SKUA_ALL_PES, to @p handler on all PEs; to all members of a group, elements
 *  of an array, or members of a section.  A part goes to each host once (in a section: to each
 *  branch of its tree that leads to another host), where all read the same memory; it is free when
 *  all are through.  The message is used up. */
SKUA_API void skua_parts_broadcast(skua_handler handler, skua_msg *msg);
SKUA_API void skua_parts_invoke_all(skua_collection all, skua_entry entry, skua_msg *msg);
SKUA_API void skua_parts_invoke_section(skua_section section, skua_entry entry, skua_msg *msg);

/** The same message with all parts copied into it: for what else takes data.  It is used up. */
SKUA_API skua_msg *skua_parts_copied(skua_msg *msg);

/* ---- the receiver ------------------------------------------------------------------------- */

/** Where parts shall land: sets to[i] of those it has memory for, the others are NULL.  It has the
 *  head to find out, and skua_part_bytes(). */
typedef void (*skua_post_fn)(void *self, skua_msg *msg, void **to);

/** Whether all parts are here; if not they are fetched, and the message comes again: to the
 *  handler (@p self NULL), or to @p entry of the object, wherever it is then. */
SKUA_API bool skua_parts_here(skua_msg *msg, void *self, skua_entry entry, skua_post_fn post);

SKUA_API unsigned skua_parts_count(const skua_msg *msg);
SKUA_API size_t   skua_parts_head_bytes(const skua_msg *msg);
SKUA_API size_t   skua_part_bytes(const skua_msg *msg, unsigned i);

/** A part that is here. */
SKUA_API const void *skua_part_data(skua_msg *msg, unsigned i);

/** The parts are not needed any more: who waits for them is told, and the message is freed. */
SKUA_API void skua_parts_free(skua_msg *msg);

/* ---- what skuac's output stands on --------------------------------------------------------- */

/** The part at *end of what arrived, which grows: @p count items of @p each bytes. */
SKUA_API const void *skua_found_part(const void *data, size_t bytes, size_t *end, long long count,
                                     size_t each, const char *entry);

/** *end grows by what follows the last part. */
SKUA_API void skua_found_parts_end(const void *data, size_t bytes, size_t *end, const char *entry);

/** skua_flow_drop() of a message with parts. */
static inline void skua_parts_drop(skua_arrival *arrival)
{
    if (arrival->msg) {
        skua_parts_free(arrival->msg);
        arrival->msg = NULL;
    }
}

SKUA_END_DECLS

#endif
