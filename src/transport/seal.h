/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - a driver that authenticates and encrypts the packets of another driver, for
 * security=auth and encrypt with drivers that do not implement these themselves (`seals` in
 * driver.h).
 *
 * It sends whole packets and nothing else: the runtime sends requests for one-sided operations.  A
 * sealed packet is
 *
 *      | source (4) | 0 (4) | number (8) | tag (16) | packet, encrypted or not |
 *
 * Keys are derived for a pair of PEs and a direction.  No nonce is used twice, since each job has
 * its own secret, each PE has one port, and packets are numbered.  Each number is accepted once, so
 * a packet that was changed or repeated is rejected.
 *
 * A packet that is not authentic is dropped with a warning: an unauthenticated connection that the
 * library below accepted may have sent it.  If it was a packet of a peer that was changed on the
 * way, its number stays missing: a peer whose number is still missing after peer_timeout is lost.
 */
#ifndef SKI_SEAL_H
#define SKI_SEAL_H

#include "transport/driver.h"

/** Returns the driver that seals the packets of @p driver, which has been started for @p net.  A
 *  process has at most one. */
const struct ski_driver *ski_seal_over(const struct ski_driver *driver, struct ski_net *net);

#endif
