/* SPDX-License-Identifier: Apache-2.0 */
/* team_saved.c - see team_saved.h. */
#include "onesided/team/team_saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/team_record.h"
#include "onesided/team/team_split.h"

/* ---- saving ------------------------------------------------------------------------------- */

void ski_team_each_saved(const struct ski_pe *self, ski_saved_team_fn fn, void *arg)
{
    const struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    for (int i = 0; i < SKI_TEAM_BUCKETS; i++)
        for (const struct ski_team *team = teams->bucket[i]; team; team = team->next)
            fn(&(struct ski_saved_team){team->name, (uint64_t)team->size}, team->pe, arg);
}

/* Returns a team of this PE with a call in flight, or NULL. */
static const struct ski_team *team_saved_busy(const struct ski_team_pe *teams)
{
    if (ski_team_calls(&teams->all))
        return &teams->all;
    for (int i = 0; i < SKI_TEAM_BUCKETS; i++)
        for (const struct ski_team *team = teams->bucket[i]; team; team = team->next)
            if (ski_team_calls(team))
                return team;
    return NULL;
}

bool ski_team_saved_possible(const struct ski_pe *self, char *why, size_t room)
{
    const struct ski_team *busy = team_saved_busy(ski_onesided_pe(self)->team);
    char                   text[SKI_TEAM_STR];

    if (busy)
        snprintf(why, room,
                 "%s cannot be saved: %u of its collectives have been called by some members and "
                 "not by others; let all members call them before the checkpoint, or after",
                 ski_team_str(busy->name, text), ski_team_calls(busy));
    return !busy;
}

uint32_t ski_team_numbers(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->team->numbers;
}

uint32_t ski_team_all_calls(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->team->all.calls;
}

/* ---- restoring ----------------------------------------------------------------------------- */

void ski_team_restore_numbers(struct ski_pe *self, uint32_t numbers, bool gone)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    teams->gone = gone ? numbers : 0;
    if (teams->numbers < numbers)
        teams->numbers = numbers;
}

bool ski_saved_team_valid(const struct ski_saved_team *saved, const int32_t *pe, int self_pe,
                          int pes, uint32_t numbers)
{
    bool *member = ski_calloc((size_t)pes, sizeof *member);
    bool  valid  = saved->members > 0 && saved->members <= (uint64_t)pes &&
                 saved->name != SKI_TEAM_ALL && (uint32_t)saved->name > 0 &&
                 (uint32_t)saved->name <= numbers && saved->name >> 32 == (uint32_t)pe[0];

    for (uint64_t rank = 0; valid && rank < saved->members; rank++) {
        valid = pe[rank] >= 0 && pe[rank] < pes && !member[pe[rank]];
        if (valid)
            member[pe[rank]] = true;
    }
    valid = valid && member[self_pe];
    free(member);
    return valid;
}

bool ski_team_restore(struct ski_pe *self, const struct ski_saved_team *saved, const int32_t *pe)
{
    struct ski_team *team;

    if (ski_team_find(self, saved->name))
        return false;
    team       = ski_calloc(1, sizeof *team);
    team->name = saved->name;
    team->size = (int32_t)saved->members;
    team->pe   = ski_malloc(saved->members * sizeof *team->pe);
    memcpy(team->pe, pe, saved->members * sizeof *team->pe);
    ski_team_add(self, team);
    return true;
}
