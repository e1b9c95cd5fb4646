/* SPDX-License-Identifier: Apache-2.0 */
/* matmul3d.c - the tiles of matmul3d.ci; see matmul3d.h. */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "matmul3d.ci.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Returns the i-th of @p parts equal parts of n. */
static struct matmul_rows part_of(int64_t n, int64_t parts, int64_t i)
{
    return (struct matmul_rows){n * i / parts, n * (i + 1) / parts};
}

static size_t number_bytes(void)
{
    return options.single ? sizeof(float) : sizeof(double);
}

int rows_of(int matrix)
{
    return matrix == B ? 1 : 0;
}

int columns_of(int matrix)
{
    return matrix == A ? 1 : 2;
}

static size_t row_bytes(const Tile *t, int matrix)
{
    return (size_t)t->n[columns_of(matrix)] * number_bytes();
}

/* Returns the direction of the grid along which the tiles of a group lie. */
static const int group_direction[] = {[A] = 2, [B] = 0, [C] = 1};

static int group_size(int matrix)
{
    return (int)options.grid[group_direction[matrix]];
}

int others(int matrix)
{
    return group_size(matrix) - 1;
}

static int group_index(const Tile *t, int matrix)
{
    return t->at[group_direction[matrix]];
}

/* Returns the group index of the i-th other tile, from 0. For that tile, this tile is number
 * others(matrix) - 1 - i. */
static int group_index_of(const Tile *t, int matrix, int i)
{
    return (group_index(t, matrix) + 1 + i) % group_size(matrix);
}

static Tile_element other(const Tile *t, int matrix, int i)
{
    int at[3] = {t->at[0], t->at[1], t->at[2]};

    at[group_direction[matrix]] = group_index_of(t, matrix, i);
    return Tile_at(Tile_of(t), at[0], at[1], at[2]);
}

struct matmul_rows own_rows(const Tile *t, int matrix)
{
    return part_of(t->n[rows_of(matrix)], group_size(matrix), group_index(t, matrix));
}

/* Returns the slab of this tile's block that belongs to a group index. */
static skua_layout slab(const Tile *t, const struct matmul_set *set, int matrix, int at)
{
    struct matmul_rows rows = part_of(t->n[rows_of(matrix)], group_size(matrix), at);
    size_t             row  = row_bytes(t, matrix);

    return skua_layout_contiguous(set->block[matrix] + (size_t)rows.first * row,
                                  (size_t)(rows.end - rows.first) * row);
}

skua_layout own_slab(const Tile *t, const struct matmul_set *set, int matrix)
{
    return slab(t, set, matrix, group_index(t, matrix));
}

