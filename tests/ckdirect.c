/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ckdirect.c - a program in the manner of the CkDirect paper: each PE sends to the next, round
 * after round, in two phases; only the second expects data. In some rounds the receiver expects the
 * next data at once instead.
 */
#include <skua/compat/ckdirect.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define NUMBERS 1000
#define ROUNDS  50

struct state {
    CkDirect_handle in, out;
    double          to[NUMBERS], from[NUMBERS];
    bool            associated;
    int             rounds;
};

static skua_pe_data state_key;
static skua_handler handle_handler;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static void on_handle(skua_msg *msg)
{
    struct state *s = self();

    s->out = *(CkDirect_handle *)skua_msg_data(msg);
    skua_msg_free(msg);
    CkDirect_assocLocal(&s->out, s->from, sizeof s->from);
    s->associated = true;
}

static bool is_associated(void *arg)
{
    (void)arg;
    return self()->associated;
}

/* The data includes the out-of-band value of CkDirect. */
static double value_of(int pe, int round, int i)
{
    return i == NUMBERS - 1 ? -1 : pe * 1e6 + round * 1e3 + i;
}

/* Returns whether the next data are expected when the program says so, after those of @p round. */
static bool expects_later(int round)
{
    return round % 4 < 2;
}

static void on_data(void *arg)
{
    struct state *s      = arg;
    int           before = (skua_pe() + skua_pes() - 1) % skua_pes();

    for (int i = 0; i < NUMBERS; i++)
        CHECK(s->to[i] == value_of(before, s->rounds, i));
    if (expects_later(s->rounds++))
        CkDirect_ReadyMark(&s->in);
    else
        CkDirect_ready(&s->in);
}

static bool has_round(void *arg)
{
    return self()->rounds == *(int *)arg;
}

static void one_round(int round)
{
    struct state *s    = self();
    int           next = round + 1;

    for (int i = 0; i < NUMBERS; i++)
        s->from[i] = value_of(skua_pe(), round, i);
    CkDirect_put(&s->out);
    skua_poll(3);
    if (round > 0 && expects_later(round - 1)) {
        CHECK(s->rounds == round);
        CkDirect_ReadyPollQ(&s->in);
    }
    CHECK(skua_run_until(has_round, &next));
    skua_sync();
}

static void start(int argc, char **argv)
{
    struct state *s = self();

    (void)argc, (void)argv;
    s->in = CkDirect_createHandle(s->to, sizeof s->to, -1.0, on_data, s);
    skua_send_copy((skua_pe() + skua_pes() - 1) % skua_pes(), handle_handler, &s->in, sizeof s->in);
    CHECK(skua_run_until(is_associated, NULL));
    skua_sync();
    for (int round = 0; round < ROUNDS; round++)
        one_round(round);
    skua_channel_close(s->out.sender);
    skua_channel_destroy(s->in.channel);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    handle_handler = skua_handler_register("handle", on_handle);
    state_key      = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
