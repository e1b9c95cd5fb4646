/* SPDX-License-Identifier: Apache-2.0 */
/* team_record.h - the calls of a team that are in flight on this member. */
#ifndef SKI_TEAM_RECORD_H
#define SKI_TEAM_RECORD_H

#include <skua/completion.h>

#include "onesided/team/schedule_step.h"
#include "onesided/team/team.h"
#include "onesided/team/team_describe.h"

#define SKI_STEP_NONE UINT32_MAX /* no step of a schedule */

#define SKI_ARRIVALS_INLINE 12

/* Where the message with a tag is stored. */
struct ski_arrival {
    skua_msg *msg;      /* NULL until it has arrived                        */
    uint32_t  step;     /* the RECV, or SKI_STEP_NONE                       */
    bool      in_place; /* its data are, or are being, received in place    */
};

/* The data of SKI_PACKET_ADDRESS and SKI_PACKET_OFFER, after the head. */
struct ski_team_address {
    uint64_t address;
    uint64_t bytes;
};

/* A call on this member. */
struct ski_team_call {
    struct ski_team        *team; /* of a record that can be reused: undefined */
    struct ski_team_call   *next; /* record that can be reused */
    uint32_t                number;
    bool                    made;      /* this member has made the call */
    bool                    begun;     /* its schedule is executed       */
    struct ski_team_kind    kind;      /* of the first packet, or of the call */
    int32_t                 kind_rank; /* the rank that `kind` came from, for errors */
    struct ski_list         early;     /* packets, until the call is made */
    uint32_t                pc;        /* the next step */
    uint32_t                lent;      /* SENDs whose memory is lent, or which want TAKEN */
    uint64_t                cost;      /* bytes of the window that its end releases */
    struct ski_team_address offer;   /* where the root of a gather wants this member's block ... */
    bool                    offered; /* ... once it has said so */
    size_t                  passed;  /* bytes of a block that this member passes, for errors */
    char                   *buffer[3]; /* by enum ski_buffer_name */
    skua_msg               *temp;      /* contains the temporary memory, or NULL */
    skua_completion         done;
    struct ski_schedule     schedule;
    struct ski_arrival     *arrival; /* by tag */
    struct ski_arrival      few[SKI_ARRIVALS_INLINE];
};

/** Returns the record of call @p number, or NULL. */
struct ski_team_call *ski_team_call_find(struct ski_team *team, uint32_t number);

/** Returns a new record of call @p number, of a @p kind that rank @p rank has reported. */
struct ski_team_call *ski_team_call_new(struct ski_pe *self, struct ski_team *team, uint32_t number,
                                        const struct ski_team_kind *kind, int rank);

/** Ends a record. */
void ski_team_call_release(struct ski_pe *self, struct ski_team_call *call);

/** Returns how many calls of @p team are in flight on this member, or were made by others only. */
uint32_t ski_team_calls(const struct ski_team *team);

/** Frees the records of @p team. */
void ski_team_calls_end(struct ski_team *team);

/** Frees the records that can be reused. */
void ski_team_free_calls_end(struct ski_team_pe *teams);

#endif
