/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - the chare State; see pairs.ci. */
#include <math.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.ci.h"

static int chunk_of(int slot)
{
    return slot / (int)options.blocks;
}

/* Returns the Pair of a slot of State s on plane w. */
static Pair_element pair_of(int s, int w, int slot)
{
    int mine = s / (int)options.grain, other = slot % (int)options.blocks;

    return Pair_at(pairs, w, mine < other ? mine : other, mine < other ? other : mine,
                   chunk_of(slot));
}

/* Returns the row of State s in the Pair of a slot. */
static int row_of(int s, int slot)
{
    int mine = s / (int)options.grain, other = slot % (int)options.blocks;
    int above = mine > other ? (int)states_in(other) : 0;

    return above + s % (int)options.grain;
}

/* Returns the memory that the channel of a slot writes. */
static double *part_of(const State *t, int slot)
{
    return t->part + slot % options.blocks * 2 * options.points + chunk_begin(chunk_of(slot));
}

void State_on_create(State *t)
{
    t->at   = alloc_numbers(2 * options.points);
    t->part = alloc_numbers(2 * options.points * options.blocks);
    t->in   = calloc((size_t)slots(), sizeof *t->in);
    t->to   = calloc((size_t)slots(), sizeof *t->to);
    t->out  = calloc((size_t)options.chunks, sizeof(skua_sender *));
}

void State_on_destroy(State *t)
{
    for (int64_t z = 0; z < options.chunks; z++)
        skua_channel_close(t->out[z]);
    for (int64_t slot = 0; slot < slots(); slot++)
        skua_channel_destroy(t->in[slot]);
    free(t->in);
    free(t->to);
    free(t->out);
    skua_channel_free(t->part);
    skua_channel_free(t->at);
}

/* Returns a pseudo-random number between -1 and 1. */
static double noise(uint64_t x)
{
    return (double)(int64_t)mix(x) * 0x1p-63;
}

/* Fills the state with numbers that give it a norm of about 1. */
void State_on_fill(State *t)
{
    State_position at    = State_index(t);
    double         scale = sqrt(1.5 / (double)(options.points * options.planes));
    uint64_t       seed  = (uint64_t)at.i << 44 ^ (uint64_t)at.j << 28;

    for (int64_t i = 0; i < 2 * options.points; i++)
        t->at[i] = scale * noise((seed ^ (uint64_t)i) + 1);
    skua_contribute_nothing(t, Main_ready_done(main_proxy));
}

/* Mixes each point with its successor. */
void advance_time(State *t)
{
    const double part = 1.0 / 32, first[] = {t->at[0], t->at[1]};
    int64_t      last = 2 * options.points - 2;

    for (int64_t i = 0; i < last; i++)
        t->at[i] += part * (t->at[i + 2] - t->at[i]);
    for (int64_t i = 0; i < 2; i++)
        t->at[last + i] += part * (first[i] - t->at[last + i]);
}

static void result_arrived(void *arg)
{
    State *t = arg;

    if (++t->arrived_count < slots())
        return;
    t->arrived_count = 0;
    State_complete(State_self(t), t->turn);
}

void create_result_channels(State *t)
{
    State_position at = State_index(t);

    for (int slot = 0; slot < slots(); slot++) {
        skua_layout to = layout_of(part_of(t, slot), chunk_numbers(chunk_of(slot)));

        require_channel(!skua_channel_create(&to, result_arrived, t, "result", &t->in[slot]));
        Pair_open(pair_of(at.i, at.j, slot), row_of(at.i, slot), t->in[slot]);
    }
}

/* The slots of a chunk are consecutive. */
void open_pairs(State *t)
{
    for (int64_t z = 0; z < options.chunks; z++) {
        skua_layout from = layout_of(t->at + chunk_begin(z), chunk_numbers(z));

        t->out[z] =
            skua_channel_open_many(t->to + z * options.blocks, (size_t)options.blocks, &from);
        require_channel(t->out[z]);
    }
}

static void send_row(const State *t, int slot)
{
    State_position at = State_index(t);
    int            z  = chunk_of(slot);

    Pair_row(pair_of(at.i, at.j, slot),
             numbers_of(t->turn, row_of(at.i, slot), t->at + chunk_begin(z), chunk_numbers(z)));
}

void send_rows(State *t, int variant)
{
    for (int slot = 0; slot < slots() && variant == MESSAGES; slot++)
        send_row(t, slot);
    for (int z = 0; z < options.chunks && variant == CHANNELS; z++)
        skua_channel_put(t->out[z]);
}

/* Results are added in the order of their slots, so the first one of a chunk is copied. */
void add_result(State *t, int64_t slot, const double *from)
{
    int64_t z  = chunk_of((int)slot);
    double *to = t->at + chunk_begin(z);

    if (slot % options.blocks == 0)
        memcpy(to, from, (size_t)chunk_numbers(z) * sizeof *to);
    else
        add_double(to, from, chunk_numbers(z));
}

void add_results(State *t)
{
    for (int slot = 0; slot < slots(); slot++) {
        add_result(t, slot, part_of(t, slot));
        skua_channel_mark(t->in[slot]);
    }
    t->marked = true;
}

void poll_results(State *t)
{
    for (int64_t slot = 0; slot < slots() && t->marked; slot++)
        skua_channel_poll(t->in[slot]);
    t->marked = false;
}

void end_step(State *t, int64_t step, int64_t steps)
{
    State_position at = State_index(t);

    t->turn++;
    if (at.i + at.j == 0)
        variant_progress(&t->shown, step + 1, steps);
}

void contribute_bits(State *t)
{
    uint64_t bits = bits_of(t->at, 2 * options.points);

    skua_contribute(t, SKUA_SUM, SKUA_UINT64, &bits, 1, Main_finished_done(main_proxy));
}
