/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - messages to and from PEs of other hosts.
 *
 * A job that is spread over several arenas has a driver (transport/driver.h), and
 * each PE a port of its own.  A message goes out as it lies in memory and comes in
 * as a block of the receiver's pool: neither side copies a large one.
 *
 * A PE keeps something of those it talks to, and of nobody else: the connection,
 * which is made with the first message, the number of the next packet, and what
 * waits for room in the network.  Drivers may deliver packets in any order; here
 * they are put back into that of sending, so that messages between two PEs are
 * FIFO as they are inside a host.
 *
 * Small packets that follow each other closely wait a little, to go as one (coalesce.h), if the
 * PE is trusted to come back soon (docs/decisions/0021-bundles.md).
 *
 * What arrives is checked before it is believed (packet.h): what is wrong is
 * counted, logged, at first, and dropped.
 */
#ifndef SKI_NET_H
#define SKI_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/status.h>

#include "base/arch.h"

struct ski_boot;
struct ski_pe;
struct ski_net_port;
struct ski_peer;
struct ski_driver;
struct skua_msg;

/* Who is told of the end of a one-sided operation of the driver: its cookie. */
struct ski_far_done {
    void (*fn)(struct ski_far_done *done, skua_status_t status);
};

/* Bytes of a packet's data that are enough to decide where the rest of it belongs. */
#define SKI_PLACE_DATA 192

/* In-place delivery: how the data of one handler's packets gets straight to where it belongs.
 * @p head is the header of a packet whose turn it is, and that has been checked; @p data, not
 * aligned, is its data, or the first SKI_PLACE_DATA bytes of it. */
struct ski_placement {
    /** Returns how many bytes at the end of the data are to be received at *@p to; 0: the packet is
     *  received as any other.  NULL: always 0. */
    size_t (*place)(struct ski_pe *self, const struct skua_msg *head, const char *data, void **to);
    /** Returns the message that is left to be run when those bytes have arrived; NULL: none.  They
     *  have not all arrived unless @p whole: the packet may come again. */
    struct skua_msg *(*placed)(struct ski_pe *self, const struct skua_msg *head, const char *data,
                               bool whole);
    /** Copies the data of a packet that is all there.  Returns the message that is left to be run,
     *  or NULL: the packet is received as any other.  NULL: place(), a copy and placed(). */
    struct skua_msg *(*take)(struct ski_pe *self, const struct skua_msg *head, const char *data);
};

/** Delivers packets for @p handler, one of the runtime's own, in place.  Before PEs begin. */
void ski_net_set_placement(uint32_t handler, const struct ski_placement *placement);

/* A peer cannot be reached any more. */
typedef void ski_net_lost_fn(struct ski_pe *self, int pe, const char *why);

/** Lets @p lost decide what the loss of a peer means.  Before PEs begin. */
void ski_net_set_lost(ski_net_lost_fn *lost);

/** Choose a driver and open a port for each PE of this process, hidden ones too; tell
 *  the others their addresses.  Nothing happens in a job that is not spread.  A failure
 *  has been logged. */
skua_status_t ski_far_open(const struct ski_boot *boot);

/** All PEs of this process have left. */
void ski_far_close(void);

/** The driver of a spread job, or NULL. */
const struct ski_driver *ski_far_driver(void);

/** Why a call of it just failed: as it says, or else what the status means. */
const char *ski_far_reason(skua_status_t status);

/** The bytes of the packets that suit it, in a spread job. */
size_t ski_far_packet(void);

/** Begin and end with a PE, which then has its port, if there is one. */
void ski_far_begin(struct ski_pe *self);
void ski_far_end(struct ski_pe *self);

/** Sends @p msg, which becomes the network's, to a PE of another host.  Returns whether packets to
 *  that PE wait for room, in a call that may wait for it (message/backpressure.h). */
bool ski_far_send(struct ski_pe *self, int pe, struct skua_msg *msg);

/** Tries to send packets that wait for @p pe; returns whether some still lack room.  *@p moved
 *  grows with each that leaves. */
bool ski_far_waits(struct ski_pe *self, int pe, uint64_t *moved);

/** Lets @p all, which sends acknowledgements that the layer above keeps, be called when it is time
 *  (deferred_ack.h).  Only where the PE has a port. */
void ski_net_defer_ack(struct ski_pe *self, void (*all)(struct ski_pe *self));

/** The same for a message of which the last @p bytes of data are at @p rest and not in it.
 *  done->fn says when both are free again, perhaps before this returns.  False: that cannot be
 *  done now, and nothing has happened.  Only where the driver has send_split(). */
bool ski_far_send_split(struct ski_pe *self, int pe, struct skua_msg *msg, const void *rest,
                        size_t bytes, struct ski_far_done *done);

/** Move things on; true if there was anything. */
bool ski_far_progress(struct ski_pe *self);

/** Returns whether the caller runs inside of ski_far_progress(). */
bool ski_far_progressing(const struct ski_pe *self);

/** In a pass, which moves things on if @p progress; and the scheduler returns to its caller.
 *  What waits to be sent with others may have waited enough. */
void ski_far_pass(struct ski_pe *self, bool progress);
void ski_far_leave(struct ski_pe *self);

/** The driver was given something that it will tell the end of by done(). */
void ski_far_hold(struct ski_pe *self);
void ski_far_release(struct ski_pe *self); /* or it did not take it */

/** Returns whether something may be sent without a message that leads to it: the driver will
 *  complete an operation, or acknowledgements wait. */
bool ski_net_will_send(const struct ski_pe *self);

/** Whether everything that was sent has left, and nothing is in the driver's hands. */
bool ski_far_quiet(const struct ski_pe *self);

/** Sleep until a packet or something in the inbox arrives, @p ns are over, or for no
 *  reason. */
void ski_far_sleep(struct ski_pe *self, uint64_t ns);

/** Count what another PE sent and makes no sense, and say it while there has been little of it. */
__attribute__((format(printf, 2, 3))) SKI_COLD void ski_far_wrong(struct ski_pe *self,
                                                                  const char    *format, ...);

/** Drop @p msg, whose sender should not have sent it, and count and say that. */
SKI_COLD void ski_far_drop(struct ski_pe *self, struct skua_msg *msg);

/** The driver's peer for a PE, connected if need be; NULL: it is lost. */
struct ski_peer *ski_far_peer(struct ski_pe *self, int pe);

#endif
