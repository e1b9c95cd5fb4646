/* SPDX-License-Identifier: Apache-2.0 */
/* team_split.c - how teams are created and destroyed (see team.h). */
#include "onesided/team/team_split.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/sched/thread.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/schedule.h"
#include "onesided/team/team_call.h"
#include "onesided/team/team_hosts.h"
#include "onesided/team/team_packet.h"
#include "onesided/team/team_send.h"
#include "onesided/team/team_slot.h"

/* ---- life -------------------------------------------------------------------------- */

/* Frees what @p team owns. */
static void team_clear(struct ski_team *team)
{
    ski_team_calls_end(team);
    ski_team_slots_end(team);
    free(team->owed);
    free(team->pe);
    free(team->by_pe);
    ski_team_hosts_free(team->hosts);
}

/* Frees the teams of a list. */
static void team_free_list(struct ski_team *team)
{
    while (team) {
        struct ski_team *next = team->next;

        team_clear(team);
        free(team);
        team = next;
    }
}

/* Returns whether all members of @p team are on this host. */
static bool team_is_near(const struct ski_pe *self, const struct ski_team *team)
{
    for (int rank = 0; rank < team->size; rank++)
        if (ski_job_index(self->job, ski_team_pe_at(team, rank)) < 0)
            return false;
    return true;
}

void ski_teams_begin(struct ski_pe *self)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;
    struct ski_team    *all   = &teams->all;

    all->name      = SKI_TEAM_ALL;
    all->rank      = self->pe;
    all->size      = self->pes;
    all->near      = !ski_job_is_distributed(self->job);
    all->hosts     = ski_team_hosts_make(self->job, all);
    teams->numbers = 1; /* of SKUA_TEAM_ALL */
    if (self->index < self->job->local_pes)
        atomic_store(&ski_onesided->accessing[self->index], 0); /* of a process that has died */
    ski_window_init(self, &all->window);
    ski_list_init(&teams->unclaimed);
    ski_team_slots_open(self);
}

void ski_teams_end(struct ski_pe *self)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    ski_team_end_accesses(self);
    for (int i = 0; i < SKI_TEAM_BUCKETS; i++)
        team_free_list(teams->bucket[i]);
    team_free_list(teams->destroyed);
    team_clear(&teams->all);
    ski_team_free_calls_end(teams);
}

/* Frees destroyed teams.  A completion that is called while deferred calls begin may destroy their
 * team, whose window is in use until then: such a team is freed later. */
static void team_free_destroyed(struct ski_team_pe *teams)
{
    struct ski_team *team = teams->destroyed;

    teams->destroyed = NULL;
    while (team) {
        struct ski_team *next = team->next;
        bool             used = team->window.draining;

        team->next = used ? teams->destroyed : NULL;
        if (used)
            teams->destroyed = team;
        else
            team_free_list(team);
        team = next;
    }
}

skua_status skua_team_destroy(skua_team name)
{
    struct ski_pe      *self = SKI_SELF();
    struct ski_team    *team, **at;
    struct ski_team_pe *teams  = ski_onesided_pe(self)->team;
    skua_status         status = ski_team_get(self, __func__, name, &team);
    char                text[SKI_TEAM_STR];

    if (status != SKUA_OK)
        return status;
    if (team == &teams->all)
        return ski_refuse(SKUA_ERR_INVAL, "%s: SKUA_TEAM_ALL exists as long as the job", __func__);
    if (ski_team_calls(team))
        return ski_refuse(SKUA_ERR_BUSY,
                          "%s: %u collectives of %s are in flight on PE %d, or have been called by "
                          "other members only",
                          __func__, ski_team_calls(team), ski_team_str(team->name, text), self->pe);
    for (at = ski_team_bucket(teams, team->name); *at != team; at = &(*at)->next)
        ski_assert(*at);
    *at = team->next;
    ski_team_slots_leave(self, team);
    team->next       = teams->destroyed;
    teams->destroyed = team;
    team_free_destroyed(teams);
    return SKUA_OK;
}

/* ---- splitting --------------------------------------------------------------------- */

/* The contribution of a member to a split. */
struct team_choice {
    int32_t  color, key;
    uint32_t number; /* of the new team, if the member gets rank 0 */
    uint64_t board;  /* of the member, for small calls, or 0 (team_slot.h) */
};

/* A split in flight: the data of a message, which goes with the arena if the job ends before. */
struct team_split {
    struct ski_team   *parent;
    skua_team         *result;
    skua_completion    done;
    struct team_choice mine;
    struct team_choice choice[]; /* by rank in the parent */
};

/* A rank, while ranks are sorted by a key. */
struct team_candidate {
    int32_t key, rank;
};

static int team_compare_candidates(const void *left, const void *right)
{
    const struct team_candidate *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->rank < b->rank ? -1 : 1;
}

/* Returns the ranks in the parent of the members of the caller's color, in the order of their new
 * ranks; *@p count is their number. */
static struct team_candidate *team_rank_members(const struct team_split *split, int *count)
{
    int                    size = split->parent->size, n = 0;
    struct team_candidate *members = ski_malloc((size_t)size * sizeof *members);

    for (int rank = 0; rank < size; rank++)
        if (split->choice[rank].color == split->mine.color)
            members[n++] = (struct team_candidate){split->choice[rank].key, rank};
    qsort(members, (size_t)n, sizeof *members, team_compare_candidates);
    *count = n;
    return members;
}

