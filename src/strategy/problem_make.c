/* SPDX-License-Identifier: Apache-2.0 */
/* problem_make.c - see problem_make.h. */
#include "strategy/problem_make.h"

#include <string.h>

#include "base/memory.h"
#include "strategy/random_bits.h"

const char *const ski_problem_kinds[] = {"random", "droplet", "gradient", "hotspot",
                                         "varied", "even",    NULL};

enum make_kind { MAKE_RANDOM, MAKE_DROPLET, MAKE_GRADIENT, MAKE_HOTSPOT, MAKE_VARIED, MAKE_EVEN };

#define MAKE_LOAD  1e-3 /* seconds of a usual object            */
#define MAKE_BYTES 4096 /* of an object, and of an edge's data  */

static uint32_t make_side(uint32_t objects)
{
    uint32_t side = 1;

    while ((uint64_t)side * side * side < objects)
        side++;
    return side;
}

static void make_pes(struct ski_problem *problem, const struct ski_problem_size *size, bool varied,
                     uint64_t *random)
{
    for (int32_t p = 0; p < size->pes; p++) {
        skua_strategy_pe *pe = &problem->pe[p];

        *pe      = (skua_strategy_pe){.speed = 1, .pe = p};
        pe->host = (int32_t)((int64_t)p * size->hosts / size->pes);
        if (varied && ski_random_unit(random) < 0.3)
            pe->background = MAKE_LOAD * size->objects / size->pes * ski_random_unit(random);
        if (varied)
            pe->speed = 1 + (double)(ski_random_bits(random) % 3) / 2;
    }
}

static double make_load(enum make_kind kind, const double at[3], uint64_t *random)
{
    double x = at[0] - 0.5, y = at[1] - 0.5, z = at[2] - 0.5;

    switch (kind) {
    case MAKE_RANDOM:
    case MAKE_VARIED: return MAKE_LOAD * 2 * ski_random_unit(random);
    case MAKE_DROPLET: return MAKE_LOAD * (x * x + y * y + z * z < 0.09 ? 5 : 1);
    case MAKE_GRADIENT: return MAKE_LOAD * (0.2 + 1.6 * at[0]);
    default: return MAKE_LOAD;
    }
}

/* A cell of the grid is on the PE of its number, so that PEs have slabs of the grid. */
static void make_object(struct ski_problem *problem, const struct ski_problem_size *size,
                        enum make_kind kind, uint32_t i, uint64_t *random)
{
    uint32_t              side   = make_side(size->objects);
    skua_strategy_object *object = &problem->object[i];
    bool                  spread = kind == MAKE_RANDOM || kind == MAKE_VARIED;
    double                unit   = ski_random_unit(random);

    object->position[0] = ((double)(i / side / side) + 0.5) / side;
    object->position[1] = ((double)(i / side % side) + 0.5) / side;
    object->position[2] = ((double)(i % side) + 0.5) / side;
    object->flags       = SKUA_OBJECT_MOVABLE | SKUA_OBJECT_POSITIONED;
    object->bytes       = MAKE_BYTES;
    object->load        = make_load(kind, object->position, random);
    object->pe          = spread ? (int32_t)(unit * (0.5 + unit / 2) * size->pes)
                                 : (int32_t)((uint64_t)i * (uint64_t)size->pes / size->objects);
    if (kind == MAKE_HOTSPOT && object->pe == size->pes / 2)
        object->load *= 10;
    if (kind == MAKE_VARIED && ski_random_unit(random) < 0.05)
        object->flags &= ~(unsigned)SKUA_OBJECT_MOVABLE;
}

static void make_edge(struct ski_problem *problem, uint32_t from, uint32_t to)
{
    skua_strategy_problem *p = &problem->problem;

    problem->edge[p->edges++] = (skua_strategy_edge){from, to, 10, 10 * MAKE_BYTES};
}

/* The six neighbours in the grid, in ascending order. */
static void make_grid_edges(struct ski_problem *problem, uint32_t objects)
{
    uint32_t side = make_side(objects), step[3] = {side * side, side, 1};

    for (uint32_t i = 0; i < objects; i++) {
        uint32_t at[3] = {i / side / side, i / side % side, i % side};

        for (int k = 0; k < 3; k++)
            if (at[k] > 0)
                make_edge(problem, i, i - step[k]);
        for (int k = 2; k >= 0; k--)
            if (at[k] + 1 < side && i + step[k] < objects)
                make_edge(problem, i, i + step[k]);
    }
}

/* Up to four partners at ascending random distances. */
static void make_random_edges(struct ski_problem *problem, uint32_t objects, uint64_t *random)
{
    for (uint32_t i = 0; i < objects; i++) {
        uint64_t to = 0;

        for (int k = 0; k < 4; k++) {
            to += ski_random_bits(random) % (objects / 3 + 1);
            if (to < objects && to != i)
                make_edge(problem, i, (uint32_t)to);
            to++;
        }
    }
}

/* The PEs that were not the longest have been idle until that one ended. */
static void make_idle(struct ski_problem *problem)
{
    skua_strategy_problem *p    = &problem->problem;
    double                *time = ski_calloc((size_t)p->pes, sizeof *time), most = 0;

    for (int32_t k = 0; k < p->pes; k++)
        time[k] = p->pe[k].background;
    for (uint32_t i = 0; i < p->objects; i++)
        time[p->object[i].pe] += p->object[i].load / p->pe[p->object[i].pe].speed;
    for (int32_t k = 0; k < p->pes; k++)
        most = time[k] > most ? time[k] : most;
    for (int32_t k = 0; k < p->pes; k++)
        problem->pe[k].idle = most - time[k];
    free(time);
}

bool ski_problem_make(const char *kind, const struct ski_problem_size *size,
                      struct ski_problem *problem)
{
    uint64_t               random = size->seed;
    skua_strategy_problem *p      = &problem->problem;
    int                    k      = 0;

    while (ski_problem_kinds[k] && strcmp(ski_problem_kinds[k], kind) != 0)
        k++;
    if (!ski_problem_kinds[k])
        return false;
    *problem        = (struct ski_problem){0};
    problem->pe     = ski_calloc((size_t)size->pes, sizeof *problem->pe);
    problem->object = ski_calloc((size_t)size->objects + 1, sizeof *problem->object);
    problem->edge   = ski_calloc(6 * (size_t)size->objects + 1, sizeof *problem->edge);
    *p              = (skua_strategy_problem){.size    = sizeof *p,
                                              .pes     = size->pes,
                                              .hosts   = size->hosts,
                                              .objects = size->objects,
                                              .pe      = problem->pe,
                                              .object  = problem->object,
                                              .edge    = problem->edge,
                                              .seed    = size->seed};
    make_pes(problem, size, k == MAKE_VARIED, &random);
    for (uint32_t i = 0; i < size->objects; i++)
        make_object(problem, size, (enum make_kind)k, i, &random);
    if (k == MAKE_RANDOM || k == MAKE_VARIED)
        make_random_edges(problem, size->objects, &random);
    else
        make_grid_edges(problem, size->objects);
    make_idle(problem);
    return true;
}
