/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - layout, sleep and wake-up (see host.h). */
#include "transport/host/host.h"

#include <arpa/inet.h>

#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/cgroup.h"
#include "base/config.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/membarrier.h"
#include "base/topology.h"

int ski_host_foreign_pes(const struct ski_job *job, int index)
{
    return job->cpus_shared && index < job->local_pes && job->cpu[index] != SKI_CPU_ANY ? 1 : 0;
}

/* Returns whether the PEs of the job use all CPUs of this host, so that a hidden PE has none to
 * itself. */
static bool host_is_full(const struct ski_job *job)
{
    int cpus = ski_cpus_allowed((int)sysconf(_SC_NPROCESSORS_ONLN));

    return (job->one_host ? job->pes : job->local_pes) >= cpus;
}

/* Assigns PEs to domains: those bound to one CPU share a domain, those that are not bound share
 * one. */
static skua_status host_make_domains(struct ski_host *host, const struct ski_job *job)
{
    struct ski_topology topology = {.cpus = 1};
    uint32_t            domains  = 0;
    int                 others   = host_is_full(job) ? 1 : 0; /* on the CPU of a hidden PE */

    if (job->cpu[0] == SKI_CPU_ANY) {
        skua_status status = ski_topology_load(&topology);
        if (status != SKUA_OK)
            return status;
        ski_topology_free(&topology);
    }
    for (int index = job->local_pes; index < host->all;
         index++) { /* a hidden PE has a domain of its own */
        host->domain[index]  = (uint32_t)index;
        host->domains[index] = (struct ski_domain){.awake = 1, .pes = 1 + others, .cpus = 1};
    }
    for (int index = 0; index < job->local_pes; index++) {
        struct ski_domain *domain;
        int                twin = 0;

        while (job->cpu[twin] != job->cpu[index])
            twin++;
        host->domain[index] = twin < index ? host->domain[twin] : domains++;
        domain              = &host->domains[host->domain[index]];
        domain->cpus        = ski_cpus_allowed(topology.cpus);
        if (twin == index) {
            domain->pes   = ski_host_foreign_pes(job, index);
            domain->awake = domain->pes;
        }
        domain->pes++;
        domain->awake++;
    }
    return SKUA_OK;
}

/* Returns the number of cells of a ring that @p pes PEs share: four for each PE at least, and four
 * where there is none (inbox.h). */
static uint32_t host_inbox_cells(size_t pes, uint32_t cells)
{
    while (cells < 4 || cells < 4 * pes)
        cells *= 2;
    return cells;
}

/* PEs of a host from which on an inbox has several rings, and their number, by default
 * (docs/decisions/0083-x86-64-rates.md). */
#define HOST_RINGS_PES 8
#define HOST_RINGS     4

/* By default a PE has a ring of its own in each inbox on hosts of this many PEs if a host has a CPU
 * for each, and all inboxes take at most this part of the arena. */
#define HOST_SOLE_MIN  4
#define HOST_SOLE_MAX  16
#define HOST_SOLE_PART 16
#define HOST_TABLES    6 /* before the inboxes, in cache lines of their own */

/* Returns whether there is a CPU for each PE.  A PE whose inbox has rings with sole senders
 * executes a heavy fence before it sleeps, and PEs that share CPUs sleep often. */
static bool host_has_cpu_each(const struct ski_job *job)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
           ski_cpus_allowed(CPU_COUNT(&cpus)) >= job->local_pes;
}

/* Returns the size in bytes of all inboxes whose rings, one for each PE, have @p cells cells. */
static size_t host_sole_bytes(const struct ski_job *job, uint32_t cells)
{
    return (size_t)ski_job_all_local(job) * ((size_t)job->local_pes + 1) * ski_inbox_bytes(cells);
}

/* Returns whether an inbox has a ring for each PE, if the setting allows a choice. */
static bool host_prefers_sole(const struct ski_job *job, uint32_t cells)
{
    return !ski_config.inbox_rings && job->local_pes >= HOST_SOLE_MIN &&
           job->local_pes <= HOST_SOLE_MAX && host_has_cpu_each(job) &&
           host_sole_bytes(job, cells) <= job->arena->bytes / HOST_SOLE_PART;
}

/* Returns whether an inbox can have a ring for each PE, as the setting demands; else warns. */
static bool host_permits_sole(const struct ski_job *job, uint32_t cells)
{
    size_t bytes = host_sole_bytes(job, cells);

    if (bytes <= job->arena->bytes / 2)
        return true;
    ski_log(SKI_LOG_WARN,
            "SKUA_SENDER_RINGS=1: the rings of %d PEs take %zu MiB, more than half of the arena, "
            "so senders share rings; raise SKUA_ARENA_SIZE",
            job->local_pes, bytes >> 20);
    return false;
}

