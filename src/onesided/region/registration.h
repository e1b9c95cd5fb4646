/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration.h - the registrations of a PE's buffers: found again, and few.
 *
 * Memory is registered as a region (skua_region_register()).  A registration is held by buffers
 * and by transfers.  When nobody holds it any more it is kept, for the next buffer at the same
 * place, and given up when there are too many: the one that was used longest ago first.
 *
 * Memory of the arena is registered in whole units, so that all blocks in one have the same
 * registration.
 *
 * A region is no more than a name for an address, as long as no driver has pinned the pages
 * behind it.  Where the driver does one-sided operations (ski_rma_wanted()) pages may be pinned,
 * and a registration that outlives the memory would lead to pages that are not the program's any
 * more: there nothing is kept that nobody holds.
 */
#ifndef SKI_REGISTRATION_H
#define SKI_REGISTRATION_H

#include <skua/buffer.h>

struct ski_pe;
struct ski_origin;
struct ski_registrations;

/** Hold a registration of memory of @p self: where it is, and the bytes of the region around it.
 *  SKUA_ERR_NOMEM, logged. */
skua_status_t ski_registration_hold(struct ski_pe *self, const void *at, size_t bytes,
                                    skua_gaddr *where, uint64_t *room);

/** Let go of what was held for the same memory. */
void ski_registration_release(struct ski_pe *self, const void *at, size_t bytes);

/** Whether the driver may pin what is registered. */
bool ski_registration_pins(void);

void ski_registrations_end(struct ski_origin *origin);

#endif
