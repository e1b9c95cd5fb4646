/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - a message between hosts.
 *
 * A packet is the message as it lies in memory (message.h): header, data, room for
 * priority words, tail.  Its `link`, which means nothing elsewhere, holds the stamp:
 *
 *      token       proves that the sender knows the secret of the job
 *      sequence    the sender's packets to this PE, counted; drivers may mix them up
 *
 * The second half of the header means nothing but in messages to objects.  Others leave it
 * out where they are copied on arrival anyway, which is then the short form of a packet:
 *
 *      | first half of the header (32) | data, room for priority words, tail |
 *
 * Which form it is shows in its length, as the header says how much follows it.
 *
 * Both hosts have the same byte order and layout: they run the same program, which
 * is compared before the first packet is sent (net_send.c).
 */
#ifndef SKI_PACKET_H
#define SKI_PACKET_H

#include <stddef.h>
#include <string.h>

#include "boot/job.h"
#include "core/pe/handler.h"
#include "core/data/msg.h"

#define SKI_PACKET_HALF offsetof(struct skua_msg, target)

/** Whether a message has a short form, and how many bytes of the header that leaves out. */
static inline size_t ski_packet_left_out(const struct skua_msg *msg)
{
    return msg->flags & SKI_MSG_OBJECT ? 0 : sizeof *msg - SKI_PACKET_HALF;
}

/** The bytes of a packet in its shortest form. */
static inline size_t ski_packet_least(const struct skua_msg *msg)
{
    return ski_msg_extent(msg) - ski_packet_left_out(msg);
}

/** Makes the shortest form of @p msg in its own memory, within the same 64 bytes; where it
 *  begins.  The message stays what it is. */
static inline void *ski_packet_shorten(struct skua_msg *msg)
{
    size_t out = ski_packet_left_out(msg);
    return out ? memcpy((char *)msg + out, msg, SKI_PACKET_HALF) : msg;
}

/** The message that ski_packet_shorten() was given, which lies at a multiple of 64 bytes. */
static inline void *ski_packet_message(void *packet)
{
    return (char *)packet - (uintptr_t)packet % sizeof(struct skua_msg);
}

/** Whether a packet of @p bytes, of which the first half of the header is at @p msg, is in its
 *  short form. */
static inline bool ski_packet_is_short(const struct skua_msg *msg, size_t bytes)
{
    return ski_packet_left_out(msg) && ski_packet_least(msg) == bytes;
}

/** The same of a message to a handler of the program, without priority, which nearly all are: then
 *  nothing but its sender can be wrong, if there are @p handlers. */
static inline bool ski_packet_is_plain(const struct skua_msg *half, size_t bytes, uint32_t handlers)
{
    return half->bytes == bytes - SKI_PACKET_HALF && !half->flags && !half->bit_room &&
           !half->bit_words && half->handler >= SKI_HANDLERS && half->handler < handlers;
}

/** How many bytes of the header a packet of @p bytes has, at any address: all, or its first
 *  half; 0: it is too short for that. */
size_t ski_packet_head_bytes(const void *packet, size_t bytes);

/** The token of packets from @p source to @p target. */
uint32_t ski_packet_token(const uint64_t secret[2], int source, int target);

/** Whether @p bytes at @p msg are a packet that PE @p target of @p job may take, with
 *  handlers below @p handlers: NULL, or what is wrong with it.  The token is not looked
 *  at.  Nothing beyond @p bytes is read. */
const char *ski_packet_wrong(const struct ski_job *job, uint32_t handlers,
                             const struct skua_msg *msg, size_t bytes);

#endif
