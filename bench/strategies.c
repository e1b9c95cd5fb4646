/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategies.c - the time that strategies take to decide, called as plain functions without a job.
 *
 *   greedy, refine   seconds for 10^5 objects on 64 PEs ("bytes" is the number of objects)
 *   diffusion        microseconds of one PE in one round, on 16 to 4096 PEs with 100 objects each
 *                    ("bytes" is the number of PEs)
 *
 * usage: bench-strategies
 */
#include <skua/skua.h>

#include "bench.h"

enum {
    STRATEGIES_OBJECTS = 100000,
    STRATEGIES_PES     = 64,
    STRATEGIES_EACH    = 100, /* objects on each PE with diffusion */
    STRATEGIES_PES_MAX = 4096
};

static double strategies_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

static void strategies_make(skua_strategy_object *object, uint32_t objects, int pes, uint64_t state)
{
    for (uint32_t i = 0; i < objects; i++) {
        double unit = strategies_random(&state);

        object[i] = (skua_strategy_object){.pe    = (int32_t)(unit * unit * pes),
                                           .flags = SKUA_OBJECT_MOVABLE,
                                           .load  = 2e-3 * strategies_random(&state),
                                           .bytes = 4096};
    }
}

static void strategies_stay(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = problem->object[i].pe;
}

static double strategies_time(const skua_strategy *strategy, const skua_strategy_problem *problem,
                              int32_t *to)
{
    double begin;

    strategies_stay(problem, to);
    begin = bench_now();
    if (strategy->decide(problem, to) != SKUA_OK)
        exit(1);
    return bench_now() - begin;
}

static void strategies_whole(const char *name, const skua_strategy_problem *problem, int32_t *to)
{
    double best = 1e9;

    for (int batch = 0; batch < 5; batch++) {
        double seconds = strategies_time(skua_strategy_find(name), problem, to);

        best = seconds < best ? seconds : best;
    }
    bench_report("strategies", name, problem->objects, "decide_s", best);
}

/* ---- diffusion ------------------------------------------------------------------------------- */

/* A job of simulated PEs.  The objects of PE p are number[start[p]] .. number[start[p + 1] - 1]. */
struct strategies_job {
    int                   pes;
    uint32_t              objects;
    skua_strategy_object *object; /* `pe` is its present PE */
    int32_t              *next;   /* its PE after the round */
    uint32_t             *start, *number;
    double               *time;    /* load of each PE */
    skua_strategy_object *own;     /* objects of the deciding PE */
    int32_t              *decided; /* decisions of that PE */
};

static void *strategies_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        exit(1);
    return memory;
}

static void strategies_job_init(struct strategies_job *job, int pes)
{
    size_t objects = (size_t)pes * STRATEGIES_EACH;

    job->pes     = pes;
    job->objects = (uint32_t)objects;
    job->object  = strategies_alloc(objects * sizeof *job->object);
    job->next    = strategies_alloc(objects * sizeof *job->next);
    job->start   = strategies_alloc(((size_t)pes + 2) * sizeof *job->start);
    job->number  = strategies_alloc(objects * sizeof *job->number);
    job->time    = strategies_alloc((size_t)pes * sizeof *job->time);
    job->own     = strategies_alloc(objects * sizeof *job->own);
    job->decided = strategies_alloc(objects * sizeof *job->decided);
}

static void strategies_job_destroy(struct strategies_job *job)
{
    free(job->object);
    free(job->next);
    free(job->start);
    free(job->number);
    free(job->time);
    free(job->own);
    free(job->decided);
}

/* Finds the objects and the time of each PE. */
static void strategies_job_sort(struct strategies_job *job)
{
    memset(job->start, 0, ((size_t)job->pes + 2) * sizeof *job->start);
    memset(job->time, 0, (size_t)job->pes * sizeof *job->time);
    for (uint32_t i = 0; i < job->objects; i++) {
        job->start[job->object[i].pe + 2]++;
        job->time[job->object[i].pe] += job->object[i].load;
        job->next[i] = job->object[i].pe;
    }
    for (int p = 2; p < job->pes + 2; p++)
        job->start[p] += job->start[p - 1];
    for (uint32_t i = 0; i < job->objects; i++)
        job->number[job->start[job->object[i].pe + 1]++] = i;
}

