/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_data.h - the data of a buffer in one packet.
 *
 *      | the target buffer | flags | data |
 *
 * Where the driver supports it, large data are sent from the program's memory and received directly
 * into the target buffer, whose description the target PE has made, as its tag proves.  Nothing is
 * registered, and no other packet is needed before or after.  The source is free when the driver
 * has read it; its completion is then performed by a message of the PE to itself, since no code of
 * the program runs within the driver.
 */
#ifndef SKI_BUFFER_DATA_H
#define SKI_BUFFER_DATA_H

#include "core/net/net.h"
#include "onesided/buffer/buffer_check.h"

/* The header of a packet with data. */
struct ski_buffer_data {
    skua_buffer to;
    uint64_t    placed; /* 1: the data are in the target buffer; then none follow */
};

#define SKI_BUFFER_DATA_MIN sizeof(struct ski_buffer_data)

/** Sends @p bytes of @p from, a buffer of @p self, into @p to without a copy.  Returns false,
 * without any effect, if that is not possible now. */
bool ski_buffer_data_send_zcopy(struct ski_pe *self, const skua_buffer *from, const skua_buffer *to,
                                size_t bytes);

/** Sends @p msg, whose header is @p header bytes and which has room for a struct ski_zcopy_send
 * after them, and @p bytes of @p from, a buffer of @p self, to @p pe without a copy.  The
 * completion of @p from is performed by a message when the driver has read it.  Returns false,
 * without any effect, if that is not possible now. */
bool ski_buffer_send_zcopy(struct ski_pe *self, int pe, skua_msg *msg, size_t header,
                           const skua_buffer *from, size_t bytes);

/** Sends the message of a PE to itself which performs the completion of @p from: it has been read.
 */
void ski_buffer_post_sent(struct ski_pe *self, const skua_buffer *from);

/** Sends @p bytes of @p from, a buffer of @p self, into @p to: without a copy if that is faster and
 * possible, else copied into a message. */
void ski_buffer_data_send(struct ski_pe *self, const skua_buffer *from, const skua_buffer *to,
                          size_t bytes);

/** Handles a packet with data, or the rest of one whose data are in the target buffer. */
void ski_on_buffer_data(skua_msg *msg);

/** Handles the message of a PE to itself that reports that the driver has read a source. */
void ski_on_buffer_sent(skua_msg *msg);

/** How packets with data are delivered in place. */
extern const struct ski_placement ski_buffer_placement;

#endif
