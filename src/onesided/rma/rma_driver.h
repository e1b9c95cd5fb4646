/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_driver.h - operations that the driver does, between hosts.
 *
 * The data moves from and into the memory of the user, without a copy of ours, and the
 * target takes part only as far as its network needs it.  It pays for large pieces; small
 * ones are faster by request.  A put is over when a flush behind it is.
 *
 * The end is not told from within the driver, where nothing may be sent: whoever waits is
 * woken, and everything else travels in a message of the PE to itself.
 */
#ifndef SKI_RMA_DRIVER_H
#define SKI_RMA_DRIVER_H

#include "onesided/rma/transfer.h"

/** Whether the driver is to do one-sided operations at all: the setting, and its means. */
struct ski_driver;
bool ski_rma_wanted(const struct ski_driver *driver);

/** Whether the driver should do it; the place is far. */
bool ski_rma_pays(const struct ski_transfer *t);

/** Put or get.  As ski_request_transfer(); SKUA_ERR_UNSUPPORTED: it must go by request. */
skua_status_t ski_rma_transfer(const struct ski_transfer *t, const struct ski_place *place,
                               const skua_ends *ends, bool blocking);

/** An atomic, waited for; SKUA_ERR_UNSUPPORTED likewise. */
skua_status_t ski_rma_atomic(const struct ski_transfer *t, const struct ski_place *place,
                             uint64_t *old);

void ski_on_rma(skua_msg *msg);

#endif
