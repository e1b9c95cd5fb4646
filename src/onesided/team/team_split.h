/* SPDX-License-Identifier: Apache-2.0 */
/* team_split.h - start and end of the teams of a PE, and the addition of one. */
#ifndef SKI_TEAM_SPLIT_H
#define SKI_TEAM_SPLIT_H

struct ski_pe;
struct ski_team;

/** Initialises the teams of @p self, which are SKUA_TEAM_ALL. */
void ski_teams_begin(struct ski_pe *self);

/** Frees what the teams of @p self own. */
void ski_teams_end(struct ski_pe *self);

/** Makes @p team, which has a name and the PEs of its members, one of the teams of @p self. */
void ski_team_add(struct ski_pe *self, struct ski_team *team);

#endif
