/* SPDX-License-Identifier: Apache-2.0 */
/* pair.c - the chare Pair; see pairs.ci. */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.ci.h"

/* Returns the State of a row. */
static int state_of(const Pair *p, int row)
{
    return row < p->count[0] ? p->x * (int)options.grain + row
                             : p->y * (int)options.grain + row - (int)p->count[0];
}

/* Returns the slot that the State of a row has for this Pair. */
static int slot_of(const Pair *p, int row)
{
    return p->z * (int)options.blocks + (row < p->count[0] ? p->y : p->x);
}

int rows_in(const Pair *p)
{
    return (int)(p->count[0] + p->count[1]);
}

static void make_pair(Pair *p)
{
    Pair_position at = Pair_index(p);

    p->w        = at.i;
    p->x        = at.j;
    p->y        = at.k;
    p->z        = at.l;
    p->count[0] = states_in(p->x);
    p->count[1] = p->x < p->y ? states_in(p->y) : 0;
    p->numbers  = chunk_numbers(p->z);
    p->at       = alloc_numbers(rows_in(p) * p->numbers);
    p->result   = alloc_numbers(rows_in(p) * p->numbers);
    p->in       = calloc((size_t)rows_in(p), sizeof *p->in);
    p->out      = calloc((size_t)rows_in(p), sizeof(skua_sender *));
}

void Pair_on_destroy(Pair *p)
{
    for (int row = 0; row < rows_in(p); row++) {
        skua_channel_close(p->out[row]);
        skua_channel_destroy(p->in[row]);
    }
    free(p->in);
    free(p->out);
    skua_channel_free(p->at);
    skua_channel_free(p->result);
}

static void row_arrived(void *arg)
{
    Pair *p = arg;

    if (++p->arrived_count < rows_in(p))
        return;
    p->arrived_count = 0;
    Pair_filled(Pair_self(p), p->turn);
}

static skua_layout row_at(const Pair *p, double *rows, int row)
{
    return layout_of(rows + row * p->numbers, p->numbers);
}

void create_row_channels(Pair *p)
{
    make_pair(p);
    for (int row = 0; row < rows_in(p); row++) {
        skua_layout to = row_at(p, p->at, row);

        require_channel(!skua_channel_create(&to, row_arrived, p, "row", &p->in[row]));
        State_open(State_at(states, state_of(p, row), p->w), slot_of(p, row), p->in[row]);
    }
}

void open_state(Pair *p, int row, skua_channel channel)
{
    skua_layout from = row_at(p, p->result, row);

    p->out[row] = skua_channel_open(channel, &from);
    require_channel(p->out[row]);
}

void receive_row(Pair *p, const Numbers *row)
{
    memcpy(p->at + row->from * p->numbers, row->at, row->at_count * sizeof *row->at);
}

/* Marks the channels of the rows, which have been used, as writable again. They are not polled
 * before the next forward phase. */
static void release(Pair *p, int variant)
{
    for (int row = 0; row < rows_in(p) && variant == CHANNELS; row++)
        skua_channel_mark(p->in[row]);
    p->marked = p->marked || variant == CHANNELS;
}

void poll_rows(Pair *p)
{
    for (int row = 0; row < rows_in(p) && p->marked; row++)
        skua_channel_poll(p->in[row]);
    p->marked = false;
}

/* Returns the rows of block y, which are those of block x if y = x. */
static double *second(const Pair *p, double *rows)
{
    return rows + (p->x < p->y ? p->count[0] * p->numbers : 0);
}

/* Creates the message for the Ortho of one block with the tile that belongs to @p other. */
static Numbers *tile_for(const Pair *p, int other)
{
    int64_t position = (other * options.planes + p->w) * options.chunks + p->z;

    return numbers_of(p->turn * tiles() + position, 0, NULL, states_in(p->x) * states_in(p->y));
}

static Numbers *transposed(const Pair *p, const Numbers *tile)
{
    int64_t  rows = p->count[0], columns = p->count[1];
    Numbers *turned = tile_for(p, p->x);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            turned->at[j * rows + i] = tile->at[i * columns + j];
    return turned;
}

void multiply_forward(Pair *p, struct pairs_task task)
{
    int         x = (int)states_in(p->x), y = (int)states_in(p->y);
    struct gemm shape = {x, y, (int)p->numbers, false, true, 1, 0};
    Numbers    *tile  = tile_for(p, p->y);

    gemm_double(&shape, p->at, second(p, p->at), tile->at);
    if (!task.backward)
        release(p, task.variant);
    if (p->x < p->y)
        Ortho_tile(Ortho_at(orthos, p->y), transposed(p, tile));
    Ortho_tile(Ortho_at(orthos, p->x), tile);
}

static void send_result(const Pair *p, int row)
{
    State_result(State_at(states, state_of(p, row), p->w),
                 numbers_of(p->turn * slots() + slot_of(p, row), 0, p->result + row * p->numbers,
                            p->numbers));
}

/* Multiplies by this Pair's tile of T, which is symmetric: rows of x from those of y, and vice
 * versa. */
void multiply_backward(Pair *p, struct pairs_task task, const double *factor)
{
    int         x = (int)states_in(p->x), y = (int)states_in(p->y), n = (int)p->numbers;
    struct gemm down = {x, n, y, false, false, 1, 0}, up = {y, n, x, true, false, 1, 0};

    gemm_double(&down, factor, second(p, p->at), p->result);
    if (p->x < p->y)
        gemm_double(&up, factor, p->at, second(p, p->result));
    release(p, task.variant);
    for (int row = 0; row < rows_in(p); row++)
        if (task.variant == MESSAGES)
            send_result(p, row);
        else
            skua_channel_put(p->out[row]);
}
