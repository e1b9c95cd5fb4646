/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - see session.h. */
#include "transport/mpi/session.h"

#include <stdio.h>
#include <string.h>

/* MPIs differ in how long their texts may be; ours may be called with another's. */
#define VERSION_MOST 16384

struct ski_mpi ski_mpi = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int  uses;
static bool ours;  /* we have initialised it, and are to finalise it */
static bool ended; /* by us, perhaps not before exit (mpich.c) */

const char *ski_mpi_error(int error)
{
    static _Thread_local char text[MPI_MAX_ERROR_STRING];
    int                       length;

    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "MPI error %d", error);
    return text;
}

/* Whether the library that our calls reach is the one that we were compiled for.  This
 * call may come before MPI_Init, and is the same in all MPIs. */
static bool is_this_library(char *why)
{
    static char version[VERSION_MOST];
    int         length;

    MPI_Get_library_version(version, &length);
    if (ski_mpi_kind.is_this(version)) {
        ski_mpi_kind.label(version, ski_mpi.label, sizeof ski_mpi.label);
        return true;
    }
    snprintf(why, SKI_MPI_WHY, "the program uses another MPI, not %s: %.*s", ski_mpi_kind.name,
             (int)strcspn(version, "\n,"), version);
    return false;
}

/* Whether MPI_Init would find the others. */
static bool is_its_launcher(bool launched, char *why)
{
    if (ski_mpi_kind.launched())
        return true;
    if (ski_mpi_kind.launched_by_other())
        snprintf(why, SKI_MPI_WHY, "the program was started by the launcher of %s, not of %s",
                 ski_mpi_kind.other, ski_mpi_kind.name);
    else if (launched)
        snprintf(why, SKI_MPI_WHY, "the program was not started by the launcher of %s",
                 ski_mpi_kind.name);
    else
        return true;
    return false;
}

static bool initialise(bool launched, char *why)
{
    int before, after, error;

    MPI_Finalized(&after);
    if (after || ended) {
        snprintf(why, SKI_MPI_WHY, "MPI has been finalised in this process, which is for good");
        return false;
    }
    MPI_Initialized(&before);
    if (before)
        return true;
    if (!is_its_launcher(launched, why))
        return false;
    ski_mpi_kind.prepare();
    error = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &ski_mpi.level);
    ours  = error == MPI_SUCCESS;
    if (!ours)
        snprintf(why, SKI_MPI_WHY, "MPI_Init_thread: %.200s", ski_mpi_error(error));
    return ours;
}

bool ski_mpi_session_begin(bool launched, char *why)
{
    if (uses > 0) {
        uses++;
        return true;
    }
    if (!is_this_library(why) || !initialise(launched, why))
        return false;
    MPI_Query_thread(&ski_mpi.level);
    MPI_Comm_rank(MPI_COMM_WORLD, &ski_mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ski_mpi.size);
    ski_mpi.in_turns = ski_mpi.level == MPI_THREAD_SERIALIZED;
    uses             = 1;
    return true;
}

void ski_mpi_session_end(void)
{
    int over;

    if (--uses > 0 || !ours)
        return;
    MPI_Finalized(&over); /* by the program, which need not know that it is ours */
    if (!over)
        ski_mpi_kind.finalize();
    ended = true;
    ours  = false;
}
