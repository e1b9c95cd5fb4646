/* SPDX-License-Identifier: Apache-2.0 */
/* pingpong.c - the players of pingpong.ci; see pingpong.h. */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/series.h"
#include "pingpong.ci.h"

#define ALIGNED 128 /* alignment of the buffers, as in bench/channels.c */

/* ---- two players --------------------------------------------------------------------------- */

static uint32_t ends_map;

/* Player 0 is on PE 0, player 1 on the last PE. */
static int pe_of(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)range, (void)arg;
    return index->at.x[0] == 0 ? 0 : skua_pes() - 1;
}

void register_map(void)
{
    ends_map = skua_map_register("ends", pe_of);
}

Player_proxy create_players(void)
{
    return Player_new_with(
        &(skua_array_def){.dims = 1, .range = {1, {0}, {2}}, .map = {.kind = ends_map}});
}

static size_t largest(void)
{
    int64_t most = 0;

    for (int i = 0; i < options.sizes.count; i++)
        most = options.sizes.at[i] > most ? options.sizes.at[i] : most;
    return (size_t)most;
}

void Player_on_create(Player *p)
{
    p->index  = Player_index(p);
    p->other  = Player_at(Player_of(p), 1 - p->index);
    p->source = aligned_alloc(ALIGNED, (largest() + ALIGNED - 1) / ALIGNED * ALIGNED);
    p->shared = skua_buffer_alloc(largest());
    p->target = skua_channel_alloc(largest());
}

static void disconnect(Player *p)
{
    if (!p->out)
        return;
    skua_channel_close(p->out);
    skua_channel_destroy(p->in);
    skua_buffer_unregister(&p->offered);
    skua_buffer_unregister(&p->wanted);
    p->out = NULL;
}

void Player_on_destroy(Player *p)
{
    disconnect(p);
    free(p->source);
    skua_buffer_free(p->shared);
    skua_channel_free(p->target);
}

/* ---- data --------------------------------------------------------------------------- */

/* Returns a byte of the data of a player; each player and variant has different data. */
static char expected(int index, int variant, int64_t i)
{
    return (char)(((uint32_t)i * 2654435761u >> 24) + (uint32_t)(1 + 2 * variant + index));
}

void Player_on_prepare(Player *p, int variant)
{
    char *from = variant == GET ? p->shared : p->source;

    p->variant  = variant;
    p->received = p->acknowledged = 0;
    p->seconds = p->best = 0;
    p->left              = p->batch;
    p->count             = skua_channel_count(p->in);
    for (int64_t i = 0; i < p->bytes; i++) {
        from[i]      = expected(p->index, variant, i);
        p->target[i] = (char)~expected(1 - p->index, variant, i);
    }
    skua_contribute_nothing(p, Main_ready_done(main_proxy));
}

static bool all_callbacks_ran(const Player *p)
{
    int64_t by_channel = (int64_t)(skua_channel_count(p->in) - p->count);

    return p->received == options.iterations &&
           p->acknowledged == (p->variant == GET ? options.iterations : 0) &&
           by_channel == (p->variant == CHANNEL ? options.iterations : 0);
}

static bool is_wrong(const Player *p)
{
    for (int64_t i = 0; i < p->bytes; i++)
        if (p->target[i] != expected(1 - p->index, p->variant, i))
            return true;
    return !all_callbacks_ran(p);
}

void contribute_outcome(Player *p)
{
    struct pingpong_outcome o = {p->seconds, p->best, is_wrong(p)};

    skua_contribute(p, SKUA_SUM, SKUA_DOUBLE, &o, 3, Main_finished_done(main_proxy));
}

/* ---- round trips ----------------------------------------------------------------------------- */

static void send_ball(Player *p)
{
    Ball *ball = Ball_new((size_t)p->bytes);

    memcpy(ball->at, p->source, (size_t)p->bytes);
    Player_ball(p->other, ball);
}

static void send_data(Player *p)
{
    if (p->variant == CHANNEL)
        skua_channel_put(p->out);
    else if (p->variant == MESSAGES)
        send_ball(p);
    else
        Player_offer(p->other, p->offered);
}

void send_first(Player *p)
{
    if (p->index == 1)
        return;
    p->started = p->mark = skua_time();
    send_data(p);
}

/* Ends the run when all data has arrived and all gets of this player's data have completed. */
static void end_if_complete(Player *p)
{
    if (p->received == options.iterations &&
        (p->variant != GET || p->acknowledged == options.iterations))
        Player_complete(Player_self(p));
}

/* Records the time of a batch, on player 0. */
static void end_batch(Player *p)
{
    double now = skua_time(), trip = (now - p->mark) / (double)p->batch;

    if (p->best == 0 || trip < p->best)
        p->best = trip;
    p->mark = now;
    p->left = p->batch;
}

/* Callback: the data of the other player has arrived in the target buffer. */
static void on_received(Player *p)
{
    bool last = ++p->received == options.iterations;

    if (p->index == 0 && --p->left == 0)
        end_batch(p);
    if (!last || p->index == 1)
        send_data(p);
    if (!last)
        return;
    if (p->index == 0)
        p->seconds = skua_time() - p->started;
    end_if_complete(p);
}

void receive_ball(Player *p, const Ball *ball)
{
    memcpy(p->target, ball->at, ball->at_count);
    on_received(p);
}

static void on_channel(void *arg)
{
    Player *p = arg;

    skua_channel_ready(p->in);
    on_received(p);
}

