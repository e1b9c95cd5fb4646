/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - initialisation and finalisation of the ARMCI layer, and its errors.
 *
 * ARMCI uses MPI and Skua: the program or this file initialises MPI, then a phase of Skua begins
 * (skua_init()), which uses the launcher of MPI to connect the processes. MPI implements the
 * messages and collectives of ARMCI; Skua implements access to memory. A process that waits in MPI
 * does not serve requests of other hosts, so a progress thread does if there is more than one host.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci_impl.h"
#include "mpi_order.h"

struct ski_armci_state ski_armci;

static const struct ski_armci_piece init_no_piece; /* contains no address */

void ski_armci_fail(const char *call, const char *format, ...)
{
    char    text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "armci: process %d: %s: %s\n", ski_armci.me, call, text);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Returns true if all processes of @p comm share memory. */
static bool init_one_host(MPI_Comm comm)
{
    const char *shared = getenv("SKUA_SHARED_MEMORY");
    MPI_Comm    host;
    int         here, all;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_size(comm, &all);
    MPI_Comm_free(&host);
    return here == all && !(shared && strcmp(shared, "0") == 0);
}

/* Begins the phase of Skua. The launcher of MPI binds processes to cores, so Skua does not, unless
 * the environment requests it. */
static void init_phase(const char *call, MPI_Comm comm)
{
    const char      *settings[6] = {"order=strict", "threads=1"};
    int              n           = 2;
    skua_init_params params      = {.size = sizeof params, .settings = settings};

    if (!getenv("SKUA_PIN"))
        settings[n++] = "pin=none";
    if (!getenv("SKUA_PROGRESS_THREAD") && !init_one_host(comm))
        settings[n++] = "progress_thread=1";
    settings[n] = NULL;
    if (skua_init(&params) != SKUA_OK)
        ski_armci_fail(call, "Skua cannot join the job; start it with mpirun, mpiexec or srun of "
                             "the MPI that the program is linked with");
}

/* Exchanges the PE and the domain of every process. */
static void init_processes(const char *call)
{
    int *pes = malloc((size_t)ski_armci.size * sizeof *pes), mine = skua_pe();

    if (skua_pes() != ski_armci.size)
        ski_armci_fail(call,
                       "the communicator has %d processes and the job has %d: all processes of "
                       "MPI_COMM_WORLD have to be in it",
                       ski_armci.size, skua_pes());
    ski_armci.process = calloc((size_t)ski_armci.size, sizeof *ski_armci.process);
    if (!pes || !ski_armci.process)
        ski_armci_fail(call, "no memory");
    MPI_Allgather(&mine, 1, MPI_INT, pes, 1, MPI_INT, ski_armci.world.comm);
    for (int i = 0; i < ski_armci.size; i++) {
        struct ski_armci_process *process = &ski_armci.process[i];

        process->last   = &init_no_piece;
        process->pe     = pes[i];
        process->domain = skua_host_of(pes[i]);
        process->near   = skua_shares_memory(pes[i]);
    }
    free(pes);
}

static void init_communicators(void)
{
    int first;

    MPI_Comm_split(ski_armci.world.comm, ski_armci.process[ski_armci.me].domain, ski_armci.me,
                   &ski_armci.domain);
    MPI_Comm_rank(ski_armci.domain, &first);
    MPI_Comm_split(ski_armci.world.comm, first == 0 ? 0 : MPI_UNDEFINED, ski_armci.me,
                   &ski_armci.masters);
}

static void init_notifications(const char *call)
{
    size_t bytes = (size_t)ski_armci.size * sizeof(skua_notify);

    ski_armci_check(call, skua_region_create(bytes, &ski_armci.notifications));
    memset(skua_region_local(ski_armci.notifications), 0, bytes);
}

static void init_locks(const char *call)
{
    ski_armci_check(call, skua_locks_create(1, &ski_armci.unaligned));
}

/* ---- programs that finalise MPI first ---------------------------------------------- */

/* MPI_Finalize() deletes the attributes of MPI_COMM_SELF before all else. One of them is ARMCI's,
 * so that ARMCI ends first if the program has not called ARMCI_Finalize(). */
