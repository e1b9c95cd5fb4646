/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci.h - the ARMCI interface on Skua: one-sided access to the memory of other processes of an
 * MPI program.
 *
 * Types and constants have the sizes and values of the armci.h that Debian's Global Arrays is
 * compiled with (ARMCI-MPI), so that its objects link with either library. Processes are named by
 * their rank in the communicator of ARMCI_Init(), which is the whole of MPI_COMM_WORLD. A remote
 * address is one that ARMCI_Malloc() returned for the process, or a later address in the same
 * allocation.
 *
 * Order. Blocking operations of one process on one other process take effect in order; a blocking
 * put or accumulate returns when its source may be reused, and ARMCI_Fence() waits until it has
 * taken effect. Non-blocking operations are not ordered before they have been waited for.
 *
 * Errors. A wrong argument, or an access outside all allocations of its target, prints an error
 * that names the call and ends the job, because programs do not check the results of operations.
 *
 * Functions are called by one thread of a process at a time, by the thread that called
 * ARMCI_Init() where the target is on another host. Every ARMCI_ function that has a PARMCI_ twin
 * may be redefined by a program or a profiler, which then calls the twin.
 */
#ifndef SKUA_ARMCI_H
#define SKUA_ARMCI_H

/* The include guard of other implementations, defined so that their header has no effect after this
 * one. */
#define _ARMCI_H_ /* NOLINT(bugprone-reserved-identifier) */

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tells programs that groups hold MPI communicators, as those of ARMCI-MPI do. */
#define ARMCI_MPI 3

/** The largest number of stride levels of a strided operation. */
#define ARMCI_MAX_STRIDE_LEVEL 8

/** The element types of an accumulate. */
enum ARMCI_Acc_e {
    ARMCI_ACC_INT, /* int */
    ARMCI_ACC_LNG, /* long */
    ARMCI_ACC_FLT, /* float */
    ARMCI_ACC_DBL, /* double */
    ARMCI_ACC_CPL, /* float _Complex */
    ARMCI_ACC_DCP  /* double _Complex */
};

/** The operations of ARMCI_Rmw(). */
enum ARMCI_Rmw_e {
    ARMCI_FETCH_AND_ADD,      /* fetch and add of an int */
    ARMCI_FETCH_AND_ADD_LONG, /* fetch and add of a long */
    ARMCI_SWAP,               /* swap of an int */
    ARMCI_SWAP_LONG           /* swap of a long */
};

/** The size of an allocation, in bytes. */
typedef long armci_size_t;

/** The MPI type of an armci_size_t. */
#define ARMCII_MPI_SIZE_T MPI_LONG

/** The handle of non-blocking operations. ARMCI_INIT_HANDLE() initialises it; the members are
 *  internal. */
typedef struct armci_hdl_s {
    int target;
    int aggregate;
} armci_hdl_t;

/** Segments of equal size: the i-th goes from src_ptr_array[i] to dst_ptr_array[i]. */
typedef struct {
    void **src_ptr_array;
    void **dst_ptr_array;
    int    bytes;         /* bytes of each segment */
    int    ptr_array_len; /* number of segments */
} armci_giov_t;

/** A group of processes. `comm` is a communicator of its members; the other members are
 *  internal. */
typedef struct {
    MPI_Comm comm;
    MPI_Comm noncoll_pgroup_comm; /* not used: MPI_COMM_NULL */
    int     *grp_to_abs;          /* ranks of the members in the world group */
    int     *abs_to_grp;          /* not used: NULL */
    int      rank;                /* -1: the caller is not a member */
    int      size;
} ARMCI_Group;

/** The kinds of domains of processes. */
enum armci_domain_e { ARMCI_DOMAIN_SMP }; /* processes that share memory */

/** The type of an enum armci_domain_e in calls. */
typedef int armci_domain_t;

/* ---- begin and end --------------------------------------------------------- */

/** Initialises ARMCI, and MPI unless the program has. Collective over all processes. A later call
 *  is only counted; MPI_Init() after it has no effect. Returns 0; ends the job on failure. */
int ARMCI_Init(void);

/** Initialises ARMCI as ARMCI_Init() does, and passes the arguments of main() to MPI. */
int ARMCI_Init_args(int *argc, char ***argv);

/** Initialises ARMCI as ARMCI_Init() does, and MPI, if necessary, with at least the thread level
 *  @p armci_requested. */
