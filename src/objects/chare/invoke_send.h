/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invoke_send.h - copies of small data for elements that are on other PEs, and whose indices are
 * keys of their directory.
 */
#ifndef SKI_INVOKE_SEND_H
#define SKI_INVOKE_SEND_H

#include "core/message/inbox_send.h"
#include "objects/chare/element_lookup.h"

/** The largest message that is allocated from a magazine (base/pool.h) of its size, which a message
 *  to an object that is here keeps the address of. */
#define SKI_INVOKE_SMALL 448

/** The largest data that are copied without a call. */
#define SKI_INVOKE_COPY_SMALL 128

/** The class of magazines of a message of @p bytes bytes of data. */
#define SKI_INVOKE_SMALL_CLASS(bytes) (((bytes) + 63) / 64)

/** Sends a message to an element of PE @p pe, which is another one of this host: in a cell, if the
 *  data fit. */
void ski_invoke_send_near(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes,
                          uint64_t key, int pe);

/** Sends a message to an element of PE @p pe, which is most likely on another host. */
void ski_invoke_send_remote(const skua_ref *ref, skua_entry entry, const void *data, size_t bytes,
                            uint64_t key, int pe);

/** Performs skua_invoke_copy_to() for an element on PE @p pe, which is not this PE: a PE of this
 * host gets a cell if that has room, any other PE a message. */
static inline void ski_invoke_send(const struct ski_pe *self, const skua_ref *ref, skua_entry entry,
                                   const void *data, size_t bytes, uint64_t key, int pe)
{
    ski_assert(pe != self->pe && !ski_element_find_key(self->objects->last, ref));
    if (ski_inbox_is_near(self, pe))
        ski_invoke_send_near(ref, entry, data, bytes, key, pe);
    else
        ski_invoke_send_remote(ref, entry, data, bytes, key, pe);
}

#endif
