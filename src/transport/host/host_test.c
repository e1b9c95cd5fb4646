/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_test.c - only the wakeup key wakes a PE: other users of the host see the name of its wakeup
 * socket and can send to it.  A PE wakes others although it has no descriptor left.
 *
 * PEs know whether they share their CPU with others, also with PEs of another arena.
 *
 * The other user is a child of this program, which becomes user 65534 where it may.
 */
#include "transport/host/host.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "tests/tap.h"

#define OTHER_USER 65534

static struct ski_sleeper sleeper;
static struct ski_host    host = {.all = 1, .sleeper = &sleeper};

static bool host_test_is_woken(int bell)
{
    struct pollfd fd = {bell, POLLIN, 0};

    return poll(&fd, 1, 0) == 1;
}

static bool host_test_send(const void *data, size_t bytes)
{
    int                fd   = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sleeper.name_bytes);
    ssize_t   n;

    memcpy(name.sun_path, sleeper.name, sleeper.name_bytes);
    n = sendto(fd, data, bytes, MSG_DONTWAIT, (struct sockaddr *)&name, length);
    close(fd);
    return n == (ssize_t)bytes;
}

/* Sends what a stranger may think of: nothing, a byte, zeros, and all but one bit of the key. */
static void host_test_send_noise(void)
{
    uint32_t     words[8] = {0};
    const size_t bytes    = sizeof host.wakeup_key;

    host_test_send("", 0);
    host_test_send("", 1);
    for (size_t n = 1; n <= sizeof words; n++)
        host_test_send(words, n);
    for (unsigned bit = 0; bit < 8 * bytes; bit++) {
        memcpy(words, host.wakeup_key, bytes);
        words[bit / 32] ^= UINT32_C(1) << bit % 32;
        host_test_send(words, bytes);
    }
    memcpy(words, host.wakeup_key, bytes);
    host_test_send(words, bytes - 1);
    host_test_send(words, bytes + 1);
}

/* Calls @p act in a child process: as another user, if this one is root.  Returns whether @p act
 * has returned. */
static bool host_test_as_other_user(void (*act)(void))
{
    int   status = 1;
    pid_t pid    = fork();

    if (pid == 0) {
        if (geteuid() == 0 && (setgid(OTHER_USER) != 0 || setuid(OTHER_USER) != 0))
            _exit(1);
        act();
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Opens descriptors until the limit is reached. */
static bool host_test_use_all_fds(void)
{
    struct rlimit few = {32, 32};

    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        return false;
    while (dup(0) >= 0)
        continue;
    return errno == EMFILE;
}

/* Has a PE without free descriptors wake another, in a child process. */
static void host_test_wake_without_fds(struct ski_host *of)
{
    struct ski_reader reader;
    int               socket = ski_host_wakeup_open(of, 0);

    ski_reader_init(&reader, ski_host_inbox(of, 0), of->cells);
    atomic_store(&of->sleeper[0].polling, 1);
    if (!ski_reader_prepare_sleep_sc(&reader) || !host_test_use_all_fds())
        _exit(2);
    ski_host_wake(of, 0);
    _exit(host_test_is_woken(socket) ? 0 : 1);
}

static bool host_test_wakes_without_fds(void)
{
    static const int      local[] = {0}, cpu[] = {0, 0};
    struct ski_job_params plan = {
        .pes = 2, .pes_per_process = 2, .local = local, .local_processes = 1, .cpu = cpu};
    struct ski_arena *arena;
    struct ski_job   *job;
    int               fd, status = 1;
    pid_t             pid;

    if (ski_arena_create((size_t)16 << 20, 0, (size_t)1 << 20, &arena, &fd) != SKUA_OK ||
        ski_job_create(arena, &plan, &job) != SKUA_OK || ski_host_create(job, 64) != SKUA_OK)
        return false;
    pid = fork();
    if (pid == 0)
        host_test_wake_without_fds(job->host);
    waitpid(pid, &status, 0);
    ski_arena_detach(arena);
    close(fd);
    return status == 0;
}

/* Whether the foreign PEs of the last job were counted once for each CPU, and only there. */
static bool host_test_counted;

/* Creates a host with process 1 of two, whose two PEs have a CPU each; returns whether they share
 * it, if PEs of other processes do or do not use these CPUs. */
static bool host_test_shares(bool cpus_shared)
{
    static const int      local[] = {1}, cpu[] = {0, 1};
    struct ski_job_params plan = {.pes             = 4,
                                  .pes_per_process = 2,
                                  .local           = local,
                                  .local_processes = 1,
                                  .cpu             = cpu,
                                  .cpus_shared     = cpus_shared};
    struct ski_arena     *arena;
    struct ski_job       *job;
    bool                  shared;
    int                   fd;

    if (ski_arena_create((size_t)16 << 20, 0, (size_t)1 << 20, &arena, &fd) != SKUA_OK ||
        ski_job_create(arena, &plan, &job) != SKUA_OK || ski_host_create(job, 64) != SKUA_OK)
        return !cpus_shared;
    shared = ski_host_shared(job->host, 0) && ski_host_crowded(job->host, 1);

    host_test_counted = ski_host_foreign_pes(job, 1) == (cpus_shared ? 1 : 0) &&
                        ski_host_foreign_pes(job, job->local_pes) == 0 &&
                        !ski_host_crowded_without(job->host, 1, ski_host_foreign_pes(job, 1));
    ski_arena_detach(arena);
    close(fd);
    return shared;
}

int main(void)
{
    int  bell;
    bool random = getrandom(host.wakeup_key, sizeof host.wakeup_key, 0) == sizeof host.wakeup_key;

    bell = ski_host_wakeup_open(&host, 0);
    OK(random && bell >= 0 && sleeper.name_bytes > 0, "a bell is made and named");
    OK(host_test_as_other_user(host_test_send_noise) && !host_test_is_woken(bell),
       "what a stranger sends does not ring it");
    OK(host_test_send(host.wakeup_key, sizeof host.wakeup_key) && host_test_is_woken(bell),
       "its key does");
    close(bell);
    ski_host_wakeup_close();
    ski_config_load();
    OK(host_test_wakes_without_fds(), "a PE at the limit on descriptors wakes another");
    OK(!host_test_shares(false) && host_test_counted, "PEs with a CPU each do not share it");
    OK(host_test_shares(true), "unless PEs of another arena use it");
    OK(host_test_counted, "which count as one PE, without which the CPU is not crowded");
    return tap_end();
}
