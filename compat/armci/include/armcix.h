/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armcix.h - the extensions of ARMCI that ARMCI-MPI introduced: more ways to create groups, and
 * sets of mutexes.
 */
#ifndef SKUA_ARMCIX_H
#define SKUA_ARMCIX_H

/* The include guard of other implementations, defined so that their header has no effect after this
 * one. */
#define _ARMCIX_H_ /* NOLINT(bugprone-reserved-identifier) */

#include <armci.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A set of mutexes. */
typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;

/** Splits @p parent into groups of equal @p color, ranked by @p key. Collective over @p parent.
 *  Returns 0 or an error of MPI. */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group);

/** Creates a group with the members of @p parent. Collective over @p parent. Returns 0 or an error
 *  of MPI. */
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group);

/** Stores the communicator of the world group. */
void ARMCIX_Get_world_comm(MPI_Comm *comm);

/** Creates @p count mutexes on the calling process, a member of @p pgroup; other members may create
 *  other numbers. Collective over @p pgroup. Returns NULL if there is no memory. */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup);

/** Destroys a set of mutexes. Collective over its group. Returns 0. */
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/** Acquires mutex number @p mutex of @p proc, a rank of the world group. Requests are granted in
 *  order. Ends the job if there is no such mutex. */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** Acquires mutex number @p mutex of @p proc if it is free. Returns 0 if the mutex is acquired,
 *  else 1. */
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** Completes the caller's operations and releases mutex number @p mutex of @p proc. */
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** Makes progress: handles operations and messages that have arrived for the calling process. */
void ARMCIX_Progress(void);

#ifdef __cplusplus
}
#endif

#endif
