/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - what carries packets between hosts: what it must provide, and may
 * expect.
 *
 * A driver is a shared library of its own, loaded when a job needs it
 * (select.h), so that Skua runs where UCX, libfabric and MPI are missing.  It
 * exports one object, `ski_driver`, and calls up only through the functions it is
 * given here.  It sees this file and what that includes, and links with nothing else of
 * Skua.
 *
 * Every PE has a *port* of its own, also the hidden ones (helper, guest).  A port
 * has an address, a few hundred bytes that the runtime takes to whoever asks for
 * them, and talks to *peers*, other ports, once they are connected.
 *
 * A packet is a piece of memory of at least SKI_PACKET_LEAST bytes.  Drivers move
 * packets whole and unharmed, each exactly once; they need not keep their order:
 * the runtime numbers them (core/net/net_send.c).  Drivers look at nothing inside.
 *
 * Threads.  The functions of a port are called by one thread at a time, the PE's,
 * and never from within an upcall.  start(), stop(), expose() and conceal() are
 * called by one thread at a time while others may be in functions of ports.
 * Upcalls come on the thread of the port, from within progress(), except sent()
 * and done(), which may also come from within the call that they belong to.
 *
 * Nothing here blocks but start(), stop(), open(), close() and connect().  start() may be
 * a common call of all processes, which try the same drivers in the same order.
 *
 * A peer is lost when the network does not reach its host, or its process is gone; one
 * that only computes is not.  lost() comes at most once for a connect().  Operations on a
 * peer that is lost are SKUA_ERR_UNREACH.
 *
 * What the network cannot do without us happens in progress(), also at the target of a
 * one-sided operation; a port that waits for something calls it every second even if
 * wait_fd() says nothing.
 */
#ifndef SKI_DRIVER_H
#define SKI_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/status.h>

#include "base/log.h"
#include "base/security.h"
#include "transport/crypto.h"

#define SKI_DRIVER_VERSION 5
#define SKI_DRIVER_SYMBOL  "ski_driver"
#define SKI_PACKET_LEAST   32
#define SKI_ADDRESS_MOST   2048 /* bytes of an address */
#define SKI_KEY_MOST       512  /* of a key to memory  */
#define SKI_WHY_MOST       256
#define SKI_PLACE_HEAD     256 /* bytes of a packet, at most, that are not its data */

struct ski_port;   /* a PE's access to the network; the driver's own  */
struct ski_peer;   /* another port, as seen through ours; likewise     */
struct ski_memory; /* memory of this process that peers may access     */
struct ski_key;    /* memory of a peer that we may access              */

/* What a driver is told of the job when it starts. */
struct ski_net {
    int         process, processes;
    int         ports;        /* that this process will have open at once, at most       */
    bool        one_host;     /* all processes are on this host: loopback is enough      */
    const char *interfaces;   /* the setting: "auto", or names as in eth0,ib0            */
    const char *port_range;   /* the setting: "any", or 5000-5100                        */
    double      peer_timeout; /* seconds after which a silent network is a lost peer     */
    void (*log)(enum ski_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    enum ski_security        security;
    const struct ski_crypto *crypto; /* NULL with SKI_SECURITY_JOB */
    /** Write what proves that a process of the job has said @p count words; false: it cannot. */
    bool (*prove)(const uint64_t *words, size_t count, uint64_t proof[2]);
    /** Derive keys that belong to @p count words alone from the secret of the job; false: it
     *  cannot, as with SKI_SECURITY_JOB. */
    bool (*derive)(const uint64_t *words, size_t count, void *keys, size_t bytes);
    char *(*why)(void); /* of the calling thread, SKI_WHY_MOST bytes, in which the driver says
                           to people why start(), open(), connect() or send() failed */
};

/* What a port calls; @p owner is what open() was given. */
struct ski_upcalls {
    /** Memory for a packet of @p bytes that arrives, aligned to 64 bytes; NULL: drop
     *  it. */
    void *(*room)(void *owner, size_t bytes);

    /** What room() gave holds the packet, which is the runtime's from now on. */
    void (*arrived)(void *owner, void *packet, size_t bytes);

    /** What room() gave will not be filled: the sender is gone. */
    void (*spoilt)(void *owner, void *packet);

    /** A packet for which send() was SKUA_PENDING is no longer needed. */
    void (*sent)(void *owner, void *packet);

    /** A put, get, atomic, flush or split packet that was SKUA_PENDING is over. */
    void (*done)(void *owner, void *cookie, skua_status_t status);

    /** The peer cannot be reached, or not any more.  What was sent to it and has not
     *  come back through sent() and done() does so, now or later. */
    void (*lost)(void *owner, int pe, const char *why);

    /** A packet that lies in the driver's own memory, aligned or not, before room() is asked.
     *  True: the runtime has taken it.  False: it is to be copied as usual.  May be NULL.  To
     *  offer those of up to small() bytes saves copying them twice. */
    bool (*taken)(void *owner, const void *packet, size_t bytes);

    /** A packet of @p bytes of which the first SKI_PLACE_HEAD, at least, lie in the driver's own
     *  memory, and the rest will come: where its last bytes belong, in *@p to, and how many these
     *  are, all but SKI_PLACE_HEAD or fewer.  0: it is to be received as usual.  May be NULL, as
     *  placed(). */
    size_t (*place)(void *owner, const void *packet, size_t bytes, void **to);

