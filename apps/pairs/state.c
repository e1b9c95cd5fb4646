/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - what a State does; see pairs.ci. */
#include <math.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.ci.h"

/* The Pair of a slot, as State s on plane w has it. */
static Pair_element pair_of(int s, int w, int slot)
{
    int mine = s / (int)options.grain, other = slot / (int)options.chunks;

    return Pair_at(pairs, w, mine < other ? mine : other, mine < other ? other : mine,
                   slot % (int)options.chunks);
}

/* Which of its rows is that State's. */
static int row_of(int s, int slot)
{
    int mine = s / (int)options.grain, other = slot / (int)options.chunks;
    int above = mine > other ? (int)states_in(other) : 0;

    return above + s % (int)options.grain;
}

void State_on_create(State *t)
{
    t->at   = take(2 * options.points);
    t->part = calloc((size_t)slots(), sizeof *t->part);
    t->in   = calloc((size_t)slots(), sizeof *t->in);
    t->out  = calloc((size_t)slots(), sizeof(skua_sender *));
    for (int64_t slot = 0; slot < slots(); slot++)
        t->part[slot] = take(chunk_numbers(slot % options.chunks));
}

void State_on_destroy(State *t)
{
    for (int64_t slot = 0; slot < slots(); slot++) {
        skua_channel_close(t->out[slot]);
        skua_channel_delete(t->in[slot]);
        skua_channel_free(t->part[slot]);
    }
    free(t->part);
    free(t->in);
    free(t->out);
    skua_channel_free(t->at);
}

/* Between -1 and 1. */
static double noise(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)(int64_t)(x ^ x >> 31) * 0x1p-63;
}

/* So that a state has, about, the length 1. */
void State_on_fill(State *t)
{
    State_position at    = State_index(t);
    double         scale = sqrt(1.5 / (double)(options.points * options.planes));
    uint64_t       seed  = (uint64_t)at.i << 44 ^ (uint64_t)at.j << 28;

    for (int64_t i = 0; i < 2 * options.points; i++)
        t->at[i] = scale * noise((seed ^ (uint64_t)i) + 1);
    skua_contribute_nothing(t, Main_ready_done(boss));
}

/* Time goes on: each point takes a little of the next one. */
void go_on(State *t)
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

    if (++t->come < slots())
        return;
    t->come = 0;
    State_complete(State_self(t), t->turn);
}

void create_result_channels(State *t)
{
    State_position at = State_index(t);

    for (int slot = 0; slot < slots(); slot++) {
        size_t      bytes = (size_t)chunk_numbers(slot % options.chunks) * sizeof(double);
        skua_layout to    = skua_layout_of(t->part[slot], bytes);

        if (skua_channel_create(&to, result_arrived, t, "result", &t->in[slot]))
            skua_abort("no channel for a result");
        Pair_open(pair_of(at.i, at.j, slot), row_of(at.i, slot), t->in[slot]);
    }
}

void open_pair(State *t, int slot, skua_channel channel)
{
    int64_t     z = slot % options.chunks;
    skua_layout from =
        skua_layout_of(t->at + chunk_begin(z), (size_t)chunk_numbers(z) * sizeof *t->at);

    t->out[slot] = skua_channel_open(channel, &from);
    if (!t->out[slot])
        skua_abort("no way from a state to a pair");
}

static void send_row(const State *t, int slot)
{
    State_position at  = State_index(t);
    int64_t        z   = slot % options.chunks;
    Row           *row = Row_new((size_t)chunk_numbers(z));

    row->turn = t->turn;
    row->row  = row_of(at.i, slot);
    memcpy(row->at, t->at + chunk_begin(z), row->at_count * sizeof *row->at);
    Pair_row(pair_of(at.i, at.j, slot), row);
}

void give_rows(State *t, int way)
{
    for (int slot = 0; slot < slots(); slot++)
        if (way == MESSAGES)
            send_row(t, slot);
        else
            skua_channel_put(t->out[slot]);
}

/* Slots come in their order: the first has no others before it. */
void add_result(State *t, int64_t slot, const double *from)
{
    int64_t z  = slot % options.chunks;
    double *to = t->at + chunk_begin(z);

    if (slot < options.chunks)
        memcpy(to, from, (size_t)chunk_numbers(z) * sizeof *to);
    else
        add(to, from, chunk_numbers(z));
}

void add_results(State *t)
{
    for (int64_t slot = 0; slot < slots(); slot++) {
        add_result(t, slot, t->part[slot]);
        skua_channel_ready(t->in[slot]);
    }
}

void end_step(State *t, int64_t step, int64_t steps)
{
    State_position at = State_index(t);

    t->turn++;
    if (at.i + at.j == 0)
        ways_progress(&t->shown, step + 1, steps);
}

void contribute_bits(State *t)
{
    double bits = bits_of(t->at, 2 * options.points);

    skua_contribute(t, SKUA_SUM, SKUA_DOUBLE, &bits, 1, Main_finished_done(boss));
}
