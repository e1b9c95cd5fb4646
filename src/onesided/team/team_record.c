/* SPDX-License-Identifier: Apache-2.0 */
/* team_record.c - records of calls in flight (see team_record.h). */
#include "onesided/team/team_record.h"

#include "base/assert.h"
#include "base/memory.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/team_slot.h"

struct ski_team_call *ski_team_call_find(struct ski_team *team, uint32_t number)
{
    return ski_number_find(&team->table, number);
}

struct ski_team_call *ski_team_call_new(struct ski_pe *self, struct ski_team *team, uint32_t number,
                                        const struct ski_team_kind *kind, int rank)
{
    struct ski_team_pe   *teams = ski_onesided_pe(self)->team;
    struct ski_team_call *call  = teams->free_calls;

    if (call)
        teams->free_calls = call->next;
    else
        call = ski_malloc(sizeof *call);
    memset(call, 0, offsetof(struct ski_team_call, schedule));
    call->team      = team;
    call->number    = number;
    call->kind      = *kind;
    call->kind_rank = rank;
    call->arrival   = call->few;
    ski_list_init(&call->early);
    ski_schedule_init(&call->schedule);
    ski_number_add(&team->table, number, call);
    team->records++;
    return call;
}

uint32_t ski_team_calls(const struct ski_team *team)
{
    return team->records + ski_team_slots_in_flight(team->slots);
}

/* Frees what a record owns. */
static void team_call_clear(struct ski_team_call *call)
{
    ski_schedule_free(&call->schedule);
    if (call->arrival != call->few)
        free(call->arrival);
    if (call->temp)
        skua_msg_free(call->temp);
}

void ski_team_call_release(struct ski_pe *self, struct ski_team_call *call)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    ski_assert(ski_team_call_find(call->team, call->number) == call && call->team->records > 0);
    ski_number_remove(&call->team->table, call->number);
    call->team->records--;
    team_call_clear(call);
    call->next        = teams->free_calls;
    teams->free_calls = call;
}

/* Frees a record when the job or its team ends. */
static void team_call_free(void *record)
{
    struct ski_team_call *call = record;

    call->temp = NULL; /* it goes with the arena */
    team_call_clear(call);
    free(call);
}

void ski_team_calls_end(struct ski_team *team)
{
    ski_number_clear(&team->table, team_call_free);
    ski_window_destroy(&team->window);
}

void ski_team_free_calls_end(struct ski_team_pe *teams)
{
    while (teams->free_calls) {
        struct ski_team_call *call = teams->free_calls;

        teams->free_calls = call->next;
        free(call);
    }
}
