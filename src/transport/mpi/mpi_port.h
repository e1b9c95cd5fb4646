/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_port.h - packets as messages of MPI: the functions of ports of mpi.c.
 *
 * A process is an MPI rank; its ports have numbers within it, each used once.  There are three
 * communicators.
 *
 *   first    Messages to port 0 of a process, which is often its only one in use.  Their tag is
 *            their length, as MPI_Get_count takes 8 ns.
 *   packets  Messages to the other ports.  Their tag is the number of the port.
 *
 *            A port keeps receives for these posted, in memory of its own, for packets of up to
 *            SKI_MPI_EAGER_MAX bytes.  They are matched in the order in which they were posted, so
 *            only the oldest one is tested: an idle port calls MPI_Test once.  A packet is copied
 *            to the memory that alloc() returns.
 *
 *            MPI searches the posted receives of all ports of a communicator for each message, 4 ns
 *            for each of them.  So a port begins with one receive and adds others, at most
 *            SKI_MPI_RECV_SLOTS in all, when messages follow each other closely; hidden PEs, which
 *            receive hardly anything, slow no other PE down.  A receive is posted again with the
 *            next test, that is, after its message was handled.
 *   bulk     A larger packet is announced by a message as above, a ready-to-send (RTS), and follows
 *            immediately in this communicator, with a tag that the RTS names.  The receiver posts a
 *            receive straight into the memory that alloc() returns.  An RTS is shorter than any
 *            packet.  A packet in two parts is two messages with the same tag, each sent without a
 *            copy.  The first one is received alone if it is short: it tells the runtime where the
 *            data of the second belong.  A receive into that memory is never cancelled.
 *
 * The RTS, in the byte order of the machine, as all of MPI_BYTE is:
 *
 *   0  8  bytes of the packet
 *   8  4  tag of the message with the packet
 *  12  4  PE of the sender
 *  16  8  bytes of the first of two parts; 0: the packet is in one
 *
 * MPI_Improbe and MPI_Imrecv would be slower: a message that is probed for has arrived unexpectedly
 * and was queued by MPI, which takes a copy and a search, and a port would poll for it twice.
 *
 * Invariants.  Of an open port the receives of `posted` slots from `oldest` on, around the ring,
 * are posted, and there are `wanted` of them whenever one is tested.  At most SKI_MPI_SENDS_MAX
 * transfers send (mpi_transfer.h), then send() returns SKUA_ERR_AGAIN; at most SKI_MPI_RECVS_MAX
 * receive, then no posted receive is tested.
 */
#ifndef SKI_MPI_PORT_H
#define SKI_MPI_PORT_H

#include "transport/driver.h"
#include "transport/mpi/mpi_transfer.h"

/* The functions of a port have the contracts of struct ski_driver (transport/driver.h). */
skua_status ski_mpi_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **port);
void        ski_mpi_close(struct ski_port *port);
size_t      ski_mpi_address(struct ski_port *port, void *to);
skua_status ski_mpi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                            struct ski_peer **peer);
skua_status ski_mpi_send(struct ski_peer *peer, void *packet, size_t bytes);
skua_status ski_mpi_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie);
unsigned    ski_mpi_progress(struct ski_port *port);

#endif
