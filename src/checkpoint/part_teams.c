/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_teams.c - part `teams`: the teams that the PE is a member of.
 *
 *      struct ski_saved_team | the PEs of its members, by rank | struct ski_saved_team ...
 *
 * Teams are restored on the same number of PEs.  On another number they are gone, since their ranks
 * are PEs of the former job: a call with such a team is refused with this reason (team.c).
 */
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/parts.h"
#include "onesided/team/team_saved.h"

static void teams_save_one(const struct ski_saved_team *saved, const int32_t *pe, void *to)
{
    ski_image_write(to, saved, sizeof *saved);
    ski_image_write(to, pe, saved->members * sizeof *pe);
}

void ski_part_teams_save(struct ski_pe *self, struct ski_image_writer *to,
                         const struct ski_image_common *common)
{
    (void)common;
    ski_team_each_saved(self, teams_save_one, to);
}

/* Reads a team of PE @p pe; *@p list are the PEs of its members.  Returns whether it is valid. */
static bool teams_read(const struct ski_restart *restart, struct ski_image_reader *from, int pe,
                       struct ski_saved_team *saved, const int32_t **list)
{
    return ski_image_get(from, saved) && saved->members > 0 &&
           saved->members <= ski_image_left(from) / sizeof **list &&
           (*list = ski_image_read(from, saved->members * sizeof **list)) != NULL &&
           ski_saved_team_valid(saved, *list, pe, restart->common.pes, restart->common.teams);
}

const char *ski_record_team(struct ski_pe *self, struct ski_image_reader *record)
{
    const struct ski_restart *restart = ski_checkpoint_of(self)->restart;
    struct ski_saved_team     saved;
    const int32_t            *list;

    if (restart->common.pes != self->pes || !teams_read(restart, record, self->pe, &saved, &list) ||
        !ski_team_restore(self, &saved, list))
        return "a team is damaged: its name and its members do not agree";
    return NULL;
}

const char *ski_part_teams_restore(struct ski_pe *self, struct ski_image_reader *from,
                                   struct ski_restart *restart)
{
    while (ski_image_left(from) > 0) {
        struct ski_saved_team saved;
        const int32_t        *list;

        if (!teams_read(restart, from, restart->reading, &saved, &list))
            return "a team is damaged: its name and its members do not agree";
        if (restart->common.pes == self->pes)
            ski_record_send(self, restart->reading, SKI_RECORD_TEAM, &saved, sizeof saved, list,
                            saved.members * sizeof *list);
    }
    return NULL;
}
