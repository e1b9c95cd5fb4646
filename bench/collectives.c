/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - the collectives of bench_collectives.h; each call waits for its completion.
 *
 * usage: bench-collectives [SERIES]
 */
#include <skua/skua.h>

#include "bench_collectives.h"

static skua_handler data_handler;
static skua_pe_data state_key;
static skua_team    team; /* of this PE, which is a process */

/* The state of a PE: the number of broadcasts that it has received and the number for which it has
 * called.  The message of the next root may arrive before this PE has called for it. */
struct collectives_state {
    skua_counter received;
    int64_t      calls;
};

static struct collectives_state *state(void)
{
    return skua_pe_data_get(state_key);
}

static void on_data(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_complete(skua_done_count(&state()->received), NULL, 0);
}

static void barrier(void)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_barrier(skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static double largest(double value)
{
    skua_future future = SKUA_FUTURE_INIT;
    double      most;

    skua_allreduce(SKUA_MAX, SKUA_DOUBLE, &value, 1, skua_done_future(&future));
    most = *(const double *)skua_future_wait(&future, NULL);
    skua_future_clear(&future);
    return most;
}

static void allreduce(int root, size_t bytes, double *from, double *to)
{
    skua_future future = SKUA_FUTURE_INIT;

    (void)root, (void)to;
    skua_allreduce(SKUA_SUM, SKUA_DOUBLE, from, bytes / sizeof *from, skua_done_future(&future));
    skua_future_wait(&future, NULL);
    skua_future_clear(&future);
}

static void reduce(int root, size_t bytes, double *from, double *to)
{
    skua_future future = SKUA_FUTURE_INIT;

    (void)to;
    skua_reduce(root, SKUA_SUM, SKUA_DOUBLE, from, bytes / sizeof *from, skua_done_future(&future));
    if (root != skua_pe())
        return;
    skua_future_wait(&future, NULL);
    skua_future_clear(&future);
}

/* Each broadcast allocates its message, as a program does; the data are not initialised. */
static void broadcast(int root, size_t bytes, double *from, double *to)
{
    (void)from, (void)to;
    if (root == skua_pe())
        skua_broadcast(data_handler, skua_msg_alloc(bytes), skua_done_nothing());
    skua_counter_wait(&state()->received, ++state()->calls);
}

/* A collective that combines elements of all members. */
typedef void (*combine_fn)(skua_team members, const skua_reduction *reduction, const void *from,
                           void *to, skua_completion done);

static inline void combine(combine_fn call, skua_team members, skua_reduction reduction,
                           const double *from, double *to)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    call(members, &reduction, from, to, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static skua_reduction sum_of(size_t bytes)
{
    return (skua_reduction){SKUA_SUM, SKUA_DOUBLE, bytes / sizeof(double)};
}

static void scan(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    combine(skua_team_scan, SKUA_TEAM_ALL, sum_of(bytes), from, to);
}

static void exscan(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    combine(skua_team_exscan, SKUA_TEAM_ALL, sum_of(bytes), from, to);
}

static void minloc(int root, size_t bytes, double *from, double *to)
{
    skua_reduction least = {SKUA_MINLOC, SKUA_DOUBLE_INDEX, collectives_pairs(bytes)};

    (void)root;
    combine(skua_team_allreduce, SKUA_TEAM_ALL, least, from, to);
}

static void team_allreduce(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    combine(skua_team_allreduce, team, sum_of(bytes), from, to);
}

static void gather(int root, size_t bytes, double *from, double *to)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_team_gather(SKUA_TEAM_ALL, root, from, bytes, to, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static void scatter(int root, size_t bytes, double *from, double *to)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_team_scatter(SKUA_TEAM_ALL, root, from, to, bytes, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static void allgather(int root, size_t bytes, double *from, double *to)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    (void)root;
    skua_team_allgather(SKUA_TEAM_ALL, from, bytes, to, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static void alltoall(int root, size_t bytes, double *from, double *to)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    (void)root;
    skua_team_alltoall(SKUA_TEAM_ALL, from, to, bytes, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

/* The blocks of a call whose sizes are uneven, computed once for all calls of a size. */
struct uneven {
    size_t mean;
    size_t bytes[COLLECTIVES_PES_MAX], offsets[COLLECTIVES_PES_MAX];
};

/* Returns blocks in @p data, of which block i has the size of uneven block @p first + i. */
static skua_team_blocks uneven_blocks(struct uneven *u, int first, size_t mean, double *data)
{
    if (u->mean != mean) {
        u->mean = mean;
        for (int i = 0; i < skua_pes(); i++) {
            u->bytes[i]   = collectives_uneven(first + i, mean);
            u->offsets[i] = i == 0 ? 0 : u->offsets[i - 1] + u->bytes[i - 1];
        }
    }
    return (skua_team_blocks){data, u->bytes, u->offsets};
}

static void allgatherv(int root, size_t bytes, double *from, double *to)
{
    static struct uneven uneven;
    skua_team_blocks     all     = uneven_blocks(&uneven, 0, bytes, to);
    skua_counter         counter = SKUA_COUNTER_INIT;

    (void)root;
    skua_team_allgatherv(SKUA_TEAM_ALL, from, all.bytes[skua_pe()], &all,
                         skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static void alltoallv(int root, size_t bytes, double *from, double *to)
{
    static struct uneven uneven;
    skua_team_blocks     out     = uneven_blocks(&uneven, skua_pe(), bytes, from);
    skua_team_blocks     in      = uneven_blocks(&uneven, skua_pe(), bytes, to);
    skua_counter         counter = SKUA_COUNTER_INIT;

    (void)root;
    skua_team_alltoallv(SKUA_TEAM_ALL, &out, &in, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static void team_barrier(int root, size_t bytes, double *from, double *to)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    (void)root, (void)bytes, (void)from, (void)to;
    skua_team_barrier(team, skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static const struct collectives_kind kinds[] = COLLECTIVES_KINDS;

static const struct collectives skua = {skua_sync, barrier, largest, kinds, NULL, NULL};

static void start(int argc, char **argv)
{
    state()->received = (skua_counter)SKUA_COUNTER_INIT;
    barrier();
    skua_team_split(SKUA_TEAM_ALL, collectives_color(skua_pe(), skua_pes()), -skua_pe(), &team);
    collectives_all(&skua, argc > 1 ? argv[1] : "skua", skua_pe(), skua_pes());
    barrier();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    data_handler = skua_handler_register("data", on_data);
    state_key    = skua_pe_data_register(sizeof(struct collectives_state));
    return skua_main(argc, argv, start);
}
