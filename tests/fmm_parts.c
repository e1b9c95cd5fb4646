/* SPDX-License-Identifier: Apache-2.0 */
/* fmm_parts.c - the expansions, translations and images of apps/fmm against direct formulas. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "kernels.h"
#include "lattice.h"
#include "near.h"
#include "translate.h"

#define BODIES 21

static struct expansion  expansion;
static struct translator translator;
static const double      no_shift[3];
static int               failures;

static void expect(bool holds, const char *what)
{
    if (!holds)
        printf("wrong: %s\n", what);
    failures += !holds;
}

/* Fills a box with bodies. */
static void fill_box(const struct cube *box, struct body *body)
{
    for (int i = 0; i < BODIES; i++) {
        for (int d = 0; d < 3; d++)
            body[i].at[d] = box->centre[d] + box->width * (rand() / (double)RAND_MAX - 0.5);
        body[i].charge = rand() % 2 ? 1 : -0.7;
    }
}

static void add_pairs(const struct body *to, struct field *field, const struct body *from,
                      const double shift[3])
{
    for (int i = 0; i < BODIES; i++)
        for (int j = 0; j < BODIES; j++) {
            double r[3], rr = 0;

            for (int d = 0; d < 3; d++) {
                r[d] = to[i].at[d] - from[j].at[d] - shift[d];
                rr += r[d] * r[d];
            }
            if (rr == 0)
                continue;
            field[i].potential += from[j].charge / sqrt(rr);
            for (int d = 0; d < 3; d++)
                field[i].at[d] += from[j].charge * r[d] / (rr * sqrt(rr));
        }
}

/* Returns true if two solutions agree to @p error of the largest values. */
static bool agree(const struct field *a, const struct field *b, double error)
{
    double most[2] = {0}, off[2] = {0};

    for (int i = 0; i < BODIES; i++) {
        most[0] = fmax(most[0], fabs(b[i].potential));
        off[0]  = fmax(off[0], fabs(a[i].potential - b[i].potential));
        for (int d = 0; d < 3; d++) {
            most[1] = fmax(most[1], fabs(b[i].at[d]));
            off[1]  = fmax(off[1], fabs(a[i].at[d] - b[i].at[d]));
        }
    }
    return off[0] <= error * most[0] && off[1] <= 20 * error * most[1];
}

static double *new_expansion(void)
{
    return calloc((size_t)expansion_stride(expansion.order), sizeof(double));
}

/* Tests each way in which a distant box acts on another. */
static void test_distance(const int distance[3], double error)
{
    struct cube  from = {{0.3, -0.2, 0.1}, 0.8}, to = from;
    struct body  source[BODIES], target[BODIES];
    struct field direct[BODIES] = {{0}}, found[BODIES] = {{0}};
    double      *multipole = new_expansion(), *local = new_expansion(), *other = new_expansion();

    for (int d = 0; d < 3; d++)
        to.centre[d] -= distance[d] * to.width;
    fill_box(&from, source);
    fill_box(&to, target);
    add_pairs(target, direct, source, no_shift);
    expansion_add_multipole(multipole, &expansion, &from, source, BODIES);
    expansion_evaluate_multipole(multipole, &expansion, &from, target, BODIES, no_shift, found);
    expect(agree(found, direct, error), "multipoles act on bodies");
    memset(found, 0, sizeof found);
    expansion_add_local(local, &expansion, &to, source, BODIES, no_shift);
    expansion_evaluate_local(local, &expansion, &to, target, BODIES, found);
    expect(agree(found, direct, error), "bodies act on a local expansion");
    memset(found, 0, sizeof found);
    translate_to_local(&translator, translate_direction(&translator, distance),
                       (const double *const[]){multipole}, (double *const[]){other}, 1);
    expansion_evaluate_local(other, &expansion, &to, target, BODIES, found);
    expect(agree(found, direct, error), "multipoles act on a local expansion");
    free(multipole);
    free(local);
    free(other);
}

/* Tests that M2M and L2L are exact. */
static void test_octant(int octant)
{
    struct cube  child = {{0, 0, 0}, 0.5}, parent = {{0, 0, 0}, 1};
    struct body  body[BODIES];
    struct field a[BODIES] = {{0}}, b[BODIES] = {{0}};
    double      *small = new_expansion(), *large = new_expansion(), *direct = new_expansion();
    double       off = 0;

    for (int d = 0; d < 3; d++)
        child.centre[d] = octant >> d & 1 ? 0.25 : -0.25;
    fill_box(&child, body);
    expansion_add_multipole(small, &expansion, &child, body, BODIES);
    expansion_add_multipole(direct, &expansion, &parent, body, BODIES);
    translate_to_parent(&translator, octant, (const double *const[]){small},
                        (double *const[]){large}, 1);
    for (int i = 0; i < expansion_count(expansion.order); i++)
        off = fmax(off, fabs(large[i] - direct[i]));
    expect(off < 1e-13, "multipoles of a parent");
    memset(small, 0, (size_t)expansion_stride(expansion.order) * sizeof *small);
    translate_to_child(&translator, octant, (const double *const[]){direct},
                       (double *const[]){small}, 1);
    expansion_evaluate_local(direct, &expansion, &parent, body, BODIES, a);
    expansion_evaluate_local(small, &expansion, &child, body, BODIES, b);
    expect(agree(a, b, 1e-12), "the local expansion of a child");
    free(small);
    free(large);
    free(direct);
}

