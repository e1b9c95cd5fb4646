/* SPDX-License-Identifier: Apache-2.0 */
/* host_topology.c - see host_topology.h; and the calls of skua/topology.h, without those on meshes.
 */
#include "objects/services/host_topology.h"

#include <pthread.h>
#include <stdlib.h>

#include <skua/topology.h>

#include "base/memory.h"
#include "base/cpu_locality.h"
#include "base/topology.h"
#include "core/pe/pe.h"
#include "objects/services/mesh.h"

static const struct ski_job *host_job;

static struct {
    _Atomic bool    ready;
    pthread_mutex_t lock;
    skua_cpu       *of; /* PEs of this host, by index */
} host_places = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ski_host_topology_open(const struct ski_boot *boot)
{
    host_job = boot->job;
}

void ski_host_topology_close(void)
{
    free(host_places.of);
    host_places.of = NULL;
    atomic_store(&host_places.ready, false);
}

/* ---- hosts -------------------------------------------------------------------------- */

void ski_host_topology_check_pe(const char *call, int pe)
{
    const struct ski_pe *self = ski_pe_of_caller(call);

    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
}

void ski_host_topology_check(const char *call, int host)
{
    const struct ski_pe *self = ski_pe_of_caller(call);

    if (host < 0 || host >= self->job->hosts)
        ski_misuse("%s: host %d does not exist; this job has hosts 0 to %d", call, host,
                   self->job->hosts - 1);
}

int skua_hosts(void)
{
    return SKI_SELF()->job->hosts;
}

int skua_host_of(int pe)
{
    ski_host_topology_check_pe(__func__, pe);
    return ski_job_host_of(host_job, pe);
}

int skua_host_pes(int host)
{
    ski_host_topology_check(__func__, host);
    return ski_job_host_pes(host_job, host);
}

int skua_host_pe(int host, int i)
{
    int pes;

    ski_host_topology_check(__func__, host);
    pes = ski_job_host_pes(host_job, host);
    if (i < 0 || i >= pes)
        ski_misuse("skua_host_pe: host %d has PEs 0 to %d, not %d", host, pes - 1, i);
    return ski_job_host_pe(host_job, host, i);
}

/* Returns whether the processes of a host have consecutive numbers. */
static bool host_in_order(const struct ski_job *job, int host)
{
    int from = job->host_first[host], to = job->host_first[host + 1] - 1;

    return job->host_process[to] - job->host_process[from] == to - from;
}

/* Returns the number of PEs of each host, if hosts are filled in order and have equally many, the
 * last perhaps fewer; else 0. */
static int host_topology_row(void)
{
    int row = ski_job_host_pes(host_job, 0);

    for (int host = 0; host < host_job->hosts; host++) {
        int pes = ski_job_host_pes(host_job, host);

        if (!host_in_order(host_job, host) || pes > row ||
            (pes < row && host < host_job->hosts - 1))
            return 0;
    }
    return row;
}

/* ---- the CPUs of PEs ---------------------------------------------------------------- */

static void host_read_places(void)
{
    const struct ski_job *job = host_job;

    host_places.of = ski_calloc((size_t)job->local_pes, sizeof *host_places.of);
    for (int i = 0; i < job->local_pes; i++)
        host_places.of[i] = job->cpu[i] == SKI_CPU_ANY
                                ? (skua_cpu){-1, -1, -1, -1, -1}
                                : ski_cpu_locality_read(SKI_CPU_LOCALITY_ROOT, job->cpu[i]);
}

static void host_learn_places(void)
{
    /* Pairs with the release below. */
    if (atomic_load_explicit(&host_places.ready, memory_order_acquire))
        return;
    pthread_mutex_lock(&host_places.lock);
    if (!host_places.of) {
        host_read_places();
        atomic_store_explicit(&host_places.ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&host_places.lock);
}

skua_cpu skua_cpu_of(int pe)
{
    int index;

    ski_host_topology_check_pe(__func__, pe);
    index = ski_job_index(host_job, pe);
    if (index < 0)
        return (skua_cpu){-1, -1, -1, -1, -1};
    host_learn_places();
    return host_places.of[index];
}

skua_nearness skua_distance(int pe)
{
    skua_cpu here, there;

    ski_host_topology_check_pe(__func__, pe);
    if (pe == ski_self->pe)
        return SKUA_SAME_PE;
    if (ski_job_index(host_job, pe) < 0)
        return SKUA_ELSEWHERE;
    here  = skua_cpu_of(ski_self->pe);
    there = skua_cpu_of(pe);
    return ski_cpu_locality_distance(&here, &there);
}

/* ---- meshes ------------------------------------------------------------------------- */

skua_mesh skua_mesh_make(int dims)
{
    int pes = SKI_SELF()->pes;

    if (dims < 0 || dims > SKUA_MESH_DIMS)
        ski_misuse("skua_mesh_make: a mesh has 1 to %d dimensions, not %d", SKUA_MESH_DIMS, dims);
    return ski_mesh_choose(pes, dims, host_topology_row());
}
