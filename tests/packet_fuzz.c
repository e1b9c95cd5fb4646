/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_fuzz.c - fuzzing of a PE with corrupted packets from a sender that knows the secret of the
 * job.
 *
 * It is linked into a program of several processes that share no memory.  PE 0 records packets that
 * it receives.  From time to time, between two passes of its scheduler, it forks.  The child
 * receives randomly corrupted copies of those packets, with a valid token and sequence number,
 * handles them, and exits; the parent continues unchanged.  So packets of all kinds are tried in
 * many states of the program.
 *
 * The child may drop a packet, end with an error message, or wait.  The test fails if a child is
 * killed by a signal, if a sanitizer reports an error, or if a child uses RUNS seconds of CPU time.
 *
 * The memory of the child is private, including the arena and the isomalloc range, its sockets are
 * replaced by a silent one, and it makes no connections, so it does not affect the job.
 *
 * A process that has a completion or a buffer may use it again when the program no longer expects
 * that. This is not tested: the child has another key (core/message/addr_tag.h), so no tag that it
 * receives is valid.
 *
 * A program need not check the contents of its own messages: only what the runtime reads is
 * corrupted, unless FUZZ_ALL is set, for programs that check their data, as generated code does.
 *
 * environment: SEED; FUZZ_FORKS, the largest number of children; FUZZ_ALL
 *
 * Linked with -Wl,--wrap=ski_packet_error,--wrap=ski_net_begin,--wrap=ski_shutdown
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/pe/builtin.h"
#include "core/net/peer.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"
#include "core/pe/pe.h"
#include "core/sched/completion_tags.h"
#include "tap.h"

#define KEPT     64     /* number of recorded packets, the latest of each kind */
#define LARGEST  16384  /* largest size of a recorded packet */
#define PLACED   300000 /* largest size of a packet that is received in place */
#define EVERY    13     /* packets between one child and the next */
#define EACH     48     /* corrupted packets for a child */
#define DRAIN    40     /* scheduler passes after the last packet */
#define TICK_US  2000   /* limits the sleep of a pass */
#define TOO_LONG 5      /* seconds */
#define RUNS     30     /* seconds of CPU time */
#define SAID     7      /* exit code: the child ended with an error message */

static struct kept {
    size_t         bytes;
    unsigned char *packet;
} kept[KEPT];

static uint64_t seen, seed;
static int      forks_left = -1, drain;
static int      to_come; /* in a child: number of packets that remain */
static bool     in_child, all;
static int      children, said;

const char *__real_ski_packet_error(const struct ski_job *job, uint32_t handlers,
                                    const struct skua_msg *msg, size_t bytes);
const char *__wrap_ski_packet_error(const struct ski_job *job, uint32_t handlers,
                                    const struct skua_msg *msg, size_t bytes);
void        __real_ski_net_begin(struct ski_pe *self);
void        __wrap_ski_net_begin(struct ski_pe *self);
void        __real_ski_shutdown(struct ski_pe *self);
void        __wrap_ski_shutdown(struct ski_pe *self);

/* ---- recording ------------------------------------------------------------------------ */

static uint16_t handler_in(const void *packet)
{
    uint16_t handler;

    memcpy(&handler, (const char *)packet + offsetof(struct skua_msg, handler), sizeof handler);
    return handler;
}

/* Replaces a packet of the same kind in half of the cases, so that rare kinds are kept. */
static void keep_packet(const void *packet, size_t bytes)
{
    size_t       at   = (handler_in(packet) * 2654435761u >> 7) % (KEPT / 2) * 2 + seen % 2;
    struct kept *slot = &kept[at];

    slot->packet = realloc(slot->packet, bytes);
    slot->bytes  = bytes;
    memcpy(slot->packet, packet, bytes);
}

/* Returns true if packets of this kind may be received into memory of a collective. */
static bool is_placed(const struct skua_msg *msg)
{
    return msg->handler == SKI_HANDLER_BROADCAST_SEGMENT ||
           msg->handler == SKI_HANDLER_REDUCTION_RESULT;
}

