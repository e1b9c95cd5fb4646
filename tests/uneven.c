/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven.c - one host has memory for fewer regions than the others: a symmetric region that cannot
 * be created there leaves nothing behind on any PE.
 *
 * PE 0 has the larger arena and uses up the region slots of PE 1. Then TIMES creations fail, which
 * together would exceed the memory of PE 0.
 *
 * usage: uneven TIMES BYTES
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>

#define OWN 1100 /* an arena of 64 MiB has fewer slots */

/* Creates regions of PE 0 alone. */
static void make_own(skua_region own[])
{
    int alone = 0;

    for (int i = 0; i < OWN; i++)
        if (skua_region_create_on(&alone, 1, 8, &own[i]) != SKUA_OK)
            skua_abort("region %d of PE 0 alone cannot be made", i);
}

static void free_own(const skua_region own[])
{
    for (int i = 0; i < OWN; i++)
        if (skua_region_destroy(own[i]) != SKUA_OK)
            skua_abort("region %d cannot be freed", i);
}

static void start(int argc, char **argv)
{
    int         times = argc > 1 ? atoi(argv[1]) : 100;
    size_t      bytes = argc > 2 ? (size_t)atol(argv[2]) : 1000;
    skua_region own[OWN], common;

    if (skua_pe() == 0)
        make_own(own);
    for (int i = 0; i < times; i++)
        if (skua_region_create(bytes, &common) != SKUA_ERR_NOMEM)
            skua_abort("region %d was created", i);
    skua_sync(); /* otherwise the job might end before the last answer */
    if (skua_pe() != 0)
        return;
    /* If any memory were kept, the arena would be full. */
    if (skua_region_create_local((size_t)times * bytes / 2, &common) != SKUA_OK)
        skua_abort("memory has been lost");
    free_own(own);
    printf("nothing remains of %d regions\n", times);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
