/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_slot_test.c - small collectives by slots between the PEs of a job in one process, without
 * threads: each PE makes its calls when the test lets it, and polls when the test polls it.
 */
#include "onesided/team/team_slot.h"

#include <stdlib.h>
#include <string.h>

#include "core/pe/pe.h"
#include "core/sched/scheduler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/schedule_step.h"
#include "onesided/team/team.h"
#include "tests/slot_pe.h"
#include "tests/tap.h"

enum { TEAM_TEST_PES = 3, TEAM_TEST_AHEAD = 40 };

static struct ski_pe         *team_test_pe[TEAM_TEST_PES];
static struct ski_onesided_pe team_test_state[TEAM_TEST_PES];
static struct ski_team_pe     team_test_team[TEAM_TEST_PES];
static struct ski_team        team_test_pair[TEAM_TEST_PES]; /* PEs 2 and 0 */
static int                    team_test_done[TEAM_TEST_PES];

static void team_test_on_done(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ++*(int *)arg;
}

static struct ski_pe *team_test_create(struct ski_job *job, int pe)
{
    struct ski_pe *self = slot_pe_create(job, pe);

    self->onesided           = &team_test_state[pe];
    team_test_state[pe].team = &team_test_team[pe];
    team_test_team[pe].all =
        (struct ski_team){.name = SKI_TEAM_ALL, .rank = pe, .size = TEAM_TEST_PES, .near = true};
    return self;
}

/* PE @p pe makes @p call of @p team. */
static void team_test_make(int pe, struct ski_team *team, struct ski_small_call call)
{
    ski_self       = team_test_pe[pe]; /* completions are made on a PE */
    call.team_call = team->calls++;
    call.kind.type = SKUA_INT64;
    call.kind.op   = SKUA_SUM;
    call.done      = skua_done_call(team_test_on_done, &team_test_done[pe]);
    ski_team_slots_call(ski_self, team->slots, &call);
}

/* PE @p pe calls a collective of all PEs. */
static void team_test_call(int pe, enum ski_collective collective, int root, const void *from,
                           void *to, size_t bytes)
{
    team_test_make(
        pe, &team_test_team[pe].all,
        (struct ski_small_call){.kind  = {.collective = (uint8_t)collective, .root = root},
                                .bytes = bytes,
                                .from  = from,
                                .to    = to});
}

/* PE @p pe polls once, if it has calls in flight.  Returns whether one has finished. */
static bool team_test_poll(int pe)
{
    ski_self = team_test_pe[pe];
    return ski_self->queue.events & SKI_EVENT_POLLED_1 && ski_self->polled[1]->poll(ski_self);
}

static void team_test_poll_all(void)
{
    for (bool any = true; any;) {
        any = false;
        for (int pe = 0; pe < TEAM_TEST_PES; pe++)
            any |= team_test_poll(pe);
    }
}

static bool team_test_all_done(int calls)
{
    for (int pe = 0; pe < TEAM_TEST_PES; pe++)
        if (team_test_done[pe] != calls)
            return false;
    return true;
}

static bool team_test_fits(enum ski_collective collective, size_t bytes)
{
    struct ski_team_kind kind = {.collective = (uint8_t)collective, .op = SKUA_SUM};

    return ski_team_slots_fit(team_test_team[0].all.slots, &kind, bytes);
}

