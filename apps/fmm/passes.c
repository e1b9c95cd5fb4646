/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c - the passes of a solve over the boxes of a PE: up, near, far and down. */
#include <math.h>
#include <string.h>

#include "lattice.h"
#include "near.h"
#include "solve_work.h"

#define NEAR_CHUNK 16 /* targets of a task of pairs */
#define FAR_CHUNK  64 /* targets whose expansions, and sources, fit into the cache */
#define FAR_TASKS  64 /* of a PE with many targets: what a task leaves over takes longer */
#define REST_TASKS 8  /* whose rests are one task */
#define POLL_EVERY 4

static int solve_octant(const struct node *node)
{
    return (node->at[0] & 1) | (node->at[1] & 1) << 1 | (node->at[2] & 1) << 2;
}

/* A batch of translations in one direction. */
struct solve_batch {
    const double *from[LANES];
    double       *to[LANES];
    int           n;
};

/* Translates between the boxes of a level and their parents. */
static void solve_family(struct solver *s, int level, bool up)
{
    struct solve_work *w        = s->work;
    size_t             stride   = (size_t)solve_stride(s);
    struct solve_batch batch[8] = {{.n = 0}};

    for (int32_t i = w->level_first[level]; i <= w->level_first[level + 1]; i++) {
        bool                last   = i == w->level_first[level + 1];
        int32_t             child  = last ? 0 : w->by_level[i];
        const struct node  *node   = last ? NULL : &s->tree.node[s->lists.target[child].node];
        int                 octant = last ? 0 : solve_octant(node);
        struct solve_batch *b      = &batch[octant];

        for (; octant < 8 && last; octant++, b++) /* the incomplete last batch */
            if (b->n > 0 && up)
                translate_to_parent(&s->translator, octant, b->from, b->to, b->n);
            else if (b->n > 0)
                translate_to_child(&s->translator, octant, b->from, b->to, b->n);
        if (last)
            break;
        b->from[b->n] = up ? w->multipole + (size_t)child * stride
                           : w->local + (size_t)w->target_of[node->parent] * stride;
        b->to[b->n++] = up ? w->multipole + (size_t)w->target_of[node->parent] * stride
                           : w->local + (size_t)child * stride;
        if (b->n < LANES)
            continue;
        if (up)
            translate_to_parent(&s->translator, octant, b->from, b->to, b->n);
        else
            translate_to_child(&s->translator, octant, b->from, b->to, b->n);
        b->n = 0;
    }
}

void solve_up(struct solver *s)
{
    size_t stride = (size_t)solve_stride(s);

    for (int32_t t = 0; t < s->lists.targets; t++) {
        const struct node *node = &s->tree.node[s->lists.target[t].node];
        struct cube        cube = tree_cube(&s->tree, node);

        if (node->children == 0)
            expansion_add_multipole(s->work->multipole + (size_t)t * stride, &s->expansion, &cube,
                                    solve_bodies(s, node), (int)node->count);
    }
    for (int level = LEVELS_MAX; level > 0; level--)
        solve_family(s, level, true);
}

static void solve_shift(const struct solver *s, int image, double shift[3])
{
    for (int d = 0; d < 3; d++)
        shift[d] = list_image_shift(image, d) * s->tree.cube.width;
}

/* Lets the data of other PEs proceed during the passes within this PE, now and then: @p i counts
 * pieces of work of about 0.1 ms. */
static void solve_poll(struct solver *s, bool own, int32_t i)
{
    if (own && i % POLL_EVERY == 0 && s->comm->pes > 1)
        s->comm->poll(s->comm);
}

/* Adds the pairs of a leaf with leaves of this PE, or of others. */
static void solve_near_leaf(struct solver *s, int32_t target, bool own)
{
    const struct node  *node = &s->tree.node[s->lists.target[target].node];
    struct near_sources list[64];
    int                 n = 0, image = -1;

    for (int32_t i = list_begin(&s->lists, target, LIST_NEAR);
         i < s->lists.target[target].end[LIST_NEAR]; i++) {
        struct list_entry  e    = s->lists.entry[LIST_NEAR][i];
        const struct node *from = &s->tree.node[e.node];
        const struct body *body = s->work->bodies_of[from->leaf];

        if (s->work->mine[e.node] != own)
            continue;
        if (n > 0 && e.image == image && list[n - 1].body + list[n - 1].n == body) {
            list[n - 1].n += (int)from->count;
            continue;
        }
        if (n == 64) {
            near_add(solve_bodies(s, node), (int)node->count, solve_fields(s, node), list, n);
            n = 0;
        }
        list[n] = (struct near_sources){body, (int)from->count, {0}};
        solve_shift(s, image = e.image, list[n++].shift);
    }
    if (n > 0)
        near_add(solve_bodies(s, node), (int)node->count, solve_fields(s, node), list, n);
}

