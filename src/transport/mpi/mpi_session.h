/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - MPI as this process has it: who initialises and who finalises.
 *
 * The program may use MPI too, and initialise it before us or after; a job may be
 * started through MPI (boot.c) and carry its packets over it (mpi.c), or either.
 * So uses are counted: the first initialises MPI unless somebody has, and the last
 * finalises it if we were the ones.
 *
 * An MPI that does not belong here is never entered.  Its library is another one
 * where the program has loaded another, since our calls then go to that; and MPI_Init
 * under the launcher of another MPI either aborts or finds itself alone.
 */
#ifndef SKI_MPI_SESSION_H
#define SKI_MPI_SESSION_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

#define SKI_MPI_REASON_MAX 256 /* bytes of a reason: SKI_WHY_MOST, SKI_MPI_BOOT_WHY */

extern struct ski_mpi {
    int             rank, size;
    int             level;      /* of threads, that the MPI gives                    */
    bool            serialized; /* one thread at a time may call it, with lock held   */
    char            label[64];  /* "Open MPI 4.1.4" */
    pthread_mutex_t lock;
} ski_mpi;

/* What differs between the MPIs: openmpi.c or mpich.c. */
extern const struct ski_mpi_library {
    const char *name, *other;                                     /* "Open MPI", "MPICH"     */
    bool (*is_this)(const char *version);                         /* by its own words        */
    void (*label)(const char *version, char *label, size_t size); /* for people              */
    bool (*launched)(void);                                       /* by a launcher of its own */
    bool (*launched_by_other)(void);
    void (*prepare)(void); /* just before MPI_Init    */
    bool persistent_recv;  /* a receive that was made is cheaper than a new one */

    void (*finalize)(void); /* where it was ours to initialise */
} ski_mpi_library;

/** Begin to use MPI.  With @p launched it must be that an MPI launcher started us,
 *  since there are other processes to be reached.  False: @p why says why not. */
bool ski_mpi_session_begin(bool launched, char *reason);

/** The end of a use. */
void ski_mpi_session_end(void);

/** The text of an error; valid until the thread asks for the next. */
const char *ski_mpi_error(int error);

/* Around calls of MPI, where threads may meet. */
static inline void ski_mpi_enter(void)
{
    if (__builtin_expect(ski_mpi.serialized, 0))
        pthread_mutex_lock(&ski_mpi.lock);
}

static inline void ski_mpi_leave(void)
{
    if (__builtin_expect(ski_mpi.serialized, 0))
        pthread_mutex_unlock(&ski_mpi.lock);
}

#endif
