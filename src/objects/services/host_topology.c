/* SPDX-License-Identifier: Apache-2.0 */
/* host_topology.c - see host_topology.h; and the calls of topology.h but those of meshes. */
#include "objects/services/host_topology.h"

#include <pthread.h>
#include <stdlib.h>

#include <skua/topology.h>

#include "base/memory.h"
#include "base/place.h"
#include "base/topology.h"
#include "core/pe/pe.h"
#include "objects/services/mesh.h"

#define KEY "skua.host"

struct told {
    int32_t leader; /* the first process of the host              */
    int32_t run;    /* so many from the teller on are there, too  */
};

static const struct ski_boot *boot;

static struct {
    pthread_mutex_t lock;
    _Atomic bool    ready;
    int             hosts;
    int            *of_process; /* the host of each process                */
    int            *pes;        /* of each host                            */
    int            *process;    /* processes by host, ascending ...        */
    int            *first;      /* ... where those of a host begin in that */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    _Atomic bool    ready;
    pthread_mutex_t lock;
    skua_place     *of; /* PEs of this host, by index */
} places = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- telling and asking -------------------------------------------------------------- */

/* What a process of this host would tell. */
static struct told tell_of(const struct ski_job *job, int process)
{
    struct told told = {job->process[0].number, 1};

    while (process + told.run < job->processes && job->place[process + told.run] >= 0)
        told.run++;
    return told;
}

skua_status_t ski_hosts_open(const struct ski_boot *our_boot)
{
    struct told told = tell_of(our_boot->job, our_boot->process);

    boot = our_boot;
    return ski_job_spread(boot->job) ? ski_boot_put(boot, KEY, &told, sizeof told) : SKUA_OK;
}

static struct told ask(int process)
{
    struct told told;
    size_t      bytes = sizeof told;

    if (boot->job->place[process] >= 0)
        return tell_of(boot->job, process);
    if (ski_boot_get(boot, process, KEY, &told, &bytes) != SKUA_OK || bytes != sizeof told ||
        told.leader < 0 || told.leader > process || told.run < 1 ||
        told.run > boot->job->processes - process)
        ski_fatal("cannot find out which host process %d is on", process);
    return told;
}

/* The host of every process; hosts are numbered by their leaders. */
static void ask_all(void)
{
    int processes    = boot->job->processes;
    known.of_process = ski_calloc((size_t)processes, sizeof(int));
    for (int process = 0; process < processes;) {
        struct told told = ask(process);
        int         host = told.leader == process ? known.hosts++ : known.of_process[told.leader];

        for (int i = 0; i < told.run; i++)
            known.of_process[process++] = host;
    }
}

/* Their processes and PEs. */
static void sort(void)
{
    const struct ski_job *job = boot->job;
    int                   n   = 0;

    known.pes     = ski_calloc((size_t)known.hosts, sizeof(int));
    known.first   = ski_calloc((size_t)known.hosts + 1, sizeof(int));
    known.process = ski_calloc((size_t)job->processes, sizeof(int));
    for (int host = 0; host < known.hosts; host++) {
        known.first[host] = n;
        for (int i = 0; i < job->processes; i++)
            if (known.of_process[i] == host) {
                known.process[n++] = i;
                known.pes[host] += ski_job_pes_of(job, i);
            }
    }
    known.first[known.hosts] = n;
}

static void learn(void)
{
    /* Pairs with the release below. */
    if (atomic_load_explicit(&known.ready, memory_order_acquire))
        return;
    pthread_mutex_lock(&known.lock);
    if (!known.hosts) {
        ask_all();
        sort();
        atomic_store_explicit(&known.ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&known.lock);
}

void ski_hosts_close(void)
{
    free(known.of_process);
    free(known.pes);
    free(known.first);
    free(known.process);
    free(places.of);
    known.of_process = known.pes = known.first = known.process = NULL;
    places.of                                                  = NULL;
}

/* ---- hosts ---------------------------------------------------------------------------- */

static void check_pe(const char *call, int pe)
{
    const struct ski_pe *self = ski_pe_of_caller(call);

    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
}

static void check_host(const char *call, int host)
{
    (void)ski_pe_of_caller(call);
    learn();
    if (host < 0 || host >= known.hosts)
        ski_misuse("%s: host %d does not exist; this job has hosts 0 to %d", call, host,
                   known.hosts - 1);
}

int skua_hosts(void)
{
    (void)SKI_SELF();
    learn();
    return known.hosts;
}

int skua_host_of(int pe)
{
    check_pe(__func__, pe);
    learn();
    return known.of_process[ski_job_process_of(boot->job, pe)];
}

int skua_host_pes(int host)
{
    check_host(__func__, host);
    return known.pes[host];
}

int skua_host_pe(int host, int i)
{
    const struct ski_job *job = boot->job;

    check_host(__func__, host);
    if (i < 0 || i >= known.pes[host])
        ski_misuse("skua_host_pe: host %d has PEs 0 to %d, not %d", host, known.pes[host] - 1, i);
    return ski_job_first_pe(job, known.process[known.first[host] + i / job->pes_per_process]) +
           i % job->pes_per_process;
}

/* Whether the processes of a host are neighbours. */
static bool in_order(int host)
{
    int from = known.first[host], to = known.first[host + 1] - 1;

    return known.process[to] - known.process[from] == to - from;
}

int ski_hosts_row(void)
{
    learn();
    for (int host = 0; host < known.hosts; host++)
        if (!in_order(host) || known.pes[host] > known.pes[0] ||
            (known.pes[host] < known.pes[0] && host < known.hosts - 1))
            return 0;
    return known.pes[0];
}

/* ---- places ----------------------------------------------------------------------------- */

static void read_places(void)
{
    const struct ski_job *job = boot->job;

    places.of = ski_calloc((size_t)job->pes_here, sizeof *places.of);
    for (int i = 0; i < job->pes_here; i++)
        places.of[i] = job->cpu[i] == SKI_CPU_ANY ? (skua_place){-1, -1, -1, -1, -1}
                                                  : ski_place_read(SKI_PLACE_ROOT, job->cpu[i]);
}

static void learn_places(void)
{
    /* Pairs with the release below. */
    if (atomic_load_explicit(&places.ready, memory_order_acquire))
        return;
    pthread_mutex_lock(&places.lock);
    if (!places.of) {
        read_places();
        atomic_store_explicit(&places.ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&places.lock);
}

skua_place skua_place_of(int pe)
{
    int index;

    check_pe(__func__, pe);
    index = ski_job_index(boot->job, pe);
    if (index < 0)
        return (skua_place){-1, -1, -1, -1, -1};
    learn_places();
    return places.of[index];
}

skua_nearness skua_distance(int pe)
{
    skua_place here, there;

    check_pe(__func__, pe);
    if (pe == ski_self->pe)
        return SKUA_SAME_PE;
    if (ski_job_index(boot->job, pe) < 0)
        return SKUA_ELSEWHERE;
    here  = skua_place_of(ski_self->pe);
    there = skua_place_of(pe);
    return ski_place_distance(&here, &there);
}

/* ---- meshes ------------------------------------------------------------------------------ */

skua_mesh skua_mesh_make(int dims)
{
    int pes = SKI_SELF()->pes;

    if (dims < 0 || dims > SKUA_MESH_DIMS)
        ski_misuse("skua_mesh_make: a mesh has 1 to %d dimensions, not %d", SKUA_MESH_DIMS, dims);
    return ski_mesh_choose(pes, dims, ski_hosts_row());
}
