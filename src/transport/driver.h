/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the contract of a driver, which carries packets between hosts.
 *
 * A driver is a module (base/module.h), loaded when a job needs it (select.h), so that Skua runs
 * where UCX, libfabric or MPI are missing.  It exports one object, `ski_driver`, and calls the
 * runtime only through the functions that it is given here.  It includes this file and what that
 * includes, and links with nothing else of Skua.
 *
 * Every PE has a *port*, also the hidden ones (boot/job.h).  A port has an address, a few hundred
 * bytes that the runtime sends to any process that needs it, and exchanges packets with *peers*,
 * which are ports that it has connected to.
 *
 * A packet is a block of at least SKI_PACKET_MIN bytes.  A driver delivers each packet exactly
 * once, whole and unchanged, but need not keep the order: the runtime numbers packets
 * (core/net/net_send.c).  A driver does not interpret their contents.
 *
 * Threads.  The functions of a port are called by one thread at a time, that of its PE, and never
 * from within an upcall.  start(), stop(), mem_reg() and mem_dereg() are called by one thread at a
 * time while other threads may be in functions of ports.  Upcalls are made by the thread of the
 * port from within progress(); sent() and done() may also be made from within the call that they
 * belong to.
 *
 * Only start(), stop(), open(), close(), connect() and connect_wait() may block.  start() may be
 * collective: all processes try the same drivers in the same order.
 *
 * A peer is lost when the network does not reach its host or its process is gone; a peer that only
 * computes is not lost.  lost() is called at most once for a connect().  Operations on a lost peer
 * return SKUA_ERR_UNREACH.
 *
 * Whatever the network does not do by itself happens in progress(), also at the target of a
 * one-sided operation.  A port that waits for something calls it every second even if wait_fd() is
 * not readable.
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

#define SKI_DRIVER_VERSION   12
#define SKI_DRIVER_SYMBOL    "ski_driver"
#define SKI_PACKET_MIN       32   /* bytes of a packet, at least                              */
#define SKI_PORT_ADDRESS_MAX 2048 /* bytes of the address of a port, at most                  */
#define SKI_RKEY_MAX         512  /* bytes of a packed rkey, at most                          */
#define SKI_REASON_MAX       256  /* bytes of an error text, with its 0                       */
#define SKI_DIRECT_HEAD      384  /* bytes that recv_direct() leaves to the driver, at most      */

/* Bytes of packets of send() to a peer from which on a driver that holds them takes no more: their
 * memory is the runtime's, whose senders then wait (core/message/backpressure.h).  The last packet
 * may exceed it, so a packet of any size can be sent. */
#define SKI_HELD_MAX ((size_t)4 << 20)

struct ski_port;        /* the access of a PE to the network; each driver defines its own   */
struct ski_peer;        /* another port, to which a port is connected; also defined by drivers */
struct ski_driver_mem;  /* memory of this process that is registered for access by peers    */
struct ski_driver_rkey; /* an rkey: the right to access registered memory of a peer         */

/* The description of the job that a driver gets when it starts. */
struct ski_net {
    int         process, processes;
    int         ports;        /* ports that this process has open at a time, at most          */
    bool        one_host;     /* all processes are on this host: loopback is enough           */
    const char *interfaces;   /* the setting: "auto", or network interfaces as in eth0,ib0    */
    const char *port_range;   /* the setting: "any", or 5000-5100                             */
    double      peer_timeout; /* seconds without an answer after which a peer is lost         */
    bool        share;        /* the ports of a process share its connections, if they can    */
    unsigned    rails;        /* connections that carry a large packet together; 0: auto      */
    const int  *io_cpu;       /* CPUs that no PE uses, for threads of the driver ...          */
    int         io_cpus;      /* ... and their number; 0: it starts none for large packets     */
    int         progress_pe;  /* the PE of a thread that is always in progress() or asleep, and
                                 may send what waits at other ports; 0: there is none         */