int ARMCI_Init_thread(int armci_requested);

/** Initialises ARMCI as ARMCI_Init_thread() does; processes have their ranks in @p comm, which
 *  contains all processes of MPI_COMM_WORLD. */
int ARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm);

/** Initialises ARMCI as ARMCI_Init() does; processes have their ranks in @p comm, which contains
 *  all processes of MPI_COMM_WORLD. */
int ARMCI_Init_mpi_comm(MPI_Comm comm);

/** Returns 1 between ARMCI_Init() and the last ARMCI_Finalize(), else 0. */
int ARMCI_Initialized(void);

/** Ends ARMCI when it has been called as often as ARMCI_Init(): completes all operations and frees
 *  all allocations. Collective. MPI remains until the program finalises it; if ARMCI_Init()
 *  initialised MPI and the program does not finalise it, the library does so at exit. Returns 0. */
int ARMCI_Finalize(void);

/** Does nothing: no resource of ARMCI outlives its process. */
void ARMCI_Cleanup(void);

/** Prints @p msg and ends the job with the exit code @p code. */
void ARMCI_Error(const char *msg, int code);

/* ---- memory ---------------------------------------------------------------- */

/** Allocates @p size bytes of remotely accessible memory on every process, aligned to a cache line;
 *  sizes may differ, and 0 gives a NULL address. base_ptrs[i] becomes the address on process i;
 *  where ARMCI_Same_node(i), the caller may dereference it. Collective. Returns 0, or a positive
 *  number on all processes if one of them has no memory. */
int ARMCI_Malloc(void **base_ptrs, armci_size_t size);

/** Frees an allocation of ARMCI_Malloc(), given by the caller's own address of it, after completing
 *  all operations. Collective. Returns 0. */
int ARMCI_Free(void *ptr);

/** Allocates memory as ARMCI_Malloc() does; @p device is ignored. */
int ARMCI_Malloc_memdev(void **ptr_arr, armci_size_t bytes, const char *device);

/** Frees an allocation of ARMCI_Malloc_memdev(), as ARMCI_Free() does. */
int ARMCI_Free_memdev(void *ptr);

/** Allocates @p size bytes of local memory, or returns NULL. Not collective. */
void *ARMCI_Malloc_local(armci_size_t size);

/** Frees memory of ARMCI_Malloc_local(). Returns 0. */
int ARMCI_Free_local(void *ptr);

/** Allocates memory on the members of @p group, as ARMCI_Malloc() does; ptr_arr is indexed by rank
 *  in the group. Collective over the group. */
int ARMCI_Malloc_group(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group);

/** Allocates memory as ARMCI_Malloc_group() does; @p device is ignored. */
int ARMCI_Malloc_group_memdev(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group,
                              const char *device);

/** Frees an allocation of ARMCI_Malloc_group(). Collective over the group. Returns 0. */
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);

/** Does nothing: local access needs no permission. */
void ARMCI_Access_begin(void *ptr);

/** Does nothing: local access needs no permission. */
void ARMCI_Access_end(void *ptr);

/** Copies @p size bytes from @p src to @p dst, both local; they may overlap. */
void ARMCI_Copy(void *src, void *dst, int size);

/* ---- completion ------------------------------------------------------------ */

/** Completes all operations of all processes, and waits for all processes. Collective. */
void ARMCI_Barrier(void);

/** Waits until all operations of the caller on @p proc have taken effect. */
void ARMCI_Fence(int proc);

/** Waits until all operations of the caller have taken effect. */
void ARMCI_AllFence(void);

/** Waits until all operations of the caller on members of @p group have taken effect. */
void ARMCI_GroupFence(ARMCI_Group *group);

/** Initialises a handle, which then represents no operation. */
void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);

/** Makes a handle represent all operations that use it until the next wait for it, instead of one
 *  operation. */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle);

/** Undoes ARMCI_SET_AGGREGATE_HANDLE(). */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle);

/** Waits for the operations of a handle: sources may be reused, and data of gets have arrived.
 *  Returns 0. */
int ARMCI_Wait(armci_hdl_t *hdl);

/** Returns 0 if the operations of a handle are complete, else 1. */
int ARMCI_Test(armci_hdl_t *hdl);

/** Waits for all operations of the caller on @p proc. Returns 0. */
int ARMCI_WaitProc(int proc);

