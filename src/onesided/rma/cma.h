/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cma.h - cross-memory attach: the memory of another process of the host, by the system.
 *
 * The system copies between address spaces; the other process takes no part.  It is not atomic, so
 * accumulates and atomics read, compute and write back under the lock of the stripe (accumulate.h),
 * which the owner acquires as well.
 */
#ifndef SKI_CMA_H
#define SKI_CMA_H

#include "onesided/region/resolve.h"
#include "onesided/rma/accumulate.h"
#include "onesided/rma/datatype.h"

/** Puts.  SKUA_ERR_UNSUPPORTED: the system does not allow it, and nothing has happened.
 *  SKUA_ERR_SYSTEM, logged for @p call: one of both has no such memory, and errno is EFAULT, or the
 *  owner has ended. */
skua_status ski_cma_put(const char *call, const struct ski_resolved *target,
                        const struct ski_datatype *datatype);

/** Gets.  Returns as ski_cma_put(). */
skua_status ski_cma_get(const char *call, const struct ski_resolved *target,
                        const struct ski_datatype *datatype);

/** Accumulates.  Returns as ski_cma_put(). */
skua_status ski_cma_accumulate(const char *call, const struct ski_resolved *target,
                               const struct ski_datatype *datatype, ski_accumulate_fn fn,
                               size_t element, const void *scale);

/** Reads memory of process @p pid.  Returns as ski_cma_put(). */
skua_status ski_cma_read(const char *call, int pid, void *to, const char *from, size_t bytes);

/** Writes memory of process @p pid.  Returns as ski_cma_put(). */
skua_status ski_cma_write(const char *call, int pid, char *to, const void *from, size_t bytes);

#endif
