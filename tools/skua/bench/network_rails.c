/* SPDX-License-Identifier: Apache-2.0 */
/* network_rails.c - see network_rails.h. */
#include "network_rails.h"

#define RAILS_RATE  "4gbit"
#define RAILS_BURST "1mb"
#define RAILS_WIDTH 14

static const size_t rails_sizes[] = {1048576, 4194304, 16777216};

#define RAILS_SIZES (sizeof rails_sizes / sizeof *rails_sizes)

/* The rows: a series, what it is, and the row of one rail on the same path. */
static const struct {
    const char *series, *what;
    size_t      one;
} rails_rows[] = {
    {"rails-path-1", "one connection", 0},
    {"rails-path-2", "two connections", 0},
    {"rails-veth-1", "one network", 2},
    {"rails-veth-2", "two networks", 2},
    {"rails-limited-1", "one network of 4 Gbit/s", 4},
    {"rails-limited-2", "two networks of 4 Gbit/s", 4},
};

#define RAILS_ROWS (sizeof rails_rows / sizeof *rails_rows)

/* ---- running ------------------------------------------------------------- */

static void network_rails_run_row(const struct network *network, struct results *results,
                                  size_t row, const char *rails, const char *interfaces)
{
    char path[PROGRAM_PATH_BYTES];

    if (!program_find("bench-network", path))
        return;
    program_set_variable("SKUA_RAILS", rails);
    program_set_variable("SKUA_NET_INTERFACES", interfaces); /* until network_close() */
    network_run_driver(network, results, "tcp",
                       (const char *const[]){path, rails_rows[row].series, "rails", NULL});
    program_restore_variable("SKUA_RAILS");
}

/* Measures one and two networks, from a row on. */
static void network_rails_run_networks(const struct network *network, struct results *results,
                                       size_t row)
{
    char both[64];

    snprintf(both, sizeof both, "%s,%s", network_device(0), network_device(1));
    network_rails_run_row(network, results, row, "1", network_device(0));
    network_rails_run_row(network, results, row + 1, "2", both);
}

void network_rails_run(struct network *network, struct results *results)
{
    const struct bench_host *host = network->host;
    struct network           pair;

    network_rails_run_row(network, results, 0, "1", network->interface);
    network_rails_run_row(network, results, 1, "2", network->interface);
    network_close(network);
    if (!network_open_all(&pair, host)) {
        if (host->round == 1)
            fprintf(stderr,
                    "skua: rails on two networks are not measured: cannot create two "
                    "connected network namespaces (is `ip' installed, and are you root?)\n");
        return;
    }
    network_rails_run_networks(&pair, results, 2);
    if (network_limit(&pair, RAILS_RATE, RAILS_BURST))
        network_rails_run_networks(&pair, results, 4);
    else if (host->round == 1)
        fprintf(stderr, "skua: rails on networks of " RAILS_RATE " are not measured: tc cannot "
                        "limit their rate\n");
    network_close(&pair);
}

/* ---- the table ----------------------------------------------------------- */

static void network_rails_print_row(const struct results *r, size_t row)
{
    printf("%-26s", rails_rows[row].what);
    for (size_t i = 0; i < RAILS_SIZES; i++) {
        double rate = results_get(r, rails_rows[row].series, rails_sizes[i], "message_gbs");
        double one =
            results_get(r, rails_rows[rails_rows[row].one].series, rails_sizes[i], "message_gbs");

        bench_print_value(rate, RAILS_WIDTH);
        if (rails_rows[row].one != row)
            printf(" (%.2f)", bench_ratio(rate, one));
        else
            printf("       ");
    }
    printf("\n");
}

void network_rails_print(const struct results *r)
{
    printf(
        "\nRails, driver tcp: messages in flight, GB/s (ratio to one rail on the same path)\n%-26s",
        "bytes");
    for (size_t i = 0; i < RAILS_SIZES; i++)
        printf("%*zu       ", RAILS_WIDTH, rails_sizes[i]);
    printf("\n");
    for (size_t row = 0; row < RAILS_ROWS; row++)
        if (results_get(r, rails_rows[row].series, rails_sizes[0], "message_gbs") > 0)
            network_rails_print_row(r, row);
}
