/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - see session.h. */
#include "transport/mpi/mpi_session.h"

#include <stdio.h>
#include <string.h>

/* MPIs differ in how long their texts may be; ours may be called with another's. */
#define MPI_VERSION_MAX 16384

struct ski_mpi ski_mpi = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int  mpi_uses;
static bool mpi_initialized_here; /* we have initialised it, and are to finalise it */
static bool mpi_finalized_here;   /* by us, perhaps not before exit (mpich.c) */

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
static bool mpi_check_library(char *reason)
{
    static char version[MPI_VERSION_MAX];
    int         length;

    MPI_Get_library_version(version, &length);
    if (ski_mpi_library.is_this(version)) {
        ski_mpi_library.label(version, ski_mpi.label, sizeof ski_mpi.label);
        return true;
    }
    snprintf(reason, SKI_MPI_REASON_MAX, "the program uses another MPI, not %s: %.*s",
             ski_mpi_library.name, (int)strcspn(version, "\n,"), version);
    return false;
}

/* Whether MPI_Init would find the others. */
static bool mpi_check_launcher(bool launched, char *reason)
{
    if (ski_mpi_library.launched())
        return true;
    if (ski_mpi_library.launched_by_other())
        snprintf(reason, SKI_MPI_REASON_MAX,
                 "the program was started by the launcher of %s, not of %s", ski_mpi_library.other,
                 ski_mpi_library.name);
    else if (launched)
        snprintf(reason, SKI_MPI_REASON_MAX, "the program was not started by the launcher of %s",
                 ski_mpi_library.name);
    else
        return true;
    return false;
}

static bool mpi_initialize(bool launched, char *reason)
{
    int before, after, error;

    MPI_Finalized(&after);
    if (after || mpi_finalized_here) {
        snprintf(reason, SKI_MPI_REASON_MAX,
                 "MPI has been finalised in this process, which is for good");
        return false;
    }
    MPI_Initialized(&before);
    if (before)
        return true;
    if (!mpi_check_launcher(launched, reason))
        return false;
    ski_mpi_library.prepare();
    error                = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &ski_mpi.level);
    mpi_initialized_here = error == MPI_SUCCESS;
    if (!mpi_initialized_here)
        snprintf(reason, SKI_MPI_REASON_MAX, "MPI_Init_thread: %.200s", ski_mpi_error(error));
    return mpi_initialized_here;
}

bool ski_mpi_session_begin(bool launched, char *reason)
{
    if (mpi_uses > 0) {
        mpi_uses++;
        return true;
    }
    if (!mpi_check_library(reason) || !mpi_initialize(launched, reason))
        return false;
    MPI_Query_thread(&ski_mpi.level);
    MPI_Comm_rank(MPI_COMM_WORLD, &ski_mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ski_mpi.size);
    ski_mpi.serialized = ski_mpi.level == MPI_THREAD_SERIALIZED;
    mpi_uses           = 1;
    return true;
}

void ski_mpi_session_end(void)
{
    int over;

    if (--mpi_uses > 0 || !mpi_initialized_here)
        return;
    MPI_Finalized(&over); /* by the program, which need not know that it is ours */
    if (!over)
        ski_mpi_library.finalize();
    mpi_finalized_here   = true;
    mpi_initialized_here = false;
}