/* Returns the number of PEs that have a ring of their own in each inbox: all of the host, or 0. */
static uint32_t host_sole_pes(const struct ski_job *job, uint32_t cells)
{
    if (job->local_pes < 2 || ski_config.sender_rings == 0)
        return 0;
    if (ski_config.sender_rings < 0 ? !host_prefers_sole(job, cells)
                                    : !host_permits_sole(job, cells))
        return 0;
    if (ski_membarrier_register())
        return (uint32_t)job->local_pes;
    if (ski_config.sender_rings > 0)
        ski_log(SKI_LOG_WARN,
                "SKUA_SENDER_RINGS=1: membarrier(2) fails (%s), so senders share rings",
                strerror(errno));
    return 0;
}

/* Returns the number of rings of an inbox.  Hidden PEs send little, and do not count. */
static uint32_t host_inbox_rings(const struct ski_job *job)
{
    uint32_t pes = (uint32_t)job->local_pes, given = (uint32_t)ski_config.inbox_rings;

    if (given)
        return given < pes ? given : pes;
    return pes < HOST_RINGS_PES ? 1 : HOST_RINGS;
}

/* Takes the next @p bytes of *@p memory, in cache lines of their own. */
static void *host_carve(char **memory, size_t bytes)
{
    void *piece = *memory;

    *memory += (bytes + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
    return piece;
}

skua_status ski_host_create(struct ski_job *job, uint32_t cells)
{
    size_t           pes   = (size_t)ski_job_all_local(job);
    uint32_t         sole  = host_sole_pes(job, cells);
    uint32_t         rings = sole ? sole + 1 : host_inbox_rings(job);
    size_t           stride;
    struct ski_host *host;
    void            *span;
    char            *memory;
    skua_status      status;

    cells  = host_inbox_cells(sole ? pes - sole : (pes + rings - 1) / rings, cells);
    stride = rings * ski_inbox_bytes(cells);
    status = ski_span_alloc(job->arena,
                            pes * (stride + sizeof *host->domains + sizeof *host->sleeper +
                                   sizeof *host->board + sizeof *host->team_board +
                                   sizeof *host->domain) +
                                sizeof *host + HOST_TABLES * SKI_CACHE_LINE,
                            &span);
    if (status != SKUA_OK)
        return status;
    /* A new arena is all zeros, so inboxes are empty; their owners touch the pages first. */
    memory           = span;
    host             = host_carve(&memory, sizeof *host);
    host->domain     = host_carve(&memory, pes * sizeof *host->domain);
    host->domains    = host_carve(&memory, pes * sizeof *host->domains);
    host->sleeper    = host_carve(&memory, pes * sizeof *host->sleeper);
    host->board      = host_carve(&memory, pes * sizeof *host->board);
    host->team_board = host_carve(&memory, pes * sizeof *host->team_board);
    host->inboxes    = memory;
    host->stride     = stride;
    host->rings      = rings;
    host->cells      = cells;
    host->sole       = sole;
    host->all        = (int32_t)pes;
    ski_assert((uintptr_t)host->inboxes % SKI_CACHE_LINE == 0 && stride % SKI_CACHE_LINE == 0);
    host->checked = ski_config.checked_messages;
    if (getrandom(host->wakeup_key, sizeof host->wakeup_key, 0) != sizeof host->wakeup_key)
        return ski_fail(SKUA_ERR_SYSTEM, "the system has no random numbers for the wakeup key: %s",
                        strerror(errno));
    status = host_make_domains(host, job);
    if (status == SKUA_OK)
        status = ski_heap_create(job->arena, (unsigned)pes, &host->heaps);
    if (status == SKUA_OK)
        job->host = host;
    return status;
}

static struct ski_domain *host_domain_of(struct ski_host *host, int index)
{
    return &host->domains[host->domain[index]];
}

/* ---- wakeup sockets ------------------------------------------------------------- */

#define WAKEUP_TRIES 100 /* tries, a millisecond each */

/* One step of the filter: loads a word of a datagram, or its length, and continues if that is
 * @p value, else jumps @p steps ahead, to the end. */
#define WAKEUP_FILTER_STEP(load, at, value, steps)                                                 \
    BPF_STMT(BPF_LD | BPF_W | (load), at), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps)

/* Makes the kernel drop datagrams that are not the wakeup key.  Where it cannot, a PE that another
 * user wakes finds nothing to do and sleeps again. */
