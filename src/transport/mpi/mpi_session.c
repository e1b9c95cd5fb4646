/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_session.c - see mpi_session.h. */
#include "transport/mpi/mpi_session.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI libraries differ in the length of this text, and the call may reach another library. */
#define MPI_VERSION_MAX 16384

struct ski_mpi ski_mpi = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int  mpi_uses;
static bool mpi_initialized_here; /* Skua has initialised MPI, and is to finalize it at exit */

const char *ski_mpi_error(int error)
{
    static _Thread_local char text[MPI_MAX_ERROR_STRING];
    int                       length;

    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "MPI error %d", error);
    return text;
}

/* Returns whether the library that calls reach is the one that this module was compiled for. The
 * call is allowed before MPI_Init and is the same in all MPI libraries. */
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

/* Returns whether MPI_Init would find the other processes. */
static bool mpi_check_launcher(bool launched, char *reason)
{
    if (ski_mpi_library.launched())
        return true;
    if (ski_mpi_library.launched_by_other())
        snprintf(reason, SKI_MPI_REASON_MAX,
                 "the program was started by the launcher of %s, not of %s", ski_mpi_library.other,
                 ski_mpi_library.name);
    else if (launched)
        snprintf(reason, SKI_MPI_REASON_MAX,
                 "the program was not started by the launcher of %s: start it by mpirun or mpiexec "
                 "of that MPI instead of skuarun",
                 ski_mpi_library.name);
    else
        return true;
    return false;
}

/* Initialises MPI unless the program has.  Returns false, and writes the reason, if MPI cannot be
 * used. */
static bool mpi_initialize(bool launched, char *reason)
{
    int before, after, error;

    MPI_Finalized(&after);
    if (after) {
        snprintf(reason, SKI_MPI_REASON_MAX,
                 "MPI has been finalised in this process and cannot be initialised again");
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
    ski_mpi.serialized = ski_mpi.level == MPI_THREAD_SERIALIZED ||
                         (ski_mpi.level == MPI_THREAD_MULTIPLE && ski_mpi_library.unordered);
    mpi_uses = 1;
    return true;
}

static void mpi_finalize_at_exit(void)
{
    int over;

    MPI_Finalized(&over); /* the program may have done it */
    if (!over)
        ski_mpi_library.finalize();
}

void ski_mpi_session_end(void)
{
    static bool at_exit;
    int         over;

    assert(mpi_uses > 0);
    if (--mpi_uses > 0 || !mpi_initialized_here)
        return;
    MPI_Finalized(&over);
    if (!over)
        ski_mpi_library.leave();
    if (!at_exit)
        at_exit = atexit(mpi_finalize_at_exit) == 0;
}