static void test_near(void)
{
    struct cube         box = {{0, 0, 0}, 1};
    struct body         body[BODIES];
    struct field        direct[BODIES] = {{0}}, found[BODIES] = {{0}};
    struct near_sources sources[2] = {{body, BODIES, {0}}, {body, BODIES, {1, 0, -1}}};

    fill_box(&box, body);
    memcpy(body[7].at, body[3].at, sizeof body[7].at); /* at the same position */
    add_pairs(body, direct, body, no_shift);
    add_pairs(body, direct, body, sources[1].shift);
    near_add(body, BODIES, found, sources, 2);
    expect(agree(found, direct, 1e-13), "pairs of bodies");
}

/* Tests the potential at an ion of rock salt: eight ions in a cell, and all images. */
static void test_madelung(void)
{
    struct cube  cell = {{0, 0, 0}, 1};
    struct body  ion[8];
    struct field at        = {0};
    double      *multipole = new_expansion(), *local = new_expansion();

    for (int i = 0; i < 8; i++) {
        for (int d = 0; d < 3; d++)
            ion[i].at[d] = i >> d & 1 ? 0.25 : -0.25;
        ion[i].charge = (i ^ i >> 1 ^ i >> 2) & 1 ? -1 : 1;
    }
    expansion_add_multipole(multipole, &expansion, &cell, ion, 8);
    lattice_add(local, &expansion, 1, multipole);
    expansion_evaluate_local(local, &expansion, &cell, ion, 1, &at);
    for (int i = 0; i < 27; i++)
        near_add(ion, 1, &at, &(struct near_sources){ion, 8, {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1}},
                 1);
    expect(fabs(at.potential / 2 + 1.7475645946) < 1e-7, "the Madelung constant");
    free(multipole);
    free(local);
}

static void test_accuracy(void)
{
    struct solve_rule loose = {0}, tight = {0}, extreme = {0},
                      given = {.order = 7, .separation = 2};

    accuracy_choose(&loose, 1e-2);
    accuracy_choose(&tight, 1e-6);
    accuracy_choose(&extreme, 1e-10);
    accuracy_choose(&given, 1e-6);
    expect(loose.separation == 1 && tight.separation == 1 && loose.order < tight.order, "orders");
    expect(extreme.separation == 2 && extreme.order <= ORDER_MAX, "a larger separation");
    expect(given.order == 7 && given.separation == 2, "given parameters are kept");
}

static double lane(const lanes *x, int k)
{
    return x->v[k / 2][k % 2];
}

/* Pairs of bodies by one set of kernels; the first bodies of the sources are the group itself. */
static void test_kernel_near(const struct fmm_kernels *kernels)
{
    struct cube         box = {{0, 0, 0}, 1};
    struct body         body[BODIES];
    struct field        direct[BODIES] = {{0}}, found[BODIES] = {{0}};
    struct near_sources sources = {body, BODIES, {0}};
    struct near_group   group   = {0};

    fill_box(&box, body);
    add_pairs(body, direct, body, no_shift);
    for (int k = 0; k < LANES; k++) {
        group.x.v[k / 2][k % 2] = body[k].at[0];
        group.y.v[k / 2][k % 2] = body[k].at[1];
        group.z.v[k / 2][k % 2] = body[k].at[2];
    }
    kernels->near(&group, &sources);
    for (int k = 0; k < LANES; k++)
        found[k] = (struct field){lane(&group.potential, k),
                                  {lane(&group.fx, k), lane(&group.fy, k), lane(&group.fz, k)}};
    memset(direct + LANES, 0, (BODIES - LANES) * sizeof *direct);
    expect(agree(found, direct, 1e-13), kernels->name);
}

/* A block of seven rows, so with a panel that is not full, and five columns. */
static void test_kernel_multiply(const struct fmm_kernels *kernels)
{
    static const int16_t    rows[] = {6, 0, 5, 2, 1, 4, 3};
    struct translate_block  block  = {7, 5, rows, rows};
    double                  at[35];
    struct translate_matrix matrix = {&block, 1, at};
    lanes                   from[7], to[7];
    bool                    good = true;

    for (int i = 0; i < 35; i++)
        at[i] = i - 11;
    for (int i = 0; i < 7 * LANES; i++)
        from[i / LANES].v[i % LANES / 2][i % 2] = i % 13;
    kernels->multiply(&matrix, from, to);
    for (int i = 0; i < 7 * LANES; i++) {
        int    row = i / LANES, first = row - row % PANEL, height = row < PANEL ? PANEL : 3;
        double sum = 0;

        for (int j = 0; j < 5; j++)
            sum += at[first * 5 + j * height + row % PANEL] * lane(&from[rows[j]], i % LANES);
        good = good && sum == lane(&to[rows[row]], i % LANES);
    }
    expect(good, kernels->name);
}