/* Packets in a message are complete; others are handled while they arrive.  Every second packet
 * that would be received in place is received as a message instead, so that it can be recorded.
 * Threads of other PEs record none. */
const char *__wrap_ski_packet_error(const struct ski_job *job, uint32_t handlers,
                                    const struct skua_msg *msg, size_t bytes)
{
    const char *wrong = __real_ski_packet_error(job, handlers, msg, bytes);
    size_t      most  = is_placed(msg) ? PLACED : LARGEST;

    if (in_child || !ski_self || ski_self->pe != 0 || wrong)
        return wrong;
    if (!ski_arena_contains(job->arena, msg))
        return is_placed(msg) && msg->stamp.sequence % 2 ? "it is kept" : NULL;
    if (bytes <= most && msg->handler != SKI_HANDLER_COALESCED &&
        (all || msg->handler < SKI_HANDLERS || msg->flags & SKI_MSG_OBJECT)) {
        keep_packet(msg, bytes);
        seen++;
    }
    return wrong;
}

/* ---- corruption ------------------------------------------------------------------------- */

/* Returns an address that exists, or one that does not. */
static uint64_t odd_address(const struct ski_pe *self)
{
    static int     function;
    const uint64_t odd[] = {(uintptr_t)self, (uintptr_t)self->job->arena,
                            (uintptr_t)self->job->arena + 8192, (uintptr_t)&function,
                            UINT64_C(0x6161616161616161)};

    return odd[tap_random(&seed) % (sizeof odd / sizeof *odd)];
}

/* Returns a power of two or a number next to one, of either sign: the limits of all types are
 * among these. */
static uint64_t odd_power(void)
{
    uint64_t value = (UINT64_C(1) << tap_random(&seed) % 64) + tap_random(&seed) % 3 - 1;

    return tap_random(&seed) % 2 ? value : -value;
}

/* Returns a value to replace @p now with. */
static uint64_t odd_value(const struct ski_pe *self, uint64_t now)
{
    static const uint64_t few[] = {0, 1, 2, 63, UINT64_MAX};

    switch (tap_random(&seed) % 6) {
    case 0: return few[tap_random(&seed) % (sizeof few / sizeof *few)];
    case 1:
    case 2: return odd_power();
    case 3: return odd_address(self);
    case 4: return tap_random(&seed) % 2 ? now + odd_power() : now ^ odd_power();
    default: return tap_random(&seed);
    }
}

/* Returns the number of bytes of a packet that the runtime has to check. */
static size_t own_bytes(const unsigned char *packet, size_t bytes, size_t head)
{
    uint16_t handler = handler_in(packet);
    size_t   own     = head;

    if (all)
        return bytes;
    if (handler < SKI_HANDLERS)
        own += ski_builtin[handler].least;
    if (handler == SKI_HANDLER_AM_REQUEST || handler == SKI_HANDLER_AM_REPLY ||
        handler == SKI_HANDLER_BROADCAST || handler == SKI_HANDLER_CHANNEL ||
        handler == SKI_HANDLER_CHANNEL_PUT || handler == SKI_HANDLER_COPY_REQUEST)
        own = bytes;
    return own < bytes ? own : bytes;
}

static void damage(const struct ski_pe *self, unsigned char *packet, size_t bytes, size_t head)
{
    size_t own = own_bytes(packet, bytes, head);

    for (uint64_t n = tap_random(&seed) % 3; n < 3; n++) {
        uint64_t value = 0;
        size_t   width = (size_t)1 << tap_random(&seed) % 4;
        size_t   at    = tap_random(&seed) % own;

        /* Sizes in the header are checked first, so most packets with changed sizes are rejected at
         * once. */
        if (at < SKI_PACKET_HALF && tap_random(&seed) % 4)
            at = head + tap_random(&seed) % (own - head + 1);
        at -= at % width;
        if (at + width > own)
            continue;
        memcpy(&value, packet + at, width);
        value = odd_value(self, value);
        memcpy(packet + at, &value, width);
    }
}

/* Returns true if packets of this kind only end the process. */
static bool is_end(const void *packet)
{
    return handler_in(packet) >= SKI_HANDLER_SHUTDOWN_EXIT &&
           handler_in(packet) <= SKI_HANDLER_SHUTDOWN_RELEASE;
}

