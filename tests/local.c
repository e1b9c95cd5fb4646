/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c - local completion of puts on channels: as soon as a put is locally complete its sender
 * overwrites the data, and the receiver must get the original data.
 *
 * Every kind of channel (contiguous, strided, one-to-many, many-to-one, zero-copy), sizes around
 * the protocol thresholds, each kind of completion (test, wait, counter, callback), on the stack of
 * the PE and in a user thread.
 *
 * usage: local [rounds]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

enum kind { BLOCK, STRIDED, MANY, SUM, LENT, KINDS };
enum ask { TEST, WAIT, COUNT, CALL, ASKS };

#define MOST 500000 /* bytes of the largest put */

struct state {               /* the state of a PE */
    char         *from, *to; /* buffers of twice MOST bytes */
    skua_channel  mine;      /* channel from the previous PE */
    skua_sender  *out;       /* sender to the next PE */
    skua_channel *values;
    int           count;
    enum kind     kind;
    size_t        bytes;
    uint32_t      heard, called;
    bool          ended;
};

static skua_pe_data state_key;
static skua_handler value_handler;
static uint32_t     rounds = ASKS;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static int before(void)
{
    return (skua_pe() + skua_pes() - 1) % skua_pes();
}

static int after(void)
{
    return (skua_pe() + 1) % skua_pes();
}

static int64_t value_of(int pe, uint32_t round, size_t i)
{
    return (int64_t)(((uint64_t)pe + 1) * 1000003 + round * 7919 + i);
}

/* Strided data are in every second word. */
static int64_t *word(char *memory, bool strided, size_t i)
{
    return (int64_t *)(void *)memory + (strided ? 2 * i : i);
}

static skua_layout layout_in(const struct state *s, char *memory)
{
    skua_layout strided = {.kind    = SKUA_LAYOUT_STRIDED,
                           .at      = memory,
                           .bytes   = 8,
                           .strided = {1, {s->bytes / 8}, {16}}};

    return s->kind == STRIDED ? strided : skua_layout_contiguous(memory, s->bytes);
}

static void fill(const struct state *s, uint32_t round)
{
    for (size_t i = 0; i < s->bytes / 8; i++)
        *word(s->from, s->kind == STRIDED, i) = value_of(skua_pe(), round, i);
}

/* Returns the expected data of a round: those of the previous PE, of PE 0, or the sum over all. */
static int64_t expected(const struct state *s, uint32_t round, size_t i)
{
    int64_t sum = 0;

    if (s->kind != SUM)
        return value_of(s->kind == MANY ? 0 : before(), round, i);
    for (int pe = 0; pe < skua_pes(); pe++)
        sum += value_of(pe, round, i);
    return sum;
}

/* Checks the data and makes the channel ready at once: only then is a zero-copy put locally
 * complete. */
static void on_data(void *arg)
{
    struct state      *s    = arg;
    const skua_layout *view = s->kind == LENT ? skua_channel_view(s->mine) : NULL;
    char              *at   = view ? view->at : s->to;

    for (size_t i = 0; i < s->bytes / 8; i++)
        CHECK(*word(at, s->kind == STRIDED, i) == expected(s, s->heard, i));
    s->heard++;
    skua_channel_ready(s->mine);
}

static bool has_heard(void *arg)
{
    return self()->heard == *(uint32_t *)arg;
}

static void on_value(skua_msg *msg)
{
    struct state *s = self();

    s->values[s->count++] = *(skua_channel *)skua_msg_data(msg);
    skua_msg_free(msg);
}