static void host_wakeup_filter(int fd, const uint32_t key[4])
{
    struct sock_filter code[] = {
        WAKEUP_FILTER_STEP(BPF_LEN, 0, 16, 9),
        WAKEUP_FILTER_STEP(BPF_ABS, 0, ntohl(key[0]), 7),
        WAKEUP_FILTER_STEP(BPF_ABS, 4, ntohl(key[1]), 5),
        WAKEUP_FILTER_STEP(BPF_ABS, 8, ntohl(key[2]), 3),
        WAKEUP_FILTER_STEP(BPF_ABS, 12, ntohl(key[3]), 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* Binds a wakeup socket to a name that the kernel chooses, and publishes the name. */
static bool host_wakeup_bind(int fd, struct ski_sleeper *sleeper)
{
    struct sockaddr_un name  = {.sun_family = AF_UNIX};
    socklen_t          bytes = offsetof(struct sockaddr_un, sun_path);

    if (bind(fd, (struct sockaddr *)&name, bytes) != 0)
        return false;
    bytes = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &bytes) != 0)
        return false;
    bytes -= (socklen_t)offsetof(struct sockaddr_un, sun_path);
    ski_assert(bytes > 0 && bytes <= SKI_WAKEUP_NAME);
    memcpy(sleeper->name, name.sun_path, bytes);
    sleeper->name_bytes = (uint8_t)bytes;
    return true;
}

static int host_wakeup_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static _Atomic int host_wakeup_from = -1; /* the socket from which this process wakes others */

/* Returns that socket, created on first use; -1: the system has none. */
static int host_wakeup_sender(void)
{
    int fd = atomic_load(&host_wakeup_from), none = -1;

    if (fd >= 0)
        return fd;
    fd = host_wakeup_socket();
    if (fd >= 0 && !atomic_compare_exchange_strong(&host_wakeup_from, &none, fd)) {
        close(fd);
        fd = none;
    }
    return fd;
}

/* The sending socket is created here, too: a PE that later finds no descriptor for it could not
 * wake another, whose sleep bit is cleared by then. */
int ski_host_wakeup_open(struct ski_host *host, int index)
{
    int fd = host_wakeup_socket();

    ski_assert(index >= 0 && index < host->all);
    if (fd >= 0)
        host_wakeup_filter(fd, host->wakeup_key);
    if (fd >= 0 && host_wakeup_bind(fd, &host->sleeper[index]) && host_wakeup_sender() >= 0)
        return fd;
    ski_log(SKI_LOG_ERROR, "cannot create a wakeup socket for a PE: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

void ski_host_wakeup_close(void)
{
    int fd = atomic_exchange(&host_wakeup_from, -1);

    if (fd >= 0)
        close(fd);
}

static void host_wakeup_send(const struct ski_host *host, int index)
{
    const struct ski_sleeper *sleeper = &host->sleeper[index];
    struct sockaddr_un        name    = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sleeper->name_bytes);
    int       fd     = host_wakeup_sender();

    memcpy(name.sun_path, sleeper->name, SKI_WAKEUP_NAME);
    /* A full wakeup socket has been written to already; but if datagrams to other PEs fill the
     * sending socket, this one has not. */
    for (int i = 0; i < WAKEUP_TRIES; i++) {
        struct pollfd writable = {.fd = fd, .events = POLLOUT};

        if (sendto(fd, host->wakeup_key, sizeof host->wakeup_key, MSG_DONTWAIT | MSG_NOSIGNAL,
                   (struct sockaddr *)&name, length) > 0 ||
            errno != EAGAIN || poll(&writable, 1, 0) > 0)
            return;
        poll(&writable, 1, 1);
    }
}

/* ---- sleep ---------------------------------------------------------------------- */

/* Clears the sleep bit of a PE.  The thread that clears it counts the PE as awake. */
static bool host_mark_awake(struct ski_host *host, int index)
{
    if (!ski_inbox_clear_sleep(ski_host_inbox(host, index)))
        return false;
    atomic_fetch_add_explicit(&host_domain_of(host, index)->awake, 1, memory_order_relaxed);
    return true;
}

void ski_host_wake(struct ski_host *host, int index)
{
    if (!host_mark_awake(host, index))
        return;
    /* The PE set `polling` before the sleep bit, which was read above. */
    if (atomic_load(&host->sleeper[index].polling))
        host_wakeup_send(host, index);
    else
        ski_inbox_wake_mp(ski_host_inbox(host, index));
}

void ski_host_wake_all(struct ski_host *host)
{
    for (int index = 0; index < host->all; index++)
        ski_host_wake(host, index);
}

void ski_host_sleep(struct ski_host *host, struct ski_job *job, int index,
                    struct ski_reader *reader, uint64_t ns)
{
    atomic_fetch_sub_explicit(&host_domain_of(host, index)->awake, 1, memory_order_relaxed);
    /* Sets the sleep bit, then reads the exit flag; skua_exit() sets the flag, then clears the bit.
     * All four accesses are sequentially consistent, so one side sees the other. */
    if (ski_reader_prepare_sleep_sc(reader) && !(job && atomic_load(&job->exit)))
        ski_reader_sleep_sc(reader, ns);
    host_mark_awake(host, index);
    ski_reader_end_sleep_sc(reader);
}

void ski_host_sleep_poll(struct ski_host *host, struct ski_job *job, int index,
                         struct ski_reader *reader, int bell, int fd, uint64_t ns)
{
    struct pollfd   polls[] = {{.fd = bell, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct timespec time    = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    char            bytes[16];

    atomic_fetch_sub_explicit(&host_domain_of(host, index)->awake, 1, memory_order_relaxed);
    atomic_store(&host->sleeper[index].polling, 1);
    if (ski_reader_prepare_sleep_sc(reader) && !(job && atomic_load(&job->exit)))
        ppoll(polls, 2, ns == SKI_FOREVER ? NULL : &time, NULL);
    host_mark_awake(host, index);
    ski_reader_end_sleep_sc(reader);
    atomic_store(&host->sleeper[index].polling, 0);
    if (polls[0].revents == 0)
        return; /* what is sent from now on ends the next sleep */
    while (recv(bell, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}
