/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inplace.h - messages to objects with in-place delivery of their data.
 *
 * The sender names data in its own memory, in any layout (a face of a block, for example), and a
 * small head; it may reuse the memory when the call returns. The receiver gets a *view*: the
 * address and the layout of the data. It copies them to their destination with skua_layout_copy(),
 * which does nothing if they are there already.
 *
 * The sender:
 *
 * @code
 *     skua_invoke_inplace(neighbour, face, step, &head, sizeof head, &inner);
 * @endcode
 *
 * The receiver:
 *
 * @code
 *     static void on_face(void *self, skua_msg *msg)
 *     {
 *         skua_layout_copy(&ghost, skua_inplace_data(msg));
 *         skua_msg_free(msg);
 *     }
 * @endcode
 *
 * By default the data are sent inside the message: they are copied into it and out of it.
 *
 * **Learned channels.** With the setting `learned_channels` (SKUA_LEARNED_CHANNELS=1) the runtime
 * detects messages that repeat: to the same entry of the same object, with the same head and size,
 * and with a reference number that advances by a constant step. From the third such message on, it
 * gets the destination of the next one from the receiver *in advance*, through the entry's `land`
 * function, and the sender copies its data directly there: once instead of twice. The message
 * itself still goes through the queue. A message that does not fit the pattern is sent as usual. So
 * is one for which the receiver has no memory yet, or memory that the sender cannot access: that of
 * another process of the host unless it comes from skua_channel_alloc() or a region. Data of 4096
 * bytes or more from another host are received directly at the destination: the sender copies them,
 * the receiver does not. Results do not depend on the setting.
 *
 * Interface files provide this as `inplace` arguments. All functions are called on a PE.
 */
#ifndef SKUA_INPLACE_H
#define SKUA_INPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/channel.h>
#include <skua/object.h>

SKUA_BEGIN_DECLS

/** Names the destination of the data of a message. The message has the given reference number and
 *  head and may not have been sent yet. Returns false if the destination is not known yet or still
 *  in use. By returning true the object promises not to access that memory until the entry has
 *  received the message, or until skua_inplace_withdraw(). The result must depend only on the
 *  object and the arguments; the function must not change anything. */
typedef bool (*skua_inplace_fn)(void *self, int64_t reference, const void *head, skua_layout *to);

/** Registers an entry with in-place delivery. With @p land NULL all data are sent inside messages.
 *  Valid flags are SKUA_ENTRY_EXPEDITED and those that create elements. */
SKUA_API skua_entry skua_inplace_register(skua_class of, const char *name, skua_entry_fn fn,
                                          skua_inplace_fn land, unsigned flags);

/** Invokes an entry with in-place delivery of the data in @p from. The receiver finds the head
 *  aligned to 8 bytes. Heads are compared byte by byte: if they have padding, zero it. Messages
 *  with the same head that are in flight to one object must have different reference numbers. The
 *  layout may be empty; it needs no address then. */
SKUA_API void skua_invoke_inplace(skua_ref ref, skua_entry entry, int64_t reference,
                                  const void *head, size_t bytes, const skua_layout *from);

/* ---- the receiver --------------------------------------------------------------------------- */

/** Returns the reference number of a message with in-place delivery. */
SKUA_API int64_t skua_inplace_reference(const skua_msg *msg);

/** Returns the head of a message with in-place delivery; *bytes is its size. */
SKUA_API const void *skua_inplace_head(const skua_msg *msg, size_t *bytes);

/** Returns the address and layout of the data of a message. They are valid until the message is
 *  freed. */
SKUA_API const skua_layout *skua_inplace_data(skua_msg *msg);

/** Revokes all destinations that `land` has promised for an object: nothing more is delivered
 *  there. (Messages that the object has received and keeps may still have their data there.) This
 *  happens automatically when the object migrates or is destroyed. `land` must not call it. */
SKUA_API void skua_inplace_withdraw(void *self);

/** Returns the number of messages whose data were delivered in place on this PE. */
SKUA_API uint64_t skua_inplace_count(void);

SKUA_END_DECLS

#endif
