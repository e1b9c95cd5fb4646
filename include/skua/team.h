/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - teams: ordered groups of PEs with collectives and symmetric memory of their own.
 *
 * A team has members with the *ranks* 0 .. skua_team_pes()-1. SKUA_TEAM_ALL, the team of all PEs,
 * always exists; in it a PE's rank is its number. Other teams are made by splitting one. A PE may
 * be a member of any number of teams. The collectives of a team are in collective.h.
 *
 * A skua_team is a small value, the same on all members, that can be stored and sent in messages.
 * It can be used on the members of the team only: a call by another PE, or after
 * skua_team_destroy(), is misuse. A call that returns a status returns SKUA_ERR_INVAL, logged; any
 * other ends the job with an error.
 *
 * PEs call these functions in start(), in handlers and in user threads.
 */
#ifndef SKUA_TEAM_H
#define SKUA_TEAM_H

#include <stddef.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/region.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** A team. It is a name, not an address: no memory belongs to it. */
typedef struct skua_team_name *skua_team;

/** No team; the value of a zeroed skua_team. */
#define SKUA_TEAM_NONE ((skua_team)0)

/** The team of all PEs. */
#define SKUA_TEAM_ALL ((skua_team)1)

/** The color of a PE that becomes a member of no new team. */
#define SKUA_COLOR_NONE (-1)

/** Splits @p parent into teams, one for each @p color: its members are the PEs that pass this
 *  color, ranked by @p key and, among equal keys, by their rank in @p parent. Collective: all
 *  members of @p parent call it, in order with the collectives of @p parent. Waits for all of them;
 *  messages are delivered meanwhile. *team becomes SKUA_TEAM_NONE for SKUA_COLOR_NONE. Returns
 *  SKUA_ERR_INVAL, logged, if the caller is not a member of @p parent, @p team is NULL or @p color
 *  is less than SKUA_COLOR_NONE, without taking part, and SKUA_ERR_EXIT if the job ends first. */
SKUA_API skua_status skua_team_split(skua_team parent, int color, int key, skua_team *team);

/** Splits @p parent as skua_team_split() does, without waiting: *team, which must stay valid until
 *  then, is set when @p done happens. Misuse ends the job. */
SKUA_API void skua_team_split_nb(skua_team parent, int color, int key, skua_team *team,
                                 skua_completion done);

/** Destroys @p team on the calling PE, which may no longer use it. Not collective and does not
 *  wait. The collectives that the PE has called on it must be complete, and those that other
 *  members have called must have been called here: else returns SKUA_ERR_BUSY, logged, and changes
 *  nothing. Returns SKUA_ERR_INVAL, logged, for SKUA_TEAM_ALL and for a team of which the caller is
 *  not a member. */
SKUA_API skua_status skua_team_destroy(skua_team team);

/** Returns the rank of the calling PE in @p team. */
SKUA_API int skua_team_pe(skua_team team);

/** Returns the number of members of @p team. */
SKUA_API int skua_team_pes(skua_team team);

/** Returns the PE with rank @p rank in @p team. A rank that does not exist ends the job. */
SKUA_API int skua_team_pe_of(skua_team team, int rank);

/** Returns the rank in @p to of the PE with rank @p rank in @p team, or -1 if it is not a member of
 *  @p to. The caller is a member of both. skua_team_translate(SKUA_TEAM_ALL, pe, team) returns the
 *  rank of a PE. */
SKUA_API int skua_team_translate(skua_team team, int rank, skua_team to);

/** Creates a symmetric region on the members of @p team: @p bytes of uninitialised memory on each.
 *  Collective: all members call it in the same order with the same size; in this order, the calls
 *  for teams with the same members count as those for one team. Pieces are addressed by PE, as in
 *  skua_at(region, skua_team_pe_of(team, rank), offset). The region outlives the team.
 *  Waits and fails as skua_region_create(). Returns SKUA_ERR_INVAL, logged, if the caller is not a
 *  member of @p team. */
SKUA_API skua_status skua_region_create_team(skua_team team, size_t bytes, skua_region *region);

SKUA_END_DECLS

#endif
