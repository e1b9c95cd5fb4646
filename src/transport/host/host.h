/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - messages between the PEs of one host, through the arena.
 *
 * Every PE of the job on this host has an inbox (base/inbox.h) and a heap
 * (base/heap.h) in the arena, so a send is: find the inbox by arithmetic, fill
 * a cell.  There is no connection, no table of peers, and no difference
 * between PEs of one process and of several.
 *
 * PEs are known here by their index on the host (boot/job.h).
 *
 * Waiting.  CPUs are grouped into *domains*: one CPU, where PEs are bound, or
 * all of them where they are not.  A domain counts its PEs that are awake.  An
 * idle PE spins only while its domain has a CPU for everyone who is awake;
 * where it is crowded it soon sleeps and leaves the CPU to a PE with work.
 *
 * A PE that also waits for the network cannot sleep at a futex.  It has a *bell*: a datagram
 * socket that it announces in the arena when it sleeps there, and a PE that wakes it sends the
 * key of the bells.
 *
 * All users of a host can read the names of its sockets (/proc/net/unix) and send to them.  So
 * the system chooses the name of a bell, which says nothing; and a filter in the kernel drops
 * whatever is not the key, 16 random bytes that lie in the arena and serve nothing else.
 */
#ifndef SKI_HOST_H
#define SKI_HOST_H

#include "base/heap.h"
#include "base/inbox.h"
#include "boot/job.h"

struct ski_domain {
    _Alignas(SKI_CACHE_LINE) _Atomic int32_t awake; /* of its PEs */
    int32_t pes, cpus;
};

#define SKI_BELL_NAME 16 /* bytes of the name that the system gives a bell, at most */

struct ski_sleeper {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t at_bell; /* it sleeps there, not at its futex */
    uint8_t name_bytes;                                /* written before the first sleep    */
    char    name[SKI_BELL_NAME];
};

struct ski_host {
    char               *inboxes; /* of PE 0, then every `stride` bytes */
    size_t              stride;
    uint32_t            cells;   /* in an inbox */
    bool                checked; /* messages have records (base/pool.h): of all PEs, or none */
    int32_t             all;     /* PEs of this host, with the hidden ones */
    struct ski_heap    *heaps;   /* one a PE, hidden or not          */
    struct ski_sleeper *sleeper; /* one a PE */
    _Atomic(void *)    *board;   /* one a PE: memory that others of the host write to, or NULL
                                    (core/collective/reduction_slot.h) */
    struct ski_domain *domains;
    uint32_t          *domain;      /* of each PE, an index */
    uint32_t           bell_key[4]; /* what wakes a PE that sleeps at its bell */
};

/** Lay out inboxes, heaps and domains for the PEs of @p job; job->host is set.
 *  A failure has been logged. */
skua_status_t ski_host_create(struct ski_job *job, uint32_t cells);

static inline struct ski_inbox *ski_host_inbox(const struct ski_host *host, int index)
{
    return (struct ski_inbox *)(void *)(host->inboxes + (size_t)index * host->stride);
}

/** Wake a PE whose inbox was asleep when we sent to it. */
SKI_COLD void ski_host_wake(struct ski_host *host, int index);

/** Wake all of them. */
void ski_host_wake_all(struct ski_host *host);

/** Whether there may be more PEs around @p index than CPUs for them. */
static inline bool ski_host_shared(const struct ski_host *host, int index)
{
    const struct ski_domain *domain = &host->domains[host->domain[index]];
    return domain->pes > domain->cpus;
}

/** Whether more PEs are awake around @p index than there are CPUs for them. */
static inline bool ski_host_crowded(const struct ski_host *host, int index)
{
    const struct ski_domain *domain = &host->domains[host->domain[index]];
    return atomic_load_explicit(&domain->awake, memory_order_relaxed) > domain->cpus;
}

/** Sleep until something is sent to @p index, the caller, whose inbox @p reader
 *  reads; or @p ns are over, or @p job, if any, exits, or for no reason. */
void ski_host_sleep(struct ski_host *host, struct ski_job *job, int index,
                    struct ski_reader *reader, uint64_t ns);

/** The same, and until @p fd can be read, at @p bell, which ski_bell_open() made. */
void ski_host_sleep_at(struct ski_host *host, struct ski_job *job, int index,
                       struct ski_reader *reader, int bell, int fd, uint64_t ns);

/** Make the bell of PE @p index, which is of this process: a descriptor, or -1, logged. */
int ski_bell_open(struct ski_host *host, int index);

#endif
