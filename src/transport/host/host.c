/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - layout, sleep and wake-up (see host.h). */
#include "transport/host/host.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/config.h"
#include "base/futex.h"
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
    for (int index = job->pes_here; index < host->all;
         index++) { /* each by itself: it never waits for a CPU */
        host->domain[index]  = (uint32_t)index;
        host->domains[index] = (struct ski_domain){.awake = 1, .pes = 1, .cpus = 1};
    }
    for (int index = 0; index < job->pes_here; index++) {
        struct ski_domain *domain;
        int                twin = 0;

        while (job->cpu[twin] != job->cpu[index])
            twin++;
        host->domain[index] = twin < index ? host->domain[twin] : domains++;
        domain              = &host->domains[host->domain[index]];
        domain->cpus        = topology.cpus;
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
    size_t           pes    = (size_t)ski_job_all_here(job);
    size_t           stride = ski_inbox_bytes(cells_for(pes, cells));
    struct ski_host *host;
    void            *span;
    char            *memory;
    skua_status_t    status;

    status = ski_span_alloc(job->arena,
                            pes * (stride + sizeof *host->domains + sizeof *host->sleeper +
                                   sizeof *host->board + sizeof *host->domain) +
                                sizeof *host + 3 * SKI_CACHE_LINE,
                            SKI_UNIT_LARGE, &span);
    if (status != SKUA_OK)
        return status;
    /* A fresh arena is all zeros: empty inboxes, whose pages are left to their
     * owners to touch first. */
    memory        = span;
    host          = carve(&memory, sizeof *host);
    host->domain  = carve(&memory, pes * sizeof *host->domain);
    host->domains = carve(&memory, pes * sizeof *host->domains);
    host->sleeper = carve(&memory, pes * sizeof *host->sleeper);
    host->board   = carve(&memory, pes * sizeof *host->board);
    host->inboxes = memory;
    host->stride  = stride;
    host->cells   = cells_for(pes, cells);
    host->all     = (int32_t)pes;
    host->checked = ski_config.checked_messages;
    if (getrandom(host->bell_key, sizeof host->bell_key, 0) != sizeof host->bell_key)
        return ski_fail(SKUA_ERR_SYSTEM, "no random numbers: %s", strerror(errno));
    status = make_domains(host, job);
    if (status == SKUA_OK)
        status = ski_heap_create(job->arena, (unsigned)pes, &host->heaps);
    if (status == SKUA_OK)
        job->host = host;
    return status;
}

static struct ski_domain *domain_of(struct ski_host *host, int index)
{
    return &host->domains[host->domain[index]];
}

/* ---- bells ---------------------------------------------------------------------- */

#define RINGS 100 /* tries, a millisecond each */

/* One step of the filter: loads a word of a datagram, or its length, and goes on if that is
 * @p value, else to the end, @p steps further. */
#define STEP(load, at, value, steps)                                                               \
    BPF_STMT(BPF_LD | BPF_W | (load), at), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps)

/* Has the kernel drop what is not the key of the bells.  Where it cannot, a PE that a stranger
 * wakes finds nothing to do and sleeps on. */
static void bell_filter(int fd, const uint32_t key[4])
{
    struct sock_filter code[] = {
        STEP(BPF_LEN, 0, 16, 9),
        STEP(BPF_ABS, 0, ntohl(key[0]), 7),
        STEP(BPF_ABS, 4, ntohl(key[1]), 5),
        STEP(BPF_ABS, 8, ntohl(key[2]), 3),
        STEP(BPF_ABS, 12, ntohl(key[3]), 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* Binds a bell to a name of the system's choice, and announces that. */
static bool bell_bind(int fd, struct ski_sleeper *sleeper)
{
    struct sockaddr_un name  = {.sun_family = AF_UNIX};
    socklen_t          bytes = offsetof(struct sockaddr_un, sun_path);

    if (bind(fd, (struct sockaddr *)&name, bytes) != 0)
        return false;
    bytes = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &bytes) != 0)
        return false;
    bytes -= (socklen_t)offsetof(struct sockaddr_un, sun_path);
    assert(bytes > 0 && bytes <= SKI_BELL_NAME);
    memcpy(sleeper->name, name.sun_path, bytes);
    sleeper->name_bytes = (uint8_t)bytes;
    return true;
}

int ski_bell_open(struct ski_host *host, int index)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        bell_filter(fd, host->bell_key);
    if (fd >= 0 && bell_bind(fd, &host->sleeper[index]))
        return fd;
    ski_log(SKI_LOG_ERROR, "cannot make a socket to be woken by: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The socket of this process that rings bells, made when it is first needed. */
static int bell_sender(void)
{
    static _Atomic int from = -1;
    int                fd   = atomic_load(&from);

    if (fd < 0) {
        int none = -1;
        fd       = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (!atomic_compare_exchange_strong(&from, &none, fd)) {
            close(fd);
            fd = none;
        }
    }
    return fd;
}

static void ring(const struct ski_host *host, int index)
{
    const struct ski_sleeper *sleeper = &host->sleeper[index];
    struct sockaddr_un        name    = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sleeper->name_bytes);
    int       fd     = bell_sender();

    memcpy(name.sun_path, sleeper->name, SKI_BELL_NAME);
    /* A bell that is full has been rung; but if what we sent to others fills our own
     * socket, this one has not. */
    for (int i = 0; i < RINGS; i++) {
        struct pollfd writable = {.fd = fd, .events = POLLOUT};

        if (sendto(fd, host->bell_key, sizeof host->bell_key, MSG_DONTWAIT | MSG_NOSIGNAL,
                   (struct sockaddr *)&name, length) > 0 ||
            errno != EAGAIN || poll(&writable, 1, 0) > 0)
            return;
        poll(&writable, 1, 1);
    }
}

/* ---- sleep ---------------------------------------------------------------------- */

/* Whoever takes the announcement of sleep back counts the PE as awake. */
static bool rouse(struct ski_host *host, int index)
{
    if (!ski_inbox_rouse(ski_host_inbox(host, index)))
        return false;
    atomic_fetch_add_explicit(&domain_of(host, index)->awake, 1, memory_order_relaxed);
    return true;
}

void ski_host_wake(struct ski_host *host, int index)
{
    if (!rouse(host, index))
        return;
    /* It said where it sleeps before it said that it does, which we have read. */
    if (atomic_load(&host->sleeper[index].at_bell))
        ring(host, index);
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
    atomic_fetch_sub_explicit(&domain_of(host, index)->awake, 1, memory_order_relaxed);
    /* Announce, then look at the exit flag; skua_exit() sets the flag, then
     * rouses.  All four are sequentially consistent: one sees the other. */
    if (ski_reader_doze_sc(reader) && !(job && atomic_load(&job->exit)))
        ski_reader_sleep_sc(reader, ns);
    rouse(host, index);
}

void ski_host_sleep_at(struct ski_host *host, struct ski_job *job, int index,
                       struct ski_reader *reader, int bell, int fd, uint64_t ns)
{
    struct pollfd   polls[] = {{.fd = bell, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct timespec time    = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    char            bytes[16];

    atomic_fetch_sub_explicit(&domain_of(host, index)->awake, 1, memory_order_relaxed);
    atomic_store(&host->sleeper[index].at_bell, 1);
    if (ski_reader_doze_sc(reader) && !(job && atomic_load(&job->exit)))
        ppoll(polls, 2, ns == SKI_FOREVER ? NULL : &time, NULL);
    rouse(host, index);
    atomic_store(&host->sleeper[index].at_bell, 0);
    while (recv(bell, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}
