/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - packets as messages of MPI: the functions of ports of mpi.c.
 *
 * A process is an MPI rank; its ports have numbers within it, each used once.  There
 * are three communicators.
 *
 *   first    Messages to port 0 of a process, which is often its only one in use.  Their
 *            tag is their length: to ask MPI for that takes 8 ns.
 *   packets  Messages to the others.  Every one carries the port's number as its tag.
 *
 *            A port keeps receives for these posted, in memory of its own, for packets of up
 *            to SMALL bytes.  They are matched in the order in which they were posted,
 *            so that only the oldest need be looked at: one MPI_Test is all that an
 *            idle port does.  What arrives is copied to where room() says.
 *
 *            MPI looks through the receives of all ports of a communicator for each message,
 *            4 ns for each of them.  So a port begins with one and adds others, up to
 *            SLOTS, when messages follow each other closely: the hidden PEs, which hear
 *            nearly nothing, hold nobody up.  And a receive is posted again when the next
 *            message is looked for, that is, when the one that came has been worked on.
 *   bulk     A larger packet is announced by a message as above, and follows in this
 *            communicator at once, with a tag that the announcement names.  The
 *            receiver posts a receive for it straight into where room() says.  An
 *            announcement is shorter than any packet, and known by that.
 *
 * The announcement, in the byte order of the machine, as all of MPI_BYTE is:
 *
 *   0  8  bytes of the packet
 *   8  4  tag of the message with the packet
 *  12  4  PE of the sender
 *
 * Why not MPI_Improbe and MPI_Imrecv: a message that is probed for has arrived
 * unexpectedly and been put aside by MPI, which takes a copy and a search that posted
 * receives are spared, and a port would poll for it twice.
 *
 * A message has at most INT_MAX elements.  A packet beyond that many bytes is two: whole
 * blocks of BLOCK bytes, and the rest.
 *
 * Invariants: of an open port, the receives of `posted' slots from `oldest' on, round the
 * ring, are posted; there are as many as `wanted' whenever MPI is asked for messages.
 * request[0..requests) are active; each belongs to the transfer of[i], whose `left' counts them.
 * There are at most SENDS transfers that send, and send() is SKUA_ERR_AGAIN then; at most RECEIVES
 * that receive, and nothing is taken from the posted receives then.
 */
#ifndef SKI_MPI_PORT_H
#define SKI_MPI_PORT_H

#include <mpi.h>

#include "transport/driver.h"

/* What the ports of the process share; set up by mpi.c. */
extern struct ski_mpi_net {
    struct ski_net  *net;
    MPI_Comm         first, packets, bulk;
    MPI_Datatype     block;    /* BLOCK bytes */
    int              tag_most; /* of all communicators */
    _Atomic uint32_t ports;    /* that were opened, ever */
    _Atomic uint32_t tags;     /* used in bulk, ever     */
} ski_mpi_net;

#define SKI_MPI_BLOCK     (1 << 20)
#define SKI_MPI_EAGER_MAX 17408 /* bytes of a packet: 16 KiB, and what a message has besides */

skua_status_t ski_mpi_open(int pe, const struct ski_upcalls *up, void *owner,
                           struct ski_port **port);
void          ski_mpi_close(struct ski_port *port);
size_t        ski_mpi_address(struct ski_port *port, void *to);
skua_status_t ski_mpi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                              struct ski_peer **peer);
skua_status_t ski_mpi_send(struct ski_peer *peer, void *packet, size_t bytes);
unsigned      ski_mpi_progress(struct ski_port *port);

#endif
