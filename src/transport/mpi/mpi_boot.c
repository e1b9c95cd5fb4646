/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_boot.c - what boot/mpi_launcher.c gets from MPI under an MPI launcher.
 *
 * It uses communicators of its own: a copy of MPI_COMM_WORLD, and the part of it that shares
 * memory, ordered by rank.
 */
#include "boot/mpi_launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mpi/mpi_session.h"

_Static_assert(SKI_MPI_REASON_MAX == SKI_MPI_BOOT_REASON_MAX, "reasons are passed on");

static MPI_Comm boot_comm, local;
static int     *boot_local_ranks; /* see mpi_boot_list_local() */
static char     boot_error[SKI_MPI_REASON_MAX];

static skua_status mpi_boot_check(int error)
{
    if (error == MPI_SUCCESS)
        return SKUA_OK;
    snprintf(boot_error, sizeof boot_error, "%s", ski_mpi_error(error));
    return SKUA_ERR_SYSTEM;
}

/* Returns the ranks of the processes on this host, in the second half of the list; the first half
 * are their ranks in boot_local_comm. */
static int *mpi_boot_list_local(int count)
{
    MPI_Group group, group_near;
    int      *index = malloc(2 * (size_t)count * sizeof *index);

    if (!index)
        return NULL;
    for (int i = 0; i < count; i++)
        index[i] = i;
    MPI_Comm_group(boot_comm, &group);
    MPI_Comm_group(local, &group_near);
    MPI_Group_translate_ranks(group_near, count, index, group, index + count);
    MPI_Group_free(&group_near);
    MPI_Group_free(&group);
    return index;
}

static void mpi_boot_end(void)
{
    MPI_Comm_free(&local);
    MPI_Comm_free(&boot_comm);
    free(boot_local_ranks);
    boot_local_ranks = NULL;
    ski_mpi_session_end();
}

static skua_status mpi_boot_begin(int *rank, int *size, const int **near_of, int *local_count,
                                  char *reason)
{
    if (!ski_mpi_session_begin(false, reason))
        return SKUA_ERR_UNSUPPORTED;
    MPI_Comm_dup(MPI_COMM_WORLD, &boot_comm);
    MPI_Comm_set_errhandler(boot_comm, MPI_ERRORS_RETURN);
    MPI_Comm_split_type(boot_comm, MPI_COMM_TYPE_SHARED, ski_mpi.rank, MPI_INFO_NULL, &local);
    MPI_Comm_size(local, local_count);
    boot_local_ranks = mpi_boot_list_local(*local_count);
    if (!boot_local_ranks) {
        snprintf(reason, SKI_MPI_REASON_MAX, "out of memory");
        mpi_boot_end();
        return SKUA_ERR_NOMEM;
    }
    *near_of = boot_local_ranks + *local_count;
    *rank    = ski_mpi.rank;
    *size    = ski_mpi.size;
    return SKUA_OK;
}

static skua_status mpi_boot_gather(const void *mine, size_t bytes, void *of_all)
{
    return mpi_boot_check(bytes > INT_MAX ? MPI_ERR_COUNT
                                          : MPI_Allgather(mine, (int)bytes, MPI_BYTE, of_all,
                                                          (int)bytes, MPI_BYTE, boot_comm));
}

static const char *mpi_boot_last_error(void)
{
    return boot_error;
}

SKUA_API const struct ski_mpi_boot ski_mpi_boot = {
    .version = SKI_MPI_BOOT_VERSION,
    .begin   = mpi_boot_begin,
    .gather  = mpi_boot_gather,
    .reason  = mpi_boot_last_error,
    .end     = mpi_boot_end,
};