/* Six neighbours: steps of 1, c and c * c both ways, for c near the cube root of the PEs. */
static int strategies_neighbour(const struct strategies_job *job, int pe, int k)
{
    int c = 1, step;

    while (c * c * c < job->pes)
        c++;
    step = k / 2 == 0 ? 1 : k / 2 == 1 ? c : c * c;
    return (pe + (k % 2 ? step : job->pes - step % job->pes)) % job->pes;
}

/* Runs the decision of one PE. Returns its time in seconds. */
static double strategies_job_decide(struct strategies_job *job, int pe, uint64_t seed)
{
    skua_strategy_pe      pes[SKUA_NEIGHBOURS_MAX + 1] = {{.speed = 1}};
    skua_strategy_problem problem                      = {.size    = sizeof problem,
                                                          .pes     = SKUA_NEIGHBOURS_MAX + 1,
                                                          .hosts   = 1,
                                                          .objects = job->start[pe + 1] - job->start[pe],
                                                          .pe      = pes,
                                                          .object  = job->own,
                                                          .seed    = seed};
    const uint32_t       *number                       = job->number + job->start[pe];
    double                seconds;

    for (int k = 0; k < SKUA_NEIGHBOURS_MAX; k++)
        pes[k + 1] = (skua_strategy_pe){.background = job->time[strategies_neighbour(job, pe, k)],
                                        .speed      = 1};
    for (uint32_t i = 0; i < problem.objects; i++) {
        job->own[i]    = job->object[number[i]];
        job->own[i].pe = 0;
    }
    seconds = strategies_time(skua_strategy_find("diffusion"), &problem, job->decided);
    for (uint32_t i = 0; i < problem.objects; i++)
        if (job->decided[i] > 0)
            job->next[number[i]] = strategies_neighbour(job, pe, job->decided[i] - 1);
    return seconds;
}

/* Returns the mean time of a decision over some rounds of all PEs. */
static double strategies_diffusion(int pes)
{
    struct strategies_job job;
    double                seconds = 0;
    int                   rounds  = STRATEGIES_PES_MAX / pes > 4 ? STRATEGIES_PES_MAX / pes : 4;

    strategies_job_init(&job, pes);
    for (int round = 0; round < rounds; round++) {
        if (round % 8 == 0) /* changes the loads before they are balanced */
            strategies_make(job.object, job.objects, pes, (uint64_t)round + 1);
        strategies_job_sort(&job);
        for (int p = 0; p < pes; p++)
            seconds +=
                strategies_job_decide(&job, p, (uint64_t)round * STRATEGIES_PES_MAX + (uint64_t)p);
        for (uint32_t i = 0; i < job.objects; i++)
            job.object[i].pe = job.next[i];
    }
    strategies_job_destroy(&job);
    return seconds / rounds / pes;
}

int main(void)
{
    skua_strategy_object *object = strategies_alloc(STRATEGIES_OBJECTS * sizeof *object);
    int32_t              *to     = strategies_alloc(STRATEGIES_OBJECTS * sizeof *to);
    skua_strategy_pe      pe[STRATEGIES_PES];
    skua_strategy_problem problem = {.size    = sizeof problem,
                                     .pes     = STRATEGIES_PES,
                                     .hosts   = 1,
                                     .objects = STRATEGIES_OBJECTS,
                                     .pe      = pe,
                                     .object  = object};

    for (int p = 0; p < STRATEGIES_PES; p++)
        pe[p] = (skua_strategy_pe){.speed = 1, .pe = p};
    strategies_make(object, STRATEGIES_OBJECTS, STRATEGIES_PES, 1);
    strategies_whole("greedy", &problem, to);
    strategies_whole("refine", &problem, to);
    for (int pes = 16; pes <= STRATEGIES_PES_MAX; pes *= 4)
        bench_report("strategies", "diffusion", (size_t)pes, "pe_us",
                     1e6 * strategies_diffusion(pes));
    free(to);
    free(object);
    return 0;
}
