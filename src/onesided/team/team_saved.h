/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_saved.h - teams in images of PEs (checkpoint/part_teams.c).
 *
 * A member saves the name of each of its teams and the PEs of all members, and restores them on a
 * job of as many PEs.  No call is in flight, so the numbers of calls begin at 0 again, on all
 * members alike, and its small calls are made by messages, not by slots (team_slot.h), whose memory
 * went with the former job.  Later splits get numbers above those of the former job: a name that is
 * kept in the state of a program never becomes that of another team.
 */
#ifndef SKI_TEAM_SAVED_H
#define SKI_TEAM_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ski_pe;

/* A team in an image; the PEs of its members follow, by rank. */
struct ski_saved_team {
    uint64_t name;
    uint64_t members;
};

/* Called for a team and the PEs of its members, by rank. */
typedef void (*ski_saved_team_fn)(const struct ski_saved_team *saved, const int32_t *pe, void *arg);

/** Calls @p fn for each team of @p self but SKUA_TEAM_ALL. */
void ski_team_each_saved(const struct ski_pe *self, ski_saved_team_fn fn, void *arg);

/** Writes to @p why the team of @p self that has a collective or split in flight.  Returns whether
 *  there is none. */
bool ski_team_saved_possible(const struct ski_pe *self, char *why, size_t room);

/** Returns the highest number that @p self has given to a split. */
uint32_t ski_team_numbers(const struct ski_pe *self);

/** Returns how many collectives of SKUA_TEAM_ALL @p self has called. */
uint32_t ski_team_all_calls(const struct ski_pe *self);

/** Makes the numbers of @p self begin above @p numbers, those of the job that it was restarted
 *  from; its teams are @p gone: the job has another number of PEs. */
void ski_team_restore_numbers(struct ski_pe *self, uint32_t numbers, bool gone);

/** Returns whether a team, with the PEs @p pe of its members, can be one of PE @p self_pe in a job
 *  of @p pes PEs which has given numbers up to @p numbers. */
bool ski_saved_team_valid(const struct ski_saved_team *saved, const int32_t *pe, int self_pe,
                          int pes, uint32_t numbers);

/** Restores a valid team on @p self.  Returns false if it exists already. */
bool ski_team_restore(struct ski_pe *self, const struct ski_saved_team *saved, const int32_t *pe);

#endif
