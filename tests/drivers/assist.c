/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assist.c - the port of a progress thread, PE 1, sends what waits at the port of PE 0, which makes
 * no progress.  PE 2 receives.
 */
#include "world.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define ROUNDS      3
#define LARGE       ((size_t)1 << 20)
#define PAUSE_NS    2000000 /* for which PE 0 computes, now and then */
#define PAUSE_EVERY 20      /* packets                               */

/* Progresses the progress thread until it may sleep. */
static void fall_asleep(struct end *thread)
{
    WAIT_FOR(driver->arm(thread->port), thread, 1, "arm()");
}

/* Lets the progress thread sleep until it is woken. */
static void sleep_once(struct end *thread)
{
    struct pollfd fd = {driver->wait_fd(thread->port), POLLIN, 0};

    if (poll(&fd, 1, 1) > 0)
        pump(thread, 1);
    fall_asleep(thread);
}

/* PE 0 sends as much as is accepted to PE @p to and makes no progress: all of it arrives, also if
 * PE 0 tries to send more all the time (@p tries). */
static void leave_to_thread(struct end *ends, int to, bool tries)
{
    double since = now();

    fall_asleep(&ends[1]);
    while (try_send(&ends[0], to, LARGE) != SKUA_ERR_AGAIN)
        ;
    if (ends[0].returned >= ends[0].pending)
        fail("no packet of PE 0 waits, which the test needs");
    while (ends[to].arrived[0] < ends[0].sends[to]) {
        for (int i = 0; i < 100; i++)
            pump(&ends[to], 1);
        if (tries && try_send(&ends[0], to, LARGE) != SKUA_ERR_AGAIN)
            fail("a packet is accepted before others are complete");
        sleep_once(&ends[1]);
        if (now() - since > PATIENCE)
            die("packets of a PE that computes are not sent by the progress thread");
    }
}

/* Sends the packet that was refused, and completes all others. */
static void end_round(struct end *ends, int count, int to)
{
    send_packet(ends, count, 0, to, LARGE);
    settle(ends, count);
}

/* ---- threads -------------------------------------------------------------------------------- */

static _Atomic bool thread_stop;

/* Progresses one port until the test ends. */
static void *thread_pump(void *end)
{
    while (!atomic_load(&thread_stop))
        if (!pump(end, 1))
            sched_yield();
    return NULL;
}

/* PE 0 sends packets of many sizes, and is away from the driver for a while between some of them.
 */
static void send_with_pauses(struct end *sender, uint64_t packets)
{
    for (uint64_t n = 0; n < packets; n++) {
        WAIT_FOR(try_send(sender, 2, n % 3 ? 100 + n % 3000 : 300000 + n) != SKUA_ERR_AGAIN, sender,
                 1, "a packet to be accepted");
        if (n % PAUSE_EVERY == 0)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

void test_assist(uint64_t packets)
{
    struct end ends[3];
    pthread_t  thread[2];

    open_ends(ends, 3);
    send_packet(ends, 3, 0, 2, 1000);
    settle(ends, 3);
    for (int i = 0; i < ROUNDS; i++) {
        leave_to_thread(ends, 2, i > 0);
        end_round(ends, 3, 2);
    }
    atomic_store(&thread_stop, false);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, thread_pump, &ends[i + 1]) != 0)
            die("pthread_create");
    send_with_pauses(&ends[0], packets);
    WAIT_FOR(ends[0].returned >= ends[0].pending, &ends[0], 1, "sent()");
    atomic_store(&thread_stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    settle(ends, 3);
    close_ends(ends, 3);
}

/* PE 2, of the process of PE 0 and the progress thread, handles nothing, and more packets wait for
 * it than may: the process receives nothing, and the progress thread still sends. */
void test_assist_full(void)
{
    struct end ends[4];

    open_ends(ends, 4);
    send_packet(ends, 4, 0, 3, 1000);
    settle(ends, 4);
    while (try_send(&ends[0], 2, LARGE) != SKUA_ERR_AGAIN)
        ;
    leave_to_thread(ends, 3, false);
    end_round(ends, 4, 3);
    send_packet(ends, 4, 0, 2, LARGE); /* which was refused */
    settle(ends, 4);
    close_ends(ends, 4);
}
