/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_pieces.h - a region in which each PE of a host accesses the pieces of all PEs by load and
 * store. It is the memory of the limit programs, which use nothing else of the runtime.
 */
#ifndef BENCH_PIECES_H
#define BENCH_PIECES_H

#include <skua/skua.h>
#include <string.h>

/* Creates a region with a piece of @p bytes on each PE, and clears the piece of this PE.  Ends the
 * job if there are more than @p most PEs, or no memory. */
static inline skua_region bench_create_pieces(size_t bytes, int most)
{
    skua_region region = {0};

    if (skua_pes() > most || skua_region_create(bytes, &region) < 0)
        skua_abort("there is no memory for so many PEs");
    memset(skua_region_local(region), 0, bytes);
    return region;
}

/* Returns the piece of a PE. */
static inline void *bench_piece(skua_region region, int pe)
{
    void *piece = skua_gaddr_local(skua_at(region, pe, 0));

    if (!piece)
        skua_abort("PE %d shares no memory with this PE", pe);
    return piece;
}

#endif
