/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration.h - registered memory: the one place where memory of the program becomes a region.
 *
 * A registration is a region over memory that exists already.  It has two kinds of users: the
 * program, by skua_region_create_from() and skua_region_destroy(), and buffers and their transfers,
 * which acquire and release it.  Two users of the same memory on the same PE share it.
 *
 * A registration that only buffers used is kept when the last one releases it, for the next buffer
 * at the same address.  These form the registration cache: when it holds more than the setting
 * `registration_cache`, the least recently used registration is evicted.  The program may have
 * freed the memory of a cached registration, so its region refuses operations until a buffer uses
 * it again.
 *
 * A region covers exactly the memory of its buffer, so that an operation of another PE reaches no
 * other block.  Where a driver may pin memory, blocks of the arena are registered in whole units
 * instead, which all blocks of a unit share: pinning is expensive, and a network device checks
 * whole pages anyway.
 *
 * Unless a driver pins its pages, a region is only a name for an address.  Where the driver
 * performs one-sided operations, pages may be pinned, and a cached registration could outlive the
 * memory and refer to pages that no longer belong to the program.  There only memory of the arena
 * is cached, whose pages stay until the job ends, and at most half of what the process may lock
 * (RLIMIT_MEMLOCK).
 */
#ifndef SKI_REGISTRATION_H
#define SKI_REGISTRATION_H

#include <skua/buffer.h>

#include "onesided/region/region_table.h"

/** Registers @p bytes at @p memory for the program; *fresh says whether the region is new.
 *  SKUA_ERR_NOMEM, logged. */
skua_status ski_registration_add(void *memory, size_t bytes, skua_region *region, bool *fresh);

/** Undoes one ski_registration_add() of @p region, which is removed with its last user.
 *  SKUA_ERR_BUSY: operations on it are in flight; SKUA_ERR_REGION: the program has not registered
 *  it.  Then nothing has changed. */
skua_status ski_registration_remove(struct ski_region *region);

/** Acquires a registration of memory of @p self for a buffer: *where is its global address, *room
 *  the bytes of the region around it.  SKUA_ERR_NOMEM, logged. */
skua_status ski_registration_acquire(struct ski_pe *self, const void *at, size_t bytes,
                                     skua_gaddr *where, uint64_t *room);

/** Releases what ski_registration_acquire() acquired for the same memory. */
void ski_registration_release(struct ski_pe *self, const void *at, size_t bytes);

/** Returns whether the driver may pin registered memory. */
bool ski_registration_pins(void);

/** Frees the registrations of a PE that ends; their regions go with the table. */
void ski_registrations_end(struct ski_pe *self);

#endif