static int init_attribute = MPI_KEYVAL_INVALID;

static int init_mpi_ends(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    if (ski_armci.starts > 0) {
        init_attribute   = MPI_KEYVAL_INVALID; /* MPI is deleting it */
        ski_armci.starts = 1;
        PARMCI_Finalize();
    }
    return MPI_SUCCESS;
}

static void init_watch_mpi(void)
{
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, init_mpi_ends, &init_attribute, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, init_attribute, NULL);
}

static void init_forget_mpi(void)
{
    if (init_attribute == MPI_KEYVAL_INVALID)
        return;
    MPI_Comm_delete_attr(MPI_COMM_SELF, init_attribute);
    MPI_Comm_free_keyval(&init_attribute);
}

/* ---- start and end ----------------------------------------------------------------- */

static int init_start(const char *call, MPI_Comm comm)
{
    if (ski_armci.starts++ > 0)
        return 0;
    MPI_Comm_rank(comm, &ski_armci.me);
    MPI_Comm_size(comm, &ski_armci.size);
    init_phase(call, comm);
    MPI_Comm_dup(comm, &ski_armci.world.comm);
    init_processes(call);
    ski_armci_group_fill(&ski_armci.world);
    ski_armci.preset = ski_armci.world;
    init_communicators();
    init_notifications(call);
    init_locks(call);
    init_watch_mpi();
    MPI_Barrier(ski_armci.world.comm);
    return 0;
}

int PARMCI_Init(void)
{
    ski_armci_mpi_ensure(NULL, NULL, MPI_THREAD_SINGLE);
    return init_start("ARMCI_Init", MPI_COMM_WORLD);
}
SKI_ARMCI_ALIAS(int, ARMCI_Init, (void));

int PARMCI_Init_args(int *argc, char ***argv)
{
    ski_armci_mpi_ensure(argc, argv, MPI_THREAD_SINGLE);
    return init_start("ARMCI_Init_args", MPI_COMM_WORLD);
}
SKI_ARMCI_ALIAS(int, ARMCI_Init_args, (int *argc, char ***argv));

int PARMCI_Init_thread(int armci_requested)
{
    ski_armci_mpi_ensure(NULL, NULL, armci_requested);
    return init_start("ARMCI_Init_thread", MPI_COMM_WORLD);
}
SKI_ARMCI_ALIAS(int, ARMCI_Init_thread, (int armci_requested));

int PARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm)
{
    ski_armci_mpi_ensure(NULL, NULL, armci_requested);
    return init_start("ARMCI_Init_thread_comm", comm);
}
SKI_ARMCI_ALIAS(int, ARMCI_Init_thread_comm, (int armci_requested, MPI_Comm comm));

int ARMCI_Init_mpi_comm(MPI_Comm comm)
{
    ski_armci_mpi_ensure(NULL, NULL, MPI_THREAD_SINGLE);
    return init_start("ARMCI_Init_mpi_comm", comm);
}

int PARMCI_Initialized(void)
{
    return ski_armci.starts > 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Initialized, (void));

int PARMCI_Finalize(void)
{
    if (ski_armci.starts == 0 || --ski_armci.starts > 0)
        return 0;
    PARMCI_Barrier();
    skua_region_destroy(ski_armci.notifications);
    skua_finalize(); /* frees all allocations and mutexes */
    ski_armci_mutexes_forget();
    for (int i = 0; i < ski_armci.size; i++)
        free(ski_armci.process[i].pieces);
    free(ski_armci.process);
    free(ski_armci.world.grp_to_abs);
    MPI_Comm_free(&ski_armci.domain);
    if (ski_armci.masters != MPI_COMM_NULL)
        MPI_Comm_free(&ski_armci.masters);
    MPI_Comm_free(&ski_armci.world.comm);
    memset(&ski_armci, 0, sizeof ski_armci);
    init_forget_mpi();
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Finalize, (void));

void ARMCI_Cleanup(void)
{
}

void ARMCI_Error(const char *msg, int code)
{
    fprintf(stderr, "armci: process %d: %s (%d)\n", ski_armci.me, msg ? msg : "error", code);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, code);
    abort();
}
