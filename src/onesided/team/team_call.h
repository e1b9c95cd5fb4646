/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_call.h - calls of team collectives: their records, packets and progress.
 *
 * Each member numbers the calls of a team; all members make them in the same order.  A call has a
 * schedule (schedule.h), which is executed as far as messages have arrived: when the call begins,
 * and whenever a packet for it arrives.  A packet that arrives before the call is made waits in a
 * record without a schedule.
 *
 * Packets.  All begin with struct ski_team_head.
 *
 *      DATA     the bytes of a SEND; copied by the sender, and stored by the receiver's RECV
 *      ADDRESS  the address of a SEND to a PE of the host: the memory is *lent*.  The receiver
 * copies from there: by load and store in the arena and in its own process, by cross-memory attach
 * elsewhere.  So large data are copied once. TAKEN    the answer to ADDRESS: the memory is not lent
 * any more REFUSED  the answer to ADDRESS if the system does not let the receiver read; the sender
 * then sends DATA CREDIT   bytes of DATA that the receiver has stored
 *
 * Flow control.  Each team has a window (core/collective/collective.h), because only calls of one
 * team begin in the same order on all members: were calls of two teams in one window, two members
 * might each defer what the other one waits for.  A call counts its DATA; memory lent needs no
 * room. In most collectives no member can run ahead of another by more than one call, and the bytes
 * leave the count when the call is over.  In those with a root, and in scans, data travel in one
 * direction: their bytes leave the count with a credit of the receiver.  A receiver accumulates the
 * credits for a sender up to an eighth of a window; once a quarter of the sender's window is used,
 * its packets request their credit at once.
 */
#ifndef SKI_TEAM_CALL_H
#define SKI_TEAM_CALL_H

#include <skua/completion.h>

#include "onesided/team/schedule.h"
#include "onesided/team/team.h"

#define SKI_TEAM_LEAST 24 /* bytes of a packet: its head */

/* Collectives. */
enum ski_collective {
    SKI_COLLECTIVE_BARRIER,
    SKI_COLLECTIVE_BROADCAST,
    SKI_COLLECTIVE_REDUCE,
    SKI_COLLECTIVE_ALLREDUCE,
    SKI_COLLECTIVE_SCAN,
    SKI_COLLECTIVE_EXSCAN,
    SKI_COLLECTIVE_GATHER,
    SKI_COLLECTIVE_GATHERV,
    SKI_COLLECTIVE_SCATTER,
    SKI_COLLECTIVE_SCATTERV,
    SKI_COLLECTIVE_ALLGATHER,
    SKI_COLLECTIVE_ALLGATHERV,
    SKI_COLLECTIVE_ALLTOALL,
    SKI_COLLECTIVE_ALLTOALLV,
    SKI_COLLECTIVE_SPLIT,
    SKI_COLLECTIVES /* their number */
};

/* What must be the same on all members. */
struct ski_team_kind {
    uint8_t  collective; /* enum ski_collective */
    uint8_t  type;       /* skua_type, of reductions */
    uint16_t op;         /* of reductions */
    int32_t  root;       /* rank, or 0 */
};

/* The head of every packet of a team. */
struct ski_team_head {
    uint64_t             team;
    uint32_t             call; /* its number, modulo 2^32 */
    uint32_t             tag : 24, packet : 7, want_credit : 1;
    struct ski_team_kind kind;
};

#define SKI_ARRIVALS_INLINE 12

/* Where the message with a tag is stored. */
struct ski_arrival {
    skua_msg *msg;  /* NULL until it has arrived  */
    uint32_t  step; /* the RECV; UINT32_MAX: none */
};

/* A call on this member. */
struct ski_team_call {
    struct ski_team      *team; /* of a record that can be reused: undefined */
    struct ski_team_call *next; /* record that can be reused */
    uint32_t              number;
    bool                  made;      /* this member has made the call */
    bool                  begun;     /* its schedule is executed       */
    struct ski_team_kind  kind;      /* of the first packet, or of the call */
    int32_t               kind_rank; /* the rank that `kind` came from, for errors */
    struct ski_list       early;     /* packets, until the call is made */
    uint32_t              pc;        /* the next step */
    uint32_t              lent;      /* SENDs whose memory is lent */
    uint64_t              cost;      /* bytes of the window that its end releases */
    char                 *buffer[3]; /* by enum ski_buffer_name */
    skua_msg             *temp;      /* contains the temporary memory, or NULL */
    skua_completion       done;
    struct ski_schedule   schedule;
    struct ski_arrival   *arrival; /* by tag */
    struct ski_arrival    few[SKI_ARRIVALS_INLINE];
};

/** Returns the record of the next call of @p team, with an empty schedule.  The caller adds steps,
 *  then calls ski_team_call_make(). */
struct ski_team_call *ski_team_call_next(struct ski_pe *self, struct ski_team *team,
                                         const struct ski_team_kind *kind);

/** Makes a call whose schedule and buffers are complete.  Waits while the window of its team is
 *  full, unless in a handler.  The call may be over when this returns. */
void ski_team_call_make(struct ski_pe *self, struct ski_team_call *call);

/** Delivers the packets that waited for @p team, which is new. */
void ski_team_claim(struct ski_pe *self, struct ski_team *team);

/** Frees the records of @p team. */
void ski_team_calls_end(struct ski_team *team);

/** Frees the records that can be reused. */
void ski_team_free_calls_end(struct ski_team_pe *teams);

#endif
