/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.c - what a job that an MPI launcher started learns from MPI (boot/mpi.h).
 *
 * In communicators of its own: a copy of MPI_COMM_WORLD, and the part of it that shares
 * memory.  The copy is split by rank, so that the first in it has the lowest.
 */
#include "boot/mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mpi/session.h"

_Static_assert(SKI_MPI_WHY == SKI_MPI_BOOT_WHY, "reasons are passed on");

static MPI_Comm all, near;
static int     *list; /* of near ranks, see below */
static char     reason[SKI_MPI_WHY];

static skua_status_t checked(int error)
{
    if (error == MPI_SUCCESS)
        return SKUA_OK;
    snprintf(reason, sizeof reason, "%s", ski_mpi_error(error));
    return SKUA_ERR_SYSTEM;
}

/* The ranks in `all' of those of `near' come second in the list; its first
 * half is their numbers there. */
static int *list_near(int count)
{
    MPI_Group group, group_near;
    int      *index = malloc(2 * (size_t)count * sizeof *index);

    if (!index)
        return NULL;
    for (int i = 0; i < count; i++)
        index[i] = i;
    MPI_Comm_group(all, &group);
    MPI_Comm_group(near, &group_near);
    MPI_Group_translate_ranks(group_near, count, index, group, index + count);
    MPI_Group_free(&group_near);
    MPI_Group_free(&group);
    return index;
}

static void end(void)
{
    MPI_Comm_free(&near);
    MPI_Comm_free(&all);
    free(list);
    list = NULL;
    ski_mpi_session_end();
}

static skua_status_t begin(int *rank, int *size, const int **near_of, int *n_near, char *why)
{
    if (!ski_mpi_session_begin(false, why))
        return SKUA_ERR_UNSUPPORTED;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, ski_mpi.rank, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, n_near);
    list = list_near(*n_near);
    if (!list) {
        snprintf(why, SKI_MPI_WHY, "out of memory");
        end();
        return SKUA_ERR_NOMEM;
    }
    *near_of = list + *n_near;
    *rank    = ski_mpi.rank;
    *size    = ski_mpi.size;
    return SKUA_OK;
}

static skua_status_t gather(const void *mine, size_t bytes, void *of_all)
{
    return checked(bytes > INT_MAX ? MPI_ERR_COUNT
                                   : MPI_Allgather(mine, (int)bytes, MPI_BYTE, of_all, (int)bytes,
                                                   MPI_BYTE, all));
}

static const char *why_it_failed(void)
{
    return reason;
}

SKUA_API const struct ski_mpi_boot ski_mpi_boot = {
    .version = SKI_MPI_BOOT_VERSION,
    .begin   = begin,
    .gather  = gather,
    .why     = why_it_failed,
    .end     = end,
};