/** Waits for all operations of the caller. Returns 0. */
int ARMCI_WaitAll(void);

/* ---- contiguous ------------------------------------------------------------- */

/** Copies @p size bytes from @p src of process @p target to @p dst. Returns 0. */
int ARMCI_Get(void *src, void *dst, int size, int target);

/** Copies @p size bytes from @p src to @p dst of process @p target. Returns 0. */
int ARMCI_Put(void *src, void *dst, int size, int target);

/** Adds the elements at @p src times *scale to those at @p dst of @p proc, each atomically.
 *  @p datatype is an enum ARMCI_Acc_e. Returns 0. */
int ARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);

/** Copies as ARMCI_Put() does, then stores @p value in *flag of @p proc. Returns 0 or a negative
 *  error. */
int ARMCI_Put_flag(void *src, void *dst, int size, int *flag, int value, int proc);

/** Starts a put; see ARMCI_Put(). NULL for @p hdl makes it implicit. */
int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/** Starts a get; see ARMCI_Get(). NULL for @p hdl makes it implicit. */
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/** Starts an accumulate; see ARMCI_Acc(). NULL for @p hdl makes it implicit. */
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc,
                armci_hdl_t *hdl);

/* ---- strided ------------------------------------------------------------------ */

/** Copies blocks to @p proc: count[0] bytes each, repeated count[i] times at distances of
 *  src_stride_ar[i-1] and dst_stride_ar[i-1] bytes for each of @p stride_levels levels. Returns
 *  0. */
int ARMCI_PutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
               int stride_levels, int proc);

/** Copies blocks from @p proc, arranged as in ARMCI_PutS(). Returns 0. */
int ARMCI_GetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
               int stride_levels, int proc);

/** Accumulates blocks to @p proc, arranged as in ARMCI_PutS(), as ARMCI_Acc() does. Returns 0 or a
 *  negative error. */
int ARMCI_AccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
               int dst_stride_ar[], int count[], int stride_levels, int proc);

/** Copies as ARMCI_PutS() does, then stores @p value in *flag of @p proc. Returns 0 or a negative
 *  error. */
int ARMCI_PutS_flag(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                    int count[], int stride_levels, int *flag, int value, int proc);

/** Copies as ARMCI_PutS_flag() does. Returns 0. */
int ARMCI_PutS_flag_dir(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                        int count[], int stride_levels, int *flag, int value, int proc);

/** Starts a strided put; see ARMCI_PutS(). NULL for @p hdl makes it implicit. */
int ARMCI_NbPutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int proc, armci_hdl_t *hdl);

/** Starts a strided get; see ARMCI_GetS(). NULL for @p hdl makes it implicit. */
int ARMCI_NbGetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int proc, armci_hdl_t *hdl);

/** Starts a strided accumulate; see ARMCI_AccS(). NULL for @p hdl makes it implicit. */
int ARMCI_NbAccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                 int dst_stride_ar[], int count[], int stride_levels, int proc, armci_hdl_t *hdl);

/** Packs the blocks at @p ptr, arranged as in ARMCI_PutS(), to @p buf; both are local. */
void armci_write_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);

/** Unpacks @p buf to the blocks at @p ptr, arranged as in ARMCI_PutS(); both are local. */
void armci_read_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);

/* ---- vectors -------------------------------------------------------------------- */

/** Copies the segments of @p iov_len descriptors to @p proc. Returns 0. */
int ARMCI_PutV(armci_giov_t *iov, int iov_len, int proc);

/** Copies the segments of @p iov_len descriptors from @p proc. Returns 0. */
int ARMCI_GetV(armci_giov_t *iov, int iov_len, int proc);

/** Accumulates the segments of @p iov_len descriptors to @p proc, as ARMCI_Acc() does. Returns 0 or
 *  a negative error. */
int ARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc);

/** Starts a put of vectors; see ARMCI_PutV(). NULL for @p handle makes it implicit. */
int ARMCI_NbPutV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);

/** Starts a get of vectors; see ARMCI_GetV(). NULL for @p handle makes it implicit. */
int ARMCI_NbGetV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);

/** Starts an accumulate of vectors; see ARMCI_AccV(). NULL for @p handle makes it implicit. */
int ARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc,
                 armci_hdl_t *handle);

/* ---- values --------------------------------------------------------------------- */

