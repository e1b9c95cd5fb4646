/* SPDX-License-Identifier: Apache-2.0 */
/* openmpi.c - what is special about Open MPI (session.h). */
#include "transport/mpi/session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_this(const char *version)
{
    return strncmp(version, "Open MPI", 8) == 0;
}

/* "Open MPI v4.1.4, package: Debian OpenMPI, ident: ..." */
static void label(const char *version, char *to, size_t size)
{
    char number[32] = "";

    sscanf(version, "Open MPI v%31[^, ]", number);
    snprintf(to, size, "Open MPI %s", number);
}

/* mpirun says both, prterun and srun --mpi=pmix the first. */
static bool launched(void)
{
    return getenv("PMIX_NAMESPACE") || getenv("OMPI_COMM_WORLD_RANK");
}

static bool launched_by_other(void)
{
    return getenv("PMI_RANK") || getenv("PMI_FD");
}

/* Its plugins may expect its symbols to be global, which they are not in a library that
 * was loaded for a module. */
static void prepare(void)
{
    Dl_info info;

    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static void finalize(void)
{
    MPI_Finalize();
}

const struct ski_mpi_kind ski_mpi_kind = {
    .name              = "Open MPI",
    .other             = "MPICH",
    .is_this           = is_this,
    .label             = label,
    .launched          = launched,
    .launched_by_other = launched_by_other,
    .prepare           = prepare,
    .restarts          = true,
    .finalize          = finalize,
};
