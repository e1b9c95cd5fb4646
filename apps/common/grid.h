/* SPDX-License-Identifier: Apache-2.0 */
/* grid.h - the best grid of X x Y x Z parts for a number of parts. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stdint.h>

/** Returns what a grid costs an application, INT64_MAX if it is not possible. */
typedef int64_t grid_cost(const void *options, const int64_t *grid);

/** Stores the grid of @p count parts with the lowest cost, the first of several with equal cost.
 * Returns false if none is possible. */
static inline bool grid_choose(int64_t *grid, int64_t count, grid_cost *cost, const void *options)
{
    int64_t best = INT64_MAX;

    for (int64_t x = 1; x <= count; x++)
        for (int64_t y = 1; y <= count / x && count % x == 0; y++) {
            int64_t tried[3] = {x, y, count / x / y}, found;

            found = count / x % y ? INT64_MAX : cost(options, tried);
            if (found >= best)
                continue;
            best = found;
            for (int d = 0; d < 3; d++)
                grid[d] = tried[d];
        }
    return best < INT64_MAX;
}

#endif