static void test_team_fit(void)
{
    OK(team_test_fits(SKI_COLLECTIVE_BROADCAST, SKI_TEAM_SLOT_BYTES / TEAM_TEST_PES) &&
           !team_test_fits(SKI_COLLECTIVE_BROADCAST, SKI_TEAM_SLOT_BYTES / TEAM_TEST_PES + 1) &&
           !team_test_fits(SKI_COLLECTIVE_BROADCAST, 0),
       "a broadcast fits a slot, or does not");
    OK(team_test_fits(SKI_COLLECTIVE_SCAN, SKI_TEAM_SLOT_INLINE) &&
           !team_test_fits(SKI_COLLECTIVE_SCAN, SKI_TEAM_SLOT_INLINE + 1),
       "a scan fits the slot itself");
    OK(team_test_fits(SKI_COLLECTIVE_ALLTOALL, SKI_TEAM_SLOT_BYTES / TEAM_TEST_PES) &&
           !team_test_fits(SKI_COLLECTIVE_ALLTOALL, SKI_TEAM_SLOT_BYTES / TEAM_TEST_PES + 1),
       "all blocks of an alltoall share a slot");
    OK(!team_test_fits(SKI_COLLECTIVE_GATHERV, 8),
       "a gatherv has no slots: only the root knows sizes");
}

/* All PEs make one call each, in the order @p first, then the others. */
static void test_team_collectives(int first)
{
    int64_t from[TEAM_TEST_PES][TEAM_TEST_PES], to[TEAM_TEST_PES][TEAM_TEST_PES];
    bool    right = true;

    for (int collective = 0; collective < 6; collective++) {
        static const enum ski_collective kinds[] = {
            SKI_COLLECTIVE_GATHER,   SKI_COLLECTIVE_SCATTER, SKI_COLLECTIVE_ALLGATHER,
            SKI_COLLECTIVE_ALLTOALL, SKI_COLLECTIVE_SCAN,    SKI_COLLECTIVE_EXSCAN};

        memset(to, 0, sizeof to);
        for (int i = 0; i < TEAM_TEST_PES; i++)
            for (int k = 0; k < TEAM_TEST_PES; k++)
                from[i][k] = 100 * i + k + 1;
        for (int i = 0; i < TEAM_TEST_PES; i++)
            team_test_call((first + i) % TEAM_TEST_PES, kinds[collective], 1,
                           from[(first + i) % TEAM_TEST_PES], to[(first + i) % TEAM_TEST_PES], 8);
        team_test_poll_all();
        for (int i = 0; i < TEAM_TEST_PES; i++) {
            bool all = kinds[collective] == SKI_COLLECTIVE_ALLGATHER ||
                       (kinds[collective] == SKI_COLLECTIVE_GATHER && i == 1);

            for (int k = 0; k < TEAM_TEST_PES && all; k++)
                right = right && to[i][k] == 100 * k + 1;
            for (int k = 0; k < TEAM_TEST_PES && kinds[collective] == SKI_COLLECTIVE_ALLTOALL; k++)
                right = right && to[i][k] == 100 * k + i + 1;
            if (kinds[collective] == SKI_COLLECTIVE_SCATTER)
                right = right && to[i][0] == 100 + i + 1;
            if (kinds[collective] == SKI_COLLECTIVE_SCAN)
                right = right && to[i][0] == 50 * i * (i + 1) + i + 1;
            if (kinds[collective] == SKI_COLLECTIVE_EXSCAN && i > 0)
                right = right && to[i][0] == 50 * (i - 1) * i + i;
        }
        OK(right, "collective %d, PE %d first", kinds[collective], first);
    }
}

/* Blocks that do not fit the slot itself alternate with blocks that do, in all slots. */
static void test_team_longer(void)
{
    enum { LONG = SKI_TEAM_SLOT_BYTES / TEAM_TEST_PES };
    static char from[TEAM_TEST_PES * LONG], to[TEAM_TEST_PES][TEAM_TEST_PES * LONG];
    bool        right = true;

    for (int call = 0; call < TEAM_TEST_AHEAD; call++) {
        size_t bytes = call % 2 ? 8 : LONG;

        for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
            memset(from, call + pe, sizeof from); /* the blocks for others are read at once */
            team_test_call(pe, SKI_COLLECTIVE_ALLTOALL, 0, from, to[pe], bytes);
        }
        team_test_poll_all();
        for (int pe = 0; pe < TEAM_TEST_PES; pe++)
            for (int i = 0; i < TEAM_TEST_PES; i++)
                right =
                    right && (pe == i || (to[pe][(size_t)i * bytes] == (char)(call + i) &&
                                          to[pe][(size_t)(i + 1) * bytes - 1] == (char)(call + i)));
    }
    OK(right, "long and short blocks arrive");
}