static void solve_near_chunk(struct solver *s, int32_t first, int32_t end, bool own)
{
    for (int32_t t = first; t < end; t++)
        if (s->tree.node[s->lists.target[t].node].children == 0) {
            solve_near_leaf(s, t, own);
            solve_poll(s, own, t);
        }
}

static void solve_translate(struct solver *s, int direction, const struct solve_pair *pair, int n)
{
    size_t        stride = (size_t)solve_stride(s);
    const double *from[LANES];
    double       *to[LANES];

    for (int k = 0; k < n; k++) {
        from[k] = s->work->multipole_of[pair[k].from];
        to[k]   = s->work->local + (size_t)pair[k].to * stride;
    }
    translate_to_local(&s->translator, direction, from, to, n);
}

/* Translates @p n pairs of one direction, and those that waited in @p rest, as long as they fill
 * the lanes. */
static void solve_translate_all(struct solver *s, struct solve_rest *rest, int direction,
                                const struct solve_pair *pair, int32_t n)
{
    while (rest->n > 0 && n > 0) {
        rest->pair[rest->n++] = *pair++;
        n--;
        if (rest->n == LANES) {
            solve_translate(s, direction, rest->pair, LANES);
            rest->n = 0;
        }
    }
    for (; n >= LANES; n -= LANES, pair += LANES)
        solve_translate(s, direction, pair, LANES);
    if (n > 0) {
        memcpy(rest->pair, pair, (size_t)n * sizeof *pair);
        rest->n = n;
    }
}

/* Sorts the entries of the LIST_FAR of targets by direction: those with boxes of this PE or of
 * others.  On return, place[d] is the end of direction d. */
static void solve_sort_pairs(const struct solver *s, int32_t first, int32_t end, bool own,
                             struct solve_pair *pair, int32_t *place)
{
    const struct lists *l          = &s->lists;
    int                 directions = translate_directions(&s->translator);
    const bool         *mine       = s->work->mine;

    for (int32_t i = list_begin(l, first, LIST_FAR); i < l->target[end - 1].end[LIST_FAR]; i++)
        place[l->entry[LIST_FAR][i].direction + 1] += mine[l->entry[LIST_FAR][i].node] == own;
    for (int d = 0; d < directions; d++)
        place[d + 1] += place[d];
    for (int32_t t = first; t < end; t++)
        for (int32_t i = list_begin(l, t, LIST_FAR); i < l->target[t].end[LIST_FAR]; i++) {
            struct list_entry e = l->entry[LIST_FAR][i];

            if (mine[e.node] == own)
                pair[place[e.direction]++] = (struct solve_pair){e.node, t};
        }
}

/* Translates the LIST_FAR of targets.  What does not fill the lanes waits in @p rest. */
static void solve_far_chunk(struct solver *s, int32_t first, int32_t end, bool own,
                            struct solve_rest *rest)
{
    int      directions = translate_directions(&s->translator);
    int32_t  n = s->lists.target[end - 1].end[LIST_FAR] - list_begin(&s->lists, first, LIST_FAR);
    int32_t *place          = solve_alloc(s, (size_t)directions + 1, sizeof *place);
    struct solve_pair *pair = malloc((size_t)(n + 1) * sizeof *pair);

    solve_require(s, pair != NULL);
    solve_sort_pairs(s, first, end, own, pair, place);
    for (int32_t d = 0, at = 0; d < directions; at = place[d++]) {
        solve_poll(s, own, d);
        solve_translate_all(s, &rest[d], d, pair + at, place[d] - at);
    }
    free(pair);
    free(place);
}

/* Translates what waits in the rests from @p first on, in steps of @p step, as long as it fills the
 * lanes.  What does not waits in the first of them. */
static void solve_join_rests(struct solver *s, int32_t first, int32_t end, int32_t step)
{
    int32_t            directions = translate_directions(&s->translator);
    struct solve_rest *to         = s->work->rest + (size_t)first * (size_t)directions;

    for (int32_t i = first + step; i < end && i < s->work->rests; i += step) {
        const struct solve_rest *from = s->work->rest + (size_t)i * (size_t)directions;

        for (int32_t d = 0; d < directions; d++)
            solve_translate_all(s, &to[d], d, from[d].pair, from[d].n);
    }
}

/* Translates what still waits when ROUND_REST is complete. */
static void solve_last_rest(struct solver *s)
{
    const struct solve_rest *rest = s->work->rest;

    solve_join_rests(s, 0, s->work->rests, REST_TASKS);
    for (int d = 0; d < translate_directions(&s->translator); d++)
        if (rest[d].n > 0)
            solve_translate(s, d, rest[d].pair, rest[d].n);
}

