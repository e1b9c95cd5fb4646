/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_launcher.c - see mpi_launcher.h. */
#include "boot/mpi_launcher.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/environment.h"
#include "base/module.h"

#define MPI_LAUNCHER_KEY_MAX SKI_EXTERNAL_KEY

static const struct ski_mpi_boot *mpi_module;

/* The job, as MPI describes it. */
static struct {
    int        rank, size;
    const int *local; /* the ranks on this host, ours among them, sorted */
    int        local_count;
} mpi_job;

/* ---- which MPI ----------------------------------------------------------------- */

/* Returns the modules in the order of their likelihood, so that the library of the other MPI is not
 * loaded without need. */
static const char *mpi_launcher_candidate(int i)
{
    static const char *const names[]     = {"mpi-openmpi", "mpi-mpich"};
    bool                     has_openmpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    bool                     has_other   = !has_openmpi && dlsym(RTLD_DEFAULT, "MPI_Init");
    bool pmi = (getenv("PMI_RANK") || getenv("PMI_FD")) && !getenv("PMIX_NAMESPACE");

    return names[(i + (has_other || (pmi && !has_openmpi))) % 2];
}

/* The libraries read the variables that ski_module_open() sets when they are loaded. */
static const struct ski_mpi_boot *mpi_launcher_load(const char *name, char *reason, size_t size)
{
    static const char *const   prefix[] = {"UCX_", "IPATH_", NULL};
    struct ski_environment     environment;
    void                      *library;
    const struct ski_mpi_boot *found;

    ski_environment_save(&environment, prefix);
    library = ski_module_open(name, reason, size);
    ski_environment_restore(&environment);
    if (!library)
        return NULL;
    found = dlsym(library, SKI_MPI_BOOT_SYMBOL);
    if (found && found->version == SKI_MPI_BOOT_VERSION)
        return found;
    snprintf(reason, size, "it belongs to another version of Skua");
    return NULL;
}

bool ski_mpi_launcher_present(void)
{
    if (strcmp(ski_config.boot, "mpi") == 0)
        return true;
    return (getenv("PMI_RANK") || getenv("PMI_FD")) && !getenv("PMIX_NAMESPACE");
}

const char *ski_mpi_missing(void)
{
    char reason[SKI_MPI_BOOT_REASON_MAX];

    for (int i = 0; i < 2; i++)
        if (mpi_launcher_load(mpi_launcher_candidate(i), reason, sizeof reason))
            return NULL;
    return "the modules for MPI (skua-mpi-openmpi.so, skua-mpi-mpich.so) cannot be loaded";
}

/* Loads the module for the MPI that has started this process, and asks it for the processes of the
 * job. */
static skua_status mpi_launcher_find(void)
{
    char reason[2][SKI_MPI_BOOT_REASON_MAX];

    for (int i = 0; i < 2; i++) {
        const struct ski_mpi_boot *found =
            mpi_launcher_load(mpi_launcher_candidate(i), reason[i], sizeof reason[i]);

        if (found && found->begin(&mpi_job.rank, &mpi_job.size, &mpi_job.local,
                                  &mpi_job.local_count, reason[i]) == SKUA_OK) {
            mpi_module = found;
            return SKUA_OK;
        }
    }
    return ski_fail(SKUA_ERR_UNSUPPORTED,
                    "MPI does not tell which processes form the job (%s: %s; %s: %s)",
                    mpi_launcher_candidate(0), reason[0], mpi_launcher_candidate(1), reason[1]);
}

/* ---- the job ------------------------------------------------------------------------ */

static skua_status mpi_launcher_check(const char *what, skua_status status)
{
    return status == SKUA_OK ? SKUA_OK
                             : ski_fail(status, "MPI: %s: %s", what, mpi_module->reason());
}

static skua_status mpi_launcher_gather(const void *mine, size_t bytes, void *all)
{
    return mpi_launcher_check("exchanging values", mpi_module->gather(mine, bytes, all));
}

/* ---- as an external launcher ------------------------------------------------------- */

/* A value that was put.  mpi_unsent are those of this process since the last barrier, mpi_received
 * those of all processes. */
struct mpi_launcher_entry {
    struct mpi_launcher_entry *next;
    int                        process;
    uint32_t                   bytes;
    char                       key[MPI_LAUNCHER_KEY_MAX];
    char                       value[];
};

static struct mpi_launcher_entry *mpi_unsent, *mpi_received;

