/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_test.c - only the wakeup key wakes a PE: other users of the host see the name of its wakeup
 * socket and can send to it.
 *
 * The other user is a child of this program, which becomes user 65534 where it may.
 */
#include "transport/host/host.h"

#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* In a child, as another user where we may become one; true if it came to its end. */
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
    return tap_end();
}