/* Larger leaves act on boxes. */
static void solve_coarse(struct solver *s)
{
    size_t stride = (size_t)solve_stride(s);

    for (int32_t t = 0; t < s->lists.targets; t++)
        for (int32_t i = list_begin(&s->lists, t, LIST_COARSE);
             i < s->lists.target[t].end[LIST_COARSE]; i++) {
            struct list_entry  e    = s->lists.entry[LIST_COARSE][i];
            const struct node *from = &s->tree.node[e.node];
            struct cube        cube = tree_cube(&s->tree, &s->tree.node[s->lists.target[t].node]);
            double             shift[3];

            solve_shift(s, e.image, shift);
            expansion_add_local(s->work->local + (size_t)t * stride, &s->expansion, &cube,
                                s->work->bodies_of[from->leaf], (int)from->count, shift);
        }
}

/* The bodies of a leaf get its local expansion and the multipoles of smaller boxes. */
static void solve_down_leaf(struct solver *s, int32_t target)
{
    const struct node *node = &s->tree.node[s->lists.target[target].node];
    struct cube        cube = tree_cube(&s->tree, node);

    expansion_evaluate_local(s->work->local + (size_t)target * (size_t)solve_stride(s),
                             &s->expansion, &cube, solve_bodies(s, node), (int)node->count,
                             solve_fields(s, node));
    for (int32_t i = list_begin(&s->lists, target, LIST_FINE);
         i < s->lists.target[target].end[LIST_FINE]; i++) {
        struct list_entry e    = s->lists.entry[LIST_FINE][i];
        struct cube       from = tree_cube(&s->tree, &s->tree.node[e.node]);
        double            shift[3];

        solve_shift(s, e.image, shift);
        expansion_evaluate_multipole(s->work->multipole_of[e.node], &s->expansion, &from,
                                     solve_bodies(s, node), (int)node->count, shift,
                                     solve_fields(s, node));
    }
}

/* Adds the distant images of the root, and the term by which a surrounding conductor differs from
 * the sum over cubes. */
static void solve_images(struct solver *s)
{
    double centre[3], dipole[3] = {0}, moment[4] = {0}, factor;

    if (!s->rule.periodic)
        return;
    if (s->lists.targets > 0)
        lattice_add(s->work->local, &s->expansion, s->rule.separation, s->work->multipole_of[0]);
    memcpy(centre, s->tree.cube.centre, sizeof centre);
    for (int64_t i = 0; i < s->n; i++)
        for (int d = 0; d < 3; d++) {
            double x = s->body[i].at[d] - centre[d];

            moment[d] += s->body[i].charge * x;
            moment[3] += s->body[i].charge * x * x;
        }
    s->comm->sum(s->comm, moment, 4);
    memcpy(dipole, moment, sizeof dipole);
    factor = 2 * M_PI / 3 / pow(s->tree.cube.width, 3);
    for (int64_t i = 0; i < s->n; i++) {
        s->field[i].potential += factor * moment[3];
        for (int d = 0; d < 3; d++) {
            s->field[i].potential -= 2 * factor * dipole[d] * (s->body[i].at[d] - centre[d]);
            s->field[i].at[d] += 2 * factor * dipole[d];
        }
    }
}

static void solve_leaves_chunk(struct solver *s, int32_t first, int32_t end)
{
    for (int32_t t = first; t < end; t++)
        if (s->tree.node[s->lists.target[t].node].children == 0)
            solve_down_leaf(s, t);
}

/* Returns the number of targets of a task. */
static int32_t solve_task_targets(const struct solver *s, enum round round)
{
    if (round != ROUND_FAR && round != ROUND_OTHERS)
        return NEAR_CHUNK;
    return FAR_CHUNK * (s->lists.targets / (FAR_CHUNK * FAR_TASKS) + 1);
}

int32_t solve_tasks(const struct solver *s, enum round round)
{
    int32_t each = solve_task_targets(s, round);

    if (round == ROUND_REST)
        return (s->work->rests + REST_TASKS - 1) / REST_TASKS;
    return (s->lists.targets + each - 1) / each;
}

void solve_task(struct solver *s, enum round round, int32_t task)
{
    int32_t            each = solve_task_targets(s, round), first = task * each, end = first + each;
    struct solve_rest *rest = s->work->rest;

    if (s->work->rests > 1)
        rest += (size_t)task * (size_t)translate_directions(&s->translator);
    if (end > s->lists.targets)
        end = s->lists.targets;
    if (round == ROUND_REST)
        solve_join_rests(s, task * REST_TASKS, (task + 1) * REST_TASKS, 1);
    else if (round == ROUND_LEAVES)
        solve_leaves_chunk(s, first, end);
    else if (round == ROUND_NEAR || round == ROUND_GHOSTS)
        solve_near_chunk(s, first, end, round == ROUND_NEAR);
    else
        for (; first < end; first += FAR_CHUNK)
            solve_far_chunk(s, first, first + FAR_CHUNK < end ? first + FAR_CHUNK : end,
                            round == ROUND_FAR, rest);
}

void solve_down(struct solver *s)
{
    solve_last_rest(s);
    solve_coarse(s);
    solve_images(s);
    for (int level = 1; level <= LEVELS_MAX; level++)
        solve_family(s, level, false);
}
