/* SPDX-License-Identifier: Apache-2.0 */
/* solve.c - see solve.h. */
#include "solve.h"

#include <string.h>

#include "help.h"

#define CACHE_LINE 64

/* ---- what this PE has ----------------------------------------------------------------------- */

/* Finds the boxes whose leaves belong to several PEs. */
static void solve_find_shared(struct solver *s)
{
    struct solve_work *w = s->work;

    w->shared  = solve_alloc(s, (size_t)s->tree.nodes, sizeof *w->shared);
    w->shareds = 0;
    for (int32_t i = 0; i < s->tree.nodes; i++)
        if (tree_shared(&s->tree, &s->tree.node[i]))
            w->shared[w->shareds++] = i;
}

/* Sorts the targets by level. */
static void solve_sort_targets(struct solver *s)
{
    struct solve_work  *w                     = s->work;
    const struct lists *l                     = &s->lists;
    int32_t             place[LEVELS_MAX + 2] = {0};

    w->by_level = solve_alloc(s, (size_t)l->targets, sizeof *w->by_level);
    for (int32_t t = 0; t < l->targets; t++)
        place[s->tree.node[l->target[t].node].level + 1]++;
    for (int level = 0; level <= LEVELS_MAX; level++)
        place[level + 1] += place[level];
    memcpy(w->level_first, place, sizeof place);
    for (int32_t t = 0; t < l->targets; t++)
        w->by_level[place[s->tree.node[l->target[t].node].level]++] = t;
}

/* Takes @p n elements of @p bytes from the memory that helpers can access. */
static void *solve_take(struct solve_memory *m, size_t n, size_t bytes)
{
    size_t from = m->used;

    m->used += (n * bytes / CACHE_LINE + 1) * CACHE_LINE;
    return m->used <= m->room ? m->at + from : NULL;
}

/* Places the arrays that tasks use. */
static void solve_place_arrays(struct solver *s)
{
    struct solve_work   *w          = s->work;
    struct solve_memory *m          = &w->memory;
    size_t               nodes      = (size_t)s->tree.nodes;
    size_t               numbers    = (size_t)s->lists.targets * (size_t)solve_stride(s);
    size_t               directions = (size_t)translate_directions(&s->translator);

    m->used         = 0;
    w->rests        = s->comm->shares && s->lists.targets > 0 ? solve_tasks(s, ROUND_FAR) : 1;
    w->mine         = solve_take(m, nodes, sizeof *w->mine);
    w->multipole_of = solve_take(m, nodes, sizeof *w->multipole_of);
    w->bodies_of    = solve_take(m, (size_t)s->tree.leaves, sizeof *w->bodies_of);
    w->multipole    = solve_take(m, numbers, sizeof *w->multipole);
    w->local        = solve_take(m, numbers, sizeof *w->local);
    w->total        = solve_take(m, (size_t)w->shareds * (size_t)solve_stride(s), sizeof *w->total);
    w->rest         = solve_take(m, (size_t)w->rests * directions, sizeof *w->rest);
    s->field        = solve_take(m, (size_t)s->n, sizeof *s->field);
    s->body         = solve_take(m, (size_t)s->n, sizeof *s->body);
}

/* Allocates the arrays that tasks use, in memory that is kept for the next solve. */
static void solve_share(struct solver *s)
{
    struct solve_memory *m = &s->work->memory;

    solve_place_arrays(s);
    if (m->used > m->room) {
        comm_free(s->comm, m->at);
        m->room = m->used + m->used / 8;
        m->at   = comm_alloc(s->comm, m->room);
        solve_require(s, m->at != NULL);
        solve_place_arrays(s);
    }
    memset(m->at, 0, (size_t)((char *)s->body - m->at));
}

static void solve_set_up(struct solver *s)
{
    struct solve_work *w      = s->work;
    size_t             stride = (size_t)solve_stride(s);

    solve_find_shared(s);
    solve_sort_targets(s);
    solve_share(s);
    w->target_of = solve_alloc(s, (size_t)s->tree.nodes, sizeof *w->target_of);
    for (int32_t i = 0; i < s->tree.nodes; i++)
        w->mine[i] = tree_owner(&s->tree, &s->tree.node[i]) == s->pe &&
                     !tree_shared(&s->tree, &s->tree.node[i]);
    for (int64_t i = 0; i < s->n; i++)
        s->body[i] = s->traveller[i].body;
    for (int32_t i = 0; i < s->tree.nodes; i++)
        w->target_of[i] = -1;
    for (int32_t t = 0; t < s->lists.targets; t++) {
        int32_t node = s->lists.target[t].node;

        w->target_of[node]    = t;
        w->multipole_of[node] = w->mine[node] ? w->multipole + (size_t)t * stride : NULL;
    }
}

static void solve_free(struct solver *s)
{
    struct solve_work *w = s->work;

    tree_free(&s->tree);
    free(s->traveller);
    free(w->target_of);
    free(w->shared);
    free(w->by_level);
}

/* ---- a solve -------------------------------------------------------------------------------- */

/* Adds the time since *@p from, without the time spent waiting, to a phase. */
static void solve_clock(struct solver *s, enum phase phase, double *from, double *waited)
{
    double now = s->comm->time();

    s->seconds[phase] += now - *from - (s->seconds[PHASE_WAIT] - *waited);
    *from   = now;
    *waited = s->seconds[PHASE_WAIT];
}