/* Coefficients of order 2 are rotated by the multiples of an angle, and back. */
static void test_kernel_turn(const struct fmm_kernels *kernels)
{
    static const double cosine[] = {1, 0.6, -0.28}, sine[] = {0, 0.8, 0.96};
    lanes               x[9], before[9];
    bool                good = true;

    for (int i = 0; i < 9 * LANES; i++)
        x[i / LANES].v[i % LANES / 2][i % 2] = i % 11;
    memcpy(before, x, sizeof x);
    kernels->turn(cosine, sine, 2, 1, x);
    for (int k = 0; k < LANES; k++)
        for (int l = 0; l <= 2; l++) {
            good = good && lane(&x[l * l], k) == lane(&before[l * l], k);
            for (int m = 1; m <= l; m++) {
                int    re = expansion_cos(l, m), im = expansion_sin(l, m);
                double a = lane(&before[re], k), b = lane(&before[im], k);

                good = good && fabs(lane(&x[re], k) - cosine[m] * a - sine[m] * b) < 1e-14 &&
                       fabs(lane(&x[im], k) - cosine[m] * b + sine[m] * a) < 1e-14;
            }
        }
    kernels->turn(cosine, sine, 2, -1, x);
    for (int i = 0; i < 9 * LANES; i++)
        good = good &&
               fabs(lane(&x[i / LANES], i % LANES) - lane(&before[i / LANES], i % LANES)) < 1e-14;
    expect(good, kernels->name);
}

static void test_kernels(void)
{
    for (const struct fmm_kernels *const *set = kernels_usable(); *set; set++) {
        printf("%s\n", (*set)->name);
        test_kernel_near(*set);
        test_kernel_multiply(*set);
        test_kernel_turn(*set);
    }
}

/* A PE gets leaves in proportion to its speed, by their cost. */
static void test_division(void)
{
    double      cost[12], speed[3] = {1, 2, 1};
    int32_t     first_of[4];
    int         owner[12];
    struct tree tree = {.leaves = 12, .owner = owner, .first_of = first_of};

    for (int i = 0; i < 12; i++)
        cost[i] = 5;
    tree_divide(&tree, 3, cost, speed);
    expect(first_of[0] == 0 && first_of[1] == 3 && first_of[2] == 9 && first_of[3] == 12,
           "a division by speed");
    cost[11] = 1000;
    tree_divide(&tree, 3, cost, speed);
    expect(owner[0] == 0 && owner[10] == 0 && owner[11] == 1, "owners of leaves");
    expect(first_of[1] == 11 && first_of[3] == 12, "one leaf that costs more than all others");
}

#define RUN_MAX 50 /* bodies of a run */

/* Merges runs of different lengths, one of them empty, whose keys coincide within and between runs:
 * bodies of the same key stay in the order of the runs and within them. */
static void test_merge(int runs)
{
    static struct traveller body[9][RUN_MAX];
    struct tree_run         run[9];
    struct traveller       *merged;
    int64_t                 n, expected = 0;

    for (int i = 0; i < runs; i++) {
        run[i] = (struct tree_run){body[i], i == 1 ? 0 : (size_t)(RUN_MAX - 4 * i)};
        for (size_t k = 0; k < run[i].n; k++)
            body[i][k] = (struct traveller){.key = (uint64_t)(k / 2 * (size_t)(i + 1)),
                                            .id  = (int64_t)(i * RUN_MAX) + (int64_t)k};
        expected += (int64_t)run[i].n;
    }
    merged = tree_merge(run, runs, &n);
    expect(merged && n == expected, "all bodies are merged");
    for (int64_t i = 1; merged && i < n; i++)
        expect(merged[i - 1].key < merged[i].key ||
                   (merged[i - 1].key == merged[i].key && merged[i - 1].id < merged[i].id),
               "merged bodies are in order");
    free(merged);
}

int main(void)
{
    expansion_init(&expansion, 17);
    expect(translator_create(&translator, &expansion, 1), "memory");
    test_distance((int[3]){2, 0, 0}, 1e-6);
    test_distance((int[3]){0, 0, -2}, 1e-6);
    test_distance((int[3]){2, -1, 3}, 1e-9);
    test_distance((int[3]){-3, 3, -3}, 1e-9);
    for (int octant = 0; octant < 8; octant++)
        test_octant(octant);
    test_near();
    test_madelung();
    test_accuracy();
    test_division();
    for (int runs = 1; runs <= 9; runs++)
        test_merge(runs);
    test_kernels();
    translator_free(&translator);
    printf("%d failures\n", failures);
    return failures > 0;
}
