/* SPDX-License-Identifier: Apache-2.0 */
/* team_split.h - begin and end of the teams of a PE. */
#ifndef SKI_TEAM_SPLIT_H
#define SKI_TEAM_SPLIT_H

struct ski_pe;

/** Initialises the teams of @p self, which are SKUA_TEAM_ALL. */
void ski_teams_begin(struct ski_pe *self);

/** Frees what the teams of @p self own. */
void ski_teams_end(struct ski_pe *self);

#endif
