/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - what the parts of the driver test share: ports, packets that can be
 * checked, and waiting with a deadline.
 *
 * An *end* is a port with what it has sent and seen.  Every packet names its
 * sender, its receiver and its number between the two, and its other bytes follow
 * from these: so what arrives is known to be unharmed, and to come once.
 *
 * Whatever is wrong is counted by fail(), also by threads; main() asks after each
 * part.  A wait that takes too long ends the program with a line that says for
 * what.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

#include "transport/driver.h"

#define ENDS_MOST 4
#define PATIENCE  60.0 /* seconds; only for what should have happened long before */

extern const struct ski_driver *driver;
extern struct ski_net           net;
extern _Atomic unsigned         failures;

struct end {
    int              pe;
    struct ski_port *port;
    struct ski_peer *peer[ENDS_MOST];
    bool             refusing;         /* room() is NULL where is_refused() */
    bool             echoed;           /* what arrives is our own */
    uint64_t         sends[ENDS_MOST]; /* packets that were accepted for a peer        */
    uint64_t         arrived[ENDS_MOST];
    unsigned char   *seen[ENDS_MOST]; /* by number                                      */
    uint64_t         pending, returned;
    uint64_t         rooms, filled, spoilt, refused; /* what became of room()           */
    uint64_t         begun, done;                    /* one-sided                       */
    unsigned         lost[ENDS_MOST];
    char             why[SKI_WHY_MOST]; /* the last was lost */
    struct outgoing *held[ENDS_MOST];   /* made, not yet accepted */
};

/* A packet of ours, and whose turn it is. */
struct outgoing {
    _Alignas(64) enum { POSTING, PENDING, BACK } state;
    size_t bytes;
    _Alignas(64) unsigned char packet[];
};

/* What the first bytes of a packet say. */
struct label {
    uint32_t from, to;
    uint64_t number, bytes, unused;
};

__attribute__((format(printf, 1, 2))) void           fail(const char *format, ...);
_Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...);

double now(void);

/** Open the port of @p pe; connect() makes it known to others, one way. */
void open_end(struct end *end, int pe);
void connect_ends(struct end *from, const struct end *to);
void close_end(struct end *end);

/** Several ends, all connected, of the calling thread. */
void open_ends(struct end *ends, int count);
void close_ends(struct end *ends, int count);

/** Pack the address of a port that listens at one name, as a peer of it is told
 *  (transport/names.h). */
#define ONE_NAME (sizeof(uint64_t) + sizeof(struct sockaddr_in6))
void pack_name(char address[ONE_NAME], const struct sockaddr_in *name);

/** Unpack the first name that a port listens at. */
struct sockaddr_in door_of(const struct end *end);

/** Listen at a name of our own, which is completed: a descriptor. */
int make_door(struct sockaddr_in *name, int backlog);

/** Move some ends on. */
unsigned pump(struct end *ends, int count);

/** pump() until @p condition; or the program ends, with @p what. */
#define WAIT_FOR(condition, ends, count, what)                                                     \
    for (double since_ = now(); !(condition);) {                                                   \
        pump(ends, count);                                                                         \
        if (now() - since_ > PATIENCE)                                                             \
            die("waited in vain for %s", what);                                                    \
    }

/** A packet from an end to another, which has the next number; and its end: a driver that still
 *  reads it is found out. */
struct outgoing *make_packet(struct end *from, int to, size_t bytes);
void             scrub(struct outgoing *out);

/** Make a packet if none is held, and send it; SKUA_ERR_AGAIN leaves it held. */
skua_status_t try_send(struct end *from, int to, size_t bytes);

/** The same, until it is accepted. */
void send_packet(struct end *ends, int count, int from, int to, size_t bytes);

/** Wait until all that was sent among the ends has arrived and come back. */
void settle(struct end *ends, int count);

/** Sizes that a refusing end has no room for. */
bool is_refused(size_t bytes);

/* ---- the parts ---- */

void test_sizes(struct end *ends, int count);
void test_split(struct end *ends, int count);
void test_flood(struct end *ends, int count, uint64_t packets);
void test_refusal(struct end *ends, int count);
void test_waiting(struct end *ends);
void test_threads(uint64_t packets);
void test_crossing(int rounds);
void test_closing(void);
void test_one_sided(struct end *ends);
void test_lost_port(void);
void test_silence(void);
void test_strangers(void);
void test_tampering(void);

/** Begin another process, before the driver is started. */
void fork_child(const char *name);
void test_lost_process(void);
void bench(void);

#endif
