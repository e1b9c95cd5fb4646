/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_session.h - MPI in this process: which code initialises it and which finalises it.
 *
 * The program may use MPI, too, and initialise it before Skua or after; a job may be started
 * through MPI (mpi_boot.c), carry its packets over it (mpi.c), or both.  So uses are counted: the
 * first one initialises MPI unless it is initialised.  If it did, MPI is finalised at exit, since a
 * process may join further jobs.
 *
 * Threads take turns, with a lock, if MPI provides only MPI_THREAD_SERIALIZED; and with
 * MPI_THREAD_MULTIPLE if the library is *unordered*: a receive of one thread is filled by any
 * thread that makes progress, which writes the data and then marks the request as complete without
 * a release; nor does MPI_Test acquire.  So on CPUs that reorder stores or loads MPI_Test returns
 * true while cache lines of the message still have their former contents.  With the lock the
 * unlock that follows the writes precedes the lock before the test: the data is there.
 *
 * An MPI that does not fit is never entered: another library that the program has loaded, as calls
 * would go to that one; or MPI under the launcher of another one, where MPI_Init either aborts or
 * finds no other process.
 */
#ifndef SKI_MPI_SESSION_H
#define SKI_MPI_SESSION_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

#define SKI_MPI_REASON_MAX                                                                         \
    256 /* bytes of an error text: SKI_REASON_MAX, SKI_MPI_BOOT_REASON_MAX                         \
         */

/** MPI in this process. */
extern struct ski_mpi {
    int             rank, size;
    int             level;      /* the thread support that MPI provides */
    bool            serialized; /* one thread at a time may call MPI, with the lock held */
    char            label[64];  /* "Open MPI 4.1.4" */
    pthread_mutex_t lock;
} ski_mpi;

/* What differs between MPI libraries: openmpi.c or mpich.c. */
extern const struct ski_mpi_library {
    const char *name, *other;             /* "Open MPI", "MPICH"     */
    bool (*is_this)(const char *version); /* from MPI_Get_library_version() */
    void (*label)(const char *version, char *label, size_t size); /* for the user */
    bool (*launched)(void);                                       /* by its own launcher */
    bool (*launched_by_other)(void);
    void (*prepare)(void); /* just before MPI_Init_thread */
    bool persistent_recv;  /* a persistent receive is cheaper than a new one */
    bool unordered;        /* completion does not order data between threads */

    /* If Skua initialised MPI: */
    void (*leave)(void);    /* in all processes, when they have left a job */
    void (*finalize)(void); /* at exit                                     */
} ski_mpi_library;

/** Begins a use of MPI. With @p launched an MPI launcher must have started the process, since there
 *  are other processes to reach. Returns false, with @p reason written, if MPI cannot be used. */
bool ski_mpi_session_begin(bool launched, char *reason);

/** Ends a use of MPI. */
void ski_mpi_session_end(void);

/** Returns the text of an error; valid until the next call by the same thread. */
const char *ski_mpi_error(int error);

/** Precedes calls of MPI where threads may meet. */
static inline void ski_mpi_enter(void)
{
    if (__builtin_expect(ski_mpi.serialized, 0))
        pthread_mutex_lock(&ski_mpi.lock);
}

/** Follows calls of MPI where threads may meet. */
static inline void ski_mpi_leave(void)
{
    if (__builtin_expect(ski_mpi.serialized, 0))
        pthread_mutex_unlock(&ski_mpi.lock);
}

#endif
