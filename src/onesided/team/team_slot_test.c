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
#include "onesided/team/team.h"
#include "tests/slot_pe.h"
#include "tests/tap.h"

enum { TEAM_TEST_PES = 3, TEAM_TEST_AHEAD = 40 };

static struct ski_pe         *team_test_pe[TEAM_TEST_PES];
static struct ski_onesided_pe team_test_state[TEAM_TEST_PES];
static struct ski_team_pe     team_test_team[TEAM_TEST_PES];
static uint32_t               team_test_calls[TEAM_TEST_PES];
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
    return self;
}

/* PE @p pe calls a collective. */
static void team_test_call(int pe, enum ski_collective collective, int root, const void *from,
                           void *to, size_t bytes)
{
    struct ski_small_call call;

    ski_self = team_test_pe[pe]; /* completions are made on a PE */
    call     = (struct ski_small_call){.kind      = {.collective = (uint8_t)collective,
                                                     .type       = SKUA_INT64,
                                                     .op         = SKUA_SUM,
                                                     .root       = root},
                                       .team_call = team_test_calls[pe]++,
                                       .bytes     = bytes,
                                       .from      = from,
                                       .to        = to,
                                       .done = skua_done_call(team_test_on_done, &team_test_done[pe])};

    ski_team_slots_call(ski_self, &call);
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

    return ski_team_slots_fit(team_test_pe[0], &kind, bytes);
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
    OK(!team_test_fits(SKI_COLLECTIVE_BARRIER, 8), "a barrier has no slots");
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
    OK(ski_team_slots_find(team_test_pe[0], team_test_calls[0] - 1) &&
           !ski_team_slots_find(team_test_pe[0], team_test_calls[0]),
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

int main(void)
{
    struct ski_job   *job   = slot_job_create(TEAM_TEST_PES);
    struct ski_arena *arena = job->arena;

    for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
        team_test_pe[pe] = team_test_create(job, pe);
        ski_team_slots_open(team_test_pe[pe]);
    }
    test_team_fit();
    for (int first = 0; first < TEAM_TEST_PES; first++)
        test_team_collectives(first);
    test_team_longer();
    test_team_ahead();
    test_team_arm();
    test_team_scans();
    test_team_arm_scan();
    for (int pe = 0; pe < TEAM_TEST_PES; pe++) {
        ski_team_slots_close(team_test_pe[pe]);
        free(team_test_pe[pe]);
    }
    ski_arena_detach(arena);
    return tap_end();
}