    /** They are there, if @p whole, or else will never be.  @p packet has those before them. */
    void (*placed)(void *owner, const void *packet, size_t bytes, bool whole);
};

enum ski_net_op { SKI_NET_ADD, SKI_NET_AND, SKI_NET_OR, SKI_NET_XOR, SKI_NET_SWAP, SKI_NET_CSWAP };

struct ski_driver {
    unsigned    version; /* SKI_DRIVER_VERSION */
    const char *name;    /* "tcp", "ucx", "ofi", "mpi" */
    bool        seals;   /* it does what net->security asks for; else seal.h does, above it */

    /* -- the process, mandatory ------------------------------------------------ */

    /** Find out whether we can work here, and prepare.  @p net stays in place.
     *  On failure net->why() says why, and nothing is left to undo. */
    skua_status_t (*start)(struct ski_net *net);

    /** Undo start(); all ports are closed. */
    void (*stop)(void);

    /** A few words for people: "UCX 1.13 over tcp on eth0".  After start(). */
    const char *(*describe)(void);

    /* -- ports, mandatory -------------------------------------------------------- */

    /** Open the port of @p pe, for the calling thread. */
    skua_status_t (*open)(int pe, const struct ski_upcalls *up, void *owner,
                          struct ski_port **port);

    /** Close it.  What was sent has been delivered or will be, as far as that can be
     *  known; peers that are gone do not keep us waiting.  sent(), done() and spoilt() may
     *  come from here, and nothing comes afterwards; what has not come back by then stays
     *  the network's. */
    void (*close)(struct ski_port *port);

    /** Write the address, at most SKI_ADDRESS_MOST bytes; returns how many. */
    size_t (*address)(struct ski_port *port, void *to);

    /** Prepare to send to the port of @p pe.  Need not wait for an answer: a peer that
     *  cannot be reached may also be reported by lost(). */
    skua_status_t (*connect)(struct ski_port *port, int pe, const void *address, size_t bytes,
                             struct ski_peer **peer);

    /** Send a packet.  SKUA_OK: its memory is free again.  SKUA_PENDING: sent() will say
     *  so.  SKUA_ERR_AGAIN: nothing has happened for want of room; try after progress().
     *  What a driver holds of its own for packets under way is bounded, and a peer that does
     *  not receive leaves room for the others. */
    skua_status_t (*send)(struct ski_peer *peer, void *packet, size_t bytes);

    /** Send a packet of @p bytes at @p packet and @p rest_bytes at @p rest, which arrives as
     *  one.  As send(), but done() says that both are free again.  SKUA_ERR_UNSUPPORTED: not
     *  this one.  May be NULL: none. */
    skua_status_t (*send_split)(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                                size_t rest_bytes, void *cookie);

    /** Move things on: upcalls happen here.  Returns a number > 0 if there was anything. */
    unsigned (*progress)(struct ski_port *port);

    /** A descriptor that poll() finds readable when progress() should be called, perhaps for
     *  nothing; -1: there is none, and progress() must be called again and again. */
    int (*wait_fd)(struct ski_port *port);

    /** How large the packets are that it moves best, of those that could as well be smaller
     *  or larger.  After start().  May be NULL: a megabyte. */
    size_t (*packet)(void);

    /** Up to which size packets leave without the receiver being asked first, and land in
     *  memory of the driver's: small ones that wait are put together up to there.  After
     *  start(). */
    size_t (*small)(void);

    /** Before waiting for wait_fd(): true if it will become readable with the next
     *  event.  False: there is something to do now. */
    bool (*arm)(struct ski_port *port);

    /* -- one-sided, optional: all NULL, and requests are sent instead -------------- */

    /** Whether the network does what follows without the CPU of the target.  May be NULL:
     *  no.  Requests are then faster, and used unless the user wants it otherwise. */
    bool (*by_hardware)(void);

    /** Let peers access memory of this process.  SKUA_ERR_UNSUPPORTED: not this memory, or
     *  this network cannot.  Another failure is told, with net->why(); in either case requests
     *  are sent instead. */
    skua_status_t (*expose)(void *base, size_t bytes, struct ski_memory **memory);
    void (*conceal)(struct ski_memory *memory);

    /** Write the key that peers need for it, at most SKI_KEY_MOST bytes; how many. */
    size_t (*key)(struct ski_memory *memory, void *to);

    /** Take a key that @p peer's process has written; and forget it. */
    skua_status_t (*take_key)(struct ski_peer *peer, const void *from, size_t bytes,
                              struct ski_key **key);
    void (*drop_key)(struct ski_key *key);

    /** Copy to or from the peer's memory at its address @p remote.  SKUA_OK: local memory
     *  is free again, or filled.  SKUA_PENDING: done() will say so.  SKUA_ERR_AGAIN: as
     *  for send().  Puts are done at the target after flush(), in no order before. */
    skua_status_t (*put)(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                         struct ski_key *key, void *cookie);
    skua_status_t (*get)(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                         struct ski_key *key, void *cookie);

    /** Operate on 4 or 8 bytes at @p remote; *result, which stays in place until done(),
     *  is the value before, and holds the value to compare with for SKI_NET_CSWAP.
     *  SKUA_ERR_UNSUPPORTED: not this one. */
    skua_status_t (*atomic)(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                            uint64_t value, uint64_t *result, uint64_t remote, struct ski_key *key,
                            void *cookie);

    /** Everything that was put to the peer before is visible there at done(). */
    skua_status_t (*flush)(struct ski_peer *peer, void *cookie);

    /** What is put from now on is seen after what was put before.  False, or NULL: that is
     *  not to be had, and flush() is waited for. */
    bool (*fence)(struct ski_peer *peer);
};

#endif