/* The root is ahead of the others by more calls than there are slots. */
static void test_team_ahead(void)
{
    int64_t from[TEAM_TEST_AHEAD], to[TEAM_TEST_PES][TEAM_TEST_AHEAD];
    int     before = team_test_done[0], finished;
    bool    right  = true;

    for (int i = 0; i < TEAM_TEST_AHEAD; i++)
        from[i] = to[0][i] = 7 * i;
    for (int i = 0; i < TEAM_TEST_AHEAD; i++)
        team_test_call(0, SKI_COLLECTIVE_BROADCAST, 0, NULL, &to[0][i], 8);
    finished = team_test_done[0] - before;
    OK(finished > 0 && finished < TEAM_TEST_AHEAD, "%d calls of the root finish at once", finished);
    OK(!team_test_poll(0), "the others wait for free slots");
    OK(ski_team_slots_find(team_test_team[0].all.slots, team_test_team[0].all.calls - 1) &&
           !ski_team_slots_find(team_test_team[0].all.slots, team_test_team[0].all.calls),
       "calls in flight are found by their numbers");
    for (int i = 0; i < TEAM_TEST_AHEAD; i++)
        for (int pe = 1; pe < TEAM_TEST_PES; pe++) {
            team_test_call(pe, SKI_COLLECTIVE_BROADCAST, 0, NULL, &to[pe][i], 8);
            team_test_poll_all();
        }
    for (int pe = 1; pe < TEAM_TEST_PES; pe++)
        right = right && memcmp(to[pe], from, sizeof from) == 0;
    OK(right && team_test_all_done(before + TEAM_TEST_AHEAD),
       "slots are reused, and none too early");
}

/* Rank 0 is ahead of the others in scans of several kinds and sizes. */
static void test_team_scans(void)
{
    int64_t from[2] = {1, 10}, to[TEAM_TEST_PES][TEAM_TEST_AHEAD][2] = {0};
    int     before = team_test_done[0];
    bool    right  = true;

    for (int pe = 0; pe < TEAM_TEST_PES; pe++)
        for (int i = 0; i < TEAM_TEST_AHEAD; i++) {
            enum ski_collective collective = i % 3 ? SKI_COLLECTIVE_SCAN : SKI_COLLECTIVE_EXSCAN;

            team_test_call(pe, collective, 0, from, to[pe][i], i % 5 < 3 ? 8 : 16);
        }
    team_test_poll_all();
    for (int pe = 0; pe < TEAM_TEST_PES; pe++)
        for (int i = 0; i < TEAM_TEST_AHEAD; i++) {
            int64_t ranks = i % 3 ? pe + 1 : pe;

            right = right && to[pe][i][0] == ranks && to[pe][i][1] == (i % 5 < 3 ? 0 : 10 * ranks);
        }
    OK(right && team_test_all_done(before + TEAM_TEST_AHEAD), "scans, rank 0 is ahead");
}

/* A member of a scan that sleeps gets a wakeup when its slot is filled. */
static void test_team_arm_scan(void)
{
    int64_t                from = 3, to[TEAM_TEST_PES] = {0};
    const struct ski_cell *cell;

    for (int pe = 1; pe < TEAM_TEST_PES; pe++)
        team_test_call(pe, SKI_COLLECTIVE_SCAN, 0, &from, &to[pe], 8);
    OK(team_test_pe[1]->polled[1]->arm(team_test_pe[1]), "rank 1 may sleep before rank 0 calls");
    team_test_call(0, SKI_COLLECTIVE_SCAN, 0, &from, &to[0], 8);
    cell = ski_reader_peek_sc(&team_test_pe[1]->reader);
    OK(cell && cell->flags & SKI_MSG_WAKEUP, "rank 0 wakes it");
    OK(!team_test_pe[1]->polled[1]->arm(team_test_pe[1]), "a filled slot keeps it awake");
    team_test_poll_all();
    OK(to[1] == 6 && to[TEAM_TEST_PES - 1] == 3 * TEAM_TEST_PES, "all have their sums");
}

