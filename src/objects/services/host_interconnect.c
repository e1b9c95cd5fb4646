/* SPDX-License-Identifier: Apache-2.0 */
/* host_interconnect.c - see host_interconnect.h; and the calls of skua/topology.h on it. */
#include "objects/services/host_interconnect.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <skua/topology.h>

#include "base/config.h"
#include "base/interconnect.h"
#include "base/memory.h"
#include "core/pe/pe.h"
#include "objects/services/host_topology.h"

#define INTERCONNECT_KEY "skua.node"

/* The data that a host publishes: the texts end with a zero. */
struct interconnect_node {
    char name[64];
    char address[SKI_INTERCONNECT_TEXT]; /* of Slurm, or "" */
};

/* A host of the job, as this process knows it. */
struct interconnect_host {
    struct interconnect_node told;
    int                      node; /* of the interconnect, or -1 */
};

static struct {
    const struct ski_boot    *boot;
    struct interconnect_node  here;
    struct ski_interconnect   of;
    bool                      file; /* `of` comes from SKUA_TOPOLOGY */
    _Atomic bool              ready;
    pthread_mutex_t           lock;
    struct interconnect_host *host;
} interconnect = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- at the start -------------------------------------------------------------------- */

static bool interconnect_is_auto(void)
{
    return strcmp(ski_config.topology, "auto") == 0;
}

static void interconnect_name_here(struct interconnect_node *here)
{
    const char *name = getenv("SLURMD_NODENAME"), *address = getenv("SLURM_TOPOLOGY_ADDR");

    *here = (struct interconnect_node){.name = ""};
    if (name && *name)
        snprintf(here->name, sizeof here->name, "%s", name);
    else
        gethostname(here->name, sizeof here->name - 1);
    if (address && interconnect_is_auto() && strlen(address) < sizeof here->address)
        strcpy(here->address, address);
}

static skua_status interconnect_read_file(const struct ski_job *job)
{
    char        error[SKI_INTERCONNECT_TEXT];
    const char *name = interconnect.here.name;

    if (!ski_interconnect_read(&interconnect.of, ski_config.topology, error))
        return ski_fail(SKUA_ERR_INVAL, "SKUA_TOPOLOGY: %s", error);
    interconnect.file = true;
    if (ski_interconnect_find(&interconnect.of, job->host_number, name) >= 0)
        return SKUA_OK;
    return ski_fail(SKUA_ERR_INVAL,
                    "SKUA_TOPOLOGY: %s has neither a node %s nor @%d, which is this host; add it, "
                    "or set SKUA_TOPOLOGY=none",
                    ski_config.topology, name, job->host_number);
}

skua_status ski_host_interconnect_publish(const struct ski_boot *boot)
{
    skua_status status = SKUA_OK;

    interconnect.boot = boot;
    interconnect_name_here(&interconnect.here);
    if (ski_interconnect_is_file(ski_config.topology))
        status = interconnect_read_file(boot->job);
    if (status == SKUA_OK && boot->job->hosts > 1 && boot->job->local_index[boot->process] == 0)
        status = ski_boot_put(boot, INTERCONNECT_KEY, &interconnect.here, sizeof interconnect.here);
    return status;
}

void ski_host_interconnect_close(void)
{
    ski_interconnect_destroy(&interconnect.of);
    free(interconnect.host);
    interconnect.host = NULL;
    interconnect.file = false;
    atomic_store(&interconnect.ready, false);
}

/* ---- the hosts ------------------------------------------------------------------------ */

/* Gets what a host has published.  Invalid values count as unknown. */
static void interconnect_ask(int number, struct interconnect_host *host)
{
    const struct ski_job *job   = interconnect.boot->job;
    size_t                bytes = sizeof host->told;

    host->told = (struct interconnect_node){.name = "?"};
    if (number == job->host_number)
        host->told = interconnect.here;
    else if (ski_boot_get(interconnect.boot, job->host_process[job->host_first[number]],
                          INTERCONNECT_KEY, &host->told, &bytes) != SKUA_OK ||
             bytes != sizeof host->told)
        host->told = (struct interconnect_node){.name = "?"};
    host->told.name[sizeof host->told.name - 1]       = 0;
    host->told.address[sizeof host->told.address - 1] = 0;
}

/* Makes the interconnect of the addresses of Slurm, if every host has a valid one. */
static void interconnect_use_addresses(int hosts)
{
    for (int i = 0; i < hosts; i++)
        if (!ski_interconnect_add_address(&interconnect.of, interconnect.host[i].told.address)) {
            ski_interconnect_destroy(&interconnect.of);
            return;
        }
    ski_interconnect_finish(&interconnect.of);
}

/* Returns the part of an address after its last dot: the name of the node. */
static const char *interconnect_address_name(const char *address)
{
    const char *dot = strrchr(address, '.');

    return dot ? dot + 1 : address;
}

