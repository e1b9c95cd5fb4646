/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_driver.h - operations that the driver performs, between hosts.
 *
 * The data move from and into the memory of the program without a copy, and the target takes part
 * only as far as its network needs that.  This pays for large blocks; small ones are faster by
 * active message.  A put is complete when a flush after it is.
 *
 * Nothing may be sent from within the driver, which is where it reports that a part is complete. So
 * an operation ends by a message of the PE to itself.
 */
#ifndef SKI_RMA_DRIVER_H
#define SKI_RMA_DRIVER_H

#include "onesided/rma/rma_op.h"

/** Returns whether @p op, whose target is on another host, is faster by the driver. */
bool ski_rma_driver_pays(const struct ski_rma_op *op);

/** Performs a put or get, as ski_am_transfer() does.  SKUA_ERR_UNSUPPORTED: it must go by active
 *  message. */
skua_status ski_rma_driver_transfer(const struct ski_rma_op *op, const struct ski_resolved *target,
                                    const skua_rma_params *params, bool blocking);

/** Starts an atomic and never waits, as ski_am_start(); SKUA_ERR_UNSUPPORTED: it must go by active
 *  message. */
skua_status ski_rma_driver_start_atomic(const struct ski_rma_op   *op,
                                        const struct ski_resolved *target,
                                        const skua_rma_params *params, void *old);

/** Performs an atomic, and what @p params, which may be NULL, request after it, and waits for it.
 *  SKUA_ERR_UNSUPPORTED: it must go by active message. */
skua_status ski_rma_driver_atomic(const struct ski_rma_op *op, const struct ski_resolved *target,
                                  const skua_rma_params *params, uint64_t *old);

/** Handles the message by which an operation of the driver ends. */
void ski_on_rma(skua_msg *msg);

#endif
