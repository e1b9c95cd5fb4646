/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_exit.c - the job ends during a gather or a scatter, while a PE stores into the memory of
 * the root, or reads it.
 *
 * PE 0 offers or lends memory and waits.  PE 1 copies its block.  PE 2 sees the first bytes arrive
 * and ends the job.  PE 0 unmaps the memory as soon as its wait ends: PE 1 must not access it any
 * more.  The PEs are threads of one process.
 *
 * usage: gather_exit [scatter]
 */
#include <sched.h>
#include <skua/skua.h>
#include <string.h>
#include <sys/mman.h>

#include "tap.h"

#define BLOCK ((size_t)48 << 20) /* takes some ten milliseconds to store */

static char *volatile root;  /* of PE 0: three blocks */
static char *volatile block; /* of PE 1                */

static char *map(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

/* Ends the job when PE 1 has begun to copy to @p to. */
static void end_job(const volatile char *to)
{
    while (*to == 0)
        sched_yield();
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    skua_counter done    = SKUA_COUNTER_INIT;
    bool         scatter = argc > 1 && strcmp(argv[1], "scatter") == 0;
    int          me      = skua_pe();
    char        *mine    = map(me == 0 ? 3 * BLOCK : BLOCK);

    CHECK(skua_pes() == 3);
    if ((me == 0) == scatter)
        memset(mine, 1, me == 0 ? 3 * BLOCK : BLOCK);
    if (me < 2)
        *(me == 0 ? &root : &block) = mine;
    skua_sync();
    if (me == 2) {
        end_job(scatter ? block : root + BLOCK);
        return;
    }
    if (scatter)
        skua_team_scatter(SKUA_TEAM_ALL, 0, me == 0 ? mine : NULL, me == 0 ? map(BLOCK) : mine,
                          BLOCK, skua_done_count(&done));
    else
        skua_team_gather(SKUA_TEAM_ALL, 0, me == 0 ? map(BLOCK) : mine, BLOCK,
                         me == 0 ? mine : NULL, skua_done_count(&done));
    skua_counter_wait(&done, 1);
    if (me == 0)
        CHECK(munmap(mine, 3 * BLOCK) == 0);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
