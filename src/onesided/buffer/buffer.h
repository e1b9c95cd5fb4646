/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - buffers (skua/buffer.h): what moves between two of them, and by which path.
 *
 *   same process, arena of the host    a copy, within the call
 *   other memory of the host           by the system (cma.h), within the call
 *   other hosts, or if that is refused:
 *       a get          FETCH to the owner, which then puts; or by the driver, where that pays
 *       a put          one packet with the data (buffer_data.h)
 *       a put of data that a driver of one-sided operations moves, or that a driver would have to
 *       copy           into registered memory; if there is none yet: ASK, READY, and then the put
 *
 * A large put into memory of another process of the host is a PULL: the owner of the target reads
 * the data.  Where the system writes to another process, it locks each page and marks it as
 * written, which takes as long as the copy.
 *
 * A put by the owner, instead of a reply to a get, is zero-copy.  After a put into registered
 * memory the side that has put sends DONE to the other: right after the data, if a message cannot
 * overtake them, else when the put is complete at the target.
 */
#ifndef SKI_BUFFER_H
#define SKI_BUFFER_H

#include "onesided/buffer/buffer_check.h"

/* The kinds of packets without data. */
enum ski_buffer_verb {
    SKI_BUFFER_FETCH, /* to the owner of `from`: put it into `to` */
    SKI_BUFFER_ASK,   /* to the owner of `to`: register it */
    SKI_BUFFER_READY, /* the answer to ASK: `to` is registered */
    SKI_BUFFER_DONE,  /* the data are in `to` */
    SKI_BUFFER_PULL   /* to the owner of `to`, on the same host: read the data from `from` */
};

/* A packet without data. */
struct ski_buffer_packet {
    uint32_t    verb;
    uint32_t    once; /* `to` is registered for this transfer only */
    uint64_t    bytes;
    skua_buffer from, to;
};

#define SKI_BUFFER_MIN (16 + 2 * sizeof(skua_buffer))

/** Handles a packet. */
void ski_on_buffer(skua_msg *msg);

/** Frees the state of the buffers of a PE that ends. */
void ski_buffers_end(struct ski_pe *self);

/** Returns whether a zero-copy transfer of @p bytes at @p at to @p pe is faster than a message. */
bool ski_zcopy_pays(const struct ski_pe *self, int pe, const void *at, size_t bytes);

/** Returns whether a zero-copy transfer of @p bytes at @p at to all PEs is faster than messages. */
bool ski_zcopy_pays_all(struct ski_pe *self, const void *at, size_t bytes);

/* The smallest transfers, in bytes, that are faster without a copy: where both PEs reach the
 * memory; by the system; between hosts. */
struct ski_zcopy_threshold {
    size_t shared, host, net;
    double per_byte; /* nanoseconds that zero-copy saves for each byte between hosts; 0: `net` is
                        set */
};

/** Returns the thresholds of the settings; those that are not set are measured, in the calling
 *  process, within 2 ms. */
struct ski_zcopy_threshold ski_zcopy_threshold_measure(void);

#define SKI_ZCOPY_THRESHOLD_STR 200 /* bytes of the description of thresholds */

/** Describes thresholds for the log: "from 1024 bytes inside a process ...".  Returns @p text. */
const char *ski_zcopy_threshold_str(char                              text[SKI_ZCOPY_THRESHOLD_STR],
                                    const struct ski_zcopy_threshold *from);

/** Begins on a PE: PE 0 measures and logs the thresholds if the log level includes them. */
void ski_zcopy_threshold_begin(const struct ski_pe *self);

/** Resets the thresholds, whose settings may change.  Called by the thread that joins jobs, when no
 *  other thread is a PE. */
void ski_zcopy_threshold_reset(void);

#endif
