/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - messages to and from PEs of other hosts.
 *
 * A distributed job, which has several arenas, has a driver (transport/driver.h), and each PE has a
 * port of its own.  A message is sent in its format in memory and received as a block of the
 * receiver's pool: neither side copies a large one.
 *
 * A PE keeps state only for the peers that it talks to (peer.h): the connection, which is made with
 * the first message, the sequence numbers, and packets that wait for room.  Drivers may deliver
 * packets in any order; the receiver restores the order of sending, so that messages between two
 * PEs are FIFO, as inside a host.
 *
 * Small packets that follow each other closely are coalesced (coalesce.h,
 * docs/decisions/0021-bundles.md).
 *
 * No field of a packet is trusted before it is checked (packet.h).  An invalid packet is counted
 * and dropped; the first few are logged.
 */
#ifndef SKI_NET_H
#define SKI_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/status.h>

#include "base/arch.h"

struct ski_boot;
struct ski_deferred_ack_calls;
struct ski_pe;
struct ski_net_port;
struct ski_peer;
struct ski_driver;
struct skua_msg;

/* The cookie of an operation of the driver: fn() is called when the operation has ended. */
struct ski_net_done {
    void (*fn)(struct ski_net_done *done, skua_status status);
};

/* Bytes of a packet's data that are enough to decide where the rest of it belongs. */
#define SKI_PLACE_DATA 320
#define SKI_PLACE_MIN  4096 /* bytes of a packet from which on in-place delivery is tried */

/* In-place delivery: how the data of the packets for one handler are received at their destination,
 * without a copy.  @p head is the header of the next packet in order, which has been checked; @p
 * data, not aligned, is its data, or the first SKI_PLACE_DATA bytes of it. */
struct ski_placement {
    /** Returns how many bytes at the end of the data the driver receives at *@p to; 0: the packet
     *  is received like any other.  If the member is NULL, always 0. */
    size_t (*place)(struct ski_pe *self, const struct skua_msg *head, const char *data, void **to);
    /** Called when those bytes have arrived.  Returns the message to run, or &ski_net_nothing_left.
     *  If @p whole is false, some have not arrived and the packet may be sent again: returns
     *  NULL. */
    struct skua_msg *(*placed)(struct ski_pe *self, const struct skua_msg *head, const char *data,
                               bool whole);
    /** Copies the data of a packet that has arrived completely.  Returns the message to run, or
     *  &ski_net_nothing_left; NULL: the packet is received like any other.  If the member is NULL,
     *  place(), a copy and placed() replace it. */
    struct skua_msg *(*take)(struct ski_pe *self, const struct skua_msg *head, const char *data);
    /** Returns the current destination of the bytes of place(), which may have moved together with
     *  those that have arrived; NULL: it is gone, and the rest of the packet is skipped.  It may
     *  read only the first half of the header.  If the member is NULL, destinations do not move. */
    void *(*moved)(struct ski_pe *self, const struct skua_msg *head);
    /* take() is called for packets of all sizes, and may read only the first half of their
     * header. */
    bool small;
    /* The destination is memory of the program, which may free it once it knows that the job ends:
     * from then on the rest of the packet is skipped. */
    bool until_exit;
};

/* A placeholder for a message: the packet has been delivered completely, and no handler runs. */
extern struct skua_msg ski_net_nothing_left;

/** Delivers packets for @p handler, one of the runtime's own, in place.  Before PEs begin. */
void ski_net_set_placement(uint32_t handler, const struct ski_placement *placement);

/** Delivers packets for the handlers of the layers above, those of entries, in place. */
void ski_net_set_entry_placement(const struct ski_placement *placement);

/* A peer has become unreachable. */
typedef void ski_net_lost_fn(struct ski_pe *self, int pe, const char *why);

/** Sets the function that decides what the loss of a peer means.  Before PEs begin. */
void ski_net_set_lost(ski_net_lost_fn *lost);

/* ---- in a process ----------------------------------------------------------------- */

/** Chooses a driver, opens a port for each PE of this process, hidden ones too, and publishes their
 *  addresses.  Does nothing in a job on one host.  A failure has been logged. */
skua_status ski_net_open(const struct ski_boot *boot);

/** Closes the ports, after all PEs of this process have ended. */
void ski_net_close(void);

/** Returns the driver of a distributed job, or NULL. */
const struct ski_driver *ski_net_driver(void);

/** Returns why the driver's last call failed: the text of the driver, or what @p status means. */
const char *ski_net_reason(skua_status status);

/** Returns how many bytes of a packet suit the driver, in a distributed job. */
size_t ski_net_packet_bytes(void);

/** Returns whether the process of @p pe was started with I/O threads, in a distributed job.  The
 *  first call for another process fetches what that one has published, and may wait for it. */
bool ski_net_has_io_threads(int pe);

/* ---- on a PE ---------------------------------------------------------------------- */

/** Gives a PE its port, if the job is distributed: its progress source (core/pe/progress.h). */
void ski_net_begin(struct ski_pe *self);

/** Takes the port from a PE that ends: packets that still arrive are dropped. */
void ski_net_end(struct ski_pe *self);

/** Takes ownership of @p msg and sends it to a PE of another host.  Returns whether packets to that
 *  PE wait for room and the caller should wait, too (message/backpressure.h). */
bool ski_net_send(struct ski_pe *self, int pe, struct skua_msg *msg);

/** Sends @p msg, whose delay does not matter, as ski_net_send() does; in a burst of packets it is
 *  held, to be coalesced, until this PE is in the scheduler.  Meanwhile ski_net_extend() may append
 *  up to @p room bytes to it, for which its block has room. */
bool ski_net_send_open(struct ski_pe *self, int pe, struct skua_msg *msg, size_t room);

