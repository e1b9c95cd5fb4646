/* SPDX-License-Identifier: Apache-2.0 */
/* ghosts.c - see ghosts.h. */
#include "ghosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/morton.h"

#define GHOSTS_WIDTH 1 /* of the layer                                            */
#define GHOSTS_LONG  8 /* cells of a row that is worth a loop                      */

static void *ghosts_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    if (!memory) {
        fprintf(stderr, "fillboundary: cannot allocate %zu bytes of a level\n", count * bytes);
        abort();
    }
    return memory;
}

/* ---- dealing ------------------------------------------------------------------------------ */

struct ghosts_key {
    uint64_t key;
    int      box;
};

static int ghosts_compare_keys(const void *a, const void *b)
{
    const struct ghosts_key *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->box - y->box;
}

/* Returns the boxes in the order of the Morton curve through their first cells. */
static struct ghosts_key *ghosts_order(const struct box_list *list)
{
    struct ghosts_key *order = ghosts_alloc((size_t)list->count, sizeof *order);

    for (int i = 0; i < list->count; i++) {
        order[i].box = i;
        for (int d = 0; d < 3; d++)
            order[i].key |= morton_spread((uint64_t)(list->box[i].lo[d] + BOXES_SPAN)) << d;
    }
    qsort(order, (size_t)list->count, sizeof *order, ghosts_compare_keys);
    return order;
}

int *ghosts_deal(const struct box_list *list, int pes)
{
    int               *owner = ghosts_alloc((size_t)list->count, sizeof *owner);
    struct ghosts_key *order = ghosts_order(list);
    double             all = (double)boxes_cells(list), before = 0;

    for (int i = 0; i < list->count; i++) {
        double cells = (double)box_cells(&list->box[order[i].box]);
        int    pe    = (int)((before + cells / 2) * pes / all);

        owner[order[i].box] = pe < pes ? pe : pes - 1;
        before += cells;
    }
    free(order);
    return owner;
}

/* ---- pairs of boxes ----------------------------------------------------------------------- */

/* Ghost cells of box `to` that box `from` contains. */
struct ghosts_pair {
    int        to, from;
    struct box cells;
};

struct ghosts_pairs {
    struct ghosts_pair *pair;
    size_t              count, room;
    int                 to; /* the box whose ghost cells are being visited */
};

static void ghosts_add_pair(void *arg, int found, const struct box *cells)
{
    struct ghosts_pairs *pairs = arg;

    if (found == pairs->to)
        return;
    if (pairs->count == pairs->room) {
        pairs->room = 2 * pairs->room + 64;
        pairs->pair = realloc(pairs->pair, pairs->room * sizeof *pairs->pair);
        if (!pairs->pair)
            abort();
    }
    pairs->pair[pairs->count++] = (struct ghosts_pair){pairs->to, found, *cells};
}

static void ghosts_visit(struct ghosts_pairs *pairs, const struct box_index *index, int box)
{
    struct box grown = box_grow(index->list->box[box], GHOSTS_WIDTH);

    pairs->to = box;
    box_index_visit(index, &grown, ghosts_add_pair, pairs);
}

