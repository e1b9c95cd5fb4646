/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zcopy_send.h - zero-copy messages to other hosts.
 *
 * The driver sends a header, which is a message, and after it data of the program or of a region.
 * Neither may change until the driver has read it.  The record of what to do then is in the message
 * after the header, in place of the data.
 */
#ifndef SKI_ZCOPY_SEND_H
#define SKI_ZCOPY_SEND_H

#include "core/net/net.h"
#include "core/pe/pe.h"

/* Called within the driver when the data may change: it must not send. */
typedef void (*ski_zcopy_send_fn)(struct ski_pe *self, void *arg);

struct ski_zcopy_send {
    struct ski_net_done done; /* first */
    struct ski_pe      *self;
    struct skua_msg    *msg;
    ski_zcopy_send_fn   fn;
    void               *arg;
};

/** Returns whether the driver can send messages in this way. */
bool ski_zcopy_send_supported(void);

/** Returns whether the driver can send a message of @p bytes, with its header, in this way; all
 *  processes of a job give the same answer. */
bool ski_zcopy_send_takes(size_t bytes);

/** Returns the record of a message of ski_zcopy_send(), valid until the data may change. */
static inline struct ski_net_done *ski_zcopy_send_record(struct skua_msg *msg, size_t header)
{
    return &((struct ski_zcopy_send *)(void *)((char *)skua_msg_data(msg) + header))->done;
}

/** Sends @p msg, whose header is @p header bytes and which has room for a struct ski_zcopy_send
 * after them, and @p bytes of @p data to @p pe.  @p fn(self, arg), if not NULL, runs when the data
 * may change, perhaps before this returns.  Returns false, without any effect, if this is not
 * possible now: the caller still owns @p msg. */
bool ski_zcopy_send(struct ski_pe *self, int pe, struct skua_msg *msg, size_t header,
                    const void *data, size_t bytes, ski_zcopy_send_fn fn, void *arg);

#endif
