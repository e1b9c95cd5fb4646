/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_fillboundary.c - the exchange of apps/fillboundary with MPI: two-sided, and with MPI_Put
 * between post, start, complete and wait.  Boxes, packing and the check are those of the
 * application.
 *
 * In favour of MPI, buffers are allocated once, and the window is one of MPI_Win_allocate, which
 * both libraries map within a host.  As in the paper, a receiver sends its neighbours the address
 * for their data in each exchange, since buffers of an adaptive grid move.
 *
 * usage: mpirun -n N mpi_fillboundary SERIES \
 *          BALL,SIDE,LEVELS,ROUNDS,EXCHANGES,REPEAT[,REFINE,CHOP,FILE]
 *
 * BALL is a number of boxes; FILE, if given, is read instead.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/stopwatch.h"
#include "fillboundary/ghosts.h"

#define LEVELS_MAX 5
#define CHECKS     2

struct fb_link {
    const struct ghosts_neighbour *of;
    double                        *sent, *received;
    MPI_Aint                       here, there; /* displacements of receive buffers in the window */
};

struct fb_level {
    struct ghosts_level ghosts;
    struct fb_link     *link;
    MPI_Request        *request;
    MPI_Status         *status;
    MPI_Group           group; /* group of the neighbours */
};

static int              rank, ranks, levels, rounds, exchanges, repeat;
static struct fb_level  level[LEVELS_MAX];
static struct stopwatch watch;
static MPI_Win          window;
static double          *window_memory;

/* ---- two-sided ------------------------------------------------------------- */

static void send_start(struct fb_level *at)
{
    int n = at->ghosts.neighbours;

    for (int i = 0; i < n; i++)
        MPI_Irecv(at->link[i].received, (int)at->link[i].of->receive.all, MPI_DOUBLE,
                  at->link[i].of->pe, at->ghosts.level, MPI_COMM_WORLD, &at->request[i]);
    stopwatch_lap(&watch, PHASE_SENDING);
    for (int i = 0; i < n; i++) {
        ghosts_pack(at->link[i].of, at->link[i].sent);
        stopwatch_lap(&watch, PHASE_PACKING);
        MPI_Isend(at->link[i].sent, (int)at->link[i].of->send.all, MPI_DOUBLE, at->link[i].of->pe,
                  at->ghosts.level, MPI_COMM_WORLD, &at->request[n + i]);
        stopwatch_lap(&watch, PHASE_SENDING);
    }
}

static void unpack_all(struct fb_level *at)
{
    for (int i = 0; i < at->ghosts.neighbours; i++)
        ghosts_unpack(at->link[i].of, at->link[i].received);
    stopwatch_lap(&watch, PHASE_UNPACKING);
}

static void send_finish(struct fb_level *at)
{
    MPI_Waitall(2 * at->ghosts.neighbours, at->request, at->status);
    stopwatch_lap(&watch, PHASE_WAITING);
    unpack_all(at);
}

/* ---- post, start, complete, wait -------------------------------------------- */

static void exchange_addresses(struct fb_level *at)
{
    int n = at->ghosts.neighbours;

    for (int i = 0; i < n; i++) {
        MPI_Irecv(&at->link[i].there, 1, MPI_AINT, at->link[i].of->pe, at->ghosts.level,
                  MPI_COMM_WORLD, &at->request[i]);
        MPI_Isend(&at->link[i].here, 1, MPI_AINT, at->link[i].of->pe, at->ghosts.level,
                  MPI_COMM_WORLD, &at->request[n + i]);
    }
    MPI_Waitall(2 * n, at->request, at->status);
    stopwatch_lap(&watch, PHASE_EXCHANGE);
}

