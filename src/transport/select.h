/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - which driver carries packets between hosts.
 *
 * Drivers are modules (base/module.h).  With SKUA_DRIVER=auto the first that can start is
 * taken, of tcp, ucx, ofi and mpi; where there is an adapter that moves data by itself, of ucx,
 * ofi, tcp and mpi.
 */
#ifndef SKI_SELECT_H
#define SKI_SELECT_H

#include "transport/driver.h"

#define SKI_CANDIDATES 5

extern const char *const ski_driver_names[SKI_CANDIDATES];

/** What drivers say to people (struct ski_net): SKI_WHY_MOST bytes of the calling thread. */
char *ski_driver_why(void);

/** Load one, by name; NULL, and why not. */
const struct ski_driver *ski_driver_load(const char *name, char *reason, size_t size);

/** The driver that does what net->security asks for: @p driver, which has been started, or one over
 *  it (seal.h). */
const struct ski_driver *ski_driver_secured(const struct ski_driver *driver, struct ski_net *net);

/** Start the best driver for @p net, or the one that the settings name; NULL, logged. */
const struct ski_driver *ski_driver_select(struct ski_net *net);

#endif
