/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - layout, sleep and wake-up (see host.h). */
#include "transport/host/host.h"

#include <string.h>

#include "base/log.h"
#include "base/topology.h"

/* Which domain each PE is in: PEs on one CPU share it, PEs on any CPU share one. */
static skua_status_t make_domains(struct ski_host *host, const struct ski_job *job)
{
    struct ski_topology topology = {.cpus = 1};
    uint32_t            domains  = 0;

    if (job->cpu[0] == SKI_CPU_ANY) {
        skua_status_t status = ski_topology_load(&topology);
        if (status != SKUA_OK)
            return status;
        ski_topology_free(&topology);
    }
    for (int pe = job->pes; pe < host->all; pe++) { /* each by itself: it never waits for a CPU */
        host->domain[pe]  = (uint32_t)pe;
        host->domains[pe] = (struct ski_domain){.awake = 1, .pes = 1, .cpus = 1};
    }
    for (int pe = 0; pe < job->pes; pe++) {
        struct ski_domain *domain;
        int                twin = 0;

        while (job->cpu[twin] != job->cpu[pe])
            twin++;
        host->domain[pe] = twin < pe ? host->domain[twin] : domains++;
        domain           = &host->domains[host->domain[pe]];
        domain->cpus     = topology.cpus;
        domain->pes++;
        domain->awake++;
    }
    return SKUA_OK;
}

/* The ring of an inbox must have room for a ticket of every PE at once, twice
 * (inbox.h). */
static uint32_t cells_for(size_t pes, uint32_t cells)
{
    while (cells < 4 * pes)
        cells *= 2;
    return cells;
}

/* The next @p bytes of a piece of memory, in cache lines of their own. */
static void *carve(char **memory, size_t bytes)
{
    void *piece = *memory;

    *memory += (bytes + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
    return piece;
}

skua_status_t ski_host_create(struct ski_job *job, uint32_t cells)
{
    size_t           pes    = (size_t)(job->pes + 2 * job->processes);
    size_t           stride = ski_inbox_bytes(cells_for(pes, cells));
    struct ski_host *host;
    void            *span;
    char            *memory;
    skua_status_t    status;

    status = ski_span_alloc(job->arena,
                            pes * (stride + sizeof *host->domains + sizeof *host->domain) +
                                sizeof *host + 2 * SKI_CACHE_LINE,
                            SKI_UNIT_LARGE, &span);
    if (status != SKUA_OK)
        return status;
    /* A fresh arena is all zeros: empty inboxes, whose pages are left to their
     * owners to touch first. */
    memory        = span;
    host          = carve(&memory, sizeof *host);
    host->domain  = carve(&memory, pes * sizeof *host->domain);
    host->domains = carve(&memory, pes * sizeof *host->domains);
    host->inboxes = memory;
    host->stride  = stride;
    host->cells   = cells_for(pes, cells);
    host->pes     = job->pes;
    host->all     = (int32_t)pes;
    status        = make_domains(host, job);
    if (status == SKUA_OK)
        status = ski_heap_create(job->arena, (unsigned)pes, &host->heaps);
    if (status == SKUA_OK)
        job->host = host;
    return status;
}

static struct ski_domain *domain_of(struct ski_host *host, int pe)
{
    return &host->domains[host->domain[pe]];
}

/* Whoever takes the announcement of sleep back counts the PE as awake. */
static bool rouse(struct ski_host *host, int pe)
{
    if (!ski_inbox_rouse(ski_host_inbox(host, pe)))
        return false;
    atomic_fetch_add_explicit(&domain_of(host, pe)->awake, 1, memory_order_relaxed);
    return true;
}

void ski_host_wake(struct ski_host *host, int pe)
{
    if (rouse(host, pe))
        ski_inbox_wake_mp(ski_host_inbox(host, pe));
}

void ski_host_wake_all(struct ski_host *host)
{
    for (int pe = 0; pe < host->all; pe++)
        ski_host_wake(host, pe);
}

void ski_host_sleep(struct ski_host *host, struct ski_job *job, int pe, struct ski_reader *reader,
                    uint64_t ns)
{
    atomic_fetch_sub_explicit(&domain_of(host, pe)->awake, 1, memory_order_relaxed);
    /* Announce, then look at the exit flag; skua_exit() sets the flag, then
     * rouses.  All four are sequentially consistent: one sees the other. */
    if (ski_reader_doze_sc(reader) && !atomic_load(&job->exit))
        ski_reader_sleep_sc(reader, ns);
    rouse(host, pe);
}