static void pscw_start(struct fb_level *at)
{
    if (!at->ghosts.neighbours)
        return;
    exchange_addresses(at);
    MPI_Win_post(at->group, 0, window);
    MPI_Win_start(at->group, 0, window);
    stopwatch_lap(&watch, PHASE_SENDING);
    for (int i = 0; i < at->ghosts.neighbours; i++) {
        int cells = (int)at->link[i].of->send.all;

        ghosts_pack(at->link[i].of, at->link[i].sent);
        stopwatch_lap(&watch, PHASE_PACKING);
        MPI_Put(at->link[i].sent, cells, MPI_DOUBLE, at->link[i].of->pe, at->link[i].there, cells,
                MPI_DOUBLE, window);
        stopwatch_lap(&watch, PHASE_SENDING);
    }
    MPI_Win_complete(window);
    stopwatch_lap(&watch, PHASE_SENDING);
}

static void pscw_finish(struct fb_level *at)
{
    if (!at->ghosts.neighbours)
        return;
    MPI_Win_wait(window);
    stopwatch_lap(&watch, PHASE_WAITING);
    unpack_all(at);
}

/* ---- rounds ------------------------------------------------------------------ */

static const struct fb_protocol {
    const char *name;
    void (*start)(struct fb_level *at);
    void (*finish)(struct fb_level *at);
} protocols[] = {{"send", send_start, send_finish}, {"pscw", pscw_start, pscw_finish}};

#define PROTOCOLS (sizeof protocols / sizeof *protocols)

struct fb_times {
    double round, level[LEVELS_MAX], phase[PHASES];
};

static void exchange(const struct fb_protocol *protocol, struct fb_level *at)
{
    stopwatch_start(&watch);
    protocol->start(at);
    ghosts_copy_local(&at->ghosts);
    stopwatch_lap(&watch, PHASE_LOCAL);
    protocol->finish(at);
}

