/* SPDX-License-Identifier: Apache-2.0 */
/* region_pe.h - the state of the regions of a PE: votes, remote keys, its registrations. */
#ifndef SKI_REGION_PE_H
#define SKI_REGION_PE_H

#include "onesided/pe/onesided_pe.h"

#define SKI_RKEY_BUCKETS 64

/* The state of the regions of a PE. */
struct ski_region_pe {
    struct ski_vote_state    *votes;         /* votes that are not over (symmetric_vote.c) */
    struct ski_vote_counter  *vote_counters; /* rounds there have been, by members       */
    struct ski_rkey          *rkey[SKI_RKEY_BUCKETS]; /* of other hosts, by a hash (rkey_cache.c) */
    uint32_t                  rkeys;         /* their number                               */
    uint32_t                  rkeys_held;    /* calls that wait and then use one           */
    struct ski_registrations *registrations; /* of buffers (registration.c)              */
};

/** Returns the state of @p self in this sub-folder. */
static inline struct ski_region_pe *ski_region_pe(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->region;
}

#endif
