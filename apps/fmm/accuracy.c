/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy.c - see accuracy.h.
 *
 * The error of an expansion of order p falls like A b^p, where b depends on the separation.  A and
 * b are fits to measured errors of the potential (the root of their mean square, relative to that
 * of potentials), for charges of both signs: a worst case, since charges of one sign have larger
 * potentials.
 */
#include "accuracy.h"

#include <math.h>

#define SEPARATIONS 2

static const struct accuracy_fit {
    double factor, base;
} accuracy_fit[SEPARATIONS] = {{0.12, 0.45}, {0.06, 0.26}};

static int accuracy_order(int separation, double error)
{
    const struct accuracy_fit *fit   = &accuracy_fit[separation - 1];
    int                        order = (int)ceil(log(error / fit->factor) / log(fit->base));

    return order < ORDER_MIN ? ORDER_MIN : order;
}

/* Returns the work per body, in arbitrary units, with the best size of leaves: the geometric mean
 * of the cost of its translations and of its pairs, both of which grow with the separation. */
static double accuracy_work(int separation, int order)
{
    double near = pow(2 * separation + 1, 3), far = 7 * near;

    return sqrt(near * far * pow(order + 1, 3));
}

void accuracy_choose(struct solve_rule *rule, double error)
{
    double least = INFINITY;
    int    first = rule->separation ? rule->separation : 1;
    int    last  = rule->separation ? rule->separation : SEPARATIONS;

    for (int separation = first; separation <= last && !(rule->separation && rule->order);
         separation++) {
        int order = rule->order ? rule->order : accuracy_order(separation, error);

        if (order <= ORDER_MAX && accuracy_work(separation, order) < least) {
            least            = accuracy_work(separation, order);
            rule->separation = separation;
        }
    }
    if (!rule->order)
        rule->order = accuracy_order(rule->separation, error);
    if (rule->order > ORDER_MAX)
        rule->order = ORDER_MAX;
    if (!rule->leaf)
        rule->leaf = 16 + (int64_t)(2.5 * pow(rule->order + 1, 1.5));
}
