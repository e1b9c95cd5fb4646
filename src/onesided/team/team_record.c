/* SPDX-License-Identifier: Apache-2.0 */
/* team_record.c - records of calls in flight (see team_record.h). */
#include "onesided/team/team_record.h"

#include "base/assert.h"
#include "base/memory.h"
#include "onesided/pe/onesided_pe.h"

/* Returns the entry of the table for call @p number. */
static struct ski_team_call **team_entry(struct ski_team *team, uint32_t number)
{
    ski_assert(team->table_size && (team->table_size & (team->table_size - 1)) == 0);
    return &team->table[number & (team->table_size - 1)];
}

struct ski_team_call *ski_team_call_find(struct ski_team *team, uint32_t number)
{
    struct ski_team_call *call = team->table_size ? *team_entry(team, number) : NULL;

    return call && call->number == number ? call : NULL;
}

/* Doubles the table: numbers in flight are close together, so in a table that is large enough each
 * has an entry of its own. */
static void team_table_grow(struct ski_team *team)
{
    struct ski_team_call **old  = team->table;
    uint32_t               size = team->table_size;

    team->table_size = size ? 2 * size : 8;
    team->table      = ski_calloc(team->table_size, sizeof *team->table);
    for (uint32_t i = 0; i < size; i++)
        if (old[i])
            *team_entry(team, old[i]->number) = old[i];
    free(old);
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
    while (team->table_size == 0 || *team_entry(team, number))
        team_table_grow(team);
    *team_entry(team, number) = call;
    team->records++;
    return call;
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

    ski_assert(*team_entry(call->team, call->number) == call && call->team->records > 0);
    *team_entry(call->team, call->number) = NULL;
    call->team->records--;
    team_call_clear(call);
    call->next        = teams->free_calls;
    teams->free_calls = call;
}

void ski_team_calls_end(struct ski_team *team)
{
    for (uint32_t i = 0; i < team->table_size; i++) {
        struct ski_team_call *call = team->table[i];

        if (!call)
            continue;
        call->temp = NULL; /* it goes with the arena */
        team_call_clear(call);
        free(call);
    }
    free(team->table);
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
