/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - see mpi.h. */
#include "boot/mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/module.h"

static const struct ski_mpi_boot *mpi;

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

skua_status_t ski_mpi_start(struct ski_mpi_job *job)
{
    char why[2][SKI_MPI_BOOT_WHY];

    for (int i = 0; i < 2; i++) {
        const struct ski_mpi_boot *found = load(candidate(i), why[i], sizeof why[i]);

        if (found &&
            found->begin(&job->rank, &job->size, &job->near, &job->n_near, why[i]) == SKUA_OK) {
            mpi = found;
            return SKUA_OK;
        }
    }
    return ski_refuse(SKUA_ERR_UNSUPPORTED,
                      "cannot learn from MPI which processes are the job (%s: %s; %s: %s)",
                      candidate(0), why[0], candidate(1), why[1]);
}

/* ---- the job ------------------------------------------------------------------------ */

static skua_status_t checked(const char *what, skua_status_t status)
{
    return status == SKUA_OK ? SKUA_OK : ski_refuse(status, "MPI: %s: %s", what, mpi->why());
}

skua_status_t ski_mpi_share(void *blob, size_t bytes)
{
    return checked("telling the processes of a host", mpi->share(blob, bytes));
}

skua_status_t ski_mpi_gather(const void *mine, size_t bytes, void *all)
{
    return checked("telling all processes", mpi->gather(mine, bytes, all));
}

skua_status_t ski_mpi_barrier(void)
{
    return checked("a barrier", mpi->barrier());
}

skua_status_t ski_mpi_barrier_near(void)
{
    return checked("a barrier of a host", mpi->barrier_near());
}

void ski_mpi_end(void)
{
    mpi->end();
    mpi = NULL;
}
