/* SPDX-License-Identifier: Apache-2.0 */
/* bars.h - the times of PEs as bars, one panel below the other, as an SVG picture. */
#ifndef SKUA_BARS_H
#define SKUA_BARS_H

#include <stdio.h>

/* A panel: the times of all PEs under one mapping. */
struct bars {
    const char   *title;
    int           pes;
    const double *background; /* of each PE: seconds of work that no object causes */
    const double *time;       /* of each PE: seconds in all                        */
};

/** Writes panels as one SVG file.  All have the same scale.  A panel shows each PE's background,
 * its objects and its idle time until the longest PE ends, and a line at the mean. */
void bars_write(const struct bars *panels, int count, FILE *to);

#endif