static bool has_values(void *arg)
{
    return self()->count == *(int *)arg;
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Each PE sends to the next; with MANY, PE 0 to all; with SUM, all to the last. */
static bool is_sender(const struct state *s)
{
    return s->kind != MANY || skua_pe() == 0;
}

static bool is_receiver(const struct state *s)
{
    return s->kind != SUM || after() == 0;
}

static void create_channel(struct state *s)
{
    skua_layout                      to     = layout_in(s, s->to);
    skua_status                      status = SKUA_OK;
    const skua_channel_reduction_def sum    = {.to      = s->to,
                                               .count   = s->bytes / 8,
                                               .type    = SKUA_INT64,
                                               .op      = SKUA_SUM,
                                               .senders = skua_pes(),
                                               .fn      = on_data,
                                               .arg     = s,
                                               .name    = "local"};

    if (s->kind == SUM)
        status = skua_channel_create_reduction(&sum, &s->mine);
    else if (s->kind == LENT)
        status = skua_channel_create_view(&to, on_data, s, "local", &s->mine);
    else
        status = skua_channel_create(&to, on_data, s, "local", &s->mine);
    CHECK(status == SKUA_OK);
}

static void tell_channel(struct state *s)
{
    if (s->kind == SUM)
        for (int pe = 0; pe < skua_pes(); pe++)
            skua_send_copy(pe, value_handler, &s->mine, sizeof s->mine);
    else
        skua_send_copy(s->kind == MANY ? 0 : before(), value_handler, &s->mine, sizeof s->mine);
}

static void open_channel(struct state *s)
{
    skua_layout from  = layout_in(s, s->from);
    int         count = s->kind == MANY ? skua_pes() : 1;

    s->count = 0;
    s->heard = 0;
    skua_sync();
    if (is_receiver(s)) {
        create_channel(s);
        tell_channel(s);
    }
    s->out = NULL;
    if (is_sender(s)) {
        CHECK(skua_run_until(has_values, &count));
        s->out = s->kind == MANY   ? skua_channel_open_many(s->values, (size_t)count, &from)
                 : s->kind == LENT ? skua_channel_lend(s->values[0], &from)
                                   : skua_channel_open(s->values[0], &from);
        CHECK(s->out);
        CHECK(skua_channel_put_test(s->out)); /* without a put it is complete */
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void on_call(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct state *)arg)->called++;
}

static void wait_as_asked(struct state *s, enum ask ask)
{
    skua_counter counter = SKUA_COUNTER_INIT;
    uint32_t     called  = s->called;

    if (ask == TEST) {
        while (!skua_channel_put_test(s->out))
            skua_thread_self() ? skua_thread_yield() : (void)skua_poll(10);
    } else if (ask == WAIT) {
        CHECK(skua_channel_put_wait(s->out));
    } else if (ask == COUNT) {
        skua_channel_put_then(s->out, skua_done_count(&counter));
        CHECK(skua_counter_wait(&counter, 1));
    } else {
        skua_channel_put_then(s->out, skua_done_call(on_call, s));
        while (s->called == called)
            skua_thread_self() ? skua_thread_yield() : (void)skua_poll(10);
    }
    CHECK(skua_channel_put_test(s->out));
}

static void put_and_spoil(struct state *s, uint32_t round)
{
    fill(s, round);
    skua_channel_put(s->out);
    wait_as_asked(s, (enum ask)(round % ASKS));
    memset(s->from, 0xff, 2 * s->bytes);
}

static void put_in_thread(void *arg)
{
    put_and_spoil(self(), *(uint32_t *)arg);
    self()->ended = true;
}

static bool has_ended(void *arg)
{
    (void)arg;
    return self()->ended;
}

static void do_round(struct state *s, uint32_t round)
{
    uint32_t heard = round + 1;

    skua_sync(); /* all are ready */
    if (s->out && round % 3 == 2) {
        s->ended = false;
        skua_thread_detach(skua_thread_create(put_in_thread, &round, 0));
        CHECK(skua_run_until(has_ended, NULL));
    } else if (s->out) {
        put_and_spoil(s, round);
    }
    if (is_receiver(s))
        CHECK(skua_run_until(has_heard, &heard));
}

/* The program does not wait for the last put of a channel; its completion runs at the latest when
 * the channel is closed. */
static void end_channel(struct state *s)
{
    uint32_t     heard   = rounds + 1;
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_sync();
    if (s->out) {
        fill(s, rounds);
        skua_channel_put(s->out);
        skua_channel_put_then(s->out, skua_done_count(&counter));
    }
    if (is_receiver(s))
        CHECK(skua_run_until(has_heard, &heard));
    skua_sync();
    if (s->out) {
        skua_channel_close(s->out);
        CHECK(skua_counter_wait(&counter, 1));
    }
    skua_sync();
    if (is_receiver(s))
        skua_channel_destroy(s->mine);
}

static void test(struct state *s, enum kind kind, size_t bytes)
{
    s->kind  = kind;
    s->bytes = bytes;
    open_channel(s);
    for (uint32_t round = 0; round < rounds; round++)
        do_round(s, round);
    end_channel(s);
}

/* Within a host a put that is not zero-copy has copied its data when it returns. */
static void test_copied(struct state *s)
{
    uint32_t heard = 1;

    s->kind  = BLOCK;
    s->bytes = MOST;
    open_channel(s);
    skua_sync();
    fill(s, 0);
    skua_channel_put(s->out);
    if (skua_shares_memory(after()))
        CHECK(skua_channel_put_test(s->out));
    CHECK(skua_run_until(has_heard, &heard));
    skua_sync();
    skua_channel_close(s->out);
    skua_channel_destroy(s->mine);
}

static void start(int argc, char **argv)
{
    static const size_t sizes[] = {8, 1000, 8192, 100000, MOST};
    struct state       *s       = self();

    (void)argc, (void)argv;
    s->from   = skua_channel_alloc(2 * MOST);
    s->to     = malloc(2 * MOST);
    s->values = malloc((size_t)skua_pes() * sizeof *s->values);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            test(s, (enum kind)kind, sizes[i]);
    test_copied(s);
    skua_sync();
    skua_channel_free(s->from);
    free(s->to), free(s->values);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (uint32_t)atoi(argv[1]);
    value_handler = skua_handler_register("value", on_value);
    state_key     = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
