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
 *      DATA     the bytes of a SEND, which the receiver stores in its RECV
 *      ADDRESS  where the bytes of a SEND lie, to a PE of the host
 *      TAKEN    answers ADDRESS: the receiver has copied the bytes
 *      REFUSED  answers ADDRESS: the receiver cannot read them, and needs DATA
 *      CREDIT   the bytes of DATA that a receiver has stored
 *
 * ADDRESS *lends* memory.  The receiver copies from there: by load and store in the arena and in
 * its own process, by cross-memory attach elsewhere.  So large data are copied once.  Large DATA to
 * another host are sent from where they lie, where the driver can, and received in place if the
 * receiver has made its call: their memory is lent to the driver.
 *
 * Flow control.  Each team has a window (core/collective/collective.h), because only calls of one
 * team begin in the same order on all members: were calls of two teams in one window, two members
 * might each defer what the other one waits for.  A call counts its DATA; memory lent needs no
 * room. In most collectives no member can run ahead of another by more than one call, and the bytes
 * leave the count when the call is over.  In those with a root, and in scans, data travel in one
 * direction: their bytes leave the count with a credit of the receiver.  A receiver accumulates the
 * credits for a sender up to an eighth of a window; once a quarter of the sender's window is used,
 * its packets request their credit at once.
 *
 * A call that finds the window full is deferred, and its caller does not wait: the buffers are the
 * program's, so a deferred call takes no memory but its record.  A caller that waits for the room
 * of one team cannot make the calls of others, on which that room may depend.  Only a member that
 * has some thousand calls of one team deferred waits, so that records are bounded, too.
 */
#ifndef SKI_TEAM_CALL_H
#define SKI_TEAM_CALL_H

#include <skua/completion.h>

#include "onesided/team/schedule_step.h"
#include "onesided/team/team.h"
#include "onesided/team/team_describe.h"

#define SKI_TEAM_LEAST 24 /* bytes of a packet: its head */

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
    skua_msg *msg;      /* NULL until it has arrived                        */
    uint32_t  step;     /* the RECV; UINT32_MAX: none                       */
    bool      in_place; /* its data are, or are being, received in place    */
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

/** Makes a call whose schedule and buffers are complete.  It begins later if the window of its team
 *  is full.  The call may be over when this returns. */
void ski_team_call_make(struct ski_pe *self, struct ski_team_call *call);

/** Returns how many bytes of DATA, whose packet has the header @p msg and begins with @p data, are
 *  received in place, at *@p to.  0: the packet is received as any other one. */
size_t ski_team_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Returns a message that represents DATA received in place.  NULL: they were not received
 *  @p whole; their sender may repeat them. */
skua_msg *ski_team_placed(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole);

/** Delivers the packets that waited for @p team, which is new. */
void ski_team_claim(struct ski_pe *self, struct ski_team *team);

/** Frees the records of @p team. */
void ski_team_calls_end(struct ski_team *team);

/** Frees the records that can be reused. */
void ski_team_free_calls_end(struct ski_team_pe *teams);

#endif
