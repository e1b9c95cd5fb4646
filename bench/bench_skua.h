/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_skua.h - the operations of Skua for bench_onesided.h that onesided.c and network.c share.
 */
#ifndef BENCH_SKUA_H
#define BENCH_SKUA_H

#include <skua/skua.h>

#include "bench_onesided.h"

static skua_region memory; /* the region of the measurements */

static inline void barrier(const struct onesided_access *a)
{
    (void)a;
    skua_sync();
}

static inline skua_gaddr target(const struct onesided_access *a)
{
    return skua_at(memory, a->pe, a->offset);
}

static inline void put_nb(const struct onesided_access *a)
{
    skua_put_nb(target(a), onesided_source + a->offset, a->bytes, NULL);
}

static inline void get_nb(const struct onesided_access *a)
{
    skua_get_nb(onesided_result + a->offset, target(a), a->bytes, NULL);
}

static inline void complete(const struct onesided_access *a)
{
    skua_flush(a->pe);
}

#endif
