/* SPDX-License-Identifier: Apache-2.0 */
/* host_topology.c - see host_topology.h; and the calls of skua/topology.h, without those on meshes.
 */
#include "objects/services/host_topology.h"

#include <pthread.h>
#include <stdlib.h>

#include <skua/topology.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/cpu_locality.h"
#include "base/topology.h"
#include "core/pe/pe.h"
#include "objects/services/mesh.h"

#define HOST_KEY "skua.host"

/* What a process publishes. */
struct host_told {
    int32_t leader; /* the first process of its host                  */
    int32_t run;    /* processes from itself on that are on its host  */
};

static const struct ski_boot *host_boot;

static struct {
    pthread_mutex_t lock;
    _Atomic bool    ready;
    int             hosts;
    int            *of_process; /* the host of each process                */
    int            *pes;        /* of each host                            */
    int            *process;    /* processes by host, ascending ...        */
    int            *first;      /* ... where those of a host begin in that */
} host_map = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    _Atomic bool    ready;
    pthread_mutex_t lock;
    skua_cpu       *of; /* PEs of this host, by index */
} host_places = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- publishing and asking ---------------------------------------------------------- */

/* What a process of this host publishes. */
static struct host_told host_tell(const struct ski_job *job, int process)
{
    struct host_told told = {job->process[0].number, 1};

    while (process + told.run < job->processes && job->local_index[process + told.run] >= 0)
        told.run++;
    return told;
}

skua_status ski_host_topology_publish(const struct ski_boot *our_boot)
{
    struct host_told told = host_tell(our_boot->job, our_boot->process);

    host_boot = our_boot;
    return ski_job_is_distributed(host_boot->job)
               ? ski_boot_put(host_boot, HOST_KEY, &told, sizeof told)
               : SKUA_OK;
}

static struct host_told host_ask(int process)
{
    struct host_told told;
    size_t           bytes = sizeof told;

    if (host_boot->job->local_index[process] >= 0)
        return host_tell(host_boot->job, process);
    if (ski_boot_get(host_boot, process, HOST_KEY, &told, &bytes) != SKUA_OK ||
        bytes != sizeof told || told.leader < 0 || told.leader > process || told.run < 1 ||
        told.run > host_boot->job->processes - process)
        ski_fatal("process %d cannot find out which host process %d is on: what that published is "
                  "missing or makes no sense",
                  host_boot->process, process);
    return told;
}

/* Asks for the host of every process; hosts are numbered in the order of their leaders. */
static void host_ask_all(void)
{
    int processes       = host_boot->job->processes;
    host_map.of_process = ski_calloc((size_t)processes, sizeof(int));
    for (int process = 0; process < processes;) {
        struct host_told told = host_ask(process);
        int host = told.leader == process ? host_map.hosts++ : host_map.of_process[told.leader];

        for (int i = 0; i < told.run; i++)
            host_map.of_process[process++] = host;
    }
}

/* Their processes and PEs. */
static void host_sort(void)
{
    const struct ski_job *job = host_boot->job;
    int                   n   = 0;

    host_map.pes     = ski_calloc((size_t)host_map.hosts, sizeof(int));
    host_map.first   = ski_calloc((size_t)host_map.hosts + 1, sizeof(int));
    host_map.process = ski_calloc((size_t)job->processes, sizeof(int));
    for (int host = 0; host < host_map.hosts; host++) {
        host_map.first[host] = n;
        for (int i = 0; i < job->processes; i++)
            if (host_map.of_process[i] == host) {
                host_map.process[n++] = i;
                host_map.pes[host] += ski_job_pes_of(job, i);
            }
    }
    ski_assert(n == job->processes);
    host_map.first[host_map.hosts] = n;
}

static void host_learn(void)
{
    /* Pairs with the release below. */
    if (atomic_load_explicit(&host_map.ready, memory_order_acquire))
        return;
    pthread_mutex_lock(&host_map.lock);
    if (!host_map.hosts) {
        host_ask_all();
        host_sort();
        atomic_store_explicit(&host_map.ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&host_map.lock);
}

void ski_host_topology_close(void)
{
    free(host_map.of_process);
    free(host_map.pes);
    free(host_map.first);
    free(host_map.process);
    free(host_places.of);
    host_map.of_process = host_map.pes = host_map.first = host_map.process = NULL;
    host_places.of                                                         = NULL;
    host_map.hosts                                                         = 0;
    atomic_store(&host_map.ready, false);
    atomic_store(&host_places.ready, false);
}

/* ---- hosts -------------------------------------------------------------------------- */

static void host_check_pe(const char *call, int pe)
{
    const struct ski_pe *self = ski_pe_of_caller(call);

    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
}

static void host_check(const char *call, int host)
{
    (void)ski_pe_of_caller(call);
    host_learn();
    if (host < 0 || host >= host_map.hosts)
        ski_misuse("%s: host %d does not exist; this job has hosts 0 to %d", call, host,
                   host_map.hosts - 1);
}

int skua_hosts(void)
{
    (void)SKI_SELF();
    host_learn();
    return host_map.hosts;
}

int skua_host_of(int pe)
{
    host_check_pe(__func__, pe);
    host_learn();
    return host_map.of_process[ski_job_process_of(host_boot->job, pe)];
}

int skua_host_pes(int host)
{
    host_check(__func__, host);
    ski_assert(host_map.pes[host] > 0);
    return host_map.pes[host];
}

int skua_host_pe(int host, int i)
{
    const struct ski_job *job;

    host_check(__func__, host);
    job = host_boot->job;
    if (i < 0 || i >= host_map.pes[host])
        ski_misuse("skua_host_pe: host %d has PEs 0 to %d, not %d", host, host_map.pes[host] - 1,
                   i);
    return ski_job_first_pe(job,
                            host_map.process[host_map.first[host] + i / job->pes_per_process]) +
           i % job->pes_per_process;
}

/* Whether the processes of a host have consecutive numbers. */
static bool host_in_order(int host)
{
    int from = host_map.first[host], to = host_map.first[host + 1] - 1;

    return host_map.process[to] - host_map.process[from] == to - from;
}

int ski_host_topology_row(void)
{
    host_learn();
    for (int host = 0; host < host_map.hosts; host++)
        if (!host_in_order(host) || host_map.pes[host] > host_map.pes[0] ||
            (host_map.pes[host] < host_map.pes[0] && host < host_map.hosts - 1))
            return 0;
    return host_map.pes[0];
}

/* ---- the CPUs of PEs ---------------------------------------------------------------- */

static void host_read_places(void)
{
    const struct ski_job *job = host_boot->job;

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

    host_check_pe(__func__, pe);
    index = ski_job_index(host_boot->job, pe);
    if (index < 0)
        return (skua_cpu){-1, -1, -1, -1, -1};
    host_learn_places();
    return host_places.of[index];
}

skua_nearness skua_distance(int pe)
{
    skua_cpu here, there;

    host_check_pe(__func__, pe);
    if (pe == ski_self->pe)
        return SKUA_SAME_PE;
    if (ski_job_index(host_boot->job, pe) < 0)
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
    return ski_mesh_choose(pes, dims, ski_host_topology_row());
}