/* A program does not expect messages that it never sends. */
static void restore(unsigned char *packet, const unsigned char *from)
{
    if (!all && handler_in(from) >= SKI_HANDLERS) {
        size_t at = offsetof(struct skua_msg, bytes);

        memcpy(packet + at, from + at, sizeof(size_t));
        at = offsetof(struct skua_msg, handler);
        memcpy(packet + at, from + at, sizeof(uint16_t));
    }
}

static void take_damaged(struct ski_pe *self)
{
    const struct kept   *from   = &kept[tap_random(&seed) % KEPT];
    unsigned char       *packet = from->packet ? malloc(from->bytes) : NULL;
    struct skua_msg      half;
    struct ski_net_peer *peer;

    if (!packet)
        return;
    memcpy(packet, from->packet, from->bytes);
    damage(self, packet, from->bytes, sizeof(struct skua_msg));
    restore(packet, from->packet);
    memcpy(&half, packet, SKI_PACKET_HALF);
    peer                = (uint32_t)half.source < (uint32_t)ski_job_all(self->job)
                              ? ski_net_peer_find(self->net, half.source)
                              : NULL;
    half.stamp.token    = ski_packet_token(self->job->secret, half.source, self->pe);
    half.stamp.sequence = peer ? peer->received : 0;
    memcpy(packet, &half, SKI_PACKET_HALF);
    if (!is_end(packet) && !ski_net_upcalls.recv_inline(self->net, packet, from->bytes)) {
        void *room = ski_net_upcalls.alloc(self->net, from->bytes);

        if (room)
            ski_net_upcalls.arrived(self->net, memcpy(room, packet, from->bytes), from->bytes);
    }
    free(packet);
}

/* ---- children ------------------------------------------------------------------------ */

static bool say_and_end(const char *text, const void *where)
{
    (void)where;
    fprintf(stderr, "# ended: %s\n", text);
    _exit(SAID);
}

/* Detects reports of a sanitizer, too. */
__attribute__((no_sanitize("address"))) static void copy_page(volatile uint64_t       *to,
                                                              const volatile uint64_t *from,
                                                              size_t                   bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] = from[i];
}

/* Makes memory that is shared with other processes private. */
static void own_memory(struct ski_arena *arena)
{
    size_t bytes = arena->bytes;
    void  *base  = (void *)arena->base;
    void  *copy  = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long   page  = sysconf(_SC_PAGESIZE);
    size_t pages = bytes / (size_t)page;
    unsigned char *here = malloc(pages);

    if (copy == MAP_FAILED || !here || mincore(base, bytes, here) != 0)
        _exit(1);
    for (size_t i = 0; i < pages; i++)
        if (here[i] & 1)
            copy_page((void *)((char *)copy + i * (size_t)page),
                      (void *)((char *)base + i * (size_t)page), (size_t)page);
    free(here);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base) != base)
        _exit(1);
}

/* Makes the isomalloc range private: it lies at the end of the file of the arena.  Pages that the
 * child does not write stay those of the parent, which waits. */
static void own_isomalloc(const struct ski_pe *self)
{
    size_t bytes;
    void  *at = self->iso ? ski_arena_map_iso(&bytes) : NULL;

    for (int fd = 3; at && fd < 1024; fd++) {
        char        link[64], name[64] = "";
        struct stat file;

        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof name - 1) < 0 || !strstr(name, "memfd:skua-arena") ||
            fstat(fd, &file) != 0 || (size_t)file.st_size <= bytes)
            continue;
        if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd,
                 (off_t)((size_t)file.st_size - bytes)) != at)
            _exit(1);
    }
}

/* Replaces the network by a silent socket. */
static void own_sockets(void)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
        _exit(1);
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr address;
        socklen_t       bytes = sizeof address;

        if (getsockname(fd, &address, &bytes) == 0 && address.sa_family == AF_INET)
            dup2(pair[0], fd);
    }
}

/* Refuses new connections, such as a further rail: its peer would take them for connections of the
 * parent, and for broken ones when the child ends. */
