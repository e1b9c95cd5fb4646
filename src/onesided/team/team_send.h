/* SPDX-License-Identifier: Apache-2.0 */
/* team_send.h - the packets of team collectives, and how they are sent (see team_call.h). */
#ifndef SKI_TEAM_SEND_H
#define SKI_TEAM_SEND_H

#include "core/data/msg.h"
#include "onesided/team/team_record.h"

#define SKI_TEAM_MIN 24 /* bytes of a packet: its head */

/* The head of every packet of a team. */
struct ski_team_head {
    uint64_t             team;
    uint32_t             call; /* its number, modulo 2^32 */
    uint32_t             tag : 24, packet : 6, want_taken : 1, want_credit : 1;
    struct ski_team_kind kind;
};

/* Kinds of packets. */
enum ski_team_packet {
    SKI_PACKET_DATA,
    SKI_PACKET_ADDRESS,
    SKI_PACKET_OFFER,
    SKI_PACKET_STORED,
    SKI_PACKET_TAKEN,
    SKI_PACKET_REFUSED,
    SKI_PACKET_CREDIT
};

/** Returns the head of a packet. */
static inline struct ski_team_head *ski_team_head_of(skua_msg *msg)
{
    return (struct ski_team_head *)(void *)(msg + 1);
}

/** Returns the bytes after the head of a packet. */
static inline char *ski_team_data(skua_msg *msg)
{
    return (char *)(ski_team_head_of(msg) + 1);
}

/** Returns the number of bytes after the head of a packet. */
static inline size_t ski_team_data_bytes(const skua_msg *msg)
{
    return msg->bytes - sizeof(struct ski_team_head);
}

/** Returns whether a SEND must wait until the receiver of an earlier one, which wants TAKEN, has
 *  stored its bytes. */
bool ski_team_send_waits(struct ski_pe *self, const struct ski_team_call *call,
                         const struct ski_step *step);

/** Executes a SEND: sends its bytes, or lends them. */
void ski_team_send(struct ski_pe *self, struct ski_team_call *call, const struct ski_step *step);

/** Returns whether the root of a gather of blocks of @p bytes offers its memory to the others. */
bool ski_team_offers(const struct ski_team *team, size_t bytes);

/** Sends OFFER for each RECV of @p call that offers its memory. */
void ski_team_offer(struct ski_pe *self, const struct ski_team_call *call);

/** Stores the bytes of the SEND that was executed and whose receiver has offered memory, if they
 * are not stored. */
void ski_team_use_offer(struct ski_pe *self, struct ski_team_call *call);

/** Begins an access to memory that @p pe has offered or lent.  Returns false if the job ends: that
 *  memory may be gone. */
bool ski_team_access_begin(struct ski_pe *self, int pe);

/** Ends the access that ski_team_access_begin() began. */
void ski_team_access_end(struct ski_pe *self);

/** Waits until no PE accesses memory that @p self has offered or lent: the job ends, and the
 * program may free that memory. */
void ski_team_end_accesses(struct ski_pe *self);

/** Sends the data of the SEND with @p tag to rank @p rank, which could not read them. */
void ski_team_resend(struct ski_pe *self, struct ski_team_call *call, uint32_t tag, int rank);

/** Sends the sender of @p msg the answer to ADDRESS. */
void ski_team_answer(struct ski_pe *self, const struct ski_team_call *call, const skua_msg *msg,
                     uint32_t tag, enum ski_team_packet packet);

/** Grants the sender of DATA for @p step a credit, if its kind of call needs one.  The credit is
 *  sent at once if the packet @p msg requests it, else with later ones. */
void ski_team_credit(struct ski_pe *self, struct ski_team_call *call, const struct ski_step *step,
                     skua_msg *msg);

#endif
