/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - the format of messages between hosts, and its checks.
 *
 * A packet is the message as it is in memory (core/data/msg.h): header, data, room for priority
 * words, tail.  Its `link`, a pointer that is meaningless on another host, holds the stamp:
 *
 *      token       proves that the sender knows the secret of the job
 *      sequence    number of the packet among the sender's to this PE; drivers may reorder packets
 *
 * Only messages to objects use the second half of the header.  Others leave it out if they are
 * copied on arrival anyway.  That is the short form of a packet:
 *
 *      | first half of the header (32) | data, room for priority words, tail |
 *
 * The length of a packet determines its form, since the header says how much follows it.
 *
 * Both hosts have the same byte order and layout: they run the same program, which is compared
 * before the first packet is sent (address_exchange.c).
 */
#ifndef SKI_PACKET_H
#define SKI_PACKET_H

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "boot/job.h"
#include "core/pe/handler.h"
#include "core/data/msg.h"

/* Bytes of the first half of the header. */
#define SKI_PACKET_HALF offsetof(struct skua_msg, target)

/** Returns how many bytes of the header the short form of @p msg leaves out; 0: it has none. */
static inline size_t ski_packet_left_out(const struct skua_msg *msg)
{
    return msg->flags & SKI_MSG_OBJECT ? 0 : sizeof *msg - SKI_PACKET_HALF;
}

/** Returns the bytes of a packet in its shortest form. */
static inline size_t ski_packet_least(const struct skua_msg *msg)
{
    return ski_msg_extent(msg) - ski_packet_left_out(msg);
}

/** Makes the shortest form of @p msg in its own memory.  Returns where it begins, within the first
 *  64 bytes.  The message stays valid. */
static inline void *ski_packet_shorten(struct skua_msg *msg)
{
    size_t out = ski_packet_left_out(msg);

    ski_assert(out < sizeof *msg);
    return out ? memcpy((char *)msg + out, msg, SKI_PACKET_HALF) : msg;
}

/** Returns the message that ski_packet_shorten() was given, which is at a multiple of 64 bytes. */
static inline void *ski_packet_message(void *packet)
{
    return (char *)packet - (uintptr_t)packet % sizeof(struct skua_msg);
}

/** Returns whether a packet of @p bytes, with the first half of its header at @p msg, has its short
 *  form. */
static inline bool ski_packet_is_short(const struct skua_msg *msg, size_t bytes)
{
    return ski_packet_left_out(msg) && ski_packet_least(msg) == bytes;
}

/** Returns whether a packet of @p bytes, as nearly all, has the short form, no priority, and one of
 * @p handlers of the program: then only its sender remains to be checked. */
static inline bool ski_packet_is_plain(const struct skua_msg *half, size_t bytes, uint32_t handlers)
{
    return half->bytes == bytes - SKI_PACKET_HALF && !half->flags && !half->bit_room &&
           !half->bit_words && half->handler >= SKI_HANDLERS && half->handler < handlers;
}

/** Returns whether a packet of @p bytes, with the first half of its header at @p half, is for an
 *  object and as plain as one of ski_packet_is_plain(): it has no priority, no tail, and one of
 *  @p handlers of the program.  The index of the object may still be too long. */
static inline bool ski_packet_is_plain_object(const struct skua_msg *half, size_t bytes,
                                              uint32_t handlers)
{
    return half->flags == SKI_MSG_OBJECT && bytes >= sizeof *half &&
           half->bytes == bytes - sizeof *half && !half->bit_room && !half->bit_words &&
           half->handler >= SKI_HANDLERS && half->handler < handlers;
}

/** Returns how many bytes of the header a packet of @p bytes has, at any address: all, or the first
 *  half; 0: the packet is too short. */
size_t ski_packet_head_bytes(const void *packet, size_t bytes);

/** Returns the token of packets from PE @p source to PE @p target. */
uint32_t ski_packet_token(const uint64_t secret[2], int source, int target);

/** Returns what is wrong with a packet of @p bytes at @p msg, in full form, for a PE of @p job with
 *  handlers below @p handlers; NULL: nothing.  The token is not checked.  Nothing beyond @p bytes
 * is read. */
const char *ski_packet_error(const struct ski_job *job, uint32_t handlers,
                             const struct skua_msg *msg, size_t bytes);

#endif
