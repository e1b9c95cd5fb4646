/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - see job.h. */
#include "boot/job.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "base/topology.h"

/* The processes here, their indices, and what follows from them. */
static void fill_in(struct ski_job *job, const struct ski_plan *plan)
{
    int run = 1;

    for (int i = 0; i < job->processes; i++)
        job->place[i] = -1;
    for (int i = 0; i < job->here; i++) {
        job->process[i].number             = plan->near ? plan->near[i] : i;
        job->place[job->process[i].number] = i;
        job->pes_here += ski_job_pes_of(job, job->process[i].number);
    }
    while (run < job->here && job->process[run].number == job->process[0].number + run)
        run++;
    job->first = ski_job_first_pe(job, job->process[0].number);
    job->near  = 0;
    for (int i = 0; i < run; i++)
        job->near += ski_job_pes_of(job, job->process[i].number);
    if (!ski_job_spread(job))
        job->near = ski_job_all(job); /* the hidden ones as well */
}

static skua_status_t job_make_seal_key(struct ski_job *job)
{
    if (getrandom(job->seal_key, sizeof job->seal_key, 0) == sizeof job->seal_key)
        return SKUA_OK;
    return ski_refuse(SKUA_ERR_SYSTEM, "the system has no random numbers for the key of a host: %s",
                      strerror(errno));
}

skua_status_t ski_job_create(struct ski_arena *arena, const struct ski_plan *plan,
                             struct ski_job **job)
{
    int             processes = (plan->pes + plan->pes_per_process - 1) / plan->pes_per_process;
    int             here      = plan->near ? plan->here : processes;
    size_t          head      = sizeof **job + (size_t)here * sizeof(struct ski_process);
    size_t          cpus      = (size_t)here * (size_t)plan->pes_per_process;
    size_t          bytes     = head + (cpus + (size_t)processes) * sizeof(int32_t);
    struct ski_job *made;
    void           *memory;
    skua_status_t   status;

    status = ski_span_alloc(arena, bytes, SKI_UNIT_LARGE, &memory);
    if (status != SKUA_OK)
        return status;
    made                  = memset(memory, 0, bytes);
    made->arena           = arena;
    made->clock           = ski_clock_get();
    made->pes             = plan->pes;
    made->pes_per_process = plan->pes_per_process;
    made->processes       = processes;
    made->here            = here;
    made->one_host        = plan->one_host || !plan->near;
    made->starter         = getpid();
    made->cpu             = (int32_t *)(void *)((char *)memory + head);
    made->place           = made->cpu + cpus;
    memcpy(made->secret, plan->secret, sizeof made->secret);
    if (ski_job_spread(made))
        status = job_make_seal_key(made);
    fill_in(made, plan);
    if (status == SKUA_OK && plan->cpu)
        memcpy(made->cpu, plan->cpu, (size_t)made->pes_here * sizeof *plan->cpu);
    else if (status == SKUA_OK)
        status = ski_topology_place(plan->pin, made->pes_here, made->cpu);
    if (status != SKUA_OK) {
        ski_span_free(arena, memory);
        return status;
    }
    arena->root = made;
    *job        = made;
    return SKUA_OK;
}

struct ski_job *ski_job_of(struct ski_arena *arena)
{
    struct ski_job *job = arena->root;

    return job && ski_arena_contains(arena, job) && job->arena == arena ? job : NULL;
}

bool ski_job_exit(struct ski_job *job, int code)
{
    uint64_t running = 0;

    /* Sequentially consistent: see ski_inbox_rouse(). */
    return atomic_compare_exchange_strong(&job->exit, &running, SKI_JOB_EXIT | (uint32_t)code);
}
