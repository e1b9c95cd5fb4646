/* SPDX-License-Identifier: Apache-2.0 */
/* openmpi.c - what is special about Open MPI (mpi_session.h). */
#include "transport/mpi/mpi_session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Up to 5.0.10 requests are completed with relaxed atomics, in the library and in its modules
 * (open-mpi/ompi#11665, #13799). The order of stores and of loads of x86-64 hides this. */
#ifdef __x86_64__
#define OPENMPI_UNORDERED false
#else
#define OPENMPI_UNORDERED true
#endif

static bool openmpi_is_this(const char *version)
{
    return strncmp(version, "Open MPI", 8) == 0;
}

/* "Open MPI v4.1.4, package: Debian OpenMPI, ident: ..." */
static void openmpi_label(const char *version, char *to, size_t size)
{
    char number[32] = "";

    sscanf(version, "Open MPI v%31[^, ]", number);
    snprintf(to, size, "Open MPI %s", number);
}

/* mpirun sets both, prterun and srun --mpi=pmix the first. */
static bool openmpi_launched(void)
{
    return getenv("PMIX_NAMESPACE") || getenv("OMPI_COMM_WORLD_RANK");
}

static bool openmpi_launched_by_other(void)
{
    return getenv("PMI_RANK") || getenv("PMI_FD");
}

/* The plugins of Open MPI may expect its symbols to be global, which they are not in a library that
 * was loaded for a module. */
static void openmpi_prepare(void)
{
    Dl_info info;

    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static void openmpi_leave(void)
{
}

static void openmpi_finalize(void)
{
    MPI_Finalize();
}

const struct ski_mpi_library ski_mpi_library = {
    .name              = "Open MPI",
    .other             = "MPICH",
    .is_this           = openmpi_is_this,
    .label             = openmpi_label,
    .launched          = openmpi_launched,
    .launched_by_other = openmpi_launched_by_other,
    .prepare           = openmpi_prepare,
    .persistent_recv   = true,
    .unordered         = OPENMPI_UNORDERED,
    .leave             = openmpi_leave,
    .finalize          = openmpi_finalize,
};
