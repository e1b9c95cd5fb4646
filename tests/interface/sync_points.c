/* SPDX-License-Identifier: Apache-2.0 */
/* sync_points.c - see sync_points.ci. */
#include "sync_points.ci.h"

void Cell_on_position(const Cell *self, double xyz[3])
{
    xyz[0] = skua_index_of(self).at.x[0];
    xyz[1] = xyz[2] = 0;
}

double Cell_on_load(const Cell *self)
{
    return 1 + skua_index_of(self).at.x[0] % 3;
}
