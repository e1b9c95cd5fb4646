/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.c - see hosts.h. */
#include "launcher/hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "boot/job.h"

static bool hosts_error(const char *list, const char *reason, const char *what)
{
    fprintf(stderr, "skuarun: --hosts=%s: %s%s (skuarun --help)\n", list, reason, what);
    return false;
}

/* Returns whether @p name is localhost or the name of this host, with its domain or without. */
static bool hosts_is_local(const char *name)
{
    char   own[HOST_NAME_MAX + 1] = "";
    size_t n;

    gethostname(own, sizeof own - 1);
    n = strcspn(own, ".");
    return strcmp(name, "localhost") == 0 || strcmp(name, own) == 0 ||
           (strlen(name) == n && strncmp(name, own, n) == 0);
}

static bool hosts_is_listed(const struct hosts *hosts, const struct hosts_entry *host)
{
    for (int i = 0; i < hosts->count; i++)
        if (strcmp(hosts->host[i].name, host->name) == 0 || (hosts->host[i].local && host->local))
            return true;
    return false;
}

/* Parses a number of PEs.  Returns 0 if the text is invalid. */
static int hosts_number(const char *text)
{
    char *end;
    long  n = strtol(text, &end, 10);

    return *end || end == text || n < 1 || n > SKI_JOB_PES_MAX ? 0 : (int)n;
}

/* Appends the host of one entry, NAME or NAME:PES.  The list owns the string from now on. */
static bool hosts_add(struct hosts *hosts, char *entry, const char *list)
{
    char *colon = strrchr(entry, ':');
    int   pes   = colon ? hosts_number(colon + 1) : 0;
    bool  spare = colon && strcmp(colon + 1, "0") == 0;
    bool  listed;

    if (colon)
        *colon = '\0';
    hosts->host = ski_realloc(hosts->host, ((size_t)hosts->count + 1) * sizeof *hosts->host);
    hosts->host[hosts->count] = (struct hosts_entry){entry, pes, hosts_is_local(entry), spare};
    listed                    = hosts_is_listed(hosts, &hosts->host[hosts->count]);
    hosts->count++;
    if (!entry[0] || entry[0] == '-' || strpbrk(entry, " \t")) /* ssh has options with '-' */
        return hosts_error(list, "expected host names without blanks, as in a:4,b:4", "");
    if (strchr(entry, ':'))
        return hosts_error(list, "expected the name of a host in place of an IPv6 address", "");
    if (colon && !pes && !spare)
        return hosts_error(list, "expected a number of PEs from 1 to 65535 after the name of host ",
                           entry);
    if (listed)
        return hosts_error(list, "names a host twice: ", entry);
    return true;
}

static bool hosts_parse(struct hosts *hosts, const char *list)
{
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");

        if (!hosts_add(hosts, strndup(at, n), list))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

/* Gives each host without a number an equal share of what the others leave of @p pes, rounded up to
 * whole processes; one process if @p pes is 0. */
static void hosts_distribute(struct hosts *hosts, int pes, int threads)
{
    int left = pes, without = 0;

    for (int i = 0; i < hosts->count; i++) {
        without += hosts->host[i].pes == 0 && !hosts->host[i].spare;
        left -= hosts->host[i].pes;
    }
    for (int i = 0; i < hosts->count; i++) {
        int share = without ? (left + without - 1) / without : 0;

        if (hosts->host[i].pes || hosts->host[i].spare)
            continue;
        share = (share + threads - 1) / threads * threads;
        share = pes == 0 ? threads : share < left ? share : left;

        hosts->host[i].pes = share > 0 ? share : 0;
        left -= share;
        without--;
    }
}

/* Limits the PEs of the list to @p pes, unless that is 0, from the end.  Returns their sum. */
static int hosts_trim(struct hosts *hosts, int pes)
{
    int sum = 0;

    for (int i = 0; i < hosts->count; i++) {
        if (pes && sum + hosts->host[i].pes > pes)
            hosts->host[i].pes = pes - sum;
        sum += hosts->host[i].pes;
    }
    return sum;
}

/* Removes the hosts that have no PE and are not spare hosts. */
static void hosts_drop_idle(struct hosts *hosts)
{
    int kept = 0;

    for (int i = 0; i < hosts->count; i++) {
        if (hosts->host[i].pes || hosts->host[i].spare)
            hosts->host[kept++] = hosts->host[i];
        else
            free(hosts->host[i].name);
    }
    hosts->count = kept;
}

/* Returns the last host that has PEs, of which the last process may have fewer than the others. */
static int hosts_last(const struct hosts *hosts)
{
    int last = hosts->count - 1;

    while (last > 0 && hosts->host[last].spare)
        last--;
    return last;
}

static bool hosts_check(const struct hosts *hosts, const struct run_options *options, int sum)
{
    if (sum == 0)
        return hosts_error(options->hosts, "no host has a PE", "");
    if (sum < options->pes)
        return hosts_error(options->hosts, "the hosts have fewer PEs than -n requests", "");
    if (sum > SKI_JOB_PES_MAX)
        return hosts_error(options->hosts, "the hosts have more PEs than a job can have, 65535",
                           "");
    for (int i = 0; i < hosts->count; i++)
        if (hosts->host[i].spare && !options->survive)
            return hosts_error(options->hosts,
                               "only a job with --survive has a use for a host without PEs: ",
                               hosts->host[i].name);
    for (int i = 0; i < hosts_last(hosts); i++)
        if (hosts->host[i].pes % options->threads)
            return hosts_error(options->hosts, "the number of PEs is not a multiple of -t on host ",
                               hosts->host[i].name);
    return true;
}

bool hosts_resolve(struct hosts *hosts, struct run_options *options)
{
    int sum;

    *hosts = (struct hosts){0};
    if (!options->hosts) {
        hosts->host    = ski_calloc(1, sizeof *hosts->host);
        hosts->host[0] = (struct hosts_entry){strdup("localhost"), options->pes, true, false};
        hosts->count   = 1;
        return true;
    }
    if (!hosts_parse(hosts, options->hosts))
        return false;
    hosts_distribute(hosts, options->pes, options->threads);
    sum = hosts_trim(hosts, options->pes);
    hosts_drop_idle(hosts);
    if (!hosts_check(hosts, options, sum))
        return false;
    options->pes = sum;
    if (options->threads > sum)
        options->threads = sum;
    return true;
}

void hosts_free(struct hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        free(hosts->host[i].name);
    free(hosts->host);
}