    /** Logs a line. */
    void (*log)(enum ski_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

    enum ski_security        security;
    const struct ski_crypto *crypto; /* NULL with SKI_SECURITY_JOB */

    /** Writes a proof that a process of the job sent @p count words.  Returns false if that
     *  fails. */
    bool (*prove)(const uint64_t *words, size_t count, uint64_t proof[2]);

    /** Derives keys for @p count words, and for no others, from the secret of the job.  Returns
     *  false if that fails, as it does with SKI_SECURITY_JOB. */
    bool (*derive)(const uint64_t *words, size_t count, void *keys, size_t bytes);

    /** Returns the error text of the calling thread, SKI_REASON_MAX bytes, in which the driver
     * writes why start(), open(), connect(), send() or mem_reg() failed. */
    char *(*last_error)(void);
};

/** Returns whether ports may have I/O threads: there are CPUs for them, and large packets may have
 *  parts on several rails that are sent as they are, not sealed in records. */
static inline bool ski_net_allows_io_threads(const struct ski_net *net)
{
    return net->io_cpus > 0 && net->security == SKI_SECURITY_JOB && net->rails != 1;
}

/* The functions that a port calls; @p owner is what open() was given. */
struct ski_upcalls {
    /** Returns memory for an arriving packet of @p bytes, aligned to 64 bytes; NULL: the packet is
     *  to be dropped. */
    void *(*alloc)(void *owner, size_t bytes);

    /** The packet has been written to the memory that alloc() returned, and belongs to the
     *  runtime. */
    void (*arrived)(void *owner, void *packet, size_t bytes);

    /** The memory that alloc() returned will not be filled, because the sender is gone. */
    void (*abort)(void *owner, void *packet);

    /** A packet for which send() returned SKUA_PENDING is no longer needed. */
    void (*sent)(void *owner, void *packet);

    /** A put, get, atomic, flush or split packet that returned SKUA_PENDING is complete. */
    void (*done)(void *owner, void *cookie, skua_status status);

    /** The peer cannot be reached, or no longer; @p why is a text for the user.  Operations on the
     *  peer that are pending end through sent() and done(), now or later. */
    void (*lost)(void *owner, int pe, const char *why);

    /** Offers a packet in the driver's own memory, aligned or not, before alloc() is called.
     *  Returns true if the runtime has copied it, false if it is to be received as usual.  May be
     *  NULL.  A driver that offers packets of up to eager_max() bytes saves a copy. */
    bool (*recv_inline)(void *owner, const void *packet, size_t bytes);

    /** Offers a packet of @p bytes of which at least the first SKI_DIRECT_HEAD bytes are in the
     *  driver's own memory and the rest has not been received.  Returns how many of its last bytes
     *  the driver is to receive at *@p to: all but SKI_DIRECT_HEAD or fewer; 0: the packet is to be
     *  received as usual.  May be NULL, as recv_direct_done(). */
    size_t (*recv_direct)(void *owner, const void *packet, size_t bytes, void **to);

    /** The bytes of recv_direct() have been received, if @p whole, or never will be.  @p packet has
     *  the bytes before them. */
    void (*recv_direct_done)(void *owner, const void *packet, size_t bytes, bool whole);

    /** Returns whether the memory of recv_direct(), at *@p to, can still be written.  Sets *@p to
     * if it has moved, with the bytes that have been received.  A driver calls this function in a
     * later call of progress(), each time before it writes to the memory.  After false the driver
     * skips the other bytes of the packet, and then calls recv_direct_done() with false.  NULL: the
     * memory stays. */
    bool (*recv_direct_continues)(void *owner, const void *packet, void **to);
};

/* The atomic operations of a driver. */
enum ski_net_op { SKI_NET_ADD, SKI_NET_AND, SKI_NET_OR, SKI_NET_XOR, SKI_NET_SWAP, SKI_NET_CSWAP };

/* The operations of a driver. */
struct ski_driver {
    unsigned    version; /* SKI_DRIVER_VERSION */
    const char *name;    /* "tcp", "ucx", "ofi", "mpi" */
    bool        seals;   /* it implements net->security itself; otherwise seal.h does, above it */

