/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_settle.c - one connection for each pair of ports, after both have connected to each other.
 *
 * Ports that begin to send to each other at the same time both initiate a connection.  The one that
 * the lower PE initiated is kept; if it initiated two, at different addresses, that with the
 * smaller nonce in its hello.  A side for which both are open sends on the kept one from then on,
 * and ends its stream on the other with a frame of the kind MOVED: nothing follows on this
 * connection, and the peer is not closed.  A connection that has MOVED in both directions is
 * closed.
 *
 * A receiver polls all connections equally while there are two, because packets on the kept one
 * wait in memory for earlier ones on the other.
 *
 * Nothing is lost: MOVED is sent between packets, and whatever was sent before it has been received
 * when it arrives.  Packets on the kept connection may overtake those on the other; the runtime
 * restores their order (driver.h).  The initiator of the kept connection may have sent MOVED before
 * the responder has read its proof: the responder sends on the other one until then.
 *
 * A connection may break while it is left.  The side that then lacks data is the one that has not
 * received an end, as MOVED and END follow all packets of their stream; it finds that the peer is
 * lost and closes all connections with it, by which the peer finds the same.  So each side
 * considers what it has received, not what it has sent, unless it closes its port itself.  When the
 * connection is closed or breaks:
 *
 *   - It has received nothing, and has sent nothing or MOVED: the peer is lost, as packets may be
 *     missing here.
 *   - It has received MOVED, and has sent nothing: between packets it sends on the kept connection,
 *     and if packets are missing there, the peer has received no end and finds out.  In a packet,
 *     the peer is lost, as the rest cannot follow elsewhere.
 *   - It has received and sent MOVED: it has closed the connection.
 *   - It has received END, and has sent nothing: the peer has closed its port, and is lost when a
 *     packet is sent to it; in a packet, it is lost at once.
 *   - It has received END and sent MOVED: the peer has closed its port.
 *   - It has sent END: it closes its port, and nothing more is expected.
 *
 * A MOVED that was sent in part counts as sent.  A side that closes its port sends END on each
 * connection that it has not ended, unless it is in a packet there.
 */
#include <assert.h>

#include "transport/tcp/tcp.h"

/* Returns whether a connection is the one that stays, of two to a peer; both sides decide alike. */
static bool settle_is_preferred(const struct ski_tcp_conn *conn)
{
    return conn->initiator ? conn->port->pe < conn->pe : conn->pe < conn->port->pe;
}

/* Returns whether the first one stays, of two connections with the same initiator. */
static bool settle_precedes(const struct ski_tcp_conn *a, const struct ski_tcp_conn *b)
{
    const uint64_t *x = a->hello.nonce, *y = b->hello.nonce;

    return x[0] < y[0] || (x[0] == y[0] && x[1] < y[1]);
}

/* Returns the connection to a PE that stays for a rail, if it is open; or NULL. */
static struct ski_tcp_conn *settle_find_kept(struct ski_port *port, int pe, unsigned rail)
{
    struct ski_tcp_conn *kept = NULL;

    for (struct ski_tcp_conn *conn = *ski_tcp_conn_bucket(port, pe); conn;
         conn                      = conn->next_in_bucket)
        if (conn->pe == pe && conn->rail == rail && ski_tcp_can_send(conn) &&
            settle_is_preferred(conn) && (!kept || settle_precedes(conn, kept)))
            kept = conn;
    return kept;
}

/* Lets a peer send on @p kept from now on.  Returns false if a packet was sent in part on another
 * connection: the next flush tries again. */
static bool settle_switch(struct ski_peer *peer, struct ski_tcp_conn *kept)
{
    struct ski_tcp_conn *old = peer->conn;

    if (old == kept)
        return true;
    peer->unsettled = old && old->state == SKI_TCP_OPEN && ski_tcp_mid_packet(peer);
    if (peer->unsettled)
        return false;
    if (old && old->state == SKI_TCP_OPEN)
        ski_tcp_want_writable(old, false);
    peer->conn = kept;
    ski_tcp_sendq_list(peer);
    return true;
}

bool ski_tcp_send_end(struct ski_tcp_conn *conn, enum ski_frame_kind kind)
{
    uint64_t     end;
    struct iovec part;

    if (!conn->end_kind)
        conn->end_kind = (unsigned char)kind;
    end  = ski_frame_head((enum ski_frame_kind)conn->end_kind, 0);
    part = (struct iovec){(char *)&end + conn->end_bytes, sizeof end - conn->end_bytes};
    conn->end_bytes += ski_tcp_write(conn, &part, 1);
    conn->end_sent = conn->end_bytes == sizeof end;
    return conn->end_sent;
}

/* Records whether packets may still arrive on a connection that is not kept. */
static void settle_note_left(struct ski_tcp_conn *conn)
{
    bool left = !conn->in.ended;

    conn->port->left += left;
    conn->port->left -= conn->left;
    conn->left = left;
}

/* Ends the stream of a connection that is not kept, and closes it if the peer has done so, too. */
static void settle_retire(struct ski_tcp_conn *conn)
{
    if (!conn->end_sent)
        ski_tcp_send_end(conn, SKI_FRAME_MOVED); /* if there is no room: the next check sends it */
    if (conn->end_sent && conn->in.ended)
        ski_tcp_conn_close(conn);
}

void ski_tcp_settle(struct ski_port *port, int pe, unsigned rail)
{
    struct ski_tcp_conn *kept = settle_find_kept(port, pe, rail), *next;
    struct ski_peer     *peer = kept ? ski_tcp_peer_of(kept) : NULL;

    bool switched;

    if (!kept || (peer && peer->lost))
        return;
    switched = !peer || settle_switch(peer, kept);
    for (struct ski_tcp_conn *conn = *ski_tcp_conn_bucket(port, pe); conn; conn = next) {
        next = conn->next_in_bucket;
        if (conn->pe != pe || conn->rail != rail || conn == kept || conn->state != SKI_TCP_OPEN)
            continue;
        settle_note_left(conn);
        if (switched)
            settle_retire(conn);
    }
}
