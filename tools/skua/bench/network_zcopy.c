/* SPDX-License-Identifier: Apache-2.0 */
/* network_zcopy.c - see network_zcopy.h. */
#include "network_zcopy.h"

#include <string.h>

#define GAIN_SMALL 1.25 /* entry call / channel up to 1000 bytes: the CkDirect paper ... */
#define GAIN_LARGE 1.3  /* ... and from 10000 bytes on                                   */
#define BREAK_EVEN 32768.0

static const size_t channel_sizes[] = {100, 1000, 5000, 10000, 20000, 30000, 40000, 70000, 100000};
static const size_t zcopy_sizes[]   = {1024,  2048,  4096,   8192,   16384,
                                       32768, 65536, 131072, 262144, 1048576};

#define CHANNELS (sizeof channel_sizes / sizeof *channel_sizes)
#define SMALL    2 /* of them, up to 1000 */
#define ZCOPIES  (sizeof zcopy_sizes / sizeof *zcopy_sizes)

/* The results of bench-channels: its series without the name of the driver, and our metric. */
static const struct {
    const char *series, *metric;
} channels[] = {{"channel", "channel_us"},
                {"channel-heap", "channel_heap_us"},
                {"message", "channel_message_us"},
                {"entry", "channel_entry_us"},
                {"learned", "channel_learned_us"}};

/* ---- running ------------------------------------------------------------- */

static void network_zcopy_add(struct results *results, const struct result *found,
                              const char *driver, const char *metric)
{
    struct result result = {.bench = "network", .bytes = found->bytes, .value = found->value};

    snprintf(result.series, sizeof result.series, "skua-%s", driver);
    snprintf(result.metric, sizeof result.metric, "%s", metric);
    results_add_measured(results, &result);
}

static void network_zcopy_add_channel(struct results *results, const struct result *found,
                                      const char *driver)
{
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        char series[48];

        snprintf(series, sizeof series, "%s-%s", channels[i].series, driver);
        if (strcmp(series, found->series) == 0)
            network_zcopy_add(results, found, driver, channels[i].metric);
    }
}

static void network_zcopy_add_buffer(struct results *results, const struct result *found,
                                     const char *driver)
{
    char metric[64];

    snprintf(metric, sizeof metric, "zcopy_%s", found->metric);
    network_zcopy_add(results, found, driver, metric);
}

/* Runs a program of another benchmark, and adds what it prints. */
static void network_zcopy_run_one(const struct network *network, struct results *results,
                                  const char *driver, const char *const arguments[],
                                  void (*add)(struct results *results, const struct result *found,
                                              const char *driver))
{
    struct results printed = {.host = results->host};
    char           path[PROGRAM_PATH_BYTES];

    if (!program_find(arguments[0], path))
        return;
    network_run_driver(network, &printed, driver,
                       (const char *const[]){path, arguments[1], arguments[2], NULL});
    for (size_t i = 0; i < printed.count; i++)
        add(results, &printed.list[i], driver);
    results_free(&printed);
}

void network_zcopy_run(const struct network *network, struct results *results, const char *driver)
{
    network_zcopy_run_one(network, results, driver,
                          (const char *const[]){"bench-channels", "100000", "100"},
                          network_zcopy_add_channel);
    network_zcopy_run_one(network, results, driver,
                          (const char *const[]){"bench-zerocopy", "1048576", "1024"},
                          network_zcopy_add_buffer);
}

/* ---- tables and goals ---------------------------------------------------- */

const size_t *network_zcopy_sizes(const char *metric, size_t *count)
{
    if (strncmp(metric, "channel_", 8) == 0)
        return *count = CHANNELS, channel_sizes;
    if (strncmp(metric, "zcopy_", 6) == 0)
        return *count = ZCOPIES, zcopy_sizes;
    return NULL;
}

/* Prints a goal for the smallest ratio of an entry call to a channel, over some of channel_sizes.
 */
static void network_zcopy_print_gain(const struct results *r, const char *series, const char *what,
                                     const size_t *sizes, size_t count, double goal)
{
    struct bench_worst worst =
        bench_find_worst(r, series, "channel_us", series, "channel_entry_us", sizes, count);

    bench_print_goal(what, bench_ratio(1, worst.ratio), ">=", goal);
}

static void network_zcopy_print_break_even(const struct results *r, const char *series,
                                           const char *what, const char *variant, const char *heap)
{
    char text[80], metric[48], copied[48];

    snprintf(text, sizeof text, "%s%s, smallest size that pays off, bytes", what,
             heap[0] ? " of malloc() memory" : "");
    snprintf(metric, sizeof metric, "zcopy_%s%s_us", variant, heap);
    snprintf(copied, sizeof copied, "zcopy_copy%s_us", heap);
    bench_print_goal(text, results_break_even(r, series, metric, copied, zcopy_sizes, ZCOPIES),
                     "<=", BREAK_EVEN);
}

void network_zcopy_print_goals(const struct results *results, const char *series)
{
    static const struct {
        const char *what, *variant;
    } goals[] = {{"get", "get"}, {"put", "put"}, {"nocopy argument", "send"}};

    network_zcopy_print_gain(results, series, "entry call / channel, 100 and 1000 bytes",
                             channel_sizes, SMALL, GAIN_SMALL);
    network_zcopy_print_gain(results, series,
                             "entry call / channel, worst size from 10000 to 100000",
                             channel_sizes + SMALL + 1, CHANNELS - SMALL - 1, GAIN_LARGE);
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        network_zcopy_print_break_even(results, series, goals[i].what, goals[i].variant, "");
        network_zcopy_print_break_even(results, series, goals[i].what, goals[i].variant, "_heap");
    }
}