static void solve_prepare(struct solver *s, struct traveller *body, int64_t n)
{
    struct cube cube = solve_cube(s, body, n);

    tree_set_keys(body, (size_t)n, &cube);
    solve_require(s, tree_sort(&body, (size_t)n));
    solve_require(s, tree_build(&s->tree, s->comm, &cube, body, (size_t)n, s->rule.leaf));
    solve_divide(s);
    solve_move_bodies(s, body, n);
    solve_find_lists(s);
    solve_set_up(s);
    solve_pack(s);
}

static void solve_wait_all(struct solver *s, const struct solve_sizes *shared)
{
    solve_wait(s, TRANSFER_SHARED);
    solve_wait(s, TRANSFER_GHOSTS);
    solve_wait(s, TRANSFER_MULTIPOLES);
    solve_add_shared(s, shared);
}

static void solve_passes(struct solver *s, double *from, double *waited)
{
    struct solve_sizes ghosts     = solve_exchange_sizes(s, TRANSFER_GHOSTS), shared;
    struct solve_sizes multipoles = solve_exchange_sizes(s, TRANSFER_MULTIPOLES);
    bool               first      = s->rule.no_overlap;

    solve_transfer(s, TRANSFER_GHOSTS, &ghosts, s->body);
    solve_clock(s, PHASE_TREE, from, waited);
    solve_up(s);
    shared = solve_put_shared(s);
    solve_transfer(s, TRANSFER_MULTIPOLES, &multipoles, s->work->multipole);
    solve_place(s);
    solve_clock(s, PHASE_UP, from, waited);
    if (first)
        solve_wait_all(s, &shared);
    help_run(s, ROUND_NEAR);
    solve_clock(s, PHASE_NEAR, from, waited);
    help_run(s, ROUND_FAR);
    solve_clock(s, PHASE_FAR, from, waited);
    if (!first)
        solve_wait_all(s, &shared);
    help_finish(s, ROUND_NEAR);
    help_run(s, ROUND_GHOSTS);
    solve_clock(s, PHASE_NEAR, from, waited);
    help_finish(s, ROUND_FAR);
    help_run(s, ROUND_OTHERS);
    help_finish(s, ROUND_OTHERS);
    help_run(s, ROUND_REST);
    help_finish(s, ROUND_REST);
    solve_clock(s, PHASE_FAR, from, waited);
    help_finish(s, ROUND_GHOSTS); /* which add to the fields, too */
    solve_down(s);
    help_run(s, ROUND_LEAVES);
    help_finish(s, ROUND_LEAVES);
    solve_clock(s, PHASE_DOWN, from, waited);
    help_others(s);
    free(ghosts.at);
    free(multipoles.at);
    free(shared.at);
}

/* Decides whether to measure the speeds of PEs.  Helpers hide them, and all PEs have to decide the
 * same, even if some are alone on their hosts. */
static void solve_choose_speeds(struct solver *s)
{
    double helped = s->comm->shares;

    s->comm->max(s->comm, &helped, 1);
    s->measures_speeds = s->comm->pes > 1 && helped == 0;
}

void solver_create(struct solver *s, struct comm *comm, const struct solve_rule *rule)
{
    *s           = (struct solver){.comm = comm, .pe = comm->pe, .rule = *rule, .lists.comm = comm};
    comm->shares = comm->shares && !rule->no_help;
    s->board     = comm->shares ? comm->board(comm, comm->pe) : solve_alloc(s, 1, sizeof *s->board);
    expansion_init(&s->expansion, rule->order);
    s->work  = solve_alloc(s, 1, sizeof *s->work);
    s->speed = solve_alloc(s, (size_t)comm->pes, sizeof *s->speed);
    for (int pe = 0; pe < comm->pes; pe++)
        s->speed[pe] = 1;
    for (int t = 0; t < TRANSFERS; t++)
        s->work->parcel[t] = solve_alloc(s, (size_t)comm->pes, sizeof *s->work->parcel[t]);
    solve_require(s, translator_create(&s->translator, &s->expansion, rule->separation));
    solve_choose_speeds(s);
}

static void solve_reset(struct solver *s)
{
    struct solve_work kept = *s->work;

    solve_free(s);
    memset(s->work, 0, sizeof *s->work);
    memcpy(s->work->parcel, kept.parcel, sizeof kept.parcel);
    memcpy(s->work->window, kept.window, sizeof kept.window);
    memcpy(s->work->window_bytes, kept.window_bytes, sizeof kept.window_bytes);
    s->work->memory = kept.memory;
    memset(s->seconds, 0, sizeof s->seconds);
    s->traveller = NULL;
    solve_clear_parcels(s);
}

void solver_run(struct solver *s, struct traveller *body, int64_t n)
{
    double from = s->comm->time(), waited = 0;

    solve_reset(s);
    help_reset(s);
    solve_prepare(s, body, n);
    solve_passes(s, &from, &waited);
    if (s->measures_speeds)
        solve_measure_speeds(s);
    s->comm->done(s->comm);
}

void solver_free(struct solver *s)
{
    solve_free(s);
    lists_free(&s->lists);
    comm_free(s->comm, s->work->memory.at);
    for (int t = 0; t < TRANSFERS; t++) {
        for (int pe = 0; pe < s->comm->pes; pe++)
            free(s->work->parcel[t][pe].block);
        free(s->work->parcel[t]);
    }
    translator_free(&s->translator);
    free(s->speed);
    free(s->work);
    if (!s->comm->shares)
        free(s->board);
}