static struct mpi_launcher_entry *mpi_launcher_new_entry(int process, const char *key,
                                                         const void *value, size_t bytes)
{
    struct mpi_launcher_entry *entry = ski_calloc(1, sizeof *entry + bytes);

    entry->process = process;
    entry->bytes   = (uint32_t)bytes;
    snprintf(entry->key, sizeof entry->key, "%s", key);
    memcpy(entry->value, value, bytes);
    return entry;
}

static void mpi_launcher_drop(struct mpi_launcher_entry **list)
{
    while (*list) {
        struct mpi_launcher_entry *gone = *list;
        *list                           = gone->next;
        free(gone);
    }
}

static skua_status mpi_launcher_put(const char *key, const void *value, size_t bytes)
{
    struct mpi_launcher_entry *entry = mpi_launcher_new_entry(mpi_job.rank, key, value, bytes);

    entry->next = mpi_unsent;
    mpi_unsent  = entry;
    return SKUA_OK;
}

static skua_status mpi_launcher_get(int process, const char *key, void *value, size_t *bytes)
{
    const struct mpi_launcher_entry *entry = mpi_received;

    while (entry && (entry->process != process || strcmp(entry->key, key) != 0))
        entry = entry->next;
    if (!entry || entry->bytes > *bytes)
        return ski_fail(SKUA_ERR_UNREACH, "MPI: process %d has no %s", process, key);
    *bytes = entry->bytes;
    memcpy(value, entry->value, entry->bytes);
    return SKUA_OK;
}

/* Exchanges one record of each process, all of the same size: an entry, or none. */
static skua_status mpi_launcher_exchange(size_t most)
{
    size_t record = (sizeof(struct mpi_launcher_entry) + most + 7) & ~(size_t)7; /* as aligned */
    char  *mine   = ski_calloc(1, record);
    char  *all    = ski_calloc((size_t)mpi_job.size, record);
    struct mpi_launcher_entry *entry = mpi_unsent;
    skua_status                status;

    if (entry) {
        memcpy(mine, entry, sizeof *entry + entry->bytes);
        mpi_unsent = entry->next;
        free(entry);
    }
    status = mpi_launcher_gather(mine, record, all);
    for (int i = 0; status == SKUA_OK && i < mpi_job.size; i++) {
        const struct mpi_launcher_entry *theirs =
            (const struct mpi_launcher_entry *)(void *)(all + (size_t)i * record);
        if (theirs->key[0] && theirs->bytes <= most) {
            struct mpi_launcher_entry *kept =
                mpi_launcher_new_entry(i, theirs->key, theirs->value, theirs->bytes);
            kept->next   = mpi_received;
            mpi_received = kept;
        }
    }
    free(mine);
    free(all);
    return status;
}

/* Exchanges entries in rounds until no process has any left. */
static skua_status mpi_launcher_barrier(void)
{
    uint64_t   *sizes  = ski_calloc((size_t)mpi_job.size, sizeof *sizes);
    uint64_t    most   = 1;
    skua_status status = SKUA_OK;

    while (status == SKUA_OK && most > 0) {
        uint64_t mine = mpi_unsent ? mpi_unsent->bytes + 1 : 0; /* an entry may be empty */

        status = mpi_launcher_gather(&mine, sizeof mine, sizes);
        most   = 0;
        for (int i = 0; i < mpi_job.size; i++)
            most = sizes[i] > most ? sizes[i] : most;
        if (status == SKUA_OK && most > 0)
            status = mpi_launcher_exchange(most);
    }
    free(sizes);
    return status;
}

static skua_status mpi_launcher_begin(int *rank, int *size, int **local, int *local_processes,
                                      bool *one_host)
{
    skua_status status = mpi_launcher_find();

    if (status != SKUA_OK)
        return status;
    *rank            = mpi_job.rank;
    *size            = mpi_job.size;
    *local_processes = mpi_job.local_count;
    *one_host        = mpi_job.local_count == mpi_job.size;
    *local           = ski_malloc((size_t)mpi_job.local_count * sizeof **local);
    memcpy(*local, mpi_job.local, (size_t)mpi_job.local_count * sizeof **local);
    return SKUA_OK;
}

static void mpi_launcher_end(bool last)
{
    (void)last; /* MPI is finalised at exit */
    mpi_launcher_drop(&mpi_unsent);
    mpi_launcher_drop(&mpi_received);
    mpi_module->end();
    mpi_module = NULL;
}

const struct ski_external_launcher ski_mpi_launcher = {
    mpi_launcher_begin, mpi_launcher_end, mpi_launcher_barrier, mpi_launcher_put, mpi_launcher_get};
