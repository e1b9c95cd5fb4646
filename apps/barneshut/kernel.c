/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - the interaction of a body with a list of points; see forces.h.
 *
 * The kernel keeps FORCES_LANES sums of each component in vector types of the compiler (gcc,
 * clang). Their width is one that every CPU supports, and several are processed at a time to hide
 * latency.  1 / sqrt(x) is computed by Newton's iteration from an approximation of its exponent and
 * first bits: it is exact to the last bits and faster than the instructions for the root and the
 * quotient.
 */
#include "forces.h"

#define VECTORS (FORCES_LANES / 2)

typedef double  lanes __attribute__((vector_size(16)));
typedef int64_t lane_bits __attribute__((vector_size(16)));

/* Computes the field of points, with one partial sum in each lane. */
struct kernel_sums {
    lanes x, y, z, potential;
};

static inline lanes kernel_inverse_root(lanes x)
{
    lanes y = (lanes)(INT64_C(0x5fe6eb50c7b537a9) - ((lane_bits)x >> 1)), half = 0.5 * x;

    for (int i = 0; i < 4; i++)
        y *= 1.5 - half * y * y;
    return y;
}

static void kernel_pad(struct forces_list *list)
{
    for (int i = list->count; i % FORCES_LANES != 0; i++)
        list->x[i] = list->y[i] = list->z[i] = list->mass[i] = 0;
}

static inline void kernel_add(struct kernel_sums *sums, const struct forces_list *list, int i,
                              const struct point *to, double eps2)
{
    lanes dx = *(const lanes *)&list->x[i] - to->x, dy = *(const lanes *)&list->y[i] - to->y;
    lanes dz = *(const lanes *)&list->z[i] - to->z, mass = *(const lanes *)&list->mass[i];
    lanes inverse = kernel_inverse_root(dx * dx + dy * dy + dz * dz + eps2);
    lanes one = mass * inverse, pull = one * inverse * inverse;

    sums->potential += one;
    sums->x += pull * dx;
    sums->y += pull * dy;
    sums->z += pull * dz;
}

void forces_kernel(struct forces_list *list, const struct point *to, double eps,
                   struct field *field)
{
    struct kernel_sums sums[VECTORS] = {0};

    kernel_pad(list);
    for (int i = 0; i < list->count; i += FORCES_LANES)
        for (int v = 0; v < VECTORS; v++)
            kernel_add(&sums[v], list, i + 2 * v, to, eps * eps);
    for (int v = 0; v < VECTORS; v++) {
        field->a[0] += sums[v].x[0] + sums[v].x[1];
        field->a[1] += sums[v].y[0] + sums[v].y[1];
        field->a[2] += sums[v].z[0] + sums[v].z[1];
        field->potential += sums[v].potential[0] + sums[v].potential[1];
    }
}
