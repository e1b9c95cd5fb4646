/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landing.h - messages to objects whose data land where the receiver wants them.
 *
 * The sender names data where they lie, in any shape (a face of a block, say), beside a small
 * head; it may use them again at once.  The receiver gets a *view*: where the data are now, and in
 * which shape.  It puts them where it wants them with skua_layout_copy(), which has nothing to do
 * if they are there already.
 *
 *     sender       skua_invoke_landing(neighbour, face, step, &head, sizeof head, &inner);
 *
 *     receiver     static void on_face(void *self, skua_msg *msg)
 *                  {
 *                      skua_layout_copy(&ghost, skua_landing_data(msg));
 *                      skua_msg_free(msg);
 *                  }
 *
 * As a rule the data travel inside of the message: they are copied into it, and out of it.
 *
 * **Learned channels.**  With the setting `learn_channels` (SKUA_LEARN_CHANNELS=1) the runtime
 * watches messages that keep going to the same entry of the same object with the same head and
 * size, while their reference number goes on by the same step.  From the third on it asks the
 * receiver *ahead* where the next one shall land, with the entry's `land` function, and the
 * sender copies its data straight there: once, not twice.  The message still takes its turn in the
 * queue.  When one comes that was not expected it travels as always; so it does if the receiver has
 * no memory for it yet, or memory that the sender does not reach: another host's, or, of another
 * process, any that is not from skua_channel_alloc() or a region.  Results are the same.
 *
 * Interface files have this as `landing` arguments.  All calls belong on a PE.
 */
#ifndef SKUA_LANDING_H
#define SKUA_LANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/channel.h>
#include <skua/object.h>

SKUA_BEGIN_DECLS

/**
 * Where the data of the message with this head and reference shall land, which may not have been
 * sent yet; false: not known, or the memory is still in use.  True is a promise: the object lets
 * the memory alone until the entry has had that message, or skua_landing_withdraw().  It must
 * depend on nothing but the object and what it is given, and change nothing.
 */
typedef bool (*skua_land_fn)(void *self, int64_t reference, const void *head, skua_layout *to);

/** An entry for such messages.  @p land NULL: nothing is expected, all travel as always.  Of the
 *  flags SKUA_ENTRY_EXPEDITED and those that create elements. */
SKUA_API skua_entry skua_landing_register(skua_class of, const char *name, skua_entry_fn fn,
                                          skua_land_fn land, unsigned flags);

/** Send.  The head need be aligned for 8 bytes, no more.  Messages with the same head that are on
 * their way to an object at once must differ in their reference. */
SKUA_API void skua_invoke_landing(skua_ref ref, skua_entry entry, int64_t reference,
                                  const void *head, size_t bytes, const skua_layout *from);

/* ---- the receiver --------------------------------------------------------------------------- */

SKUA_API int64_t     skua_landing_reference(const skua_msg *msg);
SKUA_API const void *skua_landing_head(const skua_msg *msg, size_t *bytes);

/** Where the data are; as long as the message is not freed. */
SKUA_API const skua_layout *skua_landing_data(skua_msg *msg);

/** Take back what `land` has promised for an object: nothing more lands there.  (Messages that it
 *  has had, and keeps, may still show their data there.)  Happens by itself when it moves or is
 *  deleted; not to be called by `land`. */
SKUA_API void skua_landing_withdraw(void *self);

/** How many messages have landed on this PE without travelling inside of a message. */
SKUA_API uint64_t skua_landing_count(void);

/** Zero the bytes of *@p object that belong to none of its members: heads are compared byte by
 *  byte.  Where the compiler has nothing for it, nothing happens, and a head that has a struct
 *  with such bytes is taken for another each time. */
#ifdef __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define SKUA_CLEAR_PADDING(object) __builtin_clear_padding(object)
#define SKUA_CLEARS_PADDING        1
#endif
#endif
#ifndef SKUA_CLEARS_PADDING
#define SKUA_CLEAR_PADDING(object) ((void)(object))
#define SKUA_CLEARS_PADDING        0
#endif

/* ---- what skuac's output stands on ----------------------------------------------------------- */

/** The head of what arrived, of @p head bytes; ends the job if it is another. */
SKUA_API const void *skua_found_head(const void *data, size_t bytes, size_t head,
                                     int64_t *reference, const char *entry);

/** The data: @p count items of @p each bytes. */
SKUA_API const skua_layout *skua_found_landing(const void *data, size_t bytes, long long count,
                                               size_t each, const char *entry);

/** Whether what is sent has so many bytes; ends the job if not. */
SKUA_API void skua_check_landing(const skua_layout *from, long long count, size_t each,
                                 const char *entry, const char *parameter);

SKUA_END_DECLS

#endif
