/* SPDX-License-Identifier: Apache-2.0 */
/* team_board.c - the boards of teams: how they are created, told and freed (see team_slot.h). */
#include "onesided/team/team_board.h"

#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/membarrier.h"
#include "base/memory.h"
#include "core/pe/pe.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/team.h"

#define TEAM_BOARD_BYTES                                                                           \
    offsetof(struct ski_team_board, longer) /* of other teams than SKUA_TEAM_ALL */

/* Returns whether this PE is registered and executes heavy fences before it sleeps.  Where PEs
 * share CPUs they sleep often, and a heavy fence costs more than it saves. */
static bool team_board_membarrier(const struct ski_pe *self)
{
    return ski_cpus_allowed((int)sysconf(_SC_NPROCESSORS_ONLN)) >= self->job->local_pes &&
           ski_membarrier_register();
}

/* Makes the memory at @p memory the board of this PE for a team. */
static struct ski_team_board *team_board_create(const struct ski_pe *self, void *memory)
{
    struct ski_team_board *board = memory;

    memset(board, 0, TEAM_BOARD_BYTES);
    board->membarrier = ski_onesided_pe(self)->team->membarrier;
    return board;
}

/* Returns the slots of a team of which this PE has @p board. */
static struct ski_team_slots *team_board_slots(const struct ski_team *team,
                                               struct ski_team_board *board, size_t bytes)
{
    struct ski_team_slots *slots = ski_calloc(1, sizeof *slots);

    slots->team             = team;
    slots->board            = board;
    slots->bytes            = bytes;
    slots->rank             = team->rank;
    slots->size             = team->size;
    slots->peer[team->rank] = board;
    slots->end              = &slots->first;
    return slots;
}

/* Returns whether the members of a team can have slots. */
static bool team_board_possible(const struct ski_team *team)
{
    return team->near && team->size > 1 && team->size <= SKI_TEAM_SLOT_MEMBERS;
}

void ski_team_board_open(struct ski_pe *self)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;
    void               *memory;

    teams->membarrier = self->job->local_pes > 1 && team_board_membarrier(self);
    if (!self->host || ski_pe_hidden(self) || !team_board_possible(&teams->all))
        return;
    if (ski_span_alloc(self->job->arena, sizeof(struct ski_team_board), &memory) != SKUA_OK)
        ski_fatal("PE %d: the arena has no room for the slots of collectives", self->pe);
    teams->all.slots =
        team_board_slots(&teams->all, team_board_create(self, memory), SKI_TEAM_SLOT_BYTES);
    /* Release: pairs with the acquire in team_board_of(). */
    atomic_store_explicit(&self->host->team_board[self->index], memory, memory_order_release);
}

void *ski_team_board_alloc(struct ski_pe *self)
{
    void *memory = NULL;

    if (self->host && !ski_pe_hidden(self) && self->job->local_pes > 1)
        memory = ski_pool_try(&self->pool, TEAM_BOARD_BYTES);
    return memory ? team_board_create(self, memory) : NULL;
}

void ski_team_board_free(struct ski_pe *self, void *board)
{
    if (board)
        ski_pool_give(&self->pool, board);
}

/* Returns whether @p board, which another member has told, can be a board. */
static bool team_board_valid(const struct ski_pe *self, const void *board)
{
    const char *last = (const char *)board + TEAM_BOARD_BYTES - 1;

    return board && (uintptr_t)board % SKI_CACHE_LINE == 0 &&
           ski_arena_contains(self->job->arena, board) &&
           ski_arena_contains(self->job->arena, last);
}

bool ski_team_slots_begin(struct ski_pe *self, struct ski_team *team, void *const *boards)
{
    if (!team_board_possible(team))
        return false;
    for (int rank = 0; rank < team->size; rank++)
        if (!team_board_valid(self, boards[rank]))
            return false;
    team->slots = team_board_slots(team, boards[team->rank], SKI_TEAM_SLOT_INLINE);
    for (int rank = 0; rank < team->size; rank++)
        team->slots->peer[rank] = boards[rank];
    return true;
}

void ski_team_slots_leave(struct ski_pe *self, struct ski_team *team)
{
    for (int rank = 0; team->slots && rank < team->size; rank++) {
        struct ski_team_board *board = team->slots->peer[rank];

        /* Release and acquire: the last member frees what no other one reads any more. */
        if (atomic_fetch_add_explicit(&board->left, 1, memory_order_acq_rel) + 1 ==
            (uint32_t)team->size)
            ski_team_board_free(self, board);
    }
}

/* Frees the records of a list. */
static void team_board_free_calls(struct ski_team_slot_call *call)
{
    while (call) {
        struct ski_team_slot_call *next = call->next;

        free(call);
        call = next;
    }
}

void ski_team_slots_end(struct ski_team *team)
{
    if (!team->slots)
        return;
    team_board_free_calls(team->slots->first);
    team_board_free_calls(team->slots->free);
    free(team->slots);
    team->slots = NULL;
}
