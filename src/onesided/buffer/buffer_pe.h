/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_pe.h - the state of the buffers of a PE. */
#ifndef SKI_BUFFER_PE_H
#define SKI_BUFFER_PE_H

#include "core/data/slot_table.h"
#include "onesided/pe/onesided_pe.h"

/* The state of the buffers of a PE. */
struct ski_buffer_pe {
    struct ski_buffer_put *put_first; /* puts that wait for room (buffer.c)        */
    uint32_t               puts;      /* and that are in flight                    */
    struct ski_slots       once;      /* what completions name (buffer_share.h)    */
};

/** Returns the state of @p self in this sub-folder. */
static inline struct ski_buffer_pe *ski_buffer_pe(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->buffer;
}

#endif
