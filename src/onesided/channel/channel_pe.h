/* SPDX-License-Identifier: Apache-2.0 */
/* channel_pe.h - the state of the channels and senders of a PE. */
#ifndef SKI_CHANNEL_PE_H
#define SKI_CHANNEL_PE_H

#include <skua/channel.h>

#include "onesided/pe/onesided_pe.h"

/* A doorbell that a PE rings itself. */
struct ski_doorbell {
    uint64_t               key;
    struct ski_zcopy_desc *zcopy; /* or NULL: the data are in the receiver's buffer */
};

/* Doorbells of its own that a PE has not answered: a ring of a power of two that grows. */
struct ski_doorbell_queue {
    struct ski_doorbell *at;
    uint32_t             room, first, end; /* first and end run freely */
    uint32_t             turn;             /* answered so far          */
};

#define SKI_CHANNEL_VERIFIED 64 /* records of channels that a PE remembers to be authentic */

struct ski_channel_pe {
    struct ski_doorbell_queue doorbells;
    struct ski_channel       *first, *free;
    uint32_t                  generation; /* the least of new records: ski_channel_pe_restarted() */
    skua_sender              *senders; /* of this PE, in checked mode                           */
    struct ski_channel_due   *due;     /* completions to be performed (channel_local.c)  */
    struct ski_channel       *verified[SKI_CHANNEL_VERIFIED]; /* by position (channel_packet.c) */
};

/** Returns the state of @p self in this sub-folder. */
static inline struct ski_channel_pe *ski_channel_pe(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->channel;
}

/** Makes the keys of @p self, after @p restarts of its job, differ from those of the former jobs: a
 *  key in the restored state of a program never names a new channel. */
void ski_channel_pe_restarted(struct ski_pe *self, uint32_t restarts);

/** Returns what an error says in addition about a channel that does not exist. */
const char *ski_channel_former_hint(const struct ski_pe *self);

#endif
