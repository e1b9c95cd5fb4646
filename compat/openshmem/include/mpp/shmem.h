/* SPDX-License-Identifier: Apache-2.0 */
/* mpp/shmem.h - the deprecated name of shmem.h, with two routines of libraries before OpenSHMEM,
 * which are not in shmem.h because programs have variables of these names. */
#ifndef MPP_SHMEM_H
#define MPP_SHMEM_H

#include "../shmem.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Returns the number of the calling PE. */
int my_pe(void);

/** Returns the number of PEs. */
int num_pes(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
