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

/* ---- patches ------------------------------------------------------------- */

/* Volatile, so that the compiler does not know the value, as in a library. */
static volatile double scale = 1;

/* The layouts of strided data at the target and at the origin. */
static skua_layout rows, packed;

/* Sets the layouts of a patch or of a column. */
static inline void prepare_rows(const struct onesided_access *a)
{
    size_t    side   = a->shape == ONESIDED_PATCH ? a->side : 1;
    size_t    count  = a->shape == ONESIDED_PATCH ? side : ONESIDED_SIDE;
    ptrdiff_t stride = ONESIDED_SIDE * sizeof(double);

    rows   = skua_layout_strided(NULL, side * sizeof(double), 1, &count, &stride);
    packed = skua_layout_contiguous(NULL, count * side * sizeof(double));
}

/* Returns the packed layout at the origin that begins at @p origin. */
static inline const skua_layout *packed_at(char *origin)
{
    packed.at = origin;
    return &packed;
}

static inline void put(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        skua_put(target(a), onesided_source + a->offset, a->bytes);
    else
        skua_put_layout(target(a), &rows, packed_at(onesided_source));
}

static inline void get(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        skua_get(onesided_result + a->offset, target(a), a->bytes);
    else
        skua_get_layout(packed_at(onesided_result), target(a), &rows);
}

static inline void acc(const struct onesided_access *a)
{
    const double      factor = scale;
    const skua_update sum    = {SKUA_SUM, SKUA_DOUBLE, &factor};

    if (a->shape == ONESIDED_WHOLE)
        skua_acc(target(a), onesided_source + a->offset, a->bytes, &sum);
    else
        skua_acc_layout(target(a), &rows, packed_at(onesided_source), &sum);
}

#endif
