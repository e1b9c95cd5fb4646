/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.c - see near.h.
 *
 * A group of targets stays in registers during the loop over all sources. 1/r is computed by
 * Newton's method from an estimate of a few bits, since a square root and a division would take
 * most of the time.
 */
#include "near.h"

#include <stdint.h>

#include "lanes.h"
#ifdef __aarch64__
#include <arm_neon.h>
#endif

#define GROUP            8 /* number of targets computed together */
#define VECTORS_OF_GROUP 4

typedef int64_t near_mask __attribute__((vector_size(16)));

/* Returns 1/sqrt(x), or 0 if x is 0. */
static inline vec near_inverse_root(vec x)
{
#ifdef __aarch64__
    vec y = (vec)vrsqrteq_f64((float64x2_t)x); /* an estimate of 8 bits, refined in three steps */

    for (int step = 0; step < 3; step++)
        y *= (vec)vrsqrtsq_f64((float64x2_t)(x * y), (float64x2_t)y);
#else
    vec half = 0.5 * x, y = (vec)(UINT64_C(0x5fe6eb50c7b537a9) - ((near_mask)x >> 1)); /* 4 bits */

    for (int step = 0; step < 4; step++)
        y *= 1.5 - half * y * y;
#endif
    return (vec)((near_mask)y & (near_mask)(x > 0));
}

struct near_group {
    vec x[VECTORS_OF_GROUP], y[VECTORS_OF_GROUP], z[VECTORS_OF_GROUP];
    vec potential[VECTORS_OF_GROUP], fx[VECTORS_OF_GROUP], fy[VECTORS_OF_GROUP],
        fz[VECTORS_OF_GROUP];
};

static inline void near_add_range(struct near_group *g, const struct near_sources *from)
{
    struct near_group sum = *g;

    for (int j = 0; j < from->n; j++) {
        const struct body *b = &from->body[j];
        vec x = vec_of(b->at[0] + from->shift[0]), y = vec_of(b->at[1] + from->shift[1]);
        vec z = vec_of(b->at[2] + from->shift[2]), q = vec_of(b->charge);

        for (int v = 0; v < VECTORS_OF_GROUP; v++) {
            vec dx = sum.x[v] - x, dy = sum.y[v] - y, dz = sum.z[v] - z;
            vec inverse = near_inverse_root(dx * dx + dy * dy + dz * dz);
            vec phi = q * inverse, f = phi * inverse * inverse;

            sum.potential[v] += phi;
            sum.fx[v] += f * dx;
            sum.fy[v] += f * dy;
            sum.fz[v] += f * dz;
        }
    }
    *g = sum;
}

static void near_load(struct near_group *g, const struct body *body, int n)
{
    *g = (struct near_group){0};
    for (int k = 0; k < GROUP; k++) {
        const double *at = body[k < n ? k : 0].at;

        g->x[k / 2][k % 2] = at[0];
        g->y[k / 2][k % 2] = at[1];
        g->z[k / 2][k % 2] = at[2];
    }
}

static void near_store(const struct near_group *g, struct field *field, int n)
{
    for (int k = 0; k < n && k < GROUP; k++) {
        field[k].potential += g->potential[k / 2][k % 2];
        field[k].at[0] += g->fx[k / 2][k % 2];
        field[k].at[1] += g->fy[k / 2][k % 2];
        field[k].at[2] += g->fz[k / 2][k % 2];
    }
}

void near_add(const struct body *body, int n, struct field *field,
              const struct near_sources *sources, int count)
{
    for (int k = 0; k < n; k += GROUP) {
        struct near_group g;

        near_load(&g, body + k, n - k);
        for (int i = 0; i < count; i++)
            near_add_range(&g, &sources[i]);
        near_store(&g, field + k, n - k);
    }
}