/** Appends @p bytes, a multiple of 8, to the last packet in the backlog for @p pe, if
 *  ski_net_send_open() sent it.  Returns where the caller writes them; NULL: this is not
 *  possible. */
void *ski_net_extend(struct ski_pe *self, int pe, size_t bytes);

/** Returns whether the next packet to @p pe may be sent by ski_net_send_open(): others wait in its
 * backlog, or the caller is sending a burst.  The caller calls this once for each of its
 * packets. */
bool ski_net_joins_burst(struct ski_pe *self, int pe);

/** Tries to send packets that wait for @p pe; returns whether some still lack room.  @p arg is not
 *  used (ski_backpressure_fn).  *@p moved grows with each that leaves. */
bool ski_net_waits(struct ski_pe *self, int pe, uint64_t arg, uint64_t *moved);

/** Makes the next pass of the scheduler send the packets that wait: all if @p now, otherwise those
 * of user threads, unless the PE is expected to send more soon.  Returns whether there are any. */
bool ski_net_urge(struct ski_pe *self, bool now);

/** Sends @p msg, whose last @p bytes of data are at @p rest instead of after the others.
 *  done->fn() says when both are free again, perhaps before this returns.  Returns false if that is
 * not possible now: nothing has happened.  Only if the driver has send_split(). */
bool ski_net_send_split(struct ski_pe *self, int pe, struct skua_msg *msg, const void *rest,
                        size_t bytes, struct ski_net_done *done);

/** Returns whether ski_net_split_move() is possible. */
bool ski_net_split_moves(void);

/** Copies what the packet of ski_net_send_split() with @p done, which has not been called yet,
 * still needs of @p rest to @p to, as large: @p rest may be reused.  @p done is not called from
 * here. */
void ski_net_split_move(struct ski_pe *self, int pe, struct ski_net_done *done, const void *rest,
                        void *to);

/* If @p msg is a message of the layer above that refers to data elsewhere, sends it with these data
 * to @p pe by ski_net_send_split().  Returns NULL if it has been sent, else the message to send: @p
 * msg, or a replacement of it, whose `announced` is 0.  `announced` of a message that was not
 * announced is left as it is. */
typedef struct skua_msg *ski_net_zcopy_send_fn(struct ski_pe *self, int pe, struct skua_msg *msg);

/** Sets the function that sends messages that refer to data elsewhere.  Called before PEs begin. */
void ski_net_set_zcopy_send(ski_net_zcopy_send_fn *fn);

/** Announces that ski_net_send() of @p msg to @p pe, of another host, will call the function of
 *  ski_net_set_zcopy_send(), which is also called for other messages.  Returns false, and announces
 *  nothing, if the data cannot be sent without a copy now, or cannot be received in place. */
bool ski_net_announce_zcopy(struct ski_pe *self, int pe, struct skua_msg *msg);

/** Registers an acknowledgement for @p pe, which the layer above keeps. It is sent when it is due,
 *  or carried by a packet, through @p calls (deferred_ack.h).  @p relaxed: the origin is not
 *  expected to wait for it.  Only where the PE has a port. */
void ski_net_defer_ack(struct ski_pe *self, int pe, const struct ski_deferred_ack_calls *calls,
                       bool relaxed);

/** Records that acknowledgements for @p pe have been written into a packet, which is sent to that
 *  PE next; @p more: the layer above keeps others. */
void ski_net_acks_taken(struct ski_pe *self, int pe, bool more);

/** Records that the message which runs is a reply: acknowledgements wait for the message after it.
 */
void ski_net_reply_runs(struct ski_pe *self);

/** Flushes backlogs and lets the driver make progress. Returns true if something has happened. */
bool ski_net_progress(struct ski_pe *self);

/** Returns whether the caller runs inside of ski_net_progress(). */
bool ski_net_progressing(const struct ski_pe *self);

/** Counts an operation that the driver was given and will complete. */
void ski_net_op_begin(struct ski_pe *self);

/** Uncounts an operation that the driver refused, or that has been completed. */
void ski_net_op_end(struct ski_pe *self);

/** Returns whether this PE may send although no message is in flight to it: the driver will
 *  complete an operation, or acknowledgements are deferred. */
bool ski_net_will_send(const struct ski_pe *self);

/** Returns how many packets and operations of @p self the driver holds. */
uint64_t ski_net_in_flight(const struct ski_pe *self);

/** Returns whether all packets have been handed to the driver, and the driver holds none. */
bool ski_net_drained(const struct ski_pe *self);

/** Returns whether all packets have been sent; the driver may hold operations
 *  (ski_net_op_begin()). */
bool ski_net_all_sent(const struct ski_pe *self);

/** Sleeps until a packet or a message in the inbox arrives, or @p ns have passed.  May return
 *  early. */
void ski_net_sleep(struct ski_pe *self, uint64_t ns);

/** Counts an invalid packet or value of another PE; the first few are logged with @p format. */
__attribute__((format(printf, 2, 3))) SKI_COLD void ski_net_reject(struct ski_pe *self,
                                                                   const char    *format, ...);

/** Drops @p msg, which its sender should not have sent, as ski_net_reject() does. */
SKI_COLD void ski_net_drop(struct ski_pe *self, struct skua_msg *msg);

/** Calls @p fn with @p first and with @p second, at the same time if the driver has a thread for
 * one of them (run_two() of driver.h).  Only where the PE has a port. */
void ski_net_run_two(struct ski_pe *self, void (*fn)(void *arg), void *first, void *second);

/** Returns the driver's endpoint for @p pe, connected if need be; NULL: the peer is lost. */
struct ski_peer *ski_net_endpoint(struct ski_pe *self, int pe);

#endif
