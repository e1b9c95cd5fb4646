/* SPDX-License-Identifier: Apache-2.0 */
/* team_packet.h - packets of team collectives that arrive: in place, or for a team that is new. */
#ifndef SKI_TEAM_PACKET_H
#define SKI_TEAM_PACKET_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/message.h>

struct ski_pe;
struct ski_small_call;
struct ski_team;

/** Returns how many bytes of DATA, whose packet has the header @p msg and begins with @p data, are
 *  received in place, at *@p to.  0: the packet is received like any other. */
size_t ski_team_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Returns a message that represents DATA received in place.  NULL: they were not received
 *  @p whole; their sender may repeat them. */
skua_msg *ski_team_placed(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole);

/** Ends the job if a packet of the call @p made, which this member makes by slots, has arrived:
 *  another member makes another call. */
void ski_team_check_early(struct ski_team *team, const struct ski_small_call *made);

/** Delivers the packets that waited for @p team, which is new. */
void ski_team_claim(struct ski_pe *self, struct ski_team *team);

#endif
