/* SPDX-License-Identifier: Apache-2.0 */
/* fillboundary.c - the rounds, their check and their times; see fillboundary.h. */
#include "fillboundary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/allreduce.h"
#include "common/series.h"

#define CHECKS 3 /* number of exchanges that are checked, before and after the measured ones */

static const struct fb_protocol *const protocols[FB_VARIANTS] = {&fb_messages, &fb_pscw, &fb_signal,
                                                                 &fb_channels};

/* The measurements of a protocol, combined over all PEs. */
struct fb_times {
    double round;            /* seconds of a round                              */
    double level[FB_LEVELS]; /* seconds of an exchange                          */
    double phase[PHASES];    /* seconds in each phase of a round, mean over PEs */
    double total;            /* seconds of a round while phases are measured    */
};

static skua_pe_data fb_key;

struct fb *fb_self(void)
{
    return *(struct fb **)skua_pe_data_get(fb_key);
}

struct fb_link *fb_link_of(struct fb_level *level, int pe)
{
    int i = 0;

    while (i < level->ghosts.neighbours && level->link[i].of->pe != pe)
        i++;
    if (i == level->ghosts.neighbours)
        skua_abort("PE %d is not a neighbour of PE %d on level %d", pe, skua_pe(),
                   level->ghosts.level);
    return &level->link[i];
}

static bool fb_have_arrived(void *arg)
{
    struct fb_level *level = arg;

    return level->arrived[level->exchanges % 2] == level->ghosts.neighbours;
}

bool fb_wait_arrivals(struct fb_level *level)
{
    if (!fb_have_arrived(level) && !skua_run_until(fb_have_arrived, level))
        return false;
    level->arrived[level->exchanges % 2] = 0;
    return true;
}

/* ---- exchanges ------------------------------------------------------------------------------ */

static void fb_exchange(struct fb *fb, const struct fb_protocol *protocol, struct fb_level *level)
{
    stopwatch_start(&fb->watch);
    protocol->start(fb, level);
    ghosts_copy_local(&level->ghosts);
    stopwatch_lap(&fb->watch, PHASE_LOCAL);
    protocol->finish(fb, level);
    level->exchanges++;
}

/* Performs a round of the paper: twice from the finest level to the coarsest and back, then an
 * allreduce. */
static void fb_round(struct fb *fb, const struct fb_protocol *protocol)
{
    for (int half = 0; half < 2; half++) {
        for (int l = 0; l < fb->levels; l++)
            fb_exchange(fb, protocol, &fb->level[l]);
        for (int l = fb->levels - 1; l >= 0; l--)
            fb_exchange(fb, protocol, &fb->level[l]);
    }
    allreduce_double(SKUA_MAX, 1);
}

/* Shows progress on a terminal, once a second. */
static void fb_progress(const char *name, int64_t round, int64_t rounds)
{
    static _Thread_local double shown;

    if (skua_pe() == 0 && progress_due(&shown, skua_time()))
        progress_show("%s: %lld of %lld rounds", name, (long long)round, (long long)rounds);
}

/* ---- check ---------------------------------------------------------------------------------- */

/* Fills ghost cells once and checks all of them. Returns the number of wrong cells of all PEs. */
static double fb_check(struct fb *fb, const struct fb_protocol *protocol, double *filled)
{
    int64_t wrong = 0, ghosts = 0;

    for (int l = 0; l < fb->levels; l++)
        ghosts_fill(&fb->level[l].ghosts);
    for (int l = 0; l < fb->levels; l++)
        fb_exchange(fb, protocol, &fb->level[l]);
    for (int l = 0; l < fb->levels; l++)
        wrong += ghosts_check(&fb->level[l].ghosts, &ghosts);
    *filled = allreduce_double(SKUA_SUM, (double)ghosts);
    return allreduce_double(SKUA_SUM, (double)wrong);
}

/* ---- measurement ---------------------------------------------------------------------------- */

