/* SPDX-License-Identifier: Apache-2.0 */
/* sync_pe.h - the state of the notifications and barriers of a PE. */
#ifndef SKI_SYNC_PE_H
#define SKI_SYNC_PE_H

#include "onesided/pe/onesided_pe.h"

/* The state of the notifications and barriers of a PE. */
struct ski_sync_pe {
    struct ski_notify_watch *watched;  /* counters that are waited for (notify.c)     */
    uint64_t                 barriers; /* barriers entered by this PE, ever (barrier.c) */
};

/** Returns the state of @p self in this sub-folder. */
static inline struct ski_sync_pe *ski_sync_pe(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->sync;
}

#endif
