/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - messages between the PEs of one host, through the arena.
 *
 * Every PE of the job on this host has an inbox (base/inbox.h) and a heap (base/heap.h) in the
 * arena.  A send computes the address of the inbox and fills a cell.  There is no connection, no
 * table of peers, and no difference between PEs of one process and of several.
 *
 * PEs are identified here by their local index (boot/job.h).
 *
 * Waiting.  CPUs are grouped into *domains*: one CPU each where PEs are bound, one of all CPUs
 * where they are not.  A domain counts its PEs that are awake.  An idle PE spins only while its
 * domain has a CPU for each PE that is awake; in a crowded domain it soon sleeps and leaves the CPU
 * to a PE with work.  A hidden PE has a domain of its own, with a CPU that it shares if the PEs of
 * the job use all CPUs.
 *
 * A PE that also waits for the network cannot sleep on a futex.  It has a *wakeup socket*, a
 * datagram socket on which it sleeps together with the descriptor of the driver, and a PE that
 * wakes it sends the wakeup key there.
 *
 * All users of a host can read the names of its sockets (/proc/net/unix) and send to them.  So the
 * kernel chooses the name of a wakeup socket, and a filter in the kernel drops everything but the
 * key, 16 random bytes in the arena that serve no other purpose.
 */
#ifndef SKI_HOST_H
#define SKI_HOST_H

#include "base/heap.h"
#include "base/inbox.h"
#include "boot/job.h"

/* CPUs that PEs share. */
struct ski_domain {
    _Alignas(SKI_CACHE_LINE) _Atomic int32_t awake; /* PEs that are awake */
    int32_t pes, cpus;
};

#define SKI_WAKEUP_NAME 16 /* bytes of the name that the kernel gives a wakeup socket, at most */

/* Where a PE sleeps. */
struct ski_sleeper {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t polling; /* on its wakeup socket, not on a futex */
    uint8_t name_bytes; /* the name of the wakeup socket, written before the first sleep */
    char    name[SKI_WAKEUP_NAME];
};

/* The shared structures of the PEs on this host, in the arena. */
struct ski_host {
    char               *inboxes; /* the inbox of index 0; the others follow at `stride` bytes   */
    size_t              stride;
    uint32_t            rings;        /* of an inbox, one behind the other                      */
    uint32_t            cells;        /* in a ring                                              */
    uint32_t            sole;         /* PEs with a ring of their own in each inbox, 0 or all   */
    bool                checked;      /* messages have records (base/pool.h): all of them       */
    int32_t             all;          /* PEs on this host, with the hidden ones                 */
    struct ski_heap    *heaps;        /* by index of the PE                                     */
    struct ski_sleeper *sleeper;      /* by index of the PE                                     */
    _Atomic(void *)    *board;        /* by index of the PE: memory that other PEs write, or NULL
                                         (core/collective/reduction_slot.h)                     */
    _Atomic(void *) *team_board;      /* by index of the PE: memory that other PEs read, or NULL
                                         (onesided/team/team_slot.h)                            */
    struct ski_domain *domains;       /* by number of the domain                                */
    uint32_t          *domain;        /* by index of the PE: the number of its domain           */
    uint32_t           wakeup_key[4]; /* the datagram that wakes a PE                           */
};

/** Creates inboxes, heaps and domains for the local PEs of @p job and sets job->host.  A failure
 * has been logged. */
skua_status ski_host_create(struct ski_job *job, uint32_t cells);

/** Returns the inbox of a PE: its first ring. */
static inline struct ski_inbox *ski_host_inbox(const struct ski_host *host, int index)
{
    return (struct ski_inbox *)(void *)(host->inboxes + (size_t)index * host->stride);
}

/** Returns ring @p ring of the inbox of PE @p index. */
static inline struct ski_inbox *ski_host_ring(const struct ski_host *host, int index, uint32_t ring)
{
    return (struct ski_inbox *)(void *)((char *)ski_host_inbox(host, index) +
                                        ring * ski_inbox_bytes(host->cells));
}

/** Returns whether PE @p index has a ring of its own in each inbox. */
static inline bool ski_host_has_ring(const struct ski_host *host, int index)
{
    return (uint32_t)index < host->sole;
}

/** Returns the number, in each inbox, of the ring that PE @p index sends to. */
static inline uint32_t ski_host_ring_of(const struct ski_host *host, int index)
{
    if (host->sole)
        return ski_host_has_ring(host, index) ? (uint32_t)index + 1 : 0;
    return (uint32_t)index % host->rings;
}

/** Wakes a PE that was asleep when a message was published in its inbox. */
SKI_COLD void ski_host_wake(struct ski_host *host, int index);

/** Wakes all PEs of the host. */
void ski_host_wake_all(struct ski_host *host);

/** Returns whether the domain of @p index has more PEs than CPUs. */
static inline bool ski_host_shared(const struct ski_host *host, int index)
{
    const struct ski_domain *domain = &host->domains[host->domain[index]];
    return domain->pes > domain->cpus;
}

/** Returns whether the domain of @p index has more PEs awake than CPUs. */
static inline bool ski_host_crowded(const struct ski_host *host, int index)
{
    const struct ski_domain *domain = &host->domains[host->domain[index]];
    return atomic_load_explicit(&domain->awake, memory_order_relaxed) > domain->cpus;
}

/** Returns how many foreign PEs the domain of @p index counts: those on its CPU that do not share
 *  the arena are one, which is taken to be always awake. */
int ski_host_foreign_pes(const struct ski_job *job, int index);

/** Returns what ski_host_crowded() does if @p foreign PEs of the domain are asleep. */
static inline bool ski_host_crowded_without(const struct ski_host *host, int index, int foreign)
{
    const struct ski_domain *domain = &host->domains[host->domain[index]];
    return atomic_load_explicit(&domain->awake, memory_order_relaxed) - foreign > domain->cpus;
}

/** Sleeps until a message is sent to @p index, the calling PE, whose inbox @p reader reads; or for
 *  @p ns nanoseconds, or until @p job, unless NULL, exits.  It may return early without a reason.
 */
void ski_host_sleep(struct ski_host *host, struct ski_job *job, int index,
                    struct ski_reader *reader, uint64_t ns);

/** Sleeps as ski_host_sleep() does, on the wakeup socket @p bell, and also until @p fd is
 *  readable. */
void ski_host_sleep_poll(struct ski_host *host, struct ski_job *job, int index,
                         struct ski_reader *reader, int bell, int fd, uint64_t ns);

/** Creates the wakeup socket of PE @p index of this process, and the socket from which the process
 *  wakes others.  Returns the descriptor of the first, or -1, logged. */
int ski_host_wakeup_open(struct ski_host *host, int index);

/** Closes the socket from which this process wakes others, if there is one. */
void ski_host_wakeup_close(void);

#endif
