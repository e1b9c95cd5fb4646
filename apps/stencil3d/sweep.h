/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - the stencil on one row of cells, which stencil3d shares with its limit. */
#ifndef SWEEP_H
#define SWEEP_H

#define SWEEP_LINE 16 /* cells in a cache line */

/** Prefetches a row that the hardware prefetchers do not predict. */
static inline void fetch_row(const float *row, int count)
{
    for (int i = 0; i < count; i += SWEEP_LINE)
        __builtin_prefetch(row + i);
}

/** Computes one row; @p w and @p e are the cells beyond its ends, @p added the change of the stamp.
 */
static inline void sweep_row(float *restrict to, const float *restrict u, const float *restrict n,
                             const float *restrict s, const float *restrict a,
                             const float *restrict d, float w, float e, float added, int count)
{
    const float seventh = 1.0f / 7;
    int         last    = count - 1;

    for (int i = 1; i < last; i++)
        to[i] = (u[i] + u[i - 1] + u[i + 1] + n[i] + s[i] + a[i] + d[i]) * seventh + added;
    to[0] = (u[0] + w + (last > 0 ? u[1] : e) + n[0] + s[0] + a[0] + d[0]) * seventh + added;
    if (last > 0)
        to[last] =
            (u[last] + u[last - 1] + e + n[last] + s[last] + a[last] + d[last]) * seventh + added;
}

#endif
