/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - a driver over another one, whose packets it seals: what the setting security=auth or
 * encrypt is with drivers that stand on libraries (driver.h, seals).
 *
 * The runtime sees a driver that sends packets and nothing else: one-sided operations become
 * requests, and packets go in one part.  A sealed packet is
 *
 *      | source (4) | 0 (4) | number (8) | tag (16) | packet, encrypted or not |
 *
 * The keys belong to the two PEs and the direction; as a job has one port for each PE, its secret
 * is its own, and packets are numbered, no nonce is used twice.  Each number is taken once: so a
 * packet that was changed is no packet, and one that was repeated is none.
 *
 * A packet that is not genuine is dropped and told of: a stranger may have sent it, whom the
 * library below let in.  If it was a peer's that somebody changed, the peer's numbers keep a gap: a
 * peer whose gap is still there after peer_timeout is lost.
 */
#ifndef SKI_SEAL_H
#define SKI_SEAL_H

#include "transport/driver.h"

/** The driver that seals the packets of @p driver, which has been started for @p net.  There is one
 *  in a process. */
const struct ski_driver *ski_seal_over(const struct ski_driver *driver, struct ski_net *net);

#endif