static void own_connections(void)
{
    struct sock_filter step[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ECONNREFUSED),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof step / sizeof *step, step};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(1);
}

/* A child may wait for an event that never happens, and then sleeps or yields, which counts as a
 * pass.  A child that keeps using the CPU fails. */
static void on_tick(int number)
{
    static int    ticks;
    struct rusage used;

    (void)number;
    if (++ticks % (TOO_LONG * 1000000 / TICK_US) != 0)
        return;
    getrusage(RUSAGE_SELF, &used);
    if (used.ru_nvcsw > 10 * TOO_LONG)
        _exit(0);
}

/* Shortens sleeps, since nothing arrives that would end them. */
static void begin_ticks(void)
{
    struct sigaction action = {.sa_handler = on_tick};
    struct itimerval every  = {{0, TICK_US}, {0, TICK_US}};
    struct rlimit    runs   = {RUNS, RUNS};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    setrlimit(RLIMIT_CPU, &runs);
}

static void begin_child(struct ski_pe *self, uint64_t its_seed)
{
    in_child = true;
    seed     = its_seed;
    to_come  = EACH;
    drain    = DRAIN;
    own_memory(self->job->arena);
    own_isomalloc(self);
    own_sockets();
    own_connections();
    self->job->tag_key[0] ^= its_seed;
    ski_completion_tags_destroy(self); /* they were made with another key */
    ski_completion_tags_init(self);
    ski_log_set_fatal_hook(say_and_end);
    ski_log_level = SKI_LOG_FATAL;
    if (getenv("FUZZ_WAIT")) /* for a debugger */
        raise(SIGSTOP);
    begin_ticks();
}

static void judge(pid_t pid, uint64_t its_seed)
{
    int status;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    children++;
    said += WIFEXITED(status) && WEXITSTATUS(status) == SAID;
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SAID))
        return;
    printf("not ok - packets of seed %llu: %s %d\n", (unsigned long long)its_seed,
           WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fflush(stdout);
    _exit(1);
}

static void try_packets(struct ski_pe *self)
{
    uint64_t its_seed = tap_random(&seed);
    pid_t    pid;

    fflush(NULL);
    pid = _Fork(); /* not fork(), after which a child is not a PE */
    if (pid == 0)
        begin_child(self, its_seed);
    else
        judge(pid, its_seed);
}

static void sum_up(void)
{
    if (!in_child)
        printf("# %d children with %d packets each, %d ended with an error message\n", children,
               EACH, said);
}

static void begin_fuzz(void)
{
    const char *forks = getenv("FUZZ_FORKS");

    forks_left = forks ? atoi(forks) : 8;
    all        = getenv("FUZZ_ALL") != NULL;
    seed       = tap_seed();
    atexit(sum_up);
}

static struct ski_progress_source port_source,
    fuzz_source; /* the PE's own upcalls, and those of this file around them */

/* A poll of the network.  In a child, where the network is silent, it delivers a corrupted
 * packet. */
static bool fuzz_poll(struct ski_pe *self)
{
    static uint64_t next = EVERY;
    bool            came = port_source.poll(self);

    if (in_child) {
        if (to_come-- > 0)
            take_damaged(self);
        else if (drain-- == 0)
            _exit(0);
        return true; /* poll again soon */
    }
    if (self->pe != 0 || seen < next)
        return came;
    if (forks_left < 0)
        begin_fuzz();
    next = seen + EVERY;
    if (forks_left-- > 0)
        try_packets(self);
    else
        forks_left = 0;
    return came;
}

/* The PEs of the process are its first threads, or it has one PE: all have the same source. */
void __wrap_ski_net_begin(struct ski_pe *self)
{
    __real_ski_net_begin(self);
    if (!self->progress.source)
        return;
    port_source           = *self->progress.source;
    fuzz_source           = port_source;
    fuzz_source.poll      = fuzz_poll;
    self->progress.source = &fuzz_source;
}

/* The program has ended: other processes do not answer. */
void __wrap_ski_shutdown(struct ski_pe *self)
{
    if (in_child)
        _exit(0);
    __real_ski_shutdown(self);
}