/* Computes team->by_pe: ranks in the order of their PEs. */
static void team_sort_pes(struct ski_team *team)
{
    struct team_candidate *members = ski_malloc((size_t)team->size * sizeof *members);

    for (int rank = 0; rank < team->size; rank++)
        members[rank] = (struct team_candidate){team->pe[rank], rank};
    qsort(members, (size_t)team->size, sizeof *members, team_compare_candidates);
    team->by_pe = ski_malloc((size_t)team->size * sizeof *team->by_pe);
    for (int i = 0; i < team->size; i++)
        team->by_pe[i] = members[i].rank;
    free(members);
}

void ski_team_add(struct ski_pe *self, struct ski_team *team)
{
    struct ski_team **bucket = ski_team_bucket(ski_onesided_pe(self)->team, team->name);

    team_sort_pes(team);
    team->rank  = ski_team_rank_of(team, self->pe);
    team->near  = team_is_near(self, team);
    team->hosts = ski_team_hosts_make(self->job, team);
    ski_window_init(self, &team->window);
    team->next = *bucket;
    *bucket    = team;
}

/* Gives a new team slots for small calls, if all its members can have them. */
static void team_give_slots(struct ski_pe *self, struct ski_team *team,
                            const struct team_split *split, const struct team_candidate *members)
{
    void **boards = ski_malloc((size_t)team->size * sizeof *boards);

    for (int rank = 0; rank < team->size; rank++)
        boards[rank] = (void *)(uintptr_t)split->choice[members[rank].rank].board;
    if (!ski_team_slots_begin(self, team, boards))
        ski_team_board_free(self, boards[team->rank]);
    free(boards);
}

/* Creates the team of the caller's color. */
static struct ski_team *team_create(struct ski_pe *self, const struct team_split *split)
{
    struct ski_team       *team    = ski_calloc(1, sizeof *team);
    struct team_candidate *members = team_rank_members(split, &team->size);
    int                    first   = members[0].rank;

    team->pe = ski_malloc((size_t)team->size * sizeof *team->pe);
    for (int rank = 0; rank < team->size; rank++)
        team->pe[rank] = ski_team_pe_at(split->parent, members[rank].rank);
    team->name = (uint64_t)team->pe[0] << 32 | split->choice[first].number;
    ski_team_add(self, team);
    team_give_slots(self, team, split, members);
    free(members);
    return team;
}

/* Ends a split, when the choices of all members have arrived. */
static void team_split_done(void *arg, const void *data, size_t bytes)
{
    struct team_split *split = skua_msg_data(arg);
    struct ski_pe     *self  = ski_self;
    struct ski_team   *team  = NULL;
    skua_completion    done  = split->done;

    (void)data, (void)bytes;
    if (split->mine.color != SKUA_COLOR_NONE)
        team = team_create(self, split);
    *split->result = team ? (skua_team)(uintptr_t)team->name : SKUA_TEAM_NONE;
    ski_onesided_pe(self)->team->splits--;
    skua_msg_free(arg);
    if (team)
        ski_team_claim(self, team);
    skua_complete(done, NULL, 0);
}

/* Begins a split. */
static void team_split_begin(struct ski_pe *self, struct ski_team *parent, int color, int key,
                             skua_team *result, skua_completion done)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;
    struct team_split  *split;
    skua_msg *msg = skua_msg_alloc(sizeof *split + (size_t)parent->size * sizeof split->choice[0]);
    struct ski_team_kind  kind = {.collective = SKI_COLLECTIVE_SPLIT};
    struct ski_plan       plan = {.rank  = parent->rank,
                                  .size  = parent->size,
                                  .hosts = parent->hosts,
                                  .bytes = sizeof split->choice[0]};
    struct ski_blocks     to   = {.bytes = sizeof split->choice[0]};
    struct ski_team_call *call = ski_team_call_next(self, parent, &kind);

    void *board = color == SKUA_COLOR_NONE ? NULL : ski_team_board_alloc(self);

    split = skua_msg_data(msg);
    *split =
        (struct team_split){.parent = parent,
                            .result = result,
                            .done   = done,
                            .mine   = {color, key, ++teams->numbers, (uint64_t)(uintptr_t)board}};
    teams->splits++;
    ski_schedule_allgather(&call->schedule, &plan, &to);
    call->buffer[SKI_FROM] = (char *)&split->mine;
    call->buffer[SKI_TO]   = (char *)split->choice;
    call->done             = skua_done_call(team_split_done, msg);
    ski_team_call_make(self, call);
}

void skua_team_split_nb(skua_team parent, int color, int key, skua_team *team, skua_completion done)
{
    struct ski_pe   *self  = SKI_SELF();
    struct ski_team *found = ski_team_of(self, __func__, parent);

    if (!team || color < SKUA_COLOR_NONE)
        ski_misuse("%s: %s", __func__,
                   team ? "a color is SKUA_COLOR_NONE, 0 or positive" : "`team` is NULL");
    team_split_begin(self, found, color, key, team, done);
}

skua_status skua_team_split(skua_team parent, int color, int key, skua_team *team)
{
    struct ski_pe   *self = SKI_SELF();
    struct ski_team *found;
    skua_counter     ended  = SKUA_COUNTER_INIT;
    skua_team        made   = SKUA_TEAM_NONE;
    skua_status      status = ski_team_get(self, __func__, parent, &found);
    bool             over;

    if (status != SKUA_OK)
        return status;
    if (!team || color < SKUA_COLOR_NONE)
        return ski_refuse(SKUA_ERR_INVAL, "%s: %s", __func__,
                          team ? "a color is SKUA_COLOR_NONE, 0 or positive" : "`team` is NULL");
    team_split_begin(self, found, color, key, &made, skua_done_count(&ended));
    ski_thread_pin(self); /* this PE becomes a member */
    over = skua_counter_wait(&ended, 1);
    ski_thread_unpin(self);
    if (!over)
        return SKUA_ERR_EXIT;
    *team = made;
    return SKUA_OK;
}