static void fb_keep(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

/* Returns the time of the slowest PE since @p begin. */
static double fb_elapsed(double begin)
{
    return allreduce_double(SKUA_MAX, stopwatch_now() - begin);
}

static double fb_measure_level(struct fb *fb, const struct fb_protocol *protocol, int l)
{
    double begin;

    skua_sync();
    begin = stopwatch_now();
    for (int64_t i = 0; i < fb->options.exchanges; i++)
        fb_exchange(fb, protocol, &fb->level[l]);
    return fb_elapsed(begin) / (double)fb->options.exchanges;
}

static double fb_measure_rounds(struct fb *fb, const struct fb_protocol *protocol, int64_t rounds)
{
    double begin;

    skua_sync();
    begin = stopwatch_now();
    for (int64_t i = 0; i < rounds; i++) {
        fb_round(fb, protocol);
        fb_progress(protocol->name, i, rounds);
    }
    return fb_elapsed(begin) / (double)rounds;
}

/* Reads the clock between the phases of a tenth of the rounds. */
static void fb_measure_phases(struct fb *fb, const struct fb_protocol *protocol,
                              struct fb_times *times)
{
    int64_t rounds = (fb->options.rounds + 9) / 10;

    fb->watch    = (struct stopwatch){.on = true};
    times->total = fb_measure_rounds(fb, protocol, rounds);
    for (int p = 0; p < PHASES; p++)
        times->phase[p] =
            allreduce_double(SKUA_SUM, fb->watch.seconds[p]) / skua_pes() / (double)rounds;
    fb->watch.on = false;
}

static void fb_measure(struct fb *fb, const struct fb_protocol *protocol, struct fb_times *times)
{
    fb_keep(&times->round, fb_measure_rounds(fb, protocol, fb->options.rounds));
    for (int l = 0; l < fb->levels; l++)
        fb_keep(&times->level[l], fb_measure_level(fb, protocol, l));
    fb_measure_phases(fb, protocol, times);
}

/* Measures one protocol. Returns the number of wrong cells. */
static double fb_run(struct fb *fb, const struct fb_protocol *protocol, struct fb_times *times,
                     double *filled)
{
    double wrong = 0;

    for (int l = 0; l < fb->levels; l++)
        fb->level[l].exchanges = 0;
    protocol->open(fb);
    for (int i = 0; i < CHECKS - 1; i++)
        wrong += fb_check(fb, protocol, filled);
    fb_measure(fb, protocol, times);
    wrong += fb_check(fb, protocol, filled);
    protocol->close(fb);
    return wrong;
}

/* ---- report --------------------------------------------------------------------------------- */

static void fb_print_json(const struct fb *fb, int v, const char *metric, int64_t size,
                          double value)
{
    series_print(
        &(struct series){"fillboundary", fb->options.series, protocols[v]->name, size, skua_pes()},
        metric, value);
}

/* A label of an exchange combines the boxes of a PE and the cells along a box: 6 boxes of 32^3 give
 * 6032. */
static int64_t fb_size(const struct fb_level *level)
{
    return 1000 * (int64_t)(level->ghosts.boxes.count / skua_pes()) +
           boxes_side(&level->ghosts.boxes);
}

static void fb_print_series(const struct fb *fb, int v, const struct fb_times *times)
{
    static const char *const phase[PHASES] = {"packing", "sending",   "waiting",
                                              "local",   "unpacking", "addresses"};

    fb_print_json(fb, v, "step", fb->level[0].ghosts.boxes.count, times->round);
    for (int l = 0; l < fb->levels; l++)
        fb_print_json(fb, v, "exchange", fb_size(&fb->level[l]), times->level[l]);
    for (int p = 0; p < PHASES; p++)
        fb_print_json(fb, v, phase[p], fb->level[0].ghosts.boxes.count, times->phase[p]);
}

static void fb_print_head(const struct fb *fb)
{
    printf("%d boxes, %lld cells, %d levels, %d PEs\n\n%-10s%12s  ",
           fb->level[0].ghosts.boxes.count, (long long)boxes_cells(&fb->level[0].ghosts.boxes),
           fb->levels, skua_pes(), "us", "a round");
    for (int l = 0; l < fb->levels; l++)
        printf("%7d^3", boxes_side(&fb->level[l].ghosts.boxes));
    printf("   packing sending waiting   local  unpack address\n");
}

/* Prints the time of a round, of an exchange on each level, and the share of each phase in a
 * round. */
static void fb_print_times(const struct fb *fb, int v, const struct fb_times *times)
{
    printf("%-10s%12.1f  ", protocols[v]->name, 1e6 * times->round);
    for (int l = 0; l < fb->levels; l++)
        printf("%9.2f", 1e6 * times->level[l]);
    printf("  ");
    for (int p = 0; p < PHASES; p++)
        printf("%6.1f %%", 100 * times->phase[p] / times->total);
    printf("\n");
}

static void fb_report(const struct fb *fb, const struct fb_times *times, double filled,
                      double wrong)
{
    progress_clear();
    fb_print_head(fb);
    for (int v = 0; v < FB_VARIANTS; v++)
        if (fb->options.variants[v]) {
            fb_print_times(fb, v, &times[v]);
            fb_print_series(fb, v, &times[v]);
        }
    printf("result fillboundary: %d boxes, %d levels, %.0f ghost cells filled, %.0f wrong: %s\n",
           fb->level[0].ghosts.boxes.count, fb->levels, filled, wrong,
           wrong > 0 ? "FAILED" : "passed");
}

/* ---- the program -------------------------------------------------------------------------- */

static void fb_describe(const struct fillboundary_options *options, const struct box_list *boxes)
{
    int *owner = ghosts_deal(boxes, skua_pes());

    for (int l = 0; l < options->levels; l++) {
        struct box_list     level;
        struct ghosts_count count;

        boxes_coarsen(&level, boxes, l);
        count = ghosts_describe(&level, owner);
        printf("level %d: %d boxes, %lld cells, %lld ghost cells in %lld copies; between %d PEs "
               "%lld ghost cells in %lld messages\n",
               l, level.count, (long long)count.cells, (long long)count.ghosts,
               (long long)count.copies, skua_pes(), (long long)count.remote_ghosts,
               (long long)count.messages);
        boxes_free(&level);
    }
    free(owner);
}

static void fb_make_levels(struct fb *fb, const struct box_list *boxes)
{
    int *owner = ghosts_deal(boxes, skua_pes());

    fb->levels = (int)fb->options.levels;
    for (int l = 0; l < fb->levels; l++) {
        struct fb_level *level = &fb->level[l];

        ghosts_make(&level->ghosts, boxes, owner, l, skua_pe());
        level->link = calloc((size_t)level->ghosts.neighbours + 1, sizeof *level->link);
        if (!level->link)
            skua_abort("cannot allocate the connections of a level");
        for (int i = 0; i < level->ghosts.neighbours; i++)
            level->link[i].of = &level->ghosts.neighbour[i];
    }
    free(owner);
}

static void fb_free_levels(struct fb *fb)
{
    for (int l = 0; l < fb->levels; l++) {
        ghosts_free(&fb->level[l].ghosts);
        free(fb->level[l].link);
    }
}

static void fb_main(struct fb *fb, const struct box_list *boxes)
{
    struct fb_times times[FB_VARIANTS] = {0};
    double          wrong = 0, filled = 0;

    fb_make_levels(fb, boxes);
    skua_sync();
    for (int64_t run = 0; run < fb->options.repeat; run++)
        for (int v = 0; v < FB_VARIANTS; v++)
            if (fb->options.variants[v])
                wrong += fb_run(fb, protocols[v], &times[v], &filled);
    if (skua_pe() == 0) {
        fb_report(fb, times, filled, wrong);
        skua_exit(wrong > 0 ? 1 : 0);
    }
    skua_run(); /* serves the other PEs until the job ends */
    fb_free_levels(fb);
}

static void fb_refuse(const char *error)
{
    if (skua_pe() == 0)
        fprintf(stderr, "fillboundary: %s\n", error);
    skua_exit(2);
}

static void fb_start(int argc, char **argv)
{
    struct fb      *fb    = calloc(1, sizeof *fb);
    struct box_list boxes = {0};
    char            error[BOXES_ERROR_MAX];

    if (!fb)
        skua_abort("cannot allocate the state of a PE");
    *(struct fb **)skua_pe_data_get(fb_key) = fb;
    if (!options_read(&fb->options, argc, argv))
        goto free_fb;
    if (!options_make_boxes(&fb->options, skua_pes(), &boxes, error)) {
        fb_refuse(error);
        goto free_fb;
    }
    if (!fb->options.describe)
        fb_main(fb, &boxes);
    else if (skua_pe() == 0) {
        fb_describe(&fb->options, &boxes);
        skua_exit(0);
    }
    boxes_free(&boxes);
free_fb:
    free(fb);
}

int main(int argc, char **argv)
{
    fb_key = skua_pe_data_register(sizeof(struct fb *));
    fb_messages_register();
    fb_channels_register();
    return skua_main(argc, argv, fb_start);
}
