/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.c - see hosts.h. */
#include "hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static bool refuse(const char *list, const char *why, const char *what)
{
    fprintf(stderr, "skuarun: --hosts=%s: %s%s (skuarun --help)\n", list, why, what);
    return false;
}

/* localhost, or what we are called, with the domain or without. */
static bool is_ours(const char *name)
{
    char   own[HOST_NAME_MAX + 1] = "";
    size_t n;

    gethostname(own, sizeof own - 1);
    n = strcspn(own, ".");
    return strcmp(name, "localhost") == 0 || strcmp(name, own) == 0 ||
           (strlen(name) == n && strncmp(name, own, n) == 0);
}

static bool is_known(const struct hosts *hosts, const struct host *host)
{
    for (int i = 0; i < hosts->count; i++)
        if (strcmp(hosts->host[i].name, host->name) == 0 || (hosts->host[i].local && host->local))
            return true;
    return false;
}

/* The number behind a name; 0: it is none. */
static int number(const char *text)
{
    char *end;
    long  n = strtol(text, &end, 10);

    return *end || end == text || n < 1 || n > PES_MOST ? 0 : (int)n;
}

/* Takes one entry, which becomes the hosts'. */
static bool add(struct hosts *hosts, char *entry, const char *list)
{
    char *colon = strrchr(entry, ':');
    int   pes   = colon ? number(colon + 1) : 0;

    if (colon)
        *colon = '\0';
    hosts->host = ski_realloc(hosts->host, ((size_t)hosts->count + 1) * sizeof *hosts->host);
    hosts->host[hosts->count] = (struct host){entry, pes, is_ours(entry)};
    if (!entry[0] || entry[0] == '-') /* which ssh would take for an option */
        return refuse(list, "expected names of hosts, as in a:4,b:4", "");
    if (colon && !pes)
        return refuse(list, "expected a number of PEs behind ", entry);
    if (is_known(hosts, &hosts->host[hosts->count]))
        return refuse(list, "names a host twice: ", entry);
    hosts->count++;
    return true;
}

static bool parse(struct hosts *hosts, const char *list)
{
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");

        if (!add(hosts, strndup(at, n), list))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

/* A share of @p pes for each of those without a number, in whole processes. */
static void share_out(struct hosts *hosts, int pes, int threads)
{
    int left = pes, without = 0;

    for (int i = 0; i < hosts->count; i++) {
        without += hosts->host[i].pes == 0;
        left -= hosts->host[i].pes;
    }
    for (int i = 0; i < hosts->count; i++) {
        int share = without ? (left + without - 1) / without : 0;

        if (hosts->host[i].pes)
            continue;
        share = (share + threads - 1) / threads * threads;
        share = pes == 0 ? threads : share < left ? share : left;

        hosts->host[i].pes = share > 0 ? share : 0;
        left -= share;
        without--;
    }
}

/* Takes only so many of the PEs as -n says; returns how many there are. */
static int cut(struct hosts *hosts, int pes)
{
    int sum = 0;

    for (int i = 0; i < hosts->count; i++) {
        if (pes && sum + hosts->host[i].pes > pes)
            hosts->host[i].pes = pes - sum;
        sum += hosts->host[i].pes;
    }
    return sum;
}

/* Hosts for which nothing is left take no part. */
static void drop_idle(struct hosts *hosts)
{
    int kept = 0;

    for (int i = 0; i < hosts->count; i++) {
        if (hosts->host[i].pes)
            hosts->host[kept++] = hosts->host[i];
        else
            free(hosts->host[i].name);
    }
    hosts->count = kept;
}

static bool check(const struct hosts *hosts, const struct options *options, int sum)
{
    if (sum < options->pes)
        return refuse(options->hosts, "has fewer PEs than -n says", "");
    if (sum > PES_MOST)
        return refuse(options->hosts, "has more PEs than a job can have", "");
    for (int i = 0; i < hosts->count - 1; i++)
        if (hosts->host[i].pes % options->threads)
            return refuse(options->hosts, "the PEs are no multiple of those of a process (-t) on ",
                          hosts->host[i].name);
    return true;
}

bool hosts_settle(struct hosts *hosts, struct options *options)
{
    int sum;

    *hosts = (struct hosts){0};
    if (!options->hosts) {
        hosts->host    = ski_calloc(1, sizeof *hosts->host);
        hosts->host[0] = (struct host){strdup("localhost"), options->pes, true};
        hosts->count   = 1;
        return true;
    }
    if (!parse(hosts, options->hosts))
        return false;
    share_out(hosts, options->pes, options->threads);
    sum = cut(hosts, options->pes);
    drop_idle(hosts);
    if (!check(hosts, options, sum))
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
