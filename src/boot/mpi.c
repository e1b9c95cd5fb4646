/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - see mpi.h. */
#include "boot/mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/module.h"

#define KEY_MOST 32

static const struct ski_mpi_boot *mpi;

/* What MPI says of the job. */
static struct {
    int        rank, size;
    const int *near; /* the ranks on this host, ours among them, sorted */
    int        n_near;
} job;

/* ---- which MPI ----------------------------------------------------------------- */

/* The likelier one first, so that the other's library is not loaded for nothing. */
static const char *candidate(int i)
{
    static const char *const names[]     = {"mpi-openmpi", "mpi-mpich"};
    bool                     has_openmpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    bool                     has_other   = !has_openmpi && dlsym(RTLD_DEFAULT, "MPI_Init");
    bool pmi = (getenv("PMI_RANK") || getenv("PMI_FD")) && !getenv("PMIX_NAMESPACE");

    return names[(i + (has_other || (pmi && !has_openmpi))) % 2];
}

static const struct ski_mpi_boot *load(const char *name, char *why, size_t size)
{
    void                      *library = ski_module_open(name, why, size);
    const struct ski_mpi_boot *found;

    if (!library)
        return NULL;
    found = dlsym(library, SKI_MPI_BOOT_SYMBOL);
    if (found && found->version == SKI_MPI_BOOT_VERSION)
        return found;
    snprintf(why, size, "it is of another version of Skua");
    return NULL;
}

bool ski_mpi_started_us(void)
{
    if (strcmp(ski_config.boot, "mpi") == 0)
        return true;
    return (getenv("PMI_RANK") || getenv("PMI_FD")) && !getenv("PMIX_NAMESPACE");
}

const char *ski_mpi_missing(void)
{
    char why[SKI_MPI_BOOT_WHY];

    for (int i = 0; i < 2; i++)
        if (load(candidate(i), why, sizeof why))
            return NULL;
    return "the modules for MPI (skua-mpi-openmpi.so, skua-mpi-mpich.so) cannot be loaded";
}

static skua_status_t find_mpi(void)
{
    char why[2][SKI_MPI_BOOT_WHY];

    for (int i = 0; i < 2; i++) {
        const struct ski_mpi_boot *found = load(candidate(i), why[i], sizeof why[i]);

        if (found &&
            found->begin(&job.rank, &job.size, &job.near, &job.n_near, why[i]) == SKUA_OK) {
            mpi = found;
            return SKUA_OK;
        }
    }
    return ski_fail(SKUA_ERR_UNSUPPORTED,
                    "cannot learn from MPI which processes are the job (%s: %s; %s: %s)",
                    candidate(0), why[0], candidate(1), why[1]);
}

/* ---- the job ------------------------------------------------------------------------ */

static skua_status_t checked(const char *what, skua_status_t status)
{
    return status == SKUA_OK ? SKUA_OK : ski_fail(status, "MPI: %s: %s", what, mpi->why());
}

static skua_status_t gather(const void *mine, size_t bytes, void *all)
{
    return checked("telling all processes", mpi->gather(mine, bytes, all));
}

/* ---- as a foreign launcher (external_launcher.h) ------------------------------------------------
 */

/* What was put since the last barrier, and what all have put: MPI has nothing to ask a busy
 * process with, so barriers take it to everybody. */
struct entry {
    struct entry *next;
    int           process;
    uint32_t      bytes;
    char          key[KEY_MOST];
    char          value[];
};

static struct entry *put_here, *known;

static struct entry *new_entry(int process, const char *key, const void *value, size_t bytes)
{
    struct entry *entry = ski_calloc(1, sizeof *entry + bytes);

    entry->process = process;
    entry->bytes   = (uint32_t)bytes;
    snprintf(entry->key, sizeof entry->key, "%s", key);
    memcpy(entry->value, value, bytes);
    return entry;
}

static void drop(struct entry **list)
{
    while (*list) {
        struct entry *gone = *list;
        *list              = gone->next;
        free(gone);
    }
}

static skua_status_t put(const char *key, const void *value, size_t bytes)
{
    struct entry *entry = new_entry(job.rank, key, value, bytes);

    entry->next = put_here;
    put_here    = entry;
    return SKUA_OK;
}

static skua_status_t get(int process, const char *key, void *value, size_t *bytes)
{
    const struct entry *entry = known;

    while (entry && (entry->process != process || strcmp(entry->key, key) != 0))
        entry = entry->next;
    if (!entry || entry->bytes > *bytes)
        return ski_fail(SKUA_ERR_UNREACH, "MPI: process %d does not say its %s", process, key);
    *bytes = entry->bytes;
    memcpy(value, entry->value, entry->bytes);
    return SKUA_OK;
}

/* One record for each process, all of one size: an entry, or nothing. */
static skua_status_t exchange(size_t most)
{
    size_t        record = (sizeof(struct entry) + most + 7) & ~(size_t)7; /* as aligned */
    char         *mine   = ski_calloc(1, record);
    char         *all    = ski_calloc((size_t)job.size, record);
    struct entry *entry  = put_here;
    skua_status_t status;

    if (entry) {
        memcpy(mine, entry, sizeof *entry + entry->bytes);
        put_here = entry->next;
        free(entry);
    }
    status = gather(mine, record, all);
    for (int i = 0; status == SKUA_OK && i < job.size; i++) {
        const struct entry *theirs = (const struct entry *)(void *)(all + (size_t)i * record);
        if (theirs->key[0] && theirs->bytes <= most) {
            struct entry *kept = new_entry(i, theirs->key, theirs->value, theirs->bytes);
            kept->next         = known;
            known              = kept;
        }
    }
    free(mine);
    free(all);
    return status;
}

/* Rounds of entries, until nobody has any. */
static skua_status_t barrier(void)
{
    uint64_t     *sizes  = ski_calloc((size_t)job.size, sizeof *sizes);
    uint64_t      most   = 1;
    skua_status_t status = SKUA_OK;

    while (status == SKUA_OK && most > 0) {
        uint64_t mine = put_here ? put_here->bytes + 1 : 0; /* 1: there is one */

        status = gather(&mine, sizeof mine, sizes);
        most   = 0;
        for (int i = 0; i < job.size; i++)
            most = sizes[i] > most ? sizes[i] : most;
        if (status == SKUA_OK && most > 0)
            status = exchange(most);
    }
    free(sizes);
    return status;
}

static skua_status_t begin(int *rank, int *size, int **near, int *here, bool *one_host)
{
    skua_status_t status = find_mpi();

    if (status != SKUA_OK)
        return status;
    *rank     = job.rank;
    *size     = job.size;
    *here     = job.n_near;
    *one_host = job.n_near == job.size;
    *near     = ski_malloc((size_t)job.n_near * sizeof **near);
    memcpy(*near, job.near, (size_t)job.n_near * sizeof **near);
    return SKUA_OK;
}

static void end(void)
{
    drop(&put_here);
    drop(&known);
    mpi->end();
    mpi = NULL;
}

const struct ski_foreign ski_mpi_launcher = {begin, end, barrier, put, get};