    /* -- the process, mandatory ------------------------------------------------ */

    /** Checks whether the driver can work on this host, and prepares it.  @p net stays valid.  On
     *  failure net->last_error() has the reason, and nothing needs to be undone. */
    skua_status (*start)(struct ski_net *net);

    /** Undoes start(), after all ports were closed. */
    void (*stop)(void);

    /** Returns a short description for the user: "UCX 1.13 over tcp on eth0".  After start(). */
    const char *(*describe)(void);

    /* -- ports, mandatory -------------------------------------------------------- */

    /** Opens the port of @p pe, for the calling thread. */
    skua_status (*open)(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **port);

    /** Closes a port.  Packets that were sent have been delivered or will be, as far as the driver
     *  can know; it does not wait for peers that are gone.  sent(), done() and abort() may be
     * called from here, and no upcall is made afterwards; memory that was not returned by then
     * stays with the network. */
    void (*close)(struct ski_port *port);

    /** Writes the address of a port, at most SKI_PORT_ADDRESS_MAX bytes.  Returns its length. */
    size_t (*address)(struct ski_port *port, void *to);

    /** Prepares to send to the port of @p pe.  It need not wait for an answer: lost() may report
     *  later that the peer cannot be reached. */
    skua_status (*connect)(struct ski_port *port, int pe, const void *address, size_t bytes,
                           struct ski_peer **peer);

    /** Waits, for at most @p seconds, until packets to a new peer leave without progress().  The
     *  runtime calls this if a progress thread serves the port of the peer, so that the first
     *  packet does not wait for a PE that computes.  lost() may be called from here.  May be NULL.
     */
    void (*connect_wait)(struct ski_peer *peer, double seconds);

    /** Sends a packet.  SKUA_OK: its memory may be reused.  SKUA_PENDING: sent() reports when.
     *  SKUA_ERR_AGAIN: nothing was sent for want of room; try again after progress().  A driver
     *  bounds the packets that it holds, in number and in bytes (SKI_HELD_MAX), and a peer that
     *  does not receive leaves room for others. */
    skua_status (*send)(struct ski_peer *peer, void *packet, size_t bytes);

    /** Sends one packet of @p bytes at @p packet and @p rest_bytes at @p rest.  As send(), but
     *  done() reports when both may be reused.  SKUA_ERR_UNSUPPORTED: not for this packet.  May be
     *  NULL: not supported. */
    skua_status (*send_split)(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                              size_t rest_bytes, void *cookie);

    /** Copies what a pending packet of send_split() still needs of @p rest to @p to, as large and
     *  disjoint, at the same offset, and continues from there: @p rest may be reused.  done() is
     *  not called from here.  May be NULL: not supported. */
    void (*split_move)(struct ski_peer *peer, void *cookie, const void *rest, void *to);

    /** The largest packet in bytes that send_split() takes, in any process of a job; 0: it takes
     *  large packets of any size. */
    size_t split_max;

    /** Whether the driver calls recv_direct() for large packets. */
    bool receives_direct;

    /** Whether the memory of recv_direct() is the driver's until recv_direct_done(): it does not
     *  call recv_direct_continues().  It is offered only memory that stays until then. */
    bool keeps_direct;

    /** Makes progress and upcalls.  Returns a number > 0 if anything happened. */
    unsigned (*progress)(struct ski_port *port);

    /** Returns a descriptor that becomes readable when progress() should be called, possibly
     * without need; -1: there is none, and progress() must be polled. */
    int (*wait_fd)(struct ski_port *port);

    /** Returns the size in bytes of packets that the driver moves most efficiently, where the
     *  runtime has a choice.  After start().  May be NULL: one megabyte. */
    size_t (*preferred_packet)(void);

