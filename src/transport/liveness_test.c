/* SPDX-License-Identifier: Apache-2.0 */
/* liveness_test.c - a process that monitors itself: ports that it closes, strangers that push the
 * monitor out, a process that has ended.  Hosts that fall silent are in tests/drivers/lost.c. */
#include "transport/liveness.h"

#include <netinet/in.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"
#include "transport/driver.h"

#define LIVENESS_TEST_STRANGERS 200 /* more than one process and its spare ones */

static char liveness_test_error[SKI_REASON_MAX];

static char *liveness_test_last_error(void)
{
    return liveness_test_error;
}

static void liveness_test_log(enum ski_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

static struct ski_net liveness_test_net = {.processes    = 1,
                                           .ports        = 1,
                                           .one_host     = true,
                                           .interfaces   = "auto",
                                           .port_range   = "any",
                                           .peer_timeout = 0.04,
                                           .log          = liveness_test_log,
                                           .last_error   = liveness_test_last_error};

/* Checks until the port has the state, for a few seconds at most. */
static bool liveness_test_becomes(struct ski_monitor *monitor, int pe, enum ski_liveness wanted)
{
    for (int i = 0; i < 5000 && ski_liveness_state(monitor, pe) != wanted; i++) {
        ski_liveness_check();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return ski_liveness_state(monitor, pe) == wanted;
}

static bool liveness_test_start(void)
{
    struct sockaddr_storage addr = {0};
    struct sockaddr_in     *in   = (struct sockaddr_in *)(void *)&addr;

    in->sin_family      = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ski_liveness_start(&liveness_test_net, &addr, 1);
}

static void test_liveness_ports(void)
{
    struct ski_monitor *monitor = ski_liveness_monitor(ski_liveness_addrs());

    OK(monitor && ski_liveness_monitor(ski_liveness_addrs()) == monitor,
       "two users of a process share its monitor");
    ski_liveness_unmonitor(monitor);
    OK(liveness_test_becomes(monitor, 7, SKI_LIVENESS_ALIVE), "a process that answers is alive");
    ski_liveness_port_closed(7);
    OK(liveness_test_becomes(monitor, 7, SKI_LIVENESS_CLOSED), "a closed port is reported");
    OK(ski_liveness_state(monitor, 8) == SKI_LIVENESS_ALIVE, "and no other");
    ski_liveness_unmonitor(monitor);
    monitor = ski_liveness_monitor(ski_liveness_addrs());
    OK(liveness_test_becomes(monitor, 7, SKI_LIVENESS_CLOSED),
       "also to a monitor that comes later");
    ski_liveness_unmonitor(monitor);
    ski_liveness_port_opened(7);
    monitor = ski_liveness_monitor(ski_liveness_addrs());
    OK(liveness_test_becomes(monitor, 7, SKI_LIVENESS_ALIVE), "a port may be opened again");
    ski_liveness_unmonitor(monitor);
}

static void test_liveness_strangers(void)
{
    struct ski_monitor            *monitor = ski_liveness_monitor(ski_liveness_addrs());
    const struct sockaddr_storage *at      = &ski_liveness_addrs()->addr[0];
    int                            fd[LIVENESS_TEST_STRANGERS];
    char                           byte = 1;

    liveness_test_becomes(monitor, 1, SKI_LIVENESS_ALIVE);
    for (int i = 0; i < LIVENESS_TEST_STRANGERS; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM, 0);
        tap_bad += connect(fd[i], (const struct sockaddr *)at, sizeof(struct sockaddr_in)) != 0;
        tap_bad += send(fd[i], &byte, 1, MSG_NOSIGNAL) != 1;
        if (i % 50 == 49) /* a kernel may let no more than 128 wait */
            ski_liveness_port_closed(3);
    }
    ski_liveness_port_closed(3); /* accepts them all */
    ski_liveness_port_closed(1);
    OK(liveness_test_becomes(monitor, 1, SKI_LIVENESS_CLOSED),
       "a monitor that strangers have pushed out is opened again");
    OK(ski_liveness_state(monitor, 2) == SKI_LIVENESS_ALIVE, "and its process stays alive");
    for (int i = 0; i < LIVENESS_TEST_STRANGERS; i++)
        close(fd[i]);
    ski_liveness_unmonitor(monitor);
}

/* A process dies within a note. */
static void test_liveness_partial_note(void)
{
    struct ski_sockaddrs addrs    = {.count = 1};
    struct sockaddr_in  *in       = (struct sockaddr_in *)(void *)&addrs.addr[0];
    socklen_t            bytes    = sizeof *in;
    int                  listener = socket(AF_INET, SOCK_STREAM, 0), fd;
    struct ski_monitor  *monitor;

    in->sin_family      = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)in, bytes) == 0 && listen(listener, 1) == 0 &&
          getsockname(listener, (struct sockaddr *)in, &bytes) == 0);
    monitor = ski_liveness_monitor(&addrs);
    fd      = accept(listener, NULL, NULL);
    CHECK(fd >= 0 && send(fd, &(int32_t){7}, 4, 0) == 4 && send(fd, "abc", 3, 0) == 3);
    OK(liveness_test_becomes(monitor, 7, SKI_LIVENESS_CLOSED), "a whole note is read");
    OK(ski_liveness_state(monitor, 8) == SKI_LIVENESS_ALIVE, "the process is there");
    close(listener);
    close(fd);
    OK(liveness_test_becomes(monitor, 8, SKI_LIVENESS_CLOSED),
       "its end is seen after a part of one");
    ski_liveness_unmonitor(monitor);
}

static void test_liveness_end(void)
{
    struct ski_sockaddrs gone = *ski_liveness_addrs(), none = {0};
    struct ski_monitor  *monitor;

    ski_liveness_stop();
    OK(liveness_test_start(), "it can be started again");
    monitor = ski_liveness_monitor(&gone);
    OK(liveness_test_becomes(monitor, 0, SKI_LIVENESS_CLOSED), "a process that has ended");
    ski_liveness_unmonitor(monitor);
    OK(!ski_liveness_monitor(&none), "a process without addresses is not monitored");
    OK(ski_liveness_state(NULL, 0) == SKI_LIVENESS_UNKNOWN, "and nothing is known about it");
    ski_liveness_stop();
}

int main(void)
{
    OK(liveness_test_start(), "listens");
    test_liveness_ports();
    test_liveness_strangers();
    test_liveness_partial_note();
    test_liveness_end();
    return tap_end();
}
