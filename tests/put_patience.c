/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put_patience.c - small puts that are coalesced leave the PE in the end, though it never enters
 * the scheduler and they fill no packet.
 *
 * PE 0 starts a burst of puts to a PE of another host, then one from time to time, each of which
 * would fit into the packet that waits.  It reads the target's memory through the system, as no
 * call of the runtime may help: the puts have to arrive.
 */
#include <errno.h>
#include <skua/skua.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define BURST   32 /* puts in a row             */
#define SLOW    40 /* puts, and between two ... */
#define SLOW_NS 20000
#define SECONDS 60 /* until the test fails */

/* Where the target has its word. */
struct target {
    int       pid;
    uintptr_t at;
};

static skua_handler              on_target, on_end;
static _Thread_local skua_region region; /* of the PE of this thread */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Reads the word of the target.  Returns false if the system refuses. */
static bool look(const struct target *target, uint64_t *word)
{
    struct iovec here = {word, sizeof *word}, there = {(void *)target->at, sizeof *word};

    return process_vm_readv(target->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof *word;
}

static void put(int pe, uint64_t value)
{
    CHECK(skua_put_nb(skua_at(region, pe, 0), &value, sizeof value, NULL) >= 0);
}

static void end_of(int pe)
{
    skua_flush(pe);
    skua_send_copy(pe, on_end, NULL, 0);
}

/* Waits for @p value without the runtime. */
static void await_word(const struct target *target, uint64_t value)
{
    uint64_t word  = 0;
    double   since = now();

    while (look(target, &word) && word < value)
        CHECK(now() - since < SECONDS);
}

static void spin(double seconds)
{
    for (double since = now(); now() - since < seconds;)
        ;
}

static void put_all(skua_msg *msg)
{
    struct target target = *(const struct target *)skua_msg_data(msg);
    int           pe     = skua_msg_source(msg);
    uint64_t      word;

    skua_msg_free(msg);
    put(pe, 1);
    skua_flush(pe); /* the connection is open */
    if (!look(&target, &word)) {
        printf("# the system does not read the memory of another process (%d)\n", errno);
        end_of(pe);
        return;
    }
    for (uint64_t i = 2; i < BURST; i++)
        put(pe, i);
    for (uint64_t i = 0; i < SLOW; i++) {
        put(pe, BURST + i);
        spin(SLOW_NS * 1e-9);
    }
    await_word(&target, BURST);
    end_of(pe);
}

static void finish(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_exit(0);
}

/* The last PE is on another host than PE 0. */
static void start(int argc, char **argv)
{
    struct target target = {.pid = (int)getpid()};

    (void)argc, (void)argv;
    CHECK(skua_hosts() > 1);
    skua_region_create(sizeof(uint64_t), &region);
    *(uint64_t *)skua_region_local(region) = 0;
    target.at                              = (uintptr_t)skua_region_local(region);
    skua_sync();
    if (skua_pe() == skua_pes() - 1)
        skua_send_copy(0, on_target, &target, sizeof target);
}

int main(int argc, char **argv)
{
    on_target = skua_handler_register("target", put_all);
    on_end    = skua_handler_register("end", finish);
    return skua_main(argc, argv, start);
}
