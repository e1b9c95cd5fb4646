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

/** Performs a put.  Returns SKUA_ERR_UNSUPPORTED if the system does not allow it; then nothing has
 *  been written.  Returns SKUA_ERR_SYSTEM, logged for @p call, if one of the two processes has no
 *  such memory (errno is EFAULT), or the owner has ended. */
skua_status ski_cma_put(const char *call, const struct ski_resolved *target,
                        const struct ski_datatype *datatype);

/** Performs a get.  Returns as ski_cma_put() does. */
skua_status ski_cma_get(const char *call, const struct ski_resolved *target,
                        const struct ski_datatype *datatype);

/** Performs an accumulate.  Returns as ski_cma_put() does. */
skua_status ski_cma_accumulate(const char *call, const struct ski_resolved *target,
                               const struct ski_datatype *datatype, ski_accumulate_fn fn,
                               size_t element, const void *scale);

/** Reads memory of process @p pid.  Returns as ski_cma_put() does. */
skua_status ski_cma_read(const char *call, int pid, void *to, const char *from, size_t bytes);

/** Returns whether the system lets this process access the memory at @p at of process @p pid.  Logs
 *  nothing. */
bool ski_cma_reaches(int pid, const char *at);

/** Writes memory of process @p pid, if that is possible; else logs nothing and returns false. */
bool ski_cma_try_write(int pid, char *to, const void *from, size_t bytes);

/** Writes memory of process @p pid.  Returns as ski_cma_put() does. */
skua_status ski_cma_write(const char *call, int pid, char *to, const void *from, size_t bytes);

#endif
