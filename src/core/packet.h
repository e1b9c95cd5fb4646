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
 * Both hosts have the same byte order and layout: they run the same program, which
 * is compared before the first packet is sent (far.c).
 */
#ifndef SKI_PACKET_H
#define SKI_PACKET_H

#include "boot/job.h"
#include "core/message.h"

/** The token of packets from @p source to @p target. */
uint32_t ski_packet_token(const uint64_t secret[2], int source, int target);

/** Whether @p bytes at @p msg are a packet that PE @p target of @p job may take, with
 *  handlers below @p handlers: NULL, or what is wrong with it.  The token is not looked
 *  at.  Nothing beyond @p bytes is read. */
const char *ski_packet_wrong(const struct ski_job *job, uint32_t handlers,
                             const struct skua_msg *msg, size_t bytes);

#endif
