/* SPDX-License-Identifier: Apache-2.0 */
/* near.c - see near.h. */
#include "near.h"

#include "kernels.h"

static inline void near_set(lanes *to, int k, double x)
{
    to->v[k / 2][k % 2] = x;
}

static inline double near_get(const lanes *from, int k)
{
    return from->v[k / 2][k % 2];
}

/* Loads bodies into the lanes of a group. Lanes without a body repeat the first one. */
static void near_load(struct near_group *g, const struct body *body, int n)
{
    *g = (struct near_group){0};
    for (int k = 0; k < LANES; k++) {
        const double *at = body[k < n ? k : 0].at;

        near_set(&g->x, k, at[0]);
        near_set(&g->y, k, at[1]);
        near_set(&g->z, k, at[2]);
    }
}

static void near_store(const struct near_group *g, struct field *field, int n)
{
    for (int k = 0; k < n && k < LANES; k++) {
        field[k].potential += near_get(&g->potential, k);
        field[k].at[0] += near_get(&g->fx, k);
        field[k].at[1] += near_get(&g->fy, k);
        field[k].at[2] += near_get(&g->fz, k);
    }
}

void near_add(const struct body *body, int n, struct field *field,
              const struct near_sources *sources, int count)
{
    const struct fmm_kernels *kernels = kernels_best();

    for (int k = 0; k < n; k += LANES) {
        struct near_group g;

        near_load(&g, body + k, n - k);
        for (int i = 0; i < count; i++)
            kernels->near(&g, &sources[i]);
        near_store(&g, field + k, n - k);
    }
}
