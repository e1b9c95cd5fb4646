/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fairness.c - a PE that all others flood serves them evenly, and its own work does not starve
 * them.
 *
 * All PEs but 0 send at the same pace: a few messages, then they wait for each other at a word of
 * PE 0, which they add to and read by one-sided operations.  PE 0 begins when everything is in its
 * inbox, so what follows does not depend on the speed of any PE: at each delivery the sender that
 * was served most has had at most twice as many messages as the one that was served least, after
 * the first few of each.  PE 0
 *
 *   flood    only receives
 *   self     sends messages to itself without end, until all have arrived
 *   thread   has a user thread that yields without end
 *   busy     computes and polls for a few messages at a time
 *   slow     has a handler that takes longer than many sends, and begins at once: messages arrive
 *            while it runs, and the pace keeps the senders even
 *
 * and its own steps before the last arrival are at most twice the messages of all.
 *
 * With a smaller inbox (SKUA_INBOX_CELLS) only the arrival is tested: senders wait for room, and
 * room goes to the sender that has a CPU when PE 0 makes it, so shares and steps depend on the
 * speed of PEs.
 *
 * usage: fairness, with SKUA_INBOX_CELLS for twice as many messages as all PEs send
 */
#include <sched.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define EACH      160 /* messages of a sender in a case                               */
#define CHUNK     4   /* messages that it sends before it waits for the other senders */
#define RINGS_PES 8   /* PEs from which on senders that share rings share several     */
#define CHAINS    16  /* messages that PE 0 sends to itself again and again           */
#define POLL      8
#define SLOW      20  /* microseconds of a slow handler                    */
#define LARGE     200 /* bytes of a message that travels by pointer        */

static skua_handler item, self_step;
static skua_pe_data region_key;

/* The state of PE 0. */
static struct {
    long arrived[1024], total, all, steps;
    bool chaining; /* messages to itself are sent again */
    bool slow;     /* the handler takes long            */
} at;

static int senders(void)
{
    return skua_pes() - 1;
}

/* Returns whether the inbox, half of which senders may fill, holds all messages of a case. */
static bool holds_all(void)
{
    const char *cells = getenv("SKUA_INBOX_CELLS");

    return cells && atol(cells) >= 2L * senders() * EACH;
}

static skua_gaddr pace_word(void)
{
    return skua_at(*(skua_region *)skua_pe_data_get(region_key), 0, 0);
}

static void wait_for_pace(uint64_t value)
{
    uint64_t now;

    for (;;) {
        CHECK(skua_load64(pace_word(), &now) == SKUA_OK);
        if (now >= value)
            return;
        sched_yield();
    }
}

/* ---- sending ----------------------------------------------------------------- */

/* Messages inside a cell and messages by pointer take turns. */
static void send_item(int number)
{
    if (number % 2)
        skua_send(0, item, skua_msg_alloc(LARGE));
    else
        skua_send_copy(0, item, &number, sizeof number);
}

/* @p before is the value of the word when this case began. */
static void send_all(uint64_t before)
{
    for (int i = 0; i < EACH; i++) {
        send_item(i);
        if ((i + 1) % CHUNK)
            continue;
        before += (uint64_t)senders();
        CHECK(skua_add64(pace_word(), 1) == SKUA_OK);
        wait_for_pace(before);
    }
}

/* ---- receiving --------------------------------------------------------------- */

/* Returns how many messages of a sender arrive before its share is tested: more if the inbox has
 * several rings, which are visited in turn. */
static long first_messages(void)
{
    const char *sole = getenv("SKUA_SENDER_RINGS");

    if (skua_pes() < RINGS_PES && !getenv("SKUA_INBOX_RINGS") && (!sole || *sole == '0'))
        return 2 * CHUNK;
    return 6 * CHUNK;
}

static void check_shares(void)
{
    long least = at.arrived[1], most = at.arrived[1];

    for (int pe = 2; pe < skua_pes(); pe++) {
        least = at.arrived[pe] < least ? at.arrived[pe] : least;
        most  = at.arrived[pe] > most ? at.arrived[pe] : most;
    }
    if (most > first_messages())
        CHECK(most <= 2 * least || !holds_all());
}

static void take_long(void)
{
    for (double end = skua_time() + 1e-6 * SLOW; skua_time() < end;)
        ;
}

static void on_item(skua_msg *msg)
{
    at.arrived[skua_msg_source(msg)]++;
    at.total++;
    skua_msg_free(msg);
    if (at.slow)
        take_long();
    check_shares();
}

static bool all_arrived(void *arg)
{
    (void)arg;
    return at.total == at.all;
}

/* Counts a step of PE 0's own work. */
static void count_step(void)
{
    CHECK(++at.steps <= 2 * (at.all + CHAINS) || !holds_all());
}

static void on_self_step(skua_msg *msg)
{
    skua_msg_free(msg);
    if (!at.chaining)
        return;
    count_step();
    skua_send_copy(0, self_step, NULL, 0);
}

static void yield_until_arrived(void *arg)
{
    (void)arg;
    while (!all_arrived(NULL)) {
        count_step();
        skua_thread_yield();
    }
}

static void receive_flood(void)
{
    skua_run_until(all_arrived, NULL);
}

static void receive_self(void)
{
    at.chaining = true;
    for (int i = 0; i < CHAINS; i++)
        skua_send_copy(0, self_step, NULL, 0);
    skua_run_until(all_arrived, NULL);
    at.chaining = false;
}

static void receive_thread(void)
{
    skua_thread_join(skua_thread_create(yield_until_arrived, NULL, 0));
}

static void receive_busy(void)
{
    while (!all_arrived(NULL)) {
        for (volatile int i = 0; i < 1000; i++)
            ;
        CHECK(skua_poll(POLL) <= POLL);
        count_step();
    }
}

static const struct {
    const char *name;
    void (*receive)(void);
    bool slow; /* and begins at once */
} cases[] = {{"flood", receive_flood, false},
             {"self", receive_self, false},
             {"thread", receive_thread, false},
             {"busy", receive_busy, false},
             {"slow", receive_flood, true}};

static void run_case(size_t c)
{
    uint64_t chunks = (uint64_t)senders() * (EACH / CHUNK);

    if (skua_pe() == 0) { /* before the barrier, during which the first messages may arrive */
        memset(&at, 0, sizeof at);
        at.all  = (long)senders() * EACH;
        at.slow = cases[c].slow;
    }
    wait_barrier();
    if (skua_pe() != 0) {
        send_all(c * chunks);
        return;
    }
    if (!cases[c].slow)
        wait_for_pace((c + 1) * chunks);
    cases[c].receive();
    printf("ok - %s: %ld messages of %d senders, %ld own steps\n", cases[c].name, at.total,
           senders(), at.steps);
}

static void start(int argc, char **argv)
{
    skua_region *region = skua_pe_data_get(region_key);

    (void)argc, (void)argv;
    CHECK(skua_region_create(sizeof(uint64_t), region) == SKUA_OK);
    *(uint64_t *)skua_region_local(*region) = 0;
    for (size_t c = 0; senders() > 0 && c < sizeof cases / sizeof *cases; c++)
        run_case(c);
    wait_barrier();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    item       = skua_handler_register("item", on_item);
    self_step  = skua_handler_register("self step", on_self_step);
    region_key = skua_pe_data_register(sizeof(skua_region));
    return skua_main(argc, argv, start);
}
