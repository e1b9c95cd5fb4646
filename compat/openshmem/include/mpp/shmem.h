/* SPDX-License-Identifier: Apache-2.0 */
/* mpp/shmem.h - the deprecated name of shmem.h. */
#include "../shmem.h"
