/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - the tree of all bodies, and its division among PEs by the time that leaves take,
 * and by the speeds that the PEs had in earlier solves: cores differ where several share a clock, a
 * cache or a physical core. */
#include <math.h>
#include <string.h>

#include "solve_work.h"

/* Times of the kernels in nanoseconds, to divide the work: a pair of bodies, a coefficient of a
 * body, and a translation, which takes (order + 1)^3 times as long. */
#define TIME_PAIR        4.2
#define TIME_COEFFICIENT 3.3
#define TIME_TRANSLATION 0.6

#define SPEED_MAX 4.0 /* of a PE, relative to the mean */

struct cube solve_cube(const struct solver *s, const struct traveller *body, int64_t n)
{
    struct cube cube    = {{0.5, 0.5, 0.5}, 1};
    double      most[6] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};

    if (s->rule.periodic)
        return cube;
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            most[d]     = fmax(most[d], body[i].body.at[d]);
            most[3 + d] = fmax(most[3 + d], -body[i].body.at[d]);
        }
    s->comm->max(s->comm, most, 6);
    cube.width = 1e-300;
    for (int d = 0; d < 3; d++) {
        cube.centre[d] = 0.5 * (most[d] - most[3 + d]);
        cube.width     = fmax(cube.width, (most[d] + most[3 + d]) * (1 + 1e-12));
    }
    return cube;
}

void solve_find_lists(struct solver *s)
{
    int              pe = s->comm->pe, count = expansion_count(s->rule.order);
    struct list_rule rule = {s->rule.separation, s->rule.periodic, count / 2};

    solve_require(s, lists_build(&s->lists, &s->tree, &rule, &s->translator, s->tree.first_of[pe],
                                 s->tree.first_of[pe + 1]));
}

/* Returns the estimated time of the lists of a target. */
static double solve_cost(const struct solver *s, int32_t target)
{
    const struct lists *l    = &s->lists;
    const struct node  *node = &s->tree.node[l->target[target].node];
    double              n = (double)node->count, cost = 0;
    double              count = expansion_count(s->rule.order);

    cost += TIME_TRANSLATION * pow(s->rule.order + 1, 3) *
            (l->target[target].end[LIST_FAR] - list_begin(l, target, LIST_FAR) + 2);
    cost += node->children == 0 ? TIME_COEFFICIENT * count * n : 0;
    for (int32_t i = list_begin(l, target, LIST_NEAR); i < l->target[target].end[LIST_NEAR]; i++)
        cost += TIME_PAIR * n * (double)s->tree.node[l->entry[LIST_NEAR][i].node].count;
    cost += TIME_COEFFICIENT * count * n *
            (l->target[target].end[LIST_FINE] - list_begin(l, target, LIST_FINE));
    for (int32_t i = list_begin(l, target, LIST_COARSE); i < l->target[target].end[LIST_COARSE];
         i++)
        cost +=
            TIME_COEFFICIENT * count * (double)s->tree.node[l->entry[LIST_COARSE][i].node].count;
    return cost;
}

void solve_divide(struct solver *s)
{
    struct tree *tree = &s->tree;
    double      *cost = solve_alloc(s, (size_t)tree->leaves, sizeof *cost);
    int          pe   = s->comm->pe;

    for (int32_t i = 0; i < tree->leaves; i++)
        cost[i] = (double)tree->node[tree->leaf[i]].count;
    tree_divide(tree, s->comm->pes, cost, s->speed);
    if (s->comm->pes > 1) {
        solve_find_lists(s);
        memset(cost, 0, (size_t)tree->leaves * sizeof *cost);
        for (int32_t t = 0; t < s->lists.targets; t++) {
            int32_t leaf = tree->node[s->lists.target[t].node].leaf;

            if (leaf >= tree->first_of[pe]) /* the other leaves belong to the previous PE */
                cost[leaf] += solve_cost(s, t);
        }
        s->comm->sum(s->comm, cost, (size_t)tree->leaves);
        tree_divide(tree, s->comm->pes, cost, s->speed);
    }
    s->cost = 0;
    for (int32_t i = tree->first_of[pe]; i < tree->first_of[pe + 1]; i++)
        s->cost += cost[i];
    free(cost);
}

/* Returns the speed of a PE relative to the mean, within bounds: a PE that lost its core for a
 * while is not left without work.  A PE that had no work is as fast as the others. */
static double solve_bound_speed(double speed, double mean)
{
    return speed == 0 ? 1 : fmin(fmax(speed / mean, 1 / SPEED_MAX), SPEED_MAX);
}

void solve_measure_speeds(struct solver *s)
{
    int     pes = s->comm->pes, working = 0;
    double *now = solve_alloc(s, (size_t)pes, sizeof *now), sum = 0;
    double  seconds = s->seconds[PHASE_UP] + s->seconds[PHASE_NEAR] + s->seconds[PHASE_FAR] +
                     s->seconds[PHASE_DOWN];

    now[s->comm->pe] = s->cost > 0 && seconds > 0 ? s->cost / seconds : 0;
    s->comm->sum(s->comm, now, (size_t)pes);
    for (int pe = 0; pe < pes; pe++) {
        sum += now[pe];
        working += now[pe] > 0;
    }
    for (int pe = 0; pe < pes; pe++)
        s->speed[pe] +=
            (solve_bound_speed(now[pe], sum / working) - s->speed[pe]) / (double)(s->solves + 1);
    s->solves++;
    free(now);
}

/* Returns the bodies that a PE has sent, which are in order. */
static struct tree_run solve_arrived_run(const struct solver *s, const struct solve_sizes *sizes,
                                         int pe)
{
    const struct traveller *all  = s->work->window[TRANSFER_BODIES];
    size_t                  from = solve_offset(sizes, pe, s->comm->pe);

    return (struct tree_run){all ? all + from / sizeof *all : NULL,
                             (solve_offset(sizes, pe + 1, s->comm->pe) - from) / sizeof *all};
}

void solve_move_bodies(struct solver *s, struct traveller *body, int64_t n)
{
    const struct tree *tree = &s->tree;
    struct comm       *comm = s->comm;
    struct solve_sizes sizes;
    struct tree_run   *run;
    int64_t            at = 0;

    if (comm->pes == 1) {
        s->traveller = body;
        s->n         = n;
        return;
    }
    run = solve_alloc(s, (size_t)comm->pes, sizeof *run);
    for (int pe = 0; pe < comm->pes; pe++) {
        int32_t end  = tree->first_of[pe + 1];
        int64_t from = at;

        while (at < n &&
               (end == tree->leaves || body[at].key < tree_key(&tree->node[tree->leaf[end]])))
            at++;
        if (pe == comm->pe)
            run[pe] = (struct tree_run){body + from, (size_t)(at - from)};
        else if (at > from)
            solve_add_block(s, &s->work->parcel[TRANSFER_BODIES][pe], (size_t)from * sizeof *body,
                            (size_t)(at - from) * sizeof *body);
    }
    sizes = solve_exchange_sizes(s, TRANSFER_BODIES);
    solve_transfer(s, TRANSFER_BODIES, &sizes, body);
    comm->wait(comm, TRANSFER_BODIES); /* part of the phase: nothing can overlap it */
    for (int pe = 0; pe < comm->pes; pe++)
        if (pe != comm->pe)
            run[pe] = solve_arrived_run(s, &sizes, pe);
    s->traveller = tree_merge(run, comm->pes, &s->n);
    solve_require(s, s->traveller != NULL);
    comm->done(comm); /* the bodies have been moved to their owners */
    free(body);
    free(run);
    free(sizes.at);
}
