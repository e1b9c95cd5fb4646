/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff.c - with the setting local_completion, a blocking put to a PE that computes returns when
 * its data have been handed to the driver, also where the driver puts large blocks.
 *
 * The last PE leaves the runtime until it gets a UNIX signal, which PE 0 sends after its puts: a
 * put that waited for the target would wait forever.  All processes are on one machine.
 *
 * usage: handoff
 */
#include <signal.h>
#include <stddef.h>
#include <skua/skua.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define BYTES 65536
#define PUTS  3

struct shared {
    skua_notify ready, there;
    int64_t     process; /* process id of the last PE */
    char        data[PUTS][BYTES];
};

static volatile sig_atomic_t woken;

static void on_unix_signal(int number)
{
    (void)number;
    woken = 1;
}

static skua_gaddr at(skua_region region, int pe, size_t offset)
{
    return skua_at(region, pe, offset);
}

/* Runs on the last PE: sends PE 0 its process id, and computes. */
static void compute(skua_region region, struct shared *mine)
{
    int64_t         process = getpid();
    skua_rma_params params  = {.notify = at(region, 0, offsetof(struct shared, ready))};

    skua_put_nb(at(region, 0, offsetof(struct shared, process)), &process, sizeof process, &params);
    skua_flush_all();
    while (!woken)
        ;
    skua_notify_wait(&mine->there, 1);
    for (int i = 0; i < PUTS; i++)
        for (size_t j = 0; j < BYTES; j++)
            CHECK(mine->data[i][j] == (char)(i + 1));
}

static void put_all(skua_region region, struct shared *mine)
{
    static char block[BYTES];
    int         last = skua_pes() - 1;

    skua_notify_wait(&mine->ready, 1);
    for (int i = 0; i < PUTS; i++) {
        memset(block, i + 1, sizeof block); /* the memory may be reused when the call returns */
        CHECK(skua_put(at(region, last, offsetof(struct shared, data) + (size_t)i * BYTES), block,
                       sizeof block) == SKUA_OK);
    }
    memset(block, 0, sizeof block);
    CHECK(kill((pid_t)mine->process, SIGUSR1) == 0);
    CHECK(skua_notify_add(at(region, last, offsetof(struct shared, there)), 1) == SKUA_OK);
}

static void start(int argc, char **argv)
{
    skua_region    region;
    struct shared *mine;

    (void)argc, (void)argv;
    CHECK(skua_region_create(sizeof *mine, &region) == SKUA_OK);
    mine = skua_region_local(region);
    memset(mine, 0, sizeof *mine);
    skua_sync();
    if (skua_pe() == 0 && skua_pes() > 1)
        put_all(region, mine);
    else if (skua_pe() == skua_pes() - 1 && skua_pe() > 0)
        compute(region, mine);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, on_unix_signal);
    return skua_main(argc, argv, start);
}
