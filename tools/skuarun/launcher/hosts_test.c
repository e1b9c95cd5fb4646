/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_test.c - host lists: parsing, the distribution of PEs, and what is rejected. */
#include "launcher/hosts.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

/* Resolves a list and compares it with @p expected, "a:4 b:2", or "" if it is to be rejected. */
static void hosts_test_list(const char *list, int pes, int threads, const char *expected)
{
    struct run_options options = {.pes = pes, .threads = threads, .hosts = list};
    struct hosts       hosts;
    bool               valid     = hosts_resolve(&hosts, &options);
    char               text[256] = "";
    size_t             used      = 0;
    int                sum       = 0;

    for (int i = 0; valid && i < hosts.count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%d", i ? " " : "",
                                 hosts.host[i].name, hosts.host[i].pes);
        sum += hosts.host[i].pes;
    }
    OK(strcmp(text, expected) == 0 && (!valid || sum == options.pes),
       "--hosts=%s -n %d -t %d: \"%s\" is \"%s\"", list, pes, threads, text, expected);
    hosts_free(&hosts);
}

static void hosts_test_distribution(void)
{
    hosts_test_list("a:4,b:2", 0, 1, "a:4 b:2");
    hosts_test_list("a,b", 0, 1, "a:1 b:1");
    hosts_test_list("a,b", 0, 4, "a:4 b:4");
    hosts_test_list("a,b", 7, 1, "a:4 b:3");
    hosts_test_list("a,b", 7, 2, "a:4 b:3");
    hosts_test_list("a,b,c", 4, 4, "a:4");
    hosts_test_list("a:4,b,c", 10, 1, "a:4 b:3 c:3");
    hosts_test_list("a,b:4", 4, 1, "b:4");
    hosts_test_list("a:4,b:4", 6, 1, "a:4 b:2");
    hosts_test_list("a:4,b:4", 4, 2, "a:4");
    hosts_test_list("a.b.c:2", 0, 1, "a.b.c:2");
}

static void hosts_test_rejected(void)
{
    hosts_test_list("", 2, 1, "");
    hosts_test_list("a,,b", 2, 1, "");
    hosts_test_list("a,", 2, 1, "");
    hosts_test_list("-oProxyCommand=x", 2, 1, "");
    hosts_test_list("a:0", 2, 1, "");
    hosts_test_list("a:2,b:0", 2, 1, "");
    hosts_test_list("a:-1", 2, 1, "");
    hosts_test_list("a:4x", 2, 1, "");
    hosts_test_list("a:65536", 2, 1, "");
    hosts_test_list("a:2,a:2", 4, 1, "");
    hosts_test_list("a:2,b:2", 8, 1, "");
    hosts_test_list("a:60000,b:60000", 0, 1, "");
    hosts_test_list("a:3,b:4", 0, 2, "");
}

static void hosts_test_local(void)
{
    struct run_options options = {.pes = 3, .threads = 1, .hosts = "localhost:2,elsewhere:1"};
    struct hosts       hosts;

    OK(hosts_resolve(&hosts, &options) && hosts.host[0].local && !hosts.host[1].local,
       "localhost is this host");
    hosts_free(&hosts);
    options.hosts = NULL;
    OK(hosts_resolve(&hosts, &options) && hosts.count == 1 && hosts.host[0].local &&
           hosts.host[0].pes == 3,
       "without a list, all PEs are on this host");
    hosts_free(&hosts);
    options = (struct run_options){.threads = 8, .hosts = "a:2"};
    OK(hosts_resolve(&hosts, &options) && options.threads == 2,
       "a process has no more PEs than the job");
    hosts_free(&hosts);
    options = (struct run_options){.threads = 2, .hosts = "a:2,b:1,c:0", .survive = true};
    OK(hosts_resolve(&hosts, &options) && options.pes == 3 && hosts.count == 3 &&
           hosts.host[2].spare && !hosts.host[1].spare,
       "a host without PEs is a spare one");
    hosts_free(&hosts);
}

int main(void)
{
    hosts_test_distribution();
    hosts_test_rejected();
    hosts_test_local();
    return tap_end();
}
