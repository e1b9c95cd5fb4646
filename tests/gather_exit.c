/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_exit.c - the job ends during a gather, while a PE stores into the memory of the root.
 *
 * PE 0 offers memory and waits.  PE 1 stores its block there.  PE 2 sees the first bytes arrive and
 * ends the job.  PE 0 unmaps the memory as soon as its wait ends: PE 1 must not store into it any
 * more.  The PEs are threads of one process.
 */
#include <sched.h>
#include <skua/skua.h>
#include <string.h>
#include <sys/mman.h>

#include "tap.h"

#define BLOCK ((size_t)48 << 20) /* takes some ten milliseconds to store */

static char *volatile gathered; /* by PE 0 */

static char *map(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static void start(int argc, char **argv)
{
    skua_counter done = SKUA_COUNTER_INIT;
    char        *block;

    (void)argc, (void)argv;
    CHECK(skua_pes() == 3);
    if (skua_pe() == 0)
        gathered = map(3 * BLOCK);
    skua_sync();
    if (skua_pe() == 2) {
        while (((volatile char *)gathered)[BLOCK] == 0)
            sched_yield();
        skua_exit(0);
        return;
    }
    block = map(BLOCK);
    memset(block, 1, BLOCK);
    skua_team_gather(SKUA_TEAM_ALL, 0, block, BLOCK, gathered, skua_done_count(&done));
    skua_counter_wait(&done, 1);
    if (skua_pe() == 0)
        CHECK(munmap(gathered, 3 * BLOCK) == 0);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