/** Stores an int at @p dst of @p proc. Returns 0. */
int ARMCI_PutValueInt(int src, void *dst, int proc);

/** Stores a long at @p dst of @p proc. Returns 0. */
int ARMCI_PutValueLong(long src, void *dst, int proc);

/** Stores a float at @p dst of @p proc. Returns 0. */
int ARMCI_PutValueFloat(float src, void *dst, int proc);

/** Stores a double at @p dst of @p proc. Returns 0. */
int ARMCI_PutValueDouble(double src, void *dst, int proc);

/** Starts to store an int at @p dst of @p proc. Returns 0. */
int ARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);

/** Starts to store a long at @p dst of @p proc. Returns 0. */
int ARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);

/** Starts to store a float at @p dst of @p proc. Returns 0. */
int ARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);

/** Starts to store a double at @p dst of @p proc. Returns 0. */
int ARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);

/** Returns the int at @p src of @p proc. */
int ARMCI_GetValueInt(void *src, int proc);

/** Returns the long at @p src of @p proc. */
long ARMCI_GetValueLong(void *src, int proc);

/** Returns the float at @p src of @p proc. */
float ARMCI_GetValueFloat(void *src, int proc);

/** Returns the double at @p src of @p proc. */
double ARMCI_GetValueDouble(void *src, int proc);

/* ---- atomics, mutexes, notifications ---------------------------------------------- */

/** Performs @p op, an enum ARMCI_Rmw_e, on the int or long at @p prem of @p proc, atomically with
 *  respect to other calls of ARMCI_Rmw(), and stores the previous value at @p ploc. The operand is
 *  @p value for an addition, and the value at @p ploc for a swap. Returns 0. */
int ARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);

/** Creates @p count mutexes on the calling process; other processes may create other numbers.
 *  Collective. Only one set exists at a time. Returns 0. */
int ARMCI_Create_mutexes(int count);

/** Destroys the mutexes of ARMCI_Create_mutexes(). Collective. Returns 0. */
int ARMCI_Destroy_mutexes(void);

/** Acquires mutex number @p mutex of @p proc. Ends the job if there is no such mutex. */
void ARMCI_Lock(int mutex, int proc);

/** Completes the caller's operations on all processes and releases mutex number @p mutex of
 *  @p proc. */
void ARMCI_Unlock(int mutex, int proc);

/** Notifies @p proc after the caller's earlier operations on it have taken effect. Returns the
 *  number of notifications that the caller has sent to @p proc. */
int armci_notify(int proc);

/** Waits for the next notification from @p proc. Stores its number in *pval and returns it. */
int armci_notify_wait(int proc, int *pval);

/* ---- groups ------------------------------------------------------------------------- */

/** Creates the group of the @p grp_size processes whose ranks in the default group @p pid_list
 *  holds. Collective over the new group. On other processes the group has rank -1. */
void ARMCI_Group_create(int grp_size, int *pid_list, ARMCI_Group *group_out);

/** Creates a group as ARMCI_Group_create() does, of ranks of @p group_parent. */
void ARMCI_Group_create_child(int grp_size, int *pid_list, ARMCI_Group *group_out,
                              ARMCI_Group *group_parent);

/** Frees a group. Collective over the group. */
void ARMCI_Group_free(ARMCI_Group *group);

/** Stores the caller's rank in @p group, or -1. Returns 0, or 1 if the caller is not a member. */
int ARMCI_Group_rank(ARMCI_Group *group, int *rank);

/** Stores the number of members of @p group. */
void ARMCI_Group_size(ARMCI_Group *group, int *size);

/** Makes @p group the default group. */
void ARMCI_Group_set_default(ARMCI_Group *group);

/** Stores the default group, which is the world group at first. */
void ARMCI_Group_get_default(ARMCI_Group *group_out);

/** Stores the group of all processes. */
void ARMCI_Group_get_world(ARMCI_Group *group_out);

/** Returns the rank in the world group of the member @p group_rank of @p group, or -1. */
int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank);

/* ---- locality ----------------------------------------------------------------------- */

/** Returns the number of processes of the domain @p id. */
int armci_domain_nprocs(armci_domain_t domain, int id);

/** Returns the domain that process @p glob_proc_id is in. */
int armci_domain_id(armci_domain_t domain, int glob_proc_id);

