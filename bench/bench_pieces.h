/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_pieces.h - a region of which each PE of a host reaches the pieces of all PEs by load and
 * store: the memory of the limits, which use the runtime for nothing else.
 */
#ifndef BENCH_PIECES_H
#define BENCH_PIECES_H

#include <skua/skua.h>
#include <string.h>

/* Creates a region with pieces of so many bytes, and fills that of this PE with zeros.  Ends the
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
