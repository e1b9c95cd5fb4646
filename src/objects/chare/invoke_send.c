/* SPDX-License-Identifier: Apache-2.0 */
/* invoke_send.c - see invoke_send.h. */
#include "objects/chare/invoke_send.h"

#include "base/copy.h"
#include "core/message/message.h"

/* Fills the header of a message to an element whose index is @p key. */
static inline void invoke_set_key(struct ski_pe *self, const skua_ref *ref, uint64_t key,
                                  skua_entry entry, skua_msg *msg)
{
    msg->handler = (uint16_t)entry.id;
    msg->flags   = SKI_MSG_OBJECT;
    msg->source  = self->pe;
    msg->target  = ski_target(ref->of.id, ref->index.bytes);
    memset(msg->index, 0, sizeof msg->index);
    memcpy(msg->index, &key, sizeof key);
}

/* Sends a message of any size to an element of PE @p pe, which is another. */
static __attribute__((noinline)) void invoke_send_any(const skua_ref *ref, skua_entry entry,
                                                      const void *data, size_t bytes, uint64_t key,
                                                      int pe)
{
    struct ski_pe *self = ski_self;
    skua_msg      *msg  = ski_msg_copy(self, entry.id, data, bytes);

    invoke_set_key(self, ref, key, entry, msg);
    ski_msg_send_away(self, pe, entry.id, msg);
}

/* Sends as invoke_send_any() does to a PE of this host; in a cell, if the data fit one. */
void ski_invoke_send_near(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes,
                          uint64_t key, int pe)
{
    struct {
        uint64_t target, index;
        char     data[SKI_CELL_DATA - 16];
    } cell;

    if (bytes <= sizeof cell.data) {
        cell.target = ski_target(ref->of.id, ref->index.bytes);
        cell.index  = key;
        ski_copy_small(cell.data, data, bytes);
        if (ski_msg_try_small(ski_self, pe, entry.id, SKI_MSG_OBJECT, &cell, 16 + bytes))
            return;
    }
    invoke_send_any(ref, entry, data, bytes, key, pe);
}

/* Sends as invoke_send_any() does to a PE that is most likely on another host.  There is no call
 * but the last, so that no register need be saved. */
void ski_invoke_send_remote(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes,
                            uint64_t key, int pe)
{
    struct ski_pe       *self     = ski_self;
    struct ski_magazine *magazine = &self->pool.magazine[SKI_INVOKE_SMALL_CLASS(bytes)];
    skua_msg            *msg;

    __asm__("" : "+r"(magazine)); /* keep one address: the compiler would compute it twice */
    if (SKI_UNLIKELY(bytes > SKI_INVOKE_COPY_SMALL || magazine->count == 0 ||
                     ski_job_index(self->job, pe) >= 0)) {
        invoke_send_any(ref, entry, data, bytes, key, pe);
        return;
    }
    msg = ski_msg_init(ski_magazine_take(magazine, SKUA_MSG_HEADER + bytes), bytes);
    invoke_set_key(self, ref, key, entry, msg);
    ski_copy_small(msg + 1, data, bytes);
    ski_msg_send_remote(self, pe, entry.id, msg);
}
