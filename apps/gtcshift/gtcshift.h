/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gtcshift.h - the shift of GTC-P: particles go to the domain that they have moved to.
 *
 * A shift is a sequence of rounds. In a round each domain sends the particles that have left it to
 * the domains on its left and right, which may send them on in the next round. Before each round
 * except the first, an allreduce determines whether any particle must still move. It also separates
 * the rounds: when one begins, all particles of the one before have arrived and been unpacked, so
 * one buffer for each direction suffices, at the sender as at the receiver.
 *
 *   messages    particles are packed into messages, and unpacked after those of the domain;
 *   pscw        numbers of particles are exchanged first, then their places in the receive buffer,
 *               which both neighbours share; puts between post, start, complete and wait follow;
 *   signal      a put and a notification into the receive buffer of this direction; the number of
 *               particles travels with them;
 *   pipelined   a put of each field to its final place, in chunks, while the next chunk is packed;
 *               nothing is unpacked. The arrays of a domain have an area for each neighbour, so
 *               neither needs to know how many particles the other one sends. The numbers of
 *               particles for all domains of a PE follow in one put, whose notification tells
 *               that the particles have arrived.
 *
 * Domains are distributed over PEs round robin, so that all neighbours are on other PEs, as in the
 * paper.
 */
#ifndef GTCSHIFT_H
#define GTCSHIFT_H

#include <skua/skua.h>

#include "common/stopwatch.h"
#include "options.h"
#include "particles.h"

/** The memory of a domain that one neighbour writes; each side has a slot, in cache lines of its
 *  own. */
struct shift_slot {
    skua_notify arrived; /* counts rounds whose particles arrived */
    skua_notify ready;   /* pscw: counts numbers and places */
    int64_t     count;   /* number of particles */
    int64_t     place;   /* pscw: position in the neighbour's receive buffer */
    char        fill[96];
};

/** Pipelined: the numbers of particles that another PE has sent to each domain of a PE. */
struct shift_counts {
    skua_notify arrived; /* counts rounds whose particles arrived */
    int64_t     count[][SHIFT_SIDES];
};

/** Pipelined: a PE with neighbours of domains of this PE. */
struct shift_peer {
    int                  pe;
    skua_gaddr           there; /* struct shift_counts of this PE at that one */
    struct shift_counts *here;  /* struct shift_counts of that PE at this one */
    struct shift_counts *sent;  /* the numbers that are sent */
};

/** The beginning of a receive buffer. */
struct shift_packed {
    int64_t count, unused;
    double  z[];
};

/** A domain. The arrays of its particles, its slots and its receive buffers lie in the region. */
struct shift_domain {
    struct particles   p;
    struct shift_slot *slot;                /* slots of the left and of the right neighbour */
    char              *buffer[SHIFT_SIDES]; /* receive buffers, struct shift_packed         */
    /* Send buffers, unless the receiver's is written directly. */
    struct shift_packed *sent[SHIFT_SIDES];
    /* Pipelined: position of our last particles at the neighbour. */
    int64_t            place[SHIFT_SIDES];
    struct shift_peer *peer[SHIFT_SIDES]; /* pipelined: the PE of the neighbour */
    /* Global addresses of the neighbours' memory. */
    skua_gaddr there[SHIFT_SIDES];
    char      *near[SHIFT_SIDES]; /* the neighbours' memory; NULL: on another host */
    skua_msg  *msg[SHIFT_SIDES];
    int64_t    fresh[2][2]; /* ranges of arrived particles: begin, end */
};

/** The state of a PE. */
struct shift {
    struct gtcshift_options options;
    struct stopwatch        watch;
    skua_region             region;
    /* Bytes of a receive buffer, of a domain and of a struct shift_counts. */
    size_t               buffer_bytes, domain_bytes, counts_bytes;
    struct shift_domain *domain;
    int                  domains; /* number of domains of this PE */
    uint64_t             rounds;  /* number of rounds with the present protocol */
    int                  arrived; /* number of messages that arrived in this round */
    struct shift_peer   *peer;
    int                  peers;
};

/** A protocol. All PEs call each of its functions. */
struct shift_protocol {
    const char *name;
    /** Prepares the first shift, or NULL. */
    void (*open)(struct shift *shift);
    /** Sends the particles that leave, and receives those that arrive. */
    void (*exchange)(struct shift *shift);
    /** Runs after particles have been moved within their arrays; may be NULL. */
    void (*settled)(struct shift *shift);
};

extern const struct shift_protocol shift_messages, shift_pscw, shift_signal, shift_pipelined;

/** Registers handlers, before skua_main(). */
void shift_messages_register(void);

/** Returns the state of the calling PE. */
struct shift *shift_self(void);

/** Returns the PE of a domain. */
int shift_owner(int domain);

/** Returns the offset of the slot that the neighbour on a side writes in a domain's memory. */
static inline size_t shift_slot_offset(int side)
{
    return (size_t)side * sizeof(struct shift_slot);
}

/** Returns the offset of the receive buffer for the neighbour on a side. */
static inline size_t shift_buffer_offset(const struct shift *shift, int side)
{
    return SHIFT_SIDES * sizeof(struct shift_slot) + (size_t)side * shift->buffer_bytes;
}

/** Returns the offset of the particles in a domain's memory. */
static inline size_t shift_field_offset(const struct shift *shift)
{
    return shift_buffer_offset(shift, SHIFT_SIDES);
}

/** Returns the largest number of domains of a PE. */
static inline size_t shift_domains_most(const struct shift *shift)
{
    return ((size_t)shift->options.domains + (size_t)skua_pes() - 1) / (size_t)skua_pes();
}

/** Returns the offset of the struct shift_counts that @p pe writes in the region of a PE. */
static inline size_t shift_counts_offset(const struct shift *shift, int pe)
{
    return shift_domains_most(shift) * shift->domain_bytes + (size_t)pe * shift->counts_bytes;
}

/** Returns the global address of a byte of the memory of a neighbour. */
static inline skua_gaddr shift_there(const struct shift_domain *domain, int side, size_t offset)
{
    return skua_gaddr_add(domain->there[side], (ptrdiff_t)offset);
}

/** Returns the global address of a member of the slot that a domain writes at a neighbour. */
static inline skua_gaddr shift_slot_there(const struct shift_domain *domain, int side,
                                          size_t member)
{
    return shift_there(domain, side, shift_slot_offset(!side) + member);
}

/** Appends packed particles to those of a domain. Ends the job if the arrays are too small. */
void shift_append(struct shift_domain *domain, const double *from, int64_t count);

/** Ends the job if a neighbour announces more particles than the limit. */
void shift_check_count(const struct shift_domain *domain, int64_t count);

#endif
