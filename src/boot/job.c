/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - see job.h. */
#include "boot/job.h"

#include <string.h>
#include <unistd.h>

#include "base/topology.h"

skua_status_t ski_job_create(struct ski_arena *arena, int pes, int per_process, const char *pin,
                             struct ski_job **job)
{
    int             processes = (pes + per_process - 1) / per_process;
    size_t          head      = sizeof **job + (size_t)processes * sizeof(struct ski_process);
    size_t          bytes     = head + (size_t)pes * sizeof(int32_t);
    struct ski_job *made;
    void           *memory;
    skua_status_t   status;

    status = ski_span_alloc(arena, bytes, SKI_UNIT_LARGE, &memory);
    if (status != SKUA_OK)
        return status;
    made                  = memset(memory, 0, bytes);
    made->arena           = arena;
    made->clock           = ski_clock_get();
    made->pes             = pes;
    made->pes_per_process = per_process;
    made->processes       = processes;
    made->starter         = getpid();
    made->cpu             = (int32_t *)(void *)((char *)memory + head);
    for (int i = 0; i < processes; i++) {
        int first                 = i * per_process;
        made->process[i].first_pe = first;
        made->process[i].pes      = pes - first < per_process ? pes - first : per_process;
    }
    status = ski_topology_place(pin, pes, made->cpu);
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
