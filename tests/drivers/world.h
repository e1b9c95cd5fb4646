/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - functions that the parts of the driver test share: ports, packets that can be checked,
 * and waits with a deadline.
 *
 * An *end* is a port with its statistics.  Every packet names its sender, its receiver and its
 * number between the two, and these determine its other bytes: so a test checks that each packet
 * arrives intact and once.
 *
 * fail() counts errors, also from threads; main() checks the count after each part.  A wait that
 * exceeds the deadline ends the program with a line that names the condition.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

#include "transport/driver.h"

#define ENDS_MAX 4
#define PATIENCE 60.0 /* seconds; far more than any wait takes */

extern const struct ski_driver *driver;
extern struct ski_net           net;
extern _Atomic unsigned         failures;

struct end {
    int              pe;
    struct ski_port *port;
    struct ski_peer *peer[ENDS_MAX];
    bool             refusing;        /* room() is NULL where is_refused() */
    bool             echoed;          /* received memory belongs to the test */
    uint64_t         sends[ENDS_MAX]; /* packets accepted for each peer */
    uint64_t         arrived[ENDS_MAX];
    unsigned char   *seen[ENDS_MAX]; /* packets seen, by number */
    uint64_t         pending, returned;
    uint64_t         rooms, filled, spoilt, refused; /* outcomes of room() */
    uint64_t         begun, done;                    /* one-sided          */
    bool             placing; /* recv_direct() has places, for one packet at a time */
    unsigned char   *place;   /* the packet that is being received directly, or NULL */
    size_t           kept;    /* bytes at its beginning that the driver keeps */
    uint64_t         placed;  /* packets received directly */
    unsigned         lost[ENDS_MAX];
    char             why[SKI_REASON_MAX]; /* the last lost peer */
    struct outgoing *held[ENDS_MAX];      /* created, not accepted yet */
};

#define PLACE_FIRST 100 /* bytes before the data of a packet that may be received directly */

/* A packet and its owner. */
struct outgoing {
    _Alignas(64) enum { POSTING, PENDING, BACK } state;
    size_t bytes;
    _Alignas(64) unsigned char packet[];
};

/* The label at the beginning of a packet. */
struct label {
    uint32_t from, to;
    uint64_t number, bytes, unused;
};

__attribute__((format(printf, 1, 2))) void           fail(const char *format, ...);
_Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...);

double now(void);

/** Opens the port of @p pe; connect() makes it known to other ends, in one direction. */
void open_end(struct end *end, int pe);
void connect_ends(struct end *from, const struct end *to);
void close_end(struct end *end);

/** Opens several ends of the calling thread, all connected. */
void open_ends(struct end *ends, int count);
void close_ends(struct end *ends, int count);

/** Packs the address of a port that listens on one socket address, as a peer receives it
 *  (transport/sockaddrs.h). */
#define ONE_NAME (sizeof(uint64_t) + sizeof(struct sockaddr_in6))
void pack_name(char address[ONE_NAME], const struct sockaddr_in *name);

/** Unpacks the first socket address that a port listens on. */
struct sockaddr_in listener_of(const struct end *end);

/** Listens on a socket address, whose port number is filled in.  Returns a descriptor. */
int make_listener(struct sockaddr_in *name, int backlog);

/** Progresses some ends. */
unsigned pump(struct end *ends, int count);

/** Calls pump() until @p condition holds; at the deadline the program ends and prints @p what. */
#define WAIT_FOR(condition, ends, count, what)                                                     \
    for (double since_ = now(); !(condition);) {                                                   \
        pump(ends, count);                                                                         \
        if (now() - since_ > PATIENCE)                                                             \
            die("timed out waiting for %s", what);                                                 \
    }

/** Creates the next packet from one end to another, and overwrites it after use, which exposes a
 *  driver that still reads it. */
struct outgoing *make_packet(struct end *from, int to, size_t bytes);
void             scrub(struct outgoing *out);

/** Creates a packet if none is held, and sends it; SKUA_ERR_AGAIN leaves it held. */
skua_status try_send(struct end *from, int to, size_t bytes);

/** Creates and sends a packet, with progress until it is accepted. */
void send_packet(struct end *ends, int count, int from, int to, size_t bytes);

/** Waits until all packets between the ends have arrived and have been returned to their
 *  senders. */
void settle(struct end *ends, int count);

/** Returns true if a refusing end rejects packets of this size. */
bool is_refused(size_t bytes);

/* ---- the parts ---- */

void test_sizes(struct end *ends, int count);
void test_split(struct end *ends, int count);
void test_flood(struct end *ends, int count, uint64_t packets);
void test_refusal(struct end *ends, int count);
void test_absence(struct end *ends, int count);
void test_waiting(struct end *ends);
void test_watch(void);
void test_busy(void);
void test_threads(uint64_t packets);
void test_assist(uint64_t packets);
void test_assist_full(void);
void test_silent_peer(void);
void test_crossing(int rounds);
void test_closing(void);
void test_one_sided(struct end *ends);
void test_lost_port(void);
void test_silence(void);
void test_strangers(void);
void test_tampering(void);

/** Forks another process, before the driver is started. */
void fork_child(const char *name);
void test_lost_process(void);
void bench(void);

#endif
