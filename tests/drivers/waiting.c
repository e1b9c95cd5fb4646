/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c - arm() and wait_fd(): a port sleeps when there is no work and wakes up when there is.
 */
#include "world.h"

#include <poll.h>
#include <stdio.h>

/* Progresses until arm() is true. */
static void arm(struct end *end)
{
    WAIT_FOR(driver->arm(end->port), end, 1, "arm()");
}

static int poll_one(struct end *end, int ms)
{
    struct pollfd fd = {driver->wait_fd(end->port), POLLIN, 0};

    return poll(&fd, 1, ms);
}

/* A driver may wake up for internal reasons from time to time, but not forever. */
static void stays_asleep(struct end *end)
{
    for (int i = 0; i < 100; i++) {
        arm(end);
        if (poll_one(end, 100) == 0)
            return;
        driver->progress(end->port);
    }
    fail("the descriptor is readable without an event");
}

/* The sender polls; the receiver progresses only when it is woken up. */
static void wakes_up(struct end *ends, size_t bytes)
{
    uint64_t before = ends[1].arrived[0];
    double   since  = now();

    arm(&ends[1]);
    while (try_send(&ends[0], 1, bytes) == SKUA_ERR_AGAIN && now() - since < PATIENCE)
        driver->progress(ends[0].port);
    while (ends[1].arrived[0] == before) {
        driver->progress(ends[0].port);
        if (poll_one(&ends[1], 1) > 0) {
            driver->progress(ends[1].port);
            arm(&ends[1]);
        }
        if (now() - since > PATIENCE)
            die("a packet of %zu bytes does not wake its receiver", bytes);
    }
    settle(ends, 2);
}

/* Both sleep unless woken up. */
static void both_asleep(struct end *ends, size_t bytes)
{
    uint64_t before = ends[1].arrived[0];

    WAIT_FOR(try_send(&ends[0], 1, bytes) != SKUA_ERR_AGAIN, ends, 2, "a packet to be accepted");
    while (ends[1].arrived[0] == before) {
        struct pollfd fd[2]    = {{driver->wait_fd(ends[0].port), POLLIN, 0},
                                  {driver->wait_fd(ends[1].port), POLLIN, 0}};
        bool          armed[2] = {driver->arm(ends[0].port), driver->arm(ends[1].port)};

        if (armed[0] && armed[1] && poll(fd, 2, (int)(1000 * PATIENCE)) <= 0)
            die("%zu bytes are in flight and neither side is woken", bytes);
        pump(ends, 2);
    }
    settle(ends, 2);
}

void test_waiting(struct end *ends)
{
    static const size_t sizes[] = {32, 1000, 100000, 20 << 20};

    if (driver->wait_fd(ends[1].port) < 0) {
        printf("# %s has no descriptor to wait for\n", driver->name);
        return;
    }
    settle(ends, 2);
    stays_asleep(&ends[1]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        wakes_up(ends, sizes[i]);
        both_asleep(ends, sizes[i]);
    }
    stays_asleep(&ends[1]);
}

/* Sends packets one after the other, so that the connection that carries them is the busiest one of
 * its receiver, PE 0. */
static void send_series(struct end *ends, int from)
{
    for (int i = 0; i < 50; i++) {
        send_packet(ends, 3, from, 0, 100);
        WAIT_FOR(ends[0].arrived[from] >= ends[from].sends[0], ends, 3, "a packet of a series");
    }
}

/* PE 0 sleeps, and a packet of @p from wakes it. */
static void wakes_receiver(struct end *ends, int from)
{
    arm(&ends[0]);
    send_packet(&ends[from], 1, 0, 0, 100);
    for (double since = now(); ends[0].arrived[from] < ends[from].sends[0];) {
        driver->progress(ends[from].port);
        if (poll_one(&ends[0], 1) > 0) {
            driver->progress(ends[0].port);
            arm(&ends[0]);
        }
        if (now() - since > PATIENCE)
            die("a packet of PE %d does not wake PE 0", from);
    }
}

/* A driver may receive from a connection that is busy in a way of its own.  Packets of the other
 * connection still arrive, and packets of either still wake the receiver. */
void test_busy(void)
{
    struct end ends[3];

    open_ends(ends, 3);
    for (int busy = 1; busy < 3; busy++) {
        send_series(ends, busy);
        send_packet(ends, 3, 3 - busy, 0, 100);
        settle(ends, 3);
        send_series(ends, busy);
        if (driver->wait_fd(ends[0].port) >= 0) {
            wakes_receiver(ends, busy);
            send_series(ends, busy);
            wakes_receiver(ends, 3 - busy);
            wakes_receiver(ends, busy);
        }
    }
    send_packet(ends, 3, 1, 0, 20 << 20);
    send_series(ends, 2);
    settle(ends, 3);
    close_ends(ends, 3);
}

/* Sleeps until the descriptor of a port is readable, then receives a packet from the last one of
 * four. */
static void sleep_and_receive(struct end *ends, int at)
{
    if (poll_one(&ends[at], (int)(1000 * PATIENCE)) <= 0)
        die("PE %d sleeps, and a packet does not wake it", at);
    WAIT_FOR(ends[at].arrived[3] >= ends[3].sends[at], &ends[at], 1, "a packet");
}

/* Three ports share connections and sleep.  Two of them, one of which watched the connections, wake
 * up and then compute: a packet still wakes the third. */
void test_watch(void)
{
    struct end ends[4];

    open_ends(ends, 4);
    for (int i = 0; i < 3; i++)
        send_packet(ends, 4, 3, i, 100);
    settle(ends, 4);
    for (int i = 0; i < 3; i++)
        arm(&ends[i]);
    for (int i = 0; i < 2; i++)
        send_packet(&ends[3], 1, 0, i, 100);
    for (int i = 0; i < 2; i++)
        sleep_and_receive(ends, i);
    send_packet(&ends[3], 1, 0, 2, 100);
    sleep_and_receive(ends, 2);
    settle(ends, 4);
    close_ends(ends, 4);
}
