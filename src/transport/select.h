/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - the selection of the driver that carries packets between hosts.
 *
 * Drivers are modules (base/module.h).  With SKUA_DRIVER=auto the first one that starts is used, in
 * the order tcp, ucx, ofi, mpi; on a host with an RDMA adapter in the order ucx, ofi, tcp, mpi.
 */
#ifndef SKI_SELECT_H
#define SKI_SELECT_H

#include "transport/driver.h"

#define SKI_CANDIDATES 5

/** The names of all drivers, in the order of preference without an adapter. */
extern const char *const ski_driver_names[SKI_CANDIDATES];

/** Returns the error text of the calling thread, of SKI_REASON_MAX bytes (last_error() of struct
 *  ski_net). */
char *ski_driver_last_error(void);

/** Loads a driver by name.  Returns NULL, with @p reason written, if that fails. */
const struct ski_driver *ski_driver_load(const char *name, char *reason, size_t size);

/** Returns the variant of @p driver, which has been started, that implements net->share, if there
 * is one, and net->security: if it does not seal its packets itself, above it (seal.h). */
const struct ski_driver *ski_driver_variant(const struct ski_driver *driver, struct ski_net *net);

/** Starts the best driver for @p net, or the one that the settings name.  Returns NULL, logged, if
 *  none starts. */
const struct ski_driver *ski_driver_select(struct ski_net *net);

#endif
