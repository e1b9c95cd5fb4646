/* SPDX-License-Identifier: Apache-2.0 */
/* team.c - teams: their names and members (see team.h). */
#include "onesided/team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/region_table.h"
#include "onesided/region/symmetric_alloc.h"

struct ski_team *ski_team_find(const struct ski_pe *self, uint64_t name)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;
    struct ski_team    *team;

    if (SKI_LIKELY(name == SKI_TEAM_ALL))
        return &teams->all;
    team = *ski_team_bucket(teams, name);
    while (team && team->name != name)
        team = team->next;
    return team;
}

const char *ski_team_str(uint64_t name, char text[SKI_TEAM_STR])
{
    if (name == SKI_TEAM_ALL)
        return "SKUA_TEAM_ALL";
    if (name == 0)
        return "SKUA_TEAM_NONE";
    snprintf(text, SKI_TEAM_STR, "team %u.%u", (unsigned)(name >> 32), (unsigned)name);
    return text;
}

/* The arguments: the public function, the PE, the team, and the rule. */
#define TEAM_NOT_A_MEMBER "%s: PE %d is not a member of %s; %s"

/* Returns which rule a PE breaks that is no member of the team @p name. */
static const char *team_rule(const struct ski_pe *self, uint64_t name)
{
    return (uint32_t)name > 0 && (uint32_t)name <= ski_onesided_pe(self)->team->gone
               ? "its job was restarted on another number of PEs, where the program splits again"
               : "only members that have not destroyed a team use it";
}

/* Ends the job: the caller of @p call is no member of the team @p name. */
static SKI_COLD _Noreturn void team_not_a_member(const struct ski_pe *self, const char *call,
                                                 uint64_t name)
{
    char text[SKI_TEAM_STR];

    ski_misuse(TEAM_NOT_A_MEMBER, call, self->pe, ski_team_str(name, text), team_rule(self, name));
}

struct ski_team *ski_team_of(const struct ski_pe *self, const char *call, skua_team team)
{
    struct ski_team *found = ski_team_find(self, (uint64_t)(uintptr_t)team);

    if (SKI_UNLIKELY(!found || ski_pe_hidden(self)))
        team_not_a_member(self, call, (uint64_t)(uintptr_t)team);
    return found;
}

skua_status ski_team_get(const struct ski_pe *self, const char *call, skua_team team,
                         struct ski_team **found)
{
    char text[SKI_TEAM_STR];

    *found = ski_pe_hidden(self) ? NULL : ski_team_find(self, (uint64_t)(uintptr_t)team);
    if (*found)
        return SKUA_OK;
    return ski_refuse(SKUA_ERR_INVAL, TEAM_NOT_A_MEMBER, call, self->pe,
                      ski_team_str((uint64_t)(uintptr_t)team, text),
                      team_rule(self, (uint64_t)(uintptr_t)team));
}

int ski_team_rank_of(const struct ski_team *team, int pe)
{
    int low = 0, high = team->size;

    if (!team->pe)
        return pe >= 0 && pe < team->size ? pe : -1;
    while (low < high) {
        int middle = low + (high - low) / 2;

        if (team->pe[team->by_pe[middle]] < pe)
            low = middle + 1;
        else
            high = middle;
    }
    return low < team->size && team->pe[team->by_pe[low]] == pe ? team->by_pe[low] : -1;
}

/* ---- queries ------------------------------------------------------------------------- */

/* Ends the job if @p team has no @p rank. */
static void team_check_rank(const char *call, const struct ski_team *team, int rank)
{
    char text[SKI_TEAM_STR];

    if (SKI_UNLIKELY(rank < 0 || rank >= team->size))
        ski_misuse("%s: %s has no rank %d; its ranks are 0 to %d", call,
                   ski_team_str(team->name, text), rank, team->size - 1);
}

int skua_team_pe(skua_team team)
{
    return ski_team_of(SKI_SELF(), __func__, team)->rank;
}

int skua_team_pes(skua_team team)
{
    return ski_team_of(SKI_SELF(), __func__, team)->size;
}

int skua_team_pe_of(skua_team team, int rank)
{
    const struct ski_team *found = ski_team_of(SKI_SELF(), __func__, team);

    team_check_rank(__func__, found, rank);
    return ski_team_pe_at(found, rank);
}

int skua_team_translate(skua_team team, int rank, skua_team to)
{
    struct ski_pe         *self = SKI_SELF();
    const struct ski_team *from = ski_team_of(self, __func__, team);

    team_check_rank(__func__, from, rank);
    return ski_team_rank_of(ski_team_of(self, __func__, to), ski_team_pe_at(from, rank));
}

/* ---- symmetric memory ------------------------------------------------------------------ */

skua_status skua_region_create_team(skua_team team, size_t bytes, skua_region *region)
{
    struct ski_pe   *self = SKI_SELF();
    struct ski_team *found;
    int             *pes    = NULL;
    skua_status      status = ski_team_get(self, __func__, team, &found);
    uint32_t         index;

    if (status != SKUA_OK)
        return status;
    index = (uint32_t)found->rank;
    if (found->pe) { /* the region lists its PEs in ascending order */
        pes = ski_malloc((size_t)found->size * sizeof *pes);
        for (int i = 0; i < found->size; i++) {
            pes[i] = found->pe[found->by_pe[i]];
            if (pes[i] == self->pe)
                index = (uint32_t)i;
        }
    }
    status = ski_symmetric_create(self, __func__, pes, (uint32_t)found->size, index, bytes, region);
    free(pes);
    if (status == SKUA_OK)
        ski_region_set_site(region->id, __builtin_return_address(0));
    return status;
}