void fetch(Player *p, const skua_buffer *from)
{
    if (skua_buffer_get(&p->wanted, from) < 0)
        skua_abort("cannot get the data of the other player");
}

static void on_got(void *arg, const void *buffer, size_t bytes)
{
    (void)buffer, (void)bytes;
    on_received(arg);
}

static void on_acknowledged(void *arg, const void *buffer, size_t bytes)
{
    Player *p = arg;

    (void)buffer, (void)bytes;
    p->acknowledged++;
    end_if_complete(p);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Returns the number of round trips in a batch, which takes a few hundred microseconds, as in
 * bench/bench.h. */
static int64_t batch_of(int64_t bytes)
{
    int64_t trips = bytes <= 1000 ? 1000 : bytes <= 100000 ? 100 : 10;

    return trips < options.iterations ? trips : options.iterations;
}

void create_channel(Player *p, int64_t bytes)
{
    skua_layout to = skua_layout_contiguous(p->target, (size_t)bytes);

    disconnect(p);
    p->bytes   = bytes;
    p->batch   = batch_of(bytes);
    p->offered = skua_buffer_make(p->shared, (size_t)bytes, SKUA_REGISTER_NOW,
                                  skua_done_call(on_acknowledged, p), 0);
    p->wanted =
        skua_buffer_make(p->target, (size_t)bytes, SKUA_REGISTER_NOW, skua_done_call(on_got, p), 0);
    if (skua_channel_create(&to, on_channel, p, "pingpong", &p->in))
        skua_abort("cannot create a channel");
    Player_open(p->other, p->in);
}

void open_channel(Player *p, skua_channel channel)
{
    skua_layout from = skua_layout_contiguous(p->source, (size_t)p->bytes);

    p->out = skua_channel_open(channel, &from);
    if (!p->out)
        skua_abort("cannot open the channel to the other player");
}

/* ---- report ----------------------------------------------------------------------- */

static const char *const variant_name[VARIANTS] = {"messages", "channel", "get"};

/* The published ratio of messages to CkDirect in the paper, on InfiniBand and on Blue Gene/P. */
static const struct {
    int64_t bytes;
    double  infiniband, blue_gene;
} paper[] = {
    {100, 1.85, 2.82},    {1000, 1.56, 1.83},    {5000, 1.61, 1.35},  {10000, 1.53, 1.20},
    {20000, 1.40, 1.11},  {30000, 1.72, 1.10},   {40000, 1.58, 1.07}, {70000, 1.39, 1.04},
    {100000, 1.28, 1.03}, {500000, 1.08, 1.006},
};

void add_outcome(Main *m, int size, int variant, struct pingpong_outcome o)
{
    struct pingpong_times *times = &m->times[size][variant];

    if (times->best == 0 || o.best < times->best)
        times->best = o.best;
    times->total += o.seconds / (double)options.iterations;
    m->wrong += o.wrong;
    progress_show("%lld bytes: %s", (long long)options.sizes.at[size], variant_name[variant]);
}

static void print_head(void)
{
    printf(
        "Round trips between PE 0 and PE %d, microseconds: the best, and the mean of %lld runs of "
        "%lld\n",
        skua_pes() - 1, (long long)options.repeat, (long long)options.iterations);
    printf("%9s", "bytes");
    for (int variant = 0; variant < VARIANTS; variant++)
        if (options.variants[variant])
            printf("%12s%9s", variant_name[variant], "mean");
    printf("%20s%19s%14s\n", "messages / channel", "paper: InfiniBand", "Blue Gene/P");
}

static void print_ratios(const struct pingpong_times *times, int64_t bytes)
{
    if (times[MESSAGES].best > 0 && times[CHANNEL].best > 0)
        printf("%20.2f", times[MESSAGES].best / times[CHANNEL].best);
    else
        printf("%20s", "-");
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++)
        if (paper[i].bytes == bytes) {
            printf("%19.2f%14.2f", paper[i].infiniband, paper[i].blue_gene);
            return;
        }
    printf("%19s%14s", "-", "-");
}

static void print_line(const struct pingpong_times *times, int64_t bytes)
{
    printf("%9lld", (long long)bytes);
    for (int variant = 0; variant < VARIANTS; variant++)
        if (options.variants[variant])
            printf("%12.3f%9.3f", 1e6 * times[variant].best,
                   1e6 * times[variant].total / (double)options.repeat);
    print_ratios(times, bytes);
    printf("\n");
}

static void print_json(const struct pingpong_times *times, int64_t bytes)
{
    for (int variant = 0; variant < VARIANTS; variant++)
        if (options.variants[variant]) {
            struct series series = {"pingpong", options.series, variant_name[variant], bytes, 0};

            series_print(&series, "roundtrip_us", 1e6 * times[variant].best);
            series_print(&series, "mean_us", 1e6 * times[variant].total / (double)options.repeat);
        }
}

void report(const Main *m)
{
    progress_clear();
    print_head();
    for (int i = 0; i < options.sizes.count; i++)
        print_line(m->times[i], options.sizes.at[i]);
    for (int i = 0; i < options.sizes.count; i++)
        print_json(m->times[i], options.sizes.at[i]);
    printf("result pingpong: %d sizes, %lld runs of %lld round trips; data or callbacks wrong in "
           "%.0f cases: %s\n",
           options.sizes.count, (long long)options.repeat, (long long)options.iterations, m->wrong,
           m->wrong > 0 ? "FAILED" : "passed");
    skua_exit(m->wrong > 0 ? 1 : 0);
}
