/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ckdirect.h - the interface of the CkDirect paper (Bohm, Chakravorty, Jetley, Kale: "CkDirect:
 * Unsynchronized One-Sided Communication in a Message-Driven Paradigm", 2009), over channels.
 *
 *      receiver                                        sender
 *      handle = CkDirect_createHandle(to, size, oob, fn, data)
 *      ... sends `handle` in a message ...             CkDirect_assocLocal(&handle, from, size)
 *                                                      CkDirect_put(&handle)
 *      fn(data)
 *      CkDirect_ready(&handle), or
 *      CkDirect_ReadyMark(&handle), CkDirect_ReadyPollQ(&handle)
 *
 * The out-of-band pattern is accepted and ignored: any value may be sent, buffers may have any
 * size, and only data are written to them. Waiting for data costs nothing, so there is no need to
 * split ready in two; programs that do so work unchanged.
 *
 * CkDirect has no local completion: the sender's buffer may change when the program's own
 * synchronisation implies that the receiver has the data. Between hosts a put may still be reading
 * the buffer when it returns; skua_channel_put_wait(handle.sender) waits until it has finished.
 */
#ifndef SKUA_COMPAT_CKDIRECT_H
#define SKUA_COMPAT_CKDIRECT_H

#include <skua/channel.h>
#include <skua/pe.h>

SKUA_BEGIN_DECLS

/** One end of a channel. The receiver's handle may be sent to the sender. */
typedef struct {
    skua_channel channel;
    skua_sender *sender; /* at the sender, after CkDirect_assocLocal() */
} CkDirect_handle;

/** The callback of a channel, called on the receiver's PE after data have arrived. */
typedef void (*CkDirect_callback)(void *data);

/** Creates a channel into @p size bytes at @p buffer of the calling PE. */
static inline CkDirect_handle CkDirect_createHandle(void *buffer, size_t size, double out_of_band,
                                                    CkDirect_callback fn, void *data)
{
    skua_layout     to     = skua_layout_contiguous(buffer, size);
    CkDirect_handle handle = {{0, 0, 0}, NULL};

    (void)out_of_band;
    if (skua_channel_create(&to, fn, data, "CkDirect", &handle.channel) != SKUA_OK)
        skua_abort("CkDirect_createHandle: a channel of %zu bytes cannot be made", size);
    return handle;
}

/** Associates a handle with the buffer that its puts send from. A buffer may be associated with any
 *  number of handles. */
static inline void CkDirect_assocLocal(CkDirect_handle *handle, const void *buffer, size_t size)
{
    skua_layout from = skua_layout_contiguous(buffer, size);

    handle->sender = skua_channel_open(handle->channel, &from);
    if (!handle->sender)
        skua_abort("CkDirect_assocLocal: %zu bytes cannot be sent there", size);
}

/** Sends the contents of the associated buffer, which must not change until the receiver has the
 *  data or skua_channel_put_wait() of the sender returns. */
static inline void CkDirect_put(const CkDirect_handle *handle)
{
    skua_channel_put(handle->sender);
}

/** Declares that the receiver has finished with the data and waits for the next put. */
static inline void CkDirect_ready(const CkDirect_handle *handle)
{
    skua_channel_ready(handle->channel);
}

/** Declares that the receiver has finished with the data: the first half of CkDirect_ready(). */
static inline void CkDirect_ReadyMark(const CkDirect_handle *handle)
{
    skua_channel_mark(handle->channel);
}

/** Waits for the next put: the second half of CkDirect_ready(). */
static inline void CkDirect_ReadyPollQ(const CkDirect_handle *handle)
{
    skua_channel_poll(handle->channel);
}

SKUA_END_DECLS

#endif