/* The interconnect is unknown if it does not have every host. */
static void interconnect_find_hosts(int hosts)
{
    bool all = true;

    for (int i = 0; i < hosts; i++) {
        struct interconnect_host *host = &interconnect.host[i];

        host->node = ski_interconnect_find(
            &interconnect.of, i,
            interconnect.file ? host->told.name : interconnect_address_name(host->told.address));
        if (host->node < 0 && interconnect.file)
            ski_log(SKI_LOG_ERROR,
                    "SKUA_TOPOLOGY: %s has neither a node %s nor @%d, a host of the job: hops are "
                    "unknown",
                    ski_config.topology, host->told.name, i);
        all &= host->node >= 0;
    }
    if (!all)
        ski_interconnect_destroy(&interconnect.of);
}

static void interconnect_learn_hosts(void)
{
    int hosts = interconnect.boot->job->hosts;

    interconnect.host = ski_calloc((size_t)hosts, sizeof *interconnect.host);
    for (int i = 0; i < hosts; i++)
        interconnect_ask(i, &interconnect.host[i]);
    if (!interconnect.file && interconnect_is_auto())
        interconnect_use_addresses(hosts);
    interconnect_find_hosts(hosts);
}

static void interconnect_learn(void)
{
    /* Pairs with the release below. */
    if (atomic_load_explicit(&interconnect.ready, memory_order_acquire))
        return;
    pthread_mutex_lock(&interconnect.lock);
    if (!interconnect.host) {
        interconnect_learn_hosts();
        atomic_store_explicit(&interconnect.ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&interconnect.lock);
}

/* A host without a file and without an address of its own need not ask the others. */
static bool interconnect_is_described(void)
{
    return interconnect.file || interconnect.here.address[0];
}

bool ski_host_interconnect_known(void)
{
    if (!interconnect_is_described())
        return false;
    interconnect_learn();
    return interconnect.of.about.kind != SKUA_INTERCONNECT_UNKNOWN;
}

int ski_host_interconnect_hops(int a, int b)
{
    if (a == b)
        return 0;
    if (!ski_host_interconnect_known())
        return 1;
    return ski_interconnect_hops(&interconnect.of, interconnect.host[a].node,
                                 interconnect.host[b].node);
}

/* ---- the calls ------------------------------------------------------------------------ */

const char *skua_host_name(int host)
{
    ski_host_topology_check(__func__, host);
    interconnect_learn();
    return interconnect.host[host].told.name;
}

void skua_interconnect_get(skua_interconnect *of, size_t bytes)
{
    skua_interconnect now = {.kind = SKUA_INTERCONNECT_UNKNOWN};

    SKI_SELF();
    if (ski_host_interconnect_known())
        now = interconnect.of.about;
    memset(of, 0, bytes);
    memcpy(of, &now, bytes < sizeof now ? bytes : sizeof now);
}

const char *skua_host_switch(int host, int level)
{
    int found;

    ski_host_topology_check(__func__, host);
    if (level < 0)
        ski_misuse("skua_host_switch: level %d is negative; level 0 is the switch of a host",
                   level);
    if (!ski_host_interconnect_known() || interconnect.of.about.kind != SKUA_INTERCONNECT_TREE)
        return NULL;
    found = ski_interconnect_switch(&interconnect.of, interconnect.host[host].node, level);
    return found < 0 ? NULL : interconnect.of.link[found].name;
}

/* Returns the dimensions of the torus, or 0. */
static int interconnect_torus_dims(void)
{
    return ski_host_interconnect_known() ? interconnect.of.about.dims : 0;
}

int skua_host_coord(int host, int coord[SKUA_TORUS_DIMS])
{
    int dims;

    ski_host_topology_check(__func__, host);
    dims = interconnect_torus_dims();
    for (int d = 0; d < dims; d++)
        coord[d] = interconnect.of.node[interconnect.host[host].node].coord[d];
    return dims;
}

int skua_host_at(const int coord[SKUA_TORUS_DIMS])
{
    int hosts = SKI_SELF()->job->hosts, dims = interconnect_torus_dims();

    for (int host = 0; host < hosts && dims > 0; host++) {
        const int32_t *at = interconnect.of.node[interconnect.host[host].node].coord;
        int            d  = 0;

        while (d < dims && at[d] == coord[d])
            d++;
        if (d == dims)
            return host;
    }
    return -1;
}

int skua_host_hops(int a, int b)
{
    ski_host_topology_check(__func__, a);
    ski_host_topology_check(__func__, b);
    return ski_host_interconnect_hops(a, b);
}

int skua_hops(int a, int b)
{
    ski_host_topology_check_pe(__func__, a);
    ski_host_topology_check_pe(__func__, b);
    return ski_host_interconnect_hops(skua_host_of(a), skua_host_of(b));
}
