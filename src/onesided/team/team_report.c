/* SPDX-License-Identifier: Apache-2.0 */
/* team_report.c - see team_report.h. */
#include "onesided/team/team_report.h"

#include "core/pe/pe.h"
#include "core/sched/wait_report.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/team_record.h"
#include "onesided/team/team_slot.h"

#define REPORTED_MEMBERS 8

/* Returns whether this member has made the call of a record. */
static bool team_report_is_made(const void *record)
{
    return ((const struct ski_team_call *)record)->made;
}

/* Appends the members of a team that a split has made, which its name does not say. */
static void team_report_members(struct ski_text *text, const struct ski_team *team)
{
    int named = team->size <= REPORTED_MEMBERS ? team->size : REPORTED_MEMBERS;

    ski_text_add(text, " (%d members: PEs", team->size);
    for (int rank = 0; rank < named; rank++)
        ski_text_add(text, "%s %d", rank ? "," : "", team->pe ? team->pe[rank] : rank);
    ski_text_add(text, "%s)", named < team->size ? ", ..." : "");
}

static void team_report_add(struct ski_text *text, uint32_t number, const struct ski_team *team,
                            const struct ski_team_kind *kind)
{
    char call[SKI_DESCRIBE_STR], name[SKI_TEAM_STR];

    ski_text_item(text, "call %u of %s", number + 1, ski_team_str(team->name, name));
    if (team->name != SKI_TEAM_ALL)
        team_report_members(text, team);
    ski_text_add(text, ", %s, waits for other members", ski_collective_describe(kind, call));
}

/* Appends the oldest call of a team, which slots make or messages. */
static void team_report_team(const struct ski_team *team, struct ski_text *text)
{
    const struct ski_small_call *small = ski_team_slots_oldest(team->slots);
    const struct ski_team_call  *call  = ski_number_first(&team->table, team_report_is_made);

    if (small && (!call || (int32_t)(small->team_call - call->number) < 0))
        team_report_add(text, small->team_call, team, &small->kind);
    else if (call)
        team_report_add(text, call->number, team, &call->kind);
}

void ski_teams_report(const struct ski_pe *self, struct ski_text *text)
{
    const struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    team_report_team(&teams->all, text);
    for (int i = 0; i < SKI_TEAM_BUCKETS; i++)
        for (const struct ski_team *team = teams->bucket[i]; team; team = team->next)
            team_report_team(team, text);
}