    /** Returns the largest packet that is sent eagerly, into memory of the receiving driver; the
     *  runtime coalesces small packets up to this size.  After start(). */
    size_t (*eager_max)(void);

    /** Called before the runtime waits for wait_fd().  Returns whether that will become readable
     * with the next event. After false there is something to do now. */
    bool (*arm)(struct ski_port *port);

    /** Whether wait_fd() also becomes readable when packets that wait in the driver can be sent, so
     * that a port with such packets can sleep. */
    bool wakes_for_sends;

    /** Called when the wait that arm() prepared is over.  May be NULL: nothing is to be undone. */
    void (*disarm)(struct ski_port *port);

    /** Calls @p fn with @p first and with @p second: at the same time if a thread of the driver is
     *  there for one of them and has a CPU, else one after the other.  Both calls have ended when
     *  this returns; they use disjoint memory, and nothing of the runtime.  May be NULL. */
    void (*run_two)(struct ski_port *port, void (*fn)(void *arg), void *first, void *second);

    /** The driver whose ports share the connections of their process, in the same module and
     *  started with this one (net->share); NULL: there is none. */
    const struct ski_driver *shared;

    /* -- one-sided, optional: all NULL, and the runtime sends requests instead ------ */

    /** Returns whether the network performs one-sided operations without the CPU of the target. May
     *  be NULL: it does not.  Requests are then faster, and are used unless the user chooses
     *  otherwise. */
    bool (*rma_offload)(void);

    /** Registers memory of this process for access by peers.  SKUA_ERR_UNSUPPORTED: not this
     * memory, or not with this network.  Another failure is reported with net->last_error(); in
     * either case the runtime sends requests instead. */
    skua_status (*mem_reg)(void *base, size_t bytes, struct ski_driver_mem **memory);

    /** Deregisters memory. */
    void (*mem_dereg)(struct ski_driver_mem *memory);

    /** Writes the rkey of registered memory for peers, at most SKI_RKEY_MAX bytes.  Returns its
     *  length; 0: it failed. */
    size_t (*rkey_pack)(struct ski_driver_mem *memory, void *to);

    /** Makes an rkey usable that the process of @p peer has packed. */
    skua_status (*rkey_unpack)(struct ski_peer *peer, const void *from, size_t bytes,
                               struct ski_driver_rkey **key);

    /** Frees what rkey_unpack() made. */
    void (*rkey_destroy)(struct ski_driver_rkey *key);

    /** Copies local memory to the peer's memory at its address @p remote.  SKUA_OK: @p local may be
     *  reused.  SKUA_PENDING: done() reports when.  SKUA_ERR_AGAIN: as for send().  Puts are
     *  complete at the target after flush(), in no order before. */
    skua_status (*put)(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                       struct ski_driver_rkey *key, void *cookie);

    /** Copies the peer's memory at its address @p remote to @p local.  SKUA_OK: it is there.
     *  SKUA_PENDING: done() reports when.  SKUA_ERR_AGAIN: as for send(). */
    skua_status (*get)(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                       struct ski_driver_rkey *key, void *cookie);

    /** Performs an atomic operation on 4 or 8 bytes at @p remote.  *@p result, which stays valid
     *  until done(), receives the previous value; for SKI_NET_CSWAP it holds the value to compare
     *  with.  SKUA_ERR_UNSUPPORTED: not this operation. */
    skua_status (*atomic)(struct ski_peer *peer, enum ski_net_op op, unsigned bytes, uint64_t value,
                          uint64_t *result, uint64_t remote, struct ski_driver_rkey *key,
                          void *cookie);

    /** Completes all earlier puts to the peer: they are visible there when done() is called. */
    skua_status (*flush)(struct ski_peer *peer, void *cookie);

    /** Orders puts: later ones become visible after earlier ones.  Returns false, or is NULL, if
     * the driver cannot do that; the runtime then waits for flush(). */
    bool (*fence)(struct ski_peer *peer);
};

#endif
