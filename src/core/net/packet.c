/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c - see packet.h. */
#include "core/net/packet.h"

#include "base/siphash.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"

/* ---- tokens -------------------------------------------------------------------- */

uint32_t ski_packet_token(const uint64_t secret[2], int source, int target)
{
    const uint64_t word   = (uint64_t)(uint32_t)source << 32 | (uint32_t)target;
    uint64_t       hashed = ski_siphash(secret, &word, 1);

    return (uint32_t)(hashed ^ hashed >> 32);
}

/* ---- forms ---------------------------------------------------------------------- */

size_t ski_packet_head_bytes(const void *packet, size_t bytes)
{
    struct skua_msg half;

    if (SKI_UNLIKELY(bytes < SKI_PACKET_HALF))
        return 0;
    memcpy(&half, packet, SKI_PACKET_HALF);
    if (SKI_LIKELY(ski_packet_is_short(&half, bytes)))
        return SKI_PACKET_HALF;
    return bytes < sizeof half ? 0 : sizeof half;
}

/* ---- checks --------------------------------------------------------------------- */

/* Returns whether a message for a handler of the runtime names an object if it must, and only if it
 * may. */
static bool packet_addressed_right(uint32_t handler, unsigned flags)
{
    unsigned handles = ski_builtin[handler].flags;

    return handles & SKI_HANDLES_EITHER ||
           !(flags & SKI_MSG_OBJECT) == !(handles & SKI_HANDLES_OBJECT);
}

/* Returns whether a message has a tail: broadcasts do, and messages to objects with long indices.
 */
static bool packet_has_tail(const struct skua_msg *msg)
{
    if (msg->flags & SKI_MSG_OBJECT)
        return ski_target_long(msg->target);
    return msg->handler == SKI_HANDLER_BROADCAST;
}

const char *ski_packet_error(const struct ski_job *job, uint32_t handlers,
                             const struct skua_msg *msg, size_t bytes)
{
    const unsigned known = SKI_MSG_SPECIAL | SKI_MSG_TAIL | SKI_MSG_OBJECT;

    if (bytes < sizeof *msg)
        return "it is too short";
    if (msg->bytes > bytes - sizeof *msg)
        return "its data is longer than the packet";
    if (msg->flags & ~known)
        return "it has unknown flags";
    if (!(msg->flags & SKI_MSG_TAIL) != !packet_has_tail(msg))
        return "it has a tail and should not, or has none and should";
    if (msg->bit_words > msg->bit_room || ski_msg_extent(msg) != bytes)
        return "the lengths of its parts do not add up";
    if (msg->flags & SKI_MSG_OBJECT &&
        ski_target_bytes(msg->target) > SKI_MSG_INDEX_BYTES + SKI_MSG_TAIL_BYTES)
        return "the index of its object is too long";
    if (msg->handler >= handlers)
        return "its handler was never registered";
    if (msg->handler < SKI_HANDLERS && msg->bytes < ski_builtin[msg->handler].least)
        return "it is too short for its handler, or no such packet exists";
    if (msg->handler < SKI_HANDLERS && !packet_addressed_right(msg->handler, msg->flags))
        return "it names an object and should not, or names none and should";
    if (msg->source < 0 || msg->source >= ski_job_all(job))
        return "its sender is not a PE of the job";
    if (ski_job_index(job, msg->source) >= 0)
        return "its sender is on this host";
    return NULL;
}
