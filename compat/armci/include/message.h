/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - the messages and collectives of ARMCI: thin wrappers of those of MPI, for programs
 * that do not call MPI themselves.
 *
 * A scope says which processes take part: all, those of the caller's domain (armci.h), or the first
 * of each domain, in which case a call of another process has no effect. Operators are named "+",
 * "*", "max", "min", "absmax", "absmin", "or", and "&&", "||", "&", "|" (also "land", "lor",
 * "band", "bor"); types are those of enum armci_type_e. An unknown name ends the job. Collectives
 * are called by all processes of their scope or group in the same order.
 */
#ifndef SKUA_ARMCI_MESSAGE_H
#define SKUA_ARMCI_MESSAGE_H

/* The include guard of other implementations, defined so that their header has no effect after this
 * one. */
#define HAVE_ARMCI_MSG_H

#include <armci.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The processes that take part in a collective: all, those of the caller's domain, the first of
 *  each domain. */
enum armci_scope_e { SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS };

/** The types of elements of a reduction. */
enum armci_type_e { ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE };

/** Initialises MPI, unless the program has done so, for a program that does not call MPI_Init(). */
void armci_msg_init(int *argc, char ***argv);

/** Finalises MPI, unless the program has done so. ARMCI_Finalize() comes first. */
void armci_msg_finalize(void);

/** Returns the rank of the calling process. */
int armci_msg_me(void);

/** Returns the number of processes. */
int armci_msg_nproc(void);

/** Ends the job with the exit code @p code. */
void armci_msg_abort(int code);

/** Returns a time in seconds. */
double armci_timer(void);

/** Sends @p len bytes to @p to. */
void armci_msg_snd(int tag, void *buffer, int len, int to);

/** Receives up to @p buflen bytes from @p from; their number is stored in *msglen, unless NULL. */
void armci_msg_rcv(int tag, void *buffer, int buflen, int *msglen, int from);

/** Receives up to @p buflen bytes from any process, whose rank it returns; the number of bytes is
 *  stored in *msglen, unless NULL. */
int armci_msg_rcvany(int tag, void *buffer, int buflen, int *msglen);

/** Waits for all processes. */
void armci_msg_barrier(void);

/** Waits for all members of @p group. */
void armci_msg_group_barrier(ARMCI_Group *group);

/** Stores the root of a binary tree of the processes of a scope, and the caller's parent and
 *  children in it, as ranks of the world; -1: there is none. */
void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right);

/** Copies @p len bytes of the process @p root to all processes. */
void armci_msg_bcast(void *buffer, int len, int root);

/** Copies @p len bytes of the process @p root to all processes of @p scope, which it belongs to. */
void armci_msg_bcast_scope(int scope, void *buffer, int len, int root);

/** Copies @p len bytes of the process @p root to all processes. */
void armci_msg_brdcst(void *buffer, int len, int root);

/** Copies @p len bytes of the member with the world rank @p root to all members of @p group within
 *  @p scope. */
void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group);

/** Reduces @p n elements at @p x of all processes; process 0 has the result. */
void armci_msg_reduce(void *x, int n, char *op, int type);

/** Reduces @p n elements at @p x of the processes of @p scope; the first has the result. */
void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type);

/** Gives all processes the @p n bytes at @p x of the contributing process whose first element, of
 *  @p type, is the least ("min") or greatest ("max"). */
void armci_msg_sel(void *x, int n, char *op, int type, int contribute);

/** Selects as armci_msg_sel() does, within @p scope. */
void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute);

/** Gives all processes the entries of @p ptr_ar; each process passes its own entries, and NULL for
 *  the others. */
void armci_exchange_address(void *ptr_ar[], int n);

/** Exchanges addresses as armci_exchange_address() does, among the members of @p group. */
void armci_exchange_address_grp(void *ptr_arr[], int n, ARMCI_Group *group);

/** Copies @p len bytes of the first process of the caller's domain to the others. */
void armci_msg_clus_brdcst(void *buf, int len);

/** Reduces @p n ints over the caller's domain. */
void armci_msg_clus_igop(int *x, int n, char *op);

/** Reduces @p n floats over the caller's domain. */
void armci_msg_clus_fgop(float *x, int n, char *op);

/** Reduces @p n longs over the caller's domain. */
void armci_msg_clus_lgop(long *x, int n, char *op);

/** Reduces @p n long longs over the caller's domain. */
void armci_msg_clus_llgop(long long *x, int n, char *op);

/** Reduces @p n doubles over the caller's domain. */
void armci_msg_clus_dgop(double *x, int n, char *op);

/** Reduces @p n elements of @p type over @p scope; all its processes have the result at @p x. */
void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type);

/** Reduces @p n ints over all processes. */
void armci_msg_igop(int *x, int n, char *op);

/** Reduces @p n longs over all processes. */
void armci_msg_lgop(long *x, int n, char *op);

/** Reduces @p n long longs over all processes. */
void armci_msg_llgop(long long *x, int n, char *op);

/** Reduces @p n floats over all processes. */
void armci_msg_fgop(float *x, int n, char *op);

/** Reduces @p n doubles over all processes. */
void armci_msg_dgop(double *x, int n, char *op);

/** Reduces @p n elements of @p type over the members of @p group within @p scope. */
void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group);

/** Reduces @p n ints over @p group. */
void armci_msg_group_igop(int *x, int n, char *op, ARMCI_Group *group);

/** Reduces @p n longs over @p group. */
void armci_msg_group_lgop(long *x, int n, char *op, ARMCI_Group *group);

/** Reduces @p n long longs over @p group. */
void armci_msg_group_llgop(long long *x, int n, char *op, ARMCI_Group *group);

/** Reduces @p n floats over @p group. */
void armci_msg_group_fgop(float *x, int n, char *op, ARMCI_Group *group);

/** Reduces @p n doubles over @p group. */
void armci_msg_group_dgop(double *x, int n, char *op, ARMCI_Group *group);

#ifdef __cplusplus
}
#endif

#endif
