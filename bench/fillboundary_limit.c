/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fillboundary_limit.c - the limit of fillboundary: the copies of its exchanges in shared memory.
 * The launcher of Skua starts and binds the processes; between the barriers of a measurement the
 * program does not call the runtime.
 *
 * A PE packs its cells for each neighbour into a buffer of its piece, copies between its own boxes,
 * and unpacks the buffers of its neighbours where they are.  All PEs exchange the levels in the
 * same order, so one counter tells which exchanges a PE has packed:
 *
 *   buffers   `packed` release -> `packed` acquire, of each neighbour
 *
 * There are two buffers for each level and neighbour, used in turn: when a PE packs one again, the
 * neighbour has packed the exchange in between, after it unpacked this one.
 *
 * usage: bench-fillboundary_limit SERIES BALL,SIDE,LEVELS,ROUNDS,REPEAT
 */
#include <skua/skua.h>

#include <math.h>

#include "bench.h"
#include "bench_pieces.h"
#include "fillboundary/ghosts.h"

#define LIMIT_LEVELS 5
#define LIMIT_PES    256

/* The piece of a PE.  Its buffers follow it. */
struct limit_piece {
    BENCH_APART _Atomic uint64_t packed;                         /* exchanges             */
    BENCH_APART int64_t          first[LIMIT_LEVELS][LIMIT_PES]; /* buffers by level and PE */
    BENCH_APART double           at[];
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct limit_piece  *piece[LIMIT_PES];
    struct ghosts_level  level[LIMIT_LEVELS];
    uint64_t             exchanges[LIMIT_LEVELS]; /* of each level  */
    uint64_t             packed;                  /* of all levels  */
    int                  levels, rounds, repeat;
    struct bench_barrier barrier;
} limit;

/* Returns the room of a buffer in numbers: whole cache lines, also those of a prefetcher. */
static int64_t limit_room(const struct ghosts_cells *cells)
{
    return (cells->all + 15) / 16 * 16;
}

/* Returns the buffer of the present exchange of a level from one PE to another. */
static double *limit_buffer(int level, int from, int to, const struct ghosts_cells *cells)
{
    struct limit_piece *piece = limit.piece[from];
    int64_t             set   = (int64_t)(limit.exchanges[level] % 2);

    return piece->at + piece->first[level][to] + set * limit_room(cells);
}

static void limit_exchange(int l)
{
    struct ghosts_level *level = &limit.level[l];

    for (int i = 0; i < level->neighbours; i++) {
        struct ghosts_neighbour *n = &level->neighbour[i];

        ghosts_pack(n, limit_buffer(l, level->pe, n->pe, &n->send));
    }
    bench_publish(&limit.piece[level->pe]->packed, ++limit.packed);
    ghosts_copy_local(level);
    for (int i = 0; i < level->neighbours; i++) {
        struct ghosts_neighbour *n = &level->neighbour[i];

        bench_wait_for(&limit.piece[n->pe]->packed, limit.packed);
        ghosts_unpack(n, limit_buffer(l, n->pe, level->pe, &n->receive));
    }
    limit.exchanges[l]++;
}

/* A round of the application.  A barrier is in place of its allreduce. */
static void limit_run_round(void)
{
    for (int half = 0; half < 2; half++) {
        for (int l = 0; l < limit.levels; l++)
            limit_exchange(l);
        for (int l = limit.levels - 1; l >= 0; l--)
            limit_exchange(l);
    }
    bench_barrier_wait(&limit.barrier);
}

/* Returns the seconds of a round on the slowest PE. */
static double limit_measure(void)
{
    double start;

    bench_barrier_wait(&limit.barrier);
    start = bench_now();
    for (int i = 0; i < limit.rounds; i++)
        limit_run_round();
    return bench_largest(bench_now() - start) / limit.rounds;
}

/* Ends the job with an error if an exchange leaves a wrong cell. */
static void limit_check(void)
{
    int64_t wrong = 0, filled = 0;

    for (int l = 0; l < limit.levels; l++) {
        ghosts_fill(&limit.level[l]);
        limit_exchange(l);
        wrong += ghosts_check(&limit.level[l], &filled);
    }
    if (wrong)
        skua_abort("%lld cells of PE %d are wrong", (long long)wrong, skua_pe());
}

/* Creates the pieces: the number of buffers and their sizes differ from PE to PE. */
static void limit_create_pieces(void)
{
    int64_t     numbers = 0, first[LIMIT_LEVELS][LIMIT_PES] = {{0}};
    skua_region region;

    for (int l = 0; l < limit.levels; l++)
        for (int i = 0; i < limit.level[l].neighbours; i++) {
            const struct ghosts_neighbour *n = &limit.level[l].neighbour[i];

            first[l][n->pe] = numbers;
            numbers += 2 * limit_room(&n->send);
        }
    numbers = (int64_t)bench_largest((double)numbers);
    region  = bench_create_pieces(sizeof(struct limit_piece) + (size_t)numbers * sizeof(double),
                                  LIMIT_PES);
    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    memcpy(limit.piece[skua_pe()]->first, first, sizeof first);
    bench_barrier_init(&limit.barrier);
}

static void limit_prepare(int ball, int side)
{
    struct box_list boxes = {0};
    int            *owner;

    if (skua_pes() > LIMIT_PES)
        skua_abort("fillboundary_limit runs on at most %d PEs", LIMIT_PES);
    boxes_ball(&boxes, ball, side);
    owner        = ghosts_deal(&boxes, skua_pes());
    limit.levels = boxes_halvings(&boxes, limit.levels - 1) + 1;
    for (int l = 0; l < limit.levels; l++)
        ghosts_make(&limit.level[l], &boxes, owner, l, skua_pe());
    free(owner);
    boxes_free(&boxes);
    limit_create_pieces();
}

static void limit_start(int argc, char **argv)
{
    int    ball, side;
    double best = INFINITY;

    if (argc < 3 ||
        sscanf(argv[2], "%d,%d,%d,%d,%d", &ball, &side, &limit.levels, &limit.rounds,
               &limit.repeat) < 5 ||
        limit.levels < 1 || limit.levels > LIMIT_LEVELS)
        skua_abort("usage: bench-fillboundary_limit SERIES BALL,SIDE,LEVELS,ROUNDS,REPEAT");
    limit_prepare(ball, side);
    limit_check();
    for (int i = 0; i < limit.repeat; i++)
        best = fmin(best, limit_measure());
    limit_check();
    for (int l = 0; l < limit.levels; l++)
        ghosts_free(&limit.level[l]);
    bench_end_limit("fillboundary", argv[1], (size_t)ball, "step", best);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, limit_start);
}