static int ghosts_compare_pairs(const void *a, const void *b)
{
    const struct ghosts_pair *x = a, *y = b;

    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

/* ---- description -------------------------------------------------------------------------- */

static int ghosts_compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the number of different pairs of PEs. */
static int64_t ghosts_count_messages(const struct ghosts_pairs *pairs, const int *owner)
{
    uint64_t *key = ghosts_alloc(pairs->count, sizeof *key);
    int64_t   n = 0, different = 0;

    for (size_t i = 0; i < pairs->count; i++) {
        int from = owner[pairs->pair[i].from], to = owner[pairs->pair[i].to];

        if (from != to)
            key[n++] = (uint64_t)from << 32 | (uint32_t)to;
    }
    qsort(key, (size_t)n, sizeof *key, ghosts_compare_words);
    for (int64_t i = 0; i < n; i++)
        different += i == 0 || key[i] != key[i - 1];
    free(key);
    return different;
}

struct ghosts_count ghosts_describe(const struct box_list *list, const int *owner)
{
    struct ghosts_count count = {.cells = boxes_cells(list)};
    struct ghosts_pairs pairs = {0};
    struct box_index    index;

    box_index_make(&index, list);
    for (int i = 0; i < list->count; i++)
        ghosts_visit(&pairs, &index, i);
    for (size_t i = 0; i < pairs.count; i++) {
        int64_t cells = box_cells(&pairs.pair[i].cells);

        count.copies++;
        count.ghosts += cells;
        if (owner[pairs.pair[i].from] != owner[pairs.pair[i].to])
            count.remote_ghosts += cells;
    }
    count.messages = ghosts_count_messages(&pairs, owner);
    free(pairs.pair);
    box_index_free(&index);
    return count;
}

/* ---- memory of a level -------------------------------------------------------------------- */

/* Returns the number of doubles of a box with its ghost cells. */
static size_t ghosts_room(const struct box *b)
{
    struct box grown = box_grow(*b, GHOSTS_WIDTH);

    return (size_t)box_cells(&grown);
}

static void ghosts_make_memory(struct ghosts_level *level)
{
    size_t cells = 0, at = 0;

    for (int i = 0; i < level->boxes.count; i++)
        if (level->owner[i] == level->pe)
            cells += ghosts_room(&level->boxes.box[i]);
    if (cells > UINT32_MAX) {
        fprintf(stderr, "fillboundary: PE %d has more than 2^32 cells; use more PEs\n", level->pe);
        abort();
    }
    level->memory = ghosts_alloc(cells, sizeof *level->memory);
    level->data   = ghosts_alloc((size_t)level->boxes.count, sizeof *level->data);
    for (int i = 0; i < level->boxes.count; i++)
        if (level->owner[i] == level->pe) {
            level->data[i] = level->memory + at;
            at += ghosts_room(&level->boxes.box[i]);
        }
}

/* Some cells of a box of this PE. */
static struct ghosts_part ghosts_part(const struct ghosts_level *level, int box,
                                      const struct box *cells)
{
    struct box         grown = box_grow(level->boxes.box[box], GHOSTS_WIDTH);
    struct ghosts_part part  = {.row   = box_length(&grown, 0),
                                .plane = (ptrdiff_t)box_length(&grown, 0) * box_length(&grown, 1)};

    part.at = level->data[box] - level->memory + (cells->lo[2] - grown.lo[2]) * part.plane +
              (cells->lo[1] - grown.lo[1]) * part.row + (cells->lo[0] - grown.lo[0]);
    for (int d = 0; d < 3; d++)
        part.n[d] = box_length(cells, d);
    return part;
}

static int64_t ghosts_part_cells(const struct ghosts_part *part)
{
    return (int64_t)part->n[0] * part->n[1] * part->n[2];
}

/* Allocates memory for the cells that @p cells has counted, and resets the counts. */
static void ghosts_make_cells(struct ghosts_cells *cells)
{
    cells->part    = ghosts_alloc((size_t)cells->parts, sizeof *cells->part);
    cells->cell    = ghosts_alloc((size_t)cells->singles, sizeof *cells->cell);
    cells->parts   = 0;
    cells->singles = cells->all = 0;
}

/* Counts a part and, once memory is allocated, stores it. */
static void ghosts_add_part(struct ghosts_cells *cells, const struct ghosts_part *part)
{
    cells->all += ghosts_part_cells(part);
    if (part->n[0] >= GHOSTS_LONG) {
        if (cells->part)
            cells->part[cells->parts] = *part;
        cells->parts++;
        return;
    }
    for (int64_t i = 0; i < ghosts_part_cells(part) && cells->cell; i++) {
        int64_t x = i % part->n[0], y = i / part->n[0] % part->n[1],
                z = i / part->n[0] / part->n[1];

        cells->cell[cells->singles + i] =
            (uint32_t)(part->at + z * part->plane + y * part->row + x);
    }
    cells->singles += ghosts_part_cells(part);
}

static void ghosts_free_cells(struct ghosts_cells *cells)
{
    free(cells->part);
    free(cells->cell);
}

/* ---- what is copied ----------------------------------------------------------------------- */

/* Finds the pairs of which this PE has at least one box, in an order that all PEs share. */
static struct ghosts_pairs ghosts_find_pairs(const struct ghosts_level *level)
{
    struct ghosts_pairs pairs = {0};
    struct box_list     list  = level->boxes;
    size_t              own;

    for (int i = 0; i < list.count; i++)
        if (level->owner[i] == level->pe)
            ghosts_visit(&pairs, &level->index, i);
    own = pairs.count;
    for (size_t i = 0; i < own; i++) { /* the PE also sends to each PE from which it receives */
        struct ghosts_pair back  = {.to = pairs.pair[i].from, .from = pairs.pair[i].to};
        struct box         grown = box_grow(list.box[back.to], GHOSTS_WIDTH);

        if (level->owner[back.to] == level->pe)
            continue;
        box_intersect(&grown, &list.box[back.from], &back.cells);
        pairs.to = back.to;
        ghosts_add_pair(&pairs, back.from, &back.cells);
    }
    if (pairs.count > 0)
        qsort(pairs.pair, pairs.count, sizeof *pairs.pair, ghosts_compare_pairs);
    return pairs;
}

static int ghosts_other_pe(const struct ghosts_level *level, const struct ghosts_pair *pair)
{
    int to = level->owner[pair->to];

    return to == level->pe ? level->owner[pair->from] : to;
}

static int ghosts_compare_neighbours(const void *a, const void *b)
{
    return ((const struct ghosts_neighbour *)a)->pe - ((const struct ghosts_neighbour *)b)->pe;
}

/* Finds a neighbour, or adds it while neighbours are being counted. */
static struct ghosts_neighbour *ghosts_neighbour(struct ghosts_level *level, int pe)
{
    int i = 0;

    while (i < level->neighbours && level->neighbour[i].pe != pe)
        i++;
    if (i == level->neighbours) {
        level->neighbour = realloc(level->neighbour, (size_t)(i + 1) * sizeof *level->neighbour);
        if (!level->neighbour)
            abort();
        level->neighbour[level->neighbours++] =
            (struct ghosts_neighbour){.pe = pe, .memory = level->memory};
    }
    return &level->neighbour[i];
}

static void ghosts_add_copy(struct ghosts_level *level, const struct ghosts_pair *pair)
{
    int                      pe = ghosts_other_pe(level, pair);
    struct ghosts_neighbour *to;
    struct ghosts_part       part;

    if (level->owner[pair->to] == level->pe) {
        part = ghosts_part(level, pair->to, &pair->cells);
        to   = pe == level->pe ? NULL : ghosts_neighbour(level, pe);
        ghosts_add_part(to ? &to->receive : &level->local_to, &part);
    }
    if (level->owner[pair->from] == level->pe) {
        part = ghosts_part(level, pair->from, &pair->cells);
        to   = pe == level->pe ? NULL : ghosts_neighbour(level, pe);
        ghosts_add_part(to ? &to->send : &level->local_from, &part);
    }
}

static void ghosts_make_all_cells(struct ghosts_level *level)
{
    ghosts_make_cells(&level->local_to);
    ghosts_make_cells(&level->local_from);
    for (int i = 0; i < level->neighbours; i++) {
        ghosts_make_cells(&level->neighbour[i].send);
        ghosts_make_cells(&level->neighbour[i].receive);
    }
    if (level->neighbours)
        qsort(level->neighbour, (size_t)level->neighbours, sizeof *level->neighbour,
              ghosts_compare_neighbours);
}

/* Counts the cells, allocates memory for them and stores them. */
static void ghosts_make_copies(struct ghosts_level *level)
{
    struct ghosts_pairs pairs = ghosts_find_pairs(level);

    for (size_t i = 0; i < pairs.count; i++)
        ghosts_add_copy(level, &pairs.pair[i]);
    ghosts_make_all_cells(level);
    for (size_t i = 0; i < pairs.count; i++)
        ghosts_add_copy(level, &pairs.pair[i]);
    free(pairs.pair);
}

void ghosts_make(struct ghosts_level *level, const struct box_list *finest, const int *owner,
                 int number, int pe)
{
    *level = (struct ghosts_level){.level = number, .pe = pe};
    boxes_coarsen(&level->boxes, finest, number);
    level->owner = ghosts_alloc((size_t)finest->count, sizeof *owner);
    memcpy(level->owner, owner, (size_t)finest->count * sizeof *owner);
    box_index_make(&level->index, &level->boxes);
    ghosts_make_memory(level);
    ghosts_make_copies(level);
}

void ghosts_free(struct ghosts_level *level)
{
    for (int i = 0; i < level->neighbours; i++) {
        ghosts_free_cells(&level->neighbour[i].send);
        ghosts_free_cells(&level->neighbour[i].receive);
    }
    free(level->neighbour);
    ghosts_free_cells(&level->local_to);
    ghosts_free_cells(&level->local_from);
    free(level->data);
    free(level->memory);
    box_index_free(&level->index);
    boxes_free(&level->boxes);
    free(level->owner);
}

/* ---- values ------------------------------------------------------------------------------- */

/* Returns the value of a valid cell, which is exact and different for all cells of all levels. */
static double ghosts_value(const struct ghosts_level *level, const int cell[3])
{
    double value = level->level;

    for (int d = 2; d >= 0; d--)
        value = value * (2 * BOXES_SPAN) + cell[d] + BOXES_SPAN;
    return value;
}

/* Calls @p fn for each cell of a box, its ghost cells included. */
static void ghosts_for_each(const struct ghosts_level *level, int box,
                            void (*fn)(void *arg, const struct ghosts_level *level, int box,
                                       const int cell[3], double *value),
                            void *arg)
{
    struct box b  = box_grow(level->boxes.box[box], GHOSTS_WIDTH);
    double    *at = level->data[box];

    for (int k = b.lo[2]; k <= b.hi[2]; k++)
        for (int j = b.lo[1]; j <= b.hi[1]; j++)
            for (int i = b.lo[0]; i <= b.hi[0]; i++)
                fn(arg, level, box, (int[]){i, j, k}, at++);
}

static bool ghosts_is_valid(const struct box *b, const int cell[3])
{
    for (int d = 0; d < 3; d++)
        if (cell[d] < b->lo[d] || cell[d] > b->hi[d])
            return false;
    return true;
}

static void ghosts_fill_cell(void *arg, const struct ghosts_level *level, int box,
                             const int cell[3], double *value)
{
    (void)arg;
    *value = ghosts_is_valid(&level->boxes.box[box], cell) ? ghosts_value(level, cell) : NAN;
}

void ghosts_fill(struct ghosts_level *level)
{
    for (int i = 0; i < level->boxes.count; i++)
        if (level->data[i])
            ghosts_for_each(level, i, ghosts_fill_cell, NULL);
}

struct ghosts_tally {
    int64_t wrong, filled;
};

/* Looks each ghost cell up in the list of boxes, which also detects errors in the lists of
 * parts. */
static void ghosts_check_cell(void *arg, const struct ghosts_level *level, int box,
                              const int cell[3], double *value)
{
    struct ghosts_tally *tally = arg;
    bool                 valid = ghosts_is_valid(&level->boxes.box[box], cell);
    bool                 full  = valid || box_index_find(&level->index, cell) >= 0;

    tally->filled += full && !valid;
    tally->wrong += full ? *value != ghosts_value(level, cell) : !isnan(*value);
}

int64_t ghosts_check(const struct ghosts_level *level, int64_t *filled)
{
    struct ghosts_tally tally = {0};

    for (int i = 0; i < level->boxes.count; i++)
        if (level->data[i])
            ghosts_for_each(level, i, ghosts_check_cell, &tally);
    *filled += tally.filled;
    return tally.wrong;
}

/* ---- copying ------------------------------------------------------------------------------ */

/* Returns the first cell of row @p r of a part. */
static ptrdiff_t ghosts_row(const struct ghosts_part *part, int r)
{
    return part->at + r / part->n[1] * part->plane + r % part->n[1] * part->row;
}

void ghosts_pack(const struct ghosts_neighbour *neighbour, double *buffer)
{
    const struct ghosts_cells *cells = &neighbour->send;
    const double *restrict from      = neighbour->memory;
    const uint32_t *restrict cell    = cells->cell;
    double *restrict to              = buffer;

    for (const struct ghosts_part *p = cells->part; p < cells->part + cells->parts; p++)
        for (int r = 0; r < p->n[1] * p->n[2]; r++, to += p->n[0])
            memcpy(to, from + ghosts_row(p, r), (size_t)p->n[0] * sizeof *to);
    for (int64_t i = 0; i < cells->singles; i++)
        to[i] = from[cell[i]];
}

void ghosts_unpack(const struct ghosts_neighbour *neighbour, const double *buffer)
{
    const struct ghosts_cells *cells = &neighbour->receive;
    double *restrict to              = neighbour->memory;
    const uint32_t *restrict cell    = cells->cell;
    const double *restrict from      = buffer;

    for (const struct ghosts_part *p = cells->part; p < cells->part + cells->parts; p++)
        for (int r = 0; r < p->n[1] * p->n[2]; r++, from += p->n[0])
            memcpy(to + ghosts_row(p, r), from, (size_t)p->n[0] * sizeof *to);
    for (int64_t i = 0; i < cells->singles; i++)
        to[cell[i]] = from[i];
}

void ghosts_copy_local(const struct ghosts_level *level)
{
    const struct ghosts_cells *to = &level->local_to, *from = &level->local_from;
    const uint32_t *restrict t = to->cell, *restrict f = from->cell;
    double *memory = level->memory;

    for (int i = 0; i < to->parts; i++)
        for (int r = 0; r < to->part[i].n[1] * to->part[i].n[2]; r++)
            memcpy(memory + ghosts_row(&to->part[i], r), memory + ghosts_row(&from->part[i], r),
                   (size_t)to->part[i].n[0] * sizeof *memory);
    for (int64_t i = 0; i < to->singles; i++)
        memory[t[i]] = memory[f[i]];
}