static skua_layout slab_of(const Tile *t, const struct matmul_set *set, int matrix, int other)
{
    return slab(t, set, matrix, group_index_of(t, matrix, other));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *alloc_block(size_t bytes)
{
    void *memory = skua_channel_alloc(bytes);

    if (!memory)
        skua_abort("cannot allocate the blocks; use a smaller --size");
    return memory;
}

static void make_set(Tile *t, struct matmul_set *set)
{
    set->of = t;
    for (int m = 0; m < MATRICES; m++) {
        set->block[m] = alloc_block((size_t)t->n[rows_of(m)] * row_bytes(t, m));
        set->to[m]    = calloc((size_t)group_size(m), sizeof *set->to[m]);
    }
    for (int m = A; m <= B; m++)
        set->in[m] = calloc((size_t)group_size(m), sizeof *set->in[m]);
    set->sum   = alloc_block(own_slab(t, set, C).bytes);
    set->parts = calloc((size_t)group_size(C), sizeof(skua_sender *));
}

void Tile_on_create(Tile *t)
{
    Tile_position at = Tile_index(t);

    memcpy(t->at, (int[]){at.i, at.j, at.k}, sizeof t->at);
    for (int d = 0; d < 3; d++) {
        struct matmul_rows ours = part_of(options.size, options.grid[d], t->at[d]);

        t->first[d] = ours.first;
        t->n[d]     = ours.end - ours.first;
    }
    for (int s = 0; s < 2; s++) {
        t->set[s].turn = s;
        make_set(t, &t->set[s]);
    }
}

static void free_set(struct matmul_set *set)
{
    for (int m = A; m <= B; m++) {
        skua_channel_close(set->out[m]);
        for (int i = 0; i < others(m); i++)
            skua_channel_destroy(set->in[m][i]);
        free(set->in[m]);
    }
    for (int i = 0; i < others(C); i++)
        skua_channel_close(set->parts[i]);
    free(set->parts);
    skua_channel_destroy(set->in_sum);
    skua_channel_free(set->sum);
    for (int m = 0; m < MATRICES; m++) {
        free(set->to[m]);
        skua_channel_free(set->block[m]);
    }
}

void Tile_on_destroy(Tile *t)
{
    free_set(&t->set[0]);
    free_set(&t->set[1]);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static struct matmul_set *current(Tile *t)
{
    return &t->set[t->turn % 2];
}

void multiply(Tile *t)
{
    char      **block = current(t)->block;
    void       *a = block[A], *b = block[B], *c = block[C];
    struct gemm shape = {(int)t->n[0], (int)t->n[2], (int)t->n[1], false, false, 1, 0};

    if (options.single)
        gemm_float(&shape, a, b, c);
    else
        gemm_double(&shape, a, b, c);
}

void add_part(Tile *t, void *part)
{
    skua_layout own = own_slab(t, current(t), C);

    if (options.single)
        add_float(own.at, part, (int64_t)(own.bytes / sizeof(float)));
    else
        add_double(own.at, part, (int64_t)(own.bytes / sizeof(double)));
}

void end_step(Tile *t, int64_t step, int64_t steps)
{
    current(t)->turn = t->turn + 2; /* the next step that uses this set */
    t->turn++;
    if (t->at[0] + t->at[1] + t->at[2] == 0)
        variant_progress(&t->shown, step + 1, steps);
}

/* ---- messages -------------------------------------------------------------------------------- */

static Slab *new_slab(const Tile *t, int matrix, skua_layout from)
{
    Slab *slab = Slab_new(from.bytes);

    slab->turn = t->turn;
    slab->of   = matrix;
    slab->from = group_index(t, matrix);
    memcpy(slab->at, from.at, from.bytes);
    return slab;
}

void send_slabs(Tile *t)
{
    for (int m = A; m <= B; m++)
        for (int i = 0; i < others(m); i++)
            Tile_slab(other(t, m, i), new_slab(t, m, own_slab(t, current(t), m)));
}

void receive_slab(Tile *t, const Slab *from)
{
    skua_layout to = slab(t, current(t), (int)from->of, (int)from->from);

    memcpy(to.at, from->at, to.bytes);
}

void send_parts(Tile *t)
{
    for (int i = 0; i < others(C); i++)
        Tile_part(other(t, C, i), new_slab(t, C, slab_of(t, current(t), C, i)));
}

/* ---- channels -------------------------------------------------------------------------------- */

/* Callback: a slab of A or B has arrived. The last slab of a set resumes the tile. */
static void slab_arrived(void *arg)
{
    struct matmul_set *set = arg;

    if (++set->filled < others(A) + others(B))
        return;
    set->filled = 0;
    Tile_filled(Tile_self(set->of), set->turn);
}

static void sum_complete(void *arg)
{
    struct matmul_set *set = arg;

    Tile_complete(Tile_self(set->of), set->turn);
}

static void require_channel(bool good)
{
    if (!good)
        skua_abort("cannot create a channel between two tiles");
}

static void send_channel(const Tile *t, int s, int matrix, int i, skua_channel channel)
{
    Tile_open(other(t, matrix, i), s, matrix, others(matrix) - 1 - i, channel);
}

/* Creates a channel from another tile into its slab of our block. */
static void create_slab_channel(Tile *t, int s, int matrix, int i)
{
    struct matmul_set *set = &t->set[s];
    skua_layout        to  = slab_of(t, set, matrix, i);

    require_channel(!skua_channel_create(&to, slab_arrived, set, "slab", &set->in[matrix][i]));
    send_channel(t, s, matrix, i, set->in[matrix][i]);
}

/* Creates the reduction channel in which the other tiles sum their parts of our slab of C. */
static void create_sum_channel(Tile *t, int s)
{
    struct matmul_set         *set   = &t->set[s];
    size_t                     count = own_slab(t, set, C).bytes / number_bytes();
    skua_type                  type  = options.single ? SKUA_FLOAT : SKUA_DOUBLE;
    skua_channel_reduction_def sum   = {.to      = set->sum,
                                        .count   = count,
                                        .type    = type,
                                        .op      = SKUA_SUM,
                                        .senders = others(C) > 0 ? others(C) : 1,
                                        .fn      = sum_complete,
                                        .arg     = set,
                                        .name    = "sum"};

    require_channel(!skua_channel_create_reduction(&sum, &set->in_sum));
    for (int i = 0; i < others(C); i++)
        send_channel(t, s, C, i, set->in_sum);
}

void create_channels(Tile *t)
{
    for (int s = 0; s < 2; s++) {
        for (int m = A; m <= B; m++)
            for (int i = 0; i < others(m); i++)
                create_slab_channel(t, s, m, i);
        create_sum_channel(t, s);
    }
}

void receive_channel(Tile *t, int s, int matrix, int other, skua_channel channel)
{
    t->set[s].to[matrix][other] = channel;
}

static void open_set(const Tile *t, struct matmul_set *set)
{
    for (int m = A; m <= B; m++) {
        skua_layout own = own_slab(t, set, m);

        set->out[m] = skua_channel_open_many(set->to[m], (size_t)others(m), &own);
        require_channel(set->out[m]);
    }
    for (int i = 0; i < others(C); i++) {
        skua_layout part = slab_of(t, set, C, i);

        set->parts[i] = skua_channel_open(set->to[C][i], &part);
        require_channel(set->parts[i]);
    }
}

void open_channels(Tile *t)
{
    open_set(t, &t->set[0]);
    open_set(t, &t->set[1]);
}

void put_slabs(Tile *t)
{
    skua_channel_put(current(t)->out[A]);
    skua_channel_put(current(t)->out[B]);
}

/* Marks the channels of the blocks of A and B, which have been used, as writable again. */
void put_parts(Tile *t)
{
    for (int m = A; m <= B; m++)
        for (int i = 0; i < others(m); i++)
            skua_channel_ready(current(t)->in[m][i]);
    for (int i = 0; i < others(C); i++)
        skua_channel_put(current(t)->parts[i]);
}

void add_sum(Tile *t)
{
    add_part(t, current(t)->sum);
    skua_channel_ready(current(t)->in_sum);
}
