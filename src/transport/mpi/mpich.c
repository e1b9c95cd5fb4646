/* SPDX-License-Identifier: Apache-2.0 */
/* mpich.c - what is special about MPICH, and the libraries that share its binary interface
 * (mpi_session.h). */
#include "transport/mpi/mpi_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Libraries that are derived from MPICH, such as MVAPICH and Intel MPI, have names of their own. */
static bool mpich_is_this(const char *version)
{
    return strncmp(version, "Open MPI", 8) != 0;
}

/* "MPICH Version:\t4.0.2\nMPICH Release date: ..." */
static void mpich_label(const char *version, char *to, size_t size)
{
    char number[32];

    if (sscanf(version, "MPICH Version: %31s", number) == 1)
        snprintf(to, size, "MPICH %s", number);
    else
        snprintf(to, size, "%.*s", (int)strcspn(version, "\n"), version);
}

/* mpiexec (hydra) sets both, srun --mpi=pmi2 the first. */
static bool mpich_launched(void)
{
    return getenv("PMI_RANK") || getenv("PMI_FD");
}

static bool mpich_launched_by_other(void)
{
    return getenv("PMIX_NAMESPACE") || getenv("OMPI_COMM_WORLD_RANK");
}

static void mpich_prepare(void)
{
}

/* Over UCX and TCP, MPI_Finalize() of MPICH 4.0 sometimes hangs: a process that has closed its
 * connections waits for the launcher and does not answer processes that are closing theirs. So
 * where the connection to the launcher is known, the process finalises PMI itself, in its protocol,
 * at exit, once all processes have left their job. */
static void mpich_leave_launcher(void)
{
    static const char leave[] = "cmd=finalize\n";
    int               fd      = atoi(getenv("PMI_FD"));
    char              answer[256];

    if (write(fd, leave, sizeof leave - 1) == (ssize_t)sizeof leave - 1 &&
        read(fd, answer, sizeof answer) < 0)
        fputs("skua: mpiexec does not answer\n", stderr);
}

static void mpich_leave(void)
{
    if (getenv("PMI_FD"))
        MPI_Barrier(MPI_COMM_WORLD);
}

static void mpich_finalize(void)
{
    if (getenv("PMI_FD"))
        mpich_leave_launcher();
    else
        MPI_Finalize();
}

const struct ski_mpi_library ski_mpi_library = {
    .name              = "MPICH",
    .other             = "Open MPI",
    .is_this           = mpich_is_this,
    .label             = mpich_label,
    .launched          = mpich_launched,
    .launched_by_other = mpich_launched_by_other,
    .prepare           = mpich_prepare,
    .persistent_recv   = false,
    .leave             = mpich_leave,
    .finalize          = mpich_finalize,
};
