/* SPDX-License-Identifier: Apache-2.0 */
/* shmemx.h - extensions of OpenSHMEM: this implementation has none. */
#include "shmem.h"