/* A PE that sleeps gets one wakeup when its slot is filled. */
static void test_team_arm(void)
{
    int64_t                to[TEAM_TEST_PES] = {5};
    const struct ski_cell *cell;

    team_test_call(1, SKI_COLLECTIVE_BROADCAST, 0, NULL, &to[1], 8);
    team_test_call(2, SKI_COLLECTIVE_BROADCAST, 0, NULL, &to[2], 8);
    OK(team_test_pe[1]->polled[1]->arm(team_test_pe[1]),
       "a PE may sleep before its slot is filled");
    team_test_call(0, SKI_COLLECTIVE_BROADCAST, 0, NULL, &to[0], 8);
    cell = ski_reader_peek_sc(&team_test_pe[1]->reader);
    OK(cell && cell->flags & SKI_MSG_WAKEUP, "the writer wakes it");
    OK(!ski_reader_peek_sc(&team_test_pe[2]->reader), "and no PE that is awake");
    OK(!team_test_pe[2]->polled[1]->arm(team_test_pe[2]), "a filled slot keeps a PE awake");
    team_test_poll_all();
    OK(to[1] == 5 && to[2] == 5, "both have the data");
}

/* Contributions in place: each member reads those of all others, and its own one before the result
 * replaces it. */
static void test_team_reductions(void)
{
    int64_t data[TEAM_TEST_PES][2], sum = 0;
    int     before = team_test_done[0];
    bool    right  = true;

    for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
        sum += data[pe][0] = 1 << 4 * pe;
        team_test_call(pe, SKI_COLLECTIVE_ALLREDUCE, 0, data[pe], data[pe], 8);
    }
    team_test_poll_all();
    for (int pe = 0; pe < TEAM_TEST_PES; pe++)
        right = right && data[pe][0] == sum;
    for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
        data[pe][1] = pe;
        team_test_call(pe, SKI_COLLECTIVE_REDUCE, 1, data[pe], pe == 1 ? data[pe] : NULL, 16);
    }
    team_test_poll_all();
    OK(right && data[1][0] == TEAM_TEST_PES * sum && data[0][0] == sum &&
           data[1][1] == TEAM_TEST_PES * (TEAM_TEST_PES - 1) / 2,
       "reductions to all and to a root, in place");
    OK(team_test_all_done(before + 2), "they are done");
}

/* Blocks of 0, 8 and 16 bytes, the last one first in memory. */
static void test_team_allgatherv(void)
{
    int64_t           from[2]              = {7, 9}, to[TEAM_TEST_PES][3];
    size_t            sizes[TEAM_TEST_PES] = {0, 8, 16}, offsets[TEAM_TEST_PES] = {0, 16, 0};
    struct ski_blocks blocks = {.sizes = sizes, .offsets = offsets};
    bool              right  = true;

    for (int pe = 0; pe < TEAM_TEST_PES; pe++)
        team_test_make(pe, &team_test_team[pe].all,
                       (struct ski_small_call){.kind   = {.collective = SKI_COLLECTIVE_ALLGATHERV},
                                               .bytes  = sizes[pe],
                                               .from   = pe ? (const char *)from : NULL,
                                               .to     = (char *)to[pe],
                                               .blocks = &blocks,
                                               .all    = 24});
    memset(sizes, 0xff, sizeof sizes); /* the arrays are read before the calls return */
    team_test_poll_all();
    for (int pe = 0; pe < TEAM_TEST_PES; pe++)
        right = right && to[pe][0] == 7 && to[pe][1] == 9 && to[pe][2] == 7;
    OK(right, "blocks of different sizes arrive");
}

