/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - see tally.h. */
#include "tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/numbers.h"

#define DRIFT_MAX    1e-3
#define MOMENTUM_MAX 1e-12

static double tally_real(int64_t sum)
{
    return (double)sum / (double)(INT64_C(1) << SUM_BITS);
}

static double tally_energy(const struct md_sums *sums)
{
    return tally_real(sums->kinetic) + tally_real(sums->potential);
}

void tally_add(struct md_tally *tally, const struct md_sums *sums)
{
    double size  = fabs(tally_real(sums->kinetic)) + fabs(tally_real(sums->potential));
    double speed = tally_real(sums->speed), square = 0;

    if (tally->samples++ == 0)
        tally->first = *sums;
    tally->last = *sums;
    for (int d = 0; d < 3; d++) {
        double change = tally_real(sums->momentum[d] - tally->first.momentum[d]);

        square += change * change;
    }
    tally->drift =
        larger(tally->drift, fabs(tally_energy(sums) - tally_energy(&tally->first)) / size);
    tally->momentum = larger(tally->momentum, sqrt(square) / speed);
}

bool tally_print(const struct md_tally *tally, const struct md_box *box, int64_t steps)
{
    const struct md_sums *last = &tally->last;
    bool good = tally->drift < DRIFT_MAX && tally->momentum < MOMENTUM_MAX && last->atoms > 0 &&
                last->atoms == tally->first.atoms;

    printf("result leanmd: %d x %d x %d cells, %" PRId64 " atoms, %" PRId64
           " steps; kinetic %.9e J, potential %.9e J, energy %.9e J, changed by %.2e; momentum "
           "changed by %.1e; hash %016" PRIx64 "; %s\n",
           box->cells[0], box->cells[1], box->cells[2], last->atoms, steps,
           tally_real(last->kinetic) / JOULE, tally_real(last->potential) / JOULE,
           tally_energy(last) / JOULE, tally->drift, tally->momentum, (uint64_t)last->hash,
           good ? "good" : "WRONG");
    return good;
}
