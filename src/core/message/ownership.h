/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership.h - checked messages: who owns a message, and who gave it away.
 *
 * With the setting checked_messages the record of a block (base/pool.h) follows a message:
 *
 *     HELD     by the handler, entry or program that may use, send or free it
 *     SENT     in a queue, or on its way: nobody's
 *     FREED    given back; a later message may be the same memory
 *
 * A call that is given a message which is not HELD ends the job with a line that names the
 * call, the handler, and the call, the PE and the place in the code that gave it away.  A
 * message that was delivered to another PE is not the sender's any more, though HELD.
 *
 * What a message holds is summed up when it is sent and when it is delivered: a sender that
 * writes to it in between is found.
 *
 * Without the setting none of this is looked at: a PE then has `sendable` equal to
 * `handlers`, the pool has room in its magazines, and the table of handlers leads to them.
 */
#ifndef SKI_OWNERSHIP_H
#define SKI_OWNERSHIP_H

#include <skua/message.h>

#include "core/pe/pe.h"

/* Calls that give a message away, as records have them. */
enum ski_giver {
    SKI_GIVER_RUNTIME,
    SKI_GIVER_SEND,
    SKI_GIVER_ENQUEUE,
    SKI_GIVER_BROADCAST,
    SKI_GIVER_INVOKE,
    SKI_GIVER_FREE,
    SKI_GIVER_WHEN, /* the end of a `when` of an interface file */
};

/** Whether the messages of this PE are checked. */
static inline bool ski_ownership_checked(const struct ski_pe *self)
{
    return SKI_UNLIKELY(self->sendable == 0);
}

/** Let the pool and the sends of a new PE check ownership. */
void ski_ownership_begin(struct ski_pe *self);

/** Let the table of handlers check each message that is delivered; before it is used. */
void ski_ownership_wrap(skua_handler_fn *handlers, uint32_t count);

/** The code at @p where, by the call @p giver, sends @p msg to @p handler.  @p watch: its
 *  data do not change until it is delivered. */
void ski_ownership_send(struct ski_pe *self, enum ski_giver giver, skua_msg *msg, uint32_t handler,
                        const void *where, bool watch);

/** The code at @p where, by the call @p giver, frees @p msg. */
void ski_ownership_free(struct ski_pe *self, enum ski_giver giver, skua_msg *msg,
                        const void *where);

/** The call named @p call uses @p msg, which it must own. */
void ski_ownership_use(struct ski_pe *self, const char *call, skua_msg *msg);

#endif