static void team_test_create_pair(void)
{
    static int32_t pes[] = {2, 0}, by_pe[] = {1, 0};
    void          *boards[2];

    for (int rank = 0; rank < 2; rank++)
        boards[rank] = ski_team_board_alloc(team_test_pe[pes[rank]]);
    for (int rank = 0; rank < 2; rank++) {
        struct ski_team *pair = &team_test_pair[pes[rank]];

        *pair = (struct ski_team){
            .name = 2, .rank = rank, .size = 2, .near = true, .pe = pes, .by_pe = by_pe};
        if (!ski_team_slots_begin(team_test_pe[pes[rank]], pair, boards))
            abort();
    }
}

static void test_team_pair_barrier(int pe)
{
    team_test_make(pe, &team_test_pair[pe],
                   (struct ski_small_call){.kind = {.collective = SKI_COLLECTIVE_BARRIER}});
}

/* Two teams have calls in flight on one PE; those of either finish without the other, and both wake
 * their members, whatever their ranks. */
static void test_team_two(void)
{
    int64_t                data[TEAM_TEST_PES] = {11};
    const struct ski_cell *cell;
    int                    before = team_test_done[2];

    team_test_create_pair();
    while (ski_reader_peek_sc(&team_test_pe[2]->reader))
        ski_reader_advance_sc(&team_test_pe[2]->reader);
    team_test_call(2, SKI_COLLECTIVE_BROADCAST, 0, NULL, &data[2], 8);
    test_team_pair_barrier(2);
    OK(team_test_pe[2]->polled[1]->arm(team_test_pe[2]), "a PE waits in two teams");
    test_team_pair_barrier(0);
    cell = ski_reader_peek_sc(&team_test_pe[2]->reader);
    OK(cell && cell->flags & SKI_MSG_WAKEUP, "rank 1 of the pair, PE 0, wakes rank 0, PE 2");
    OK(!team_test_pe[2]->polled[1]->arm(team_test_pe[2]), "which does not sleep");
    team_test_poll_all();
    OK(team_test_done[2] == before + 1 && data[2] == 0, "the later team is first");
    team_test_call(0, SKI_COLLECTIVE_BROADCAST, 0, NULL, &data[0], 8);
    OK(ski_team_slots_in_flight(team_test_team[1].all.slots) == 1,
       "PE 1 knows that others have made a call");
    team_test_call(1, SKI_COLLECTIVE_BROADCAST, 0, NULL, &data[1], 8);
    team_test_poll_all();
    OK(team_test_done[2] == before + 2 && data[2] == 11, "then the other one");
    for (int pe = 0; pe < TEAM_TEST_PES; pe += 2) {
        OK(ski_team_slots_in_flight(team_test_pair[pe].slots) == 0, "nothing is in flight");
        ski_team_slots_leave(team_test_pe[pe], &team_test_pair[pe]);
        ski_team_slots_end(&team_test_pair[pe]);
    }
}

int main(void)
{
    struct ski_job   *job   = slot_job_create(TEAM_TEST_PES);
    struct ski_arena *arena = job->arena;

    for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
        team_test_pe[pe] = team_test_create(job, pe);
        ski_pool_init(&team_test_pe[pe]->pool, &team_test_pe[pe]->host->heaps[pe]);
        ski_team_slots_open(team_test_pe[pe]);
    }
    test_team_fit();
    for (int first = 0; first < TEAM_TEST_PES; first++)
        test_team_collectives(first);
    test_team_longer();
    test_team_ahead();
    test_team_arm();
    test_team_reductions();
    test_team_allgatherv();
    test_team_scans();
    test_team_arm_scan();
    test_team_two();
    for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
        ski_team_slots_end(&team_test_team[pe].all);
        free(team_test_pe[pe]);
    }
    ski_arena_detach(arena);
    return tap_end();
}