/** Returns the rank of process @p loc_proc_id of the domain @p id, or -1 if there is none. */
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int loc_proc_id);

/** Returns the domain of the calling process. */
int armci_domain_my_id(armci_domain_t domain);

/** Returns the number of domains. */
int armci_domain_count(armci_domain_t domain);

/** Returns 1 if @p proc is in the domain of the calling process, else 0. */
int armci_domain_same_id(armci_domain_t domain, int proc);

/** Returns 1 if @p proc shares memory with the calling process, else 0. */
int ARMCI_Same_node(int proc);

/** Returns 1 if @p proc shares memory with the calling process, else 0. */
int armci_sameclusnode(int proc);

/** Returns 1, since allocations are in shared memory. */
int ARMCI_Uses_shm(void);

/** Returns 1, since allocations of @p group are in shared memory. */
int ARMCI_Uses_shm_grp(ARMCI_Group *group);

/** Has no effect; the setting SKUA_ARENA_SIZE limits allocations. */
void ARMCI_Set_shm_limit(unsigned long shmemlimit);

/* ---- profiling ------------------------------------------------------------------------ */

/** @cond */
int   PARMCI_Init(void);
int   PARMCI_Init_args(int *argc, char ***argv);
int   PARMCI_Init_thread(int armci_requested);
int   PARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm);
int   PARMCI_Initialized(void);
int   PARMCI_Finalize(void);
int   PARMCI_Malloc(void **base_ptrs, armci_size_t size);
int   PARMCI_Free(void *ptr);
int   PARMCI_Malloc_memdev(void **ptr_arr, armci_size_t bytes, const char *device);
int   PARMCI_Malloc_group_memdev(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group,
                                 const char *device);
int   PARMCI_Free_memdev(void *ptr);
void *PARMCI_Malloc_local(armci_size_t size);
int   PARMCI_Free_local(void *ptr);
void  PARMCI_Barrier(void);
void  PARMCI_Fence(int proc);
void  PARMCI_AllFence(void);
void  PARMCI_Access_begin(void *ptr);
void  PARMCI_Access_end(void *ptr);
int   PARMCI_Get(void *src, void *dst, int size, int target);
int   PARMCI_Put(void *src, void *dst, int size, int target);
int   PARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);
int   PARMCI_Put_flag(void *src, void *dst, int size, int *flag, int value, int proc);
int   PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int   PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int   PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc,
                   armci_hdl_t *hdl);
int PARMCI_PutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                int stride_levels, int proc);
int PARMCI_GetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                int stride_levels, int proc);
int PARMCI_AccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                int dst_stride_ar[], int count[], int stride_levels, int proc);
int PARMCI_PutS_flag(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                     int count[], int stride_levels, int *flag, int value, int proc);
int PARMCI_NbPutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                  int count[], int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbGetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                  int count[], int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbAccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                  int dst_stride_ar[], int count[], int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_PutV(armci_giov_t *iov, int iov_len, int proc);
int PARMCI_GetV(armci_giov_t *iov, int iov_len, int proc);
int PARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc);
int PARMCI_NbPutV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int PARMCI_NbGetV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int PARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc,
                  armci_hdl_t *handle);
int PARMCI_Wait(armci_hdl_t *hdl);
int PARMCI_Test(armci_hdl_t *hdl);
int PARMCI_WaitProc(int proc);
int PARMCI_WaitAll(void);
int PARMCI_PutValueInt(int src, void *dst, int proc);
int PARMCI_PutValueLong(long src, void *dst, int proc);
int PARMCI_PutValueFloat(float src, void *dst, int proc);
int PARMCI_PutValueDouble(double src, void *dst, int proc);
int PARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_GetValueInt(void *src, int proc);
long   PARMCI_GetValueLong(void *src, int proc);
float  PARMCI_GetValueFloat(void *src, int proc);
double PARMCI_GetValueDouble(void *src, int proc);
int    PARMCI_Create_mutexes(int count);
int    PARMCI_Destroy_mutexes(void);
void   PARMCI_Lock(int mutex, int proc);
void   PARMCI_Unlock(int mutex, int proc);
int    PARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);
void   parmci_msg_barrier(void);
void   parmci_msg_group_barrier(ARMCI_Group *group);
/** @endcond */

#ifdef __cplusplus
}
#endif

#include <message.h>

#endif
