/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cma.h - the memory of another process, through the system.
 *
 * Cross-memory attach copies between address spaces; the other process takes no
 * part.  It is not atomic, so accumulates and atomics read, compute and write
 * back under the lock of the stripe (accumulate.h), which the owner takes as well.
 */
#ifndef SKI_CMA_H
#define SKI_CMA_H

#include "onesided/region/region.h"
#include "onesided/rma/datatype.h"
#include "onesided/rma/accumulate.h"

/** Put, get or accumulate.  SKUA_ERR_UNSUPPORTED: the system does not let us, and
 *  nothing has happened.  SKUA_ERR_SYSTEM, logged for @p call: the owner has no
 *  such memory. */
skua_status_t ski_attach_put(const char *call, const struct ski_place *place,
                             const struct ski_shape *shape);
skua_status_t ski_attach_get(const char *call, const struct ski_place *place,
                             const struct ski_shape *shape);
skua_status_t ski_attach_update(const char *call, const struct ski_place *place,
                                const struct ski_shape *shape, ski_update_fn fn, size_t element,
                                const void *scale);

/** A piece of memory of process @p pid. */
skua_status_t ski_attach_read(const char *call, int pid, void *to, const char *from, size_t bytes);
skua_status_t ski_attach_write(const char *call, int pid, char *to, const void *from, size_t bytes);

#endif
