/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - conformance test of a driver against transport/driver.h.
 *
 * usage: drivers NAME [PART...]
 *
 * Parts: sizes split flood refusal absence waiting onesided threads busy watch silent crossing
 * closing port strangers tampering silence process assist; without an argument, all of them,
 * absence, watch and silent only if ports share connections, assist only with a progress thread.
 * `bench' measures and must be the only part.  A driver that is not built, or cannot start here, is
 * skipped (77).
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/topology.h"
#include "tests/tap.h"
#include "transport/secret.h"
#include "transport/select.h"

static const uint64_t secret[SKI_SECRET_WORDS] = {UINT64_C(0x0123456789abcdef), 42};

struct ski_net net = {.processes    = 1,
                      .ports        = 4,
                      .one_host     = true,
                      .interfaces   = "auto",
                      .port_range   = "any",
                      .peer_timeout = 3,
                      .log          = ski_log_write,
                      .prove        = ski_secret_prove,
                      .derive       = ski_secret_derive,
                      .last_error   = ski_driver_last_error};

#define HUB_PORTS   2 /* that share connections: of three ends, the first two */
#define WATCH_PORTS 3 /* of four ends, the first three                        */
#define FULL_PORTS  3 /* of four ends, the first three                        */

static char **parts;
static int    part_count;

static bool is_asked(const char *part)
{
    for (int i = 0; i < part_count; i++)
        if (strcmp(parts[i], part) == 0)
            return true;
    return part_count == 0 && strcmp(part, "bench") != 0;
}

/* The report of a part. */
static void ended(const char *part)
{
    OK(failures == 0, "%s: %s", driver->name, part);
    failures = 0;
    fflush(stdout);
}

static uint64_t scaled(uint64_t packets)
{
    const char *by = getenv("SKUA_TEST_SLOW"); /* sanitizers */

    return by ? packets / 10 : packets;
}

/* The parts that use the same three ports of one thread. */
static void test_together(void)
{
    struct end ends[3];

    open_ends(ends, 3);
    if (is_asked("sizes"))
        test_sizes(ends, 3), ended("packets of all sizes");
    if (is_asked("split"))
        test_split(ends, 3), ended("packets in two parts");
    if (is_asked("flood"))
        test_flood(ends, 3, scaled(100000)), ended("many packets, in both directions");
    if (is_asked("refusal"))
        test_refusal(ends, 3), ended("packets that the receiver rejects");
    if (net.share && is_asked("absence"))
        test_absence(ends, 3), ended("a port that makes no progress for a while");
    if (is_asked("waiting"))
        test_waiting(ends), ended("waits for a descriptor");
    if (is_asked("onesided"))
        test_one_sided(ends), ended("one-sided operations");
    close_ends(ends, 3);
    ended("ports are closed, no packet is missing");
}

static void test_all(void)
{
    test_together();
    if (is_asked("threads"))
        test_threads(scaled(20000)), ended("a thread for each port");
    if (net.progress_pe && is_asked("assist"))
        test_assist(scaled(3000)), ended("a progress thread that sends for a PE that computes");
    if (net.share && net.progress_pe > 0 && is_asked("assist")) {
        net.ports = FULL_PORTS;
        test_assist_full(),
            ended("a progress thread that sends while a port of its process is full");
        net.ports = HUB_PORTS;
    }
    if (is_asked("busy"))
        test_busy(), ended("a connection that is busier than the others");
    if (net.share && is_asked("watch")) {
        net.ports = WATCH_PORTS;
        test_watch(), ended("sleepers that share connections");
    }
    if (net.share)
        net.ports = 1; /* two ports are those of two processes */
    if (net.share && is_asked("silent"))
        test_silent_peer(), ended("a peer that does not receive");
    if (is_asked("crossing"))
        test_crossing(60), ended("ports that connect to each other at the same time");
    if (is_asked("closing"))
        test_closing(), ended("a port that is closed after its last packet");
    if (is_asked("port"))
        test_lost_port(), ended("a peer that has closed its port");
    if (is_asked("strangers"))
        test_strangers(), ended("foreign connections");
    if (is_asked("tampering"))
        test_tampering(), ended("a man in the middle");
    if (is_asked("silence"))
        test_silence(), ended("a network that becomes silent");
    if (is_asked("process"))
        test_lost_process(), ended("a peer whose process was killed");
}

int main(int argc, char **argv)
{
    int io_cpu;

    if (argc < 2 || ski_config_load() != SKUA_OK)
        return 2;
    parts           = argv + 2;
    part_count      = argc - 2;
    net.interfaces  = ski_config.net_interfaces;
    net.port_range  = ski_config.ports;
    net.security    = (enum ski_security)ski_config.security;
    net.share       = ski_config.shared_connections > 0;
    net.rails       = (unsigned)ski_config.rails;
    net.io_cpu      = &io_cpu;
    net.io_cpus     = ski_topology_parse_list(ski_config.io_cpus, &io_cpu, 1) == 1;
    net.progress_pe = ski_config.progress_thread; /* PE 1, or none */
    if (net.share)
        net.ports = HUB_PORTS;
    if (ski_secret_begin(net.security, secret, &net.crypto) != SKUA_OK) {
        printf("1..0 # skip: no library for SKUA_SECURITY\n");
        return 77;
    }
    if (is_asked("process") || is_asked("bench")) {
        net.processes = 2;
        fork_child(argv[1]);
    }
    driver = ski_driver_load(argv[1], net.last_error(), SKI_REASON_MAX);
    if (!driver || driver->start(&net) != SKUA_OK) {
        printf("1..0 # skip: %s: %s\n", argv[1], net.last_error());
        return 77;
    }
    driver = ski_driver_variant(driver, &net);
    printf("# %s\n", driver->describe());
    if (is_asked("bench"))
        bench();
    else
        test_all();
    driver->stop();
    return tap_end();
}