static void run_round(const struct fb_protocol *protocol)
{
    double one = 1, most;

    for (int half = 0; half < 2; half++) {
        for (int l = 0; l < levels; l++)
            exchange(protocol, &level[l]);
        for (int l = levels - 1; l >= 0; l--)
            exchange(protocol, &level[l]);
    }
    MPI_Allreduce(&one, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static double elapsed(double begin)
{
    double seconds = stopwatch_now() - begin;

    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static double measure_rounds(const struct fb_protocol *protocol, int count)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = stopwatch_now();
    for (int i = 0; i < count; i++)
        run_round(protocol);
    return elapsed(begin) / count;
}

static double measure_level(const struct fb_protocol *protocol, struct fb_level *at)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = stopwatch_now();
    for (int i = 0; i < exchanges; i++)
        exchange(protocol, at);
    return elapsed(begin) / exchanges;
}

static void keep(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static void measure(const struct fb_protocol *protocol, struct fb_times *times)
{
    keep(&times->round, measure_rounds(protocol, rounds));
    for (int l = 0; l < levels; l++)
        keep(&times->level[l], measure_level(protocol, &level[l]));
    watch = (struct stopwatch){.on = true};
    measure_rounds(protocol, (rounds + 9) / 10);
    watch.on = false;
    MPI_Allreduce(watch.seconds, times->phase, PHASES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int p = 0; p < PHASES; p++)
        times->phase[p] /= (double)ranks * ((rounds + 9) / 10);
}

static int64_t check(const struct fb_protocol *protocol)
{
    int64_t wrong = 0, filled = 0;

    for (int l = 0; l < levels; l++)
        ghosts_fill(&level[l].ghosts);
    for (int l = 0; l < levels; l++)
        exchange(protocol, &level[l]);
    for (int l = 0; l < levels; l++)
        wrong += ghosts_check(&level[l].ghosts, &filled);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return wrong;
}

/* ---- the program -------------------------------------------------------------- */

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

static void make_group(struct fb_level *at)
{
    int       pe[4096];
    MPI_Group world;

    for (int i = 0; i < at->ghosts.neighbours; i++)
        pe[i] = at->ghosts.neighbour[i].pe;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, at->ghosts.neighbours, pe, &at->group);
    MPI_Group_free(&world);
}

static void make_level(struct fb_level *at, const struct box_list *boxes, const int *owner, int l,
                       MPI_Aint *cells)
{
    ghosts_make(&at->ghosts, boxes, owner, l, rank);
    at->link    = allocate((size_t)at->ghosts.neighbours, sizeof *at->link);
    at->request = allocate(2 * (size_t)at->ghosts.neighbours, sizeof(MPI_Request));
    at->status  = allocate(2 * (size_t)at->ghosts.neighbours, sizeof(MPI_Status));
    for (int i = 0; i < at->ghosts.neighbours; i++) {
        struct fb_link *link = &at->link[i];

        link->of   = &at->ghosts.neighbour[i];
        link->sent = allocate((size_t)link->of->send.all, sizeof(double));
        link->here = *cells;
        *cells += (link->of->receive.all + 7) / 8 * 8;
    }
    make_group(at);
}

static void make_levels(const struct box_list *boxes)
{
    MPI_Aint cells = 0;
    int     *owner = ghosts_deal(boxes, ranks);

    levels = boxes_halvings(boxes, levels - 1) + 1;
    for (int l = 0; l < levels; l++)
        make_level(&level[l], boxes, owner, l, &cells);
    MPI_Win_allocate(cells * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &window_memory, &window);
    for (int l = 0; l < levels; l++)
        for (int i = 0; i < level[l].ghosts.neighbours; i++)
            level[l].link[i].received = window_memory + level[l].link[i].here;
    free(owner);
}

static void print(const char *series, const struct fb_protocol *protocol, const char *metric,
                  int size, double value)
{
    if (rank == 0)
        printf("{\"bench\":\"fillboundary\",\"series\":\"%s-%s\",\"bytes\":%d,"
               "\"metric\":\"%s-%dpe\",\"value\":%.6g}\n",
               series, protocol->name, size, metric, ranks, value);
}

static void report(const char *series, const struct fb_protocol *protocol,
                   const struct fb_times *times)
{
    static const char *const phase[PHASES] = {"packing", "sending",   "waiting",
                                              "local",   "unpacking", "addresses"};
    int                      boxes         = level[0].ghosts.boxes.count;

    print(series, protocol, "step", boxes, times->round);
    for (int l = 0; l < levels; l++)
        print(series, protocol, "exchange",
              boxes / ranks * 1000 + boxes_side(&level[l].ghosts.boxes), times->level[l]);
    for (int p = 0; p < PHASES; p++)
        print(series, protocol, phase[p], boxes, times->phase[p]);
}

static bool make_boxes(struct box_list *boxes, const char *text)
{
    int  ball, side, refine = 1, chop = 32, used = 0;
    char error[BOXES_ERROR_MAX], file[256] = "";

    if (sscanf(text, "%d,%d,%d,%d,%d,%d%n,%d,%d,%255s", &ball, &side, &levels, &rounds, &exchanges,
               &repeat, &used, &refine, &chop, file) < 6 ||
        levels < 1 || levels > LEVELS_MAX)
        return false;
    if (!file[0]) {
        boxes_ball(boxes, ball, side);
        return true;
    }
    if (boxes_read(boxes, file, error) && boxes_refine(boxes, refine, error) &&
        boxes_chop(boxes, chop, error))
        return true;
    fprintf(stderr, "mpi_fillboundary: %s\n", error);
    return false;
}

int main(int argc, char **argv)
{
    struct fb_times times[PROTOCOLS] = {0};
    struct box_list boxes            = {0};
    int64_t         wrong            = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || ranks > 4096 || !make_boxes(&boxes, argv[2]))
        MPI_Abort(MPI_COMM_WORLD, 2);
    make_levels(&boxes);
    for (int run = 0; run < repeat; run++)
        for (size_t p = 0; p < PROTOCOLS; p++) {
            for (int i = 0; i < CHECKS; i++)
                wrong += check(&protocols[p]);
            measure(&protocols[p], &times[p]);
        }
    for (size_t p = 0; p < PROTOCOLS; p++)
        report(argv[1], &protocols[p], &times[p]);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
