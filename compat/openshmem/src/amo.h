/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amo.h - atomics, through Skua, on words that are not mapped in this process. Atomics on mapped
 * words are instructions of the processor (amo.c).
 */
#ifndef SHMEMI_AMO_H
#define SHMEMI_AMO_H

#include "symmetric.h"

/** A word of 4 or 8 bytes and an operation on it. */
struct shmemi_amo {
    void          *dest;
    size_t         bytes;
    skua_atomic_op op;
    const void    *operand; /* [2] for compare-and-swap: comparand and value */
    int            pe;
};

/** Performs an atomic; the previous value is stored at @p old unless NULL. Returns when it is
 *  complete. */
void shmemi_amo_net(const char *call, struct shmemi_amo amo, void *old);

/** Starts an atomic; a quiet completes it, and then the previous value is at @p old unless NULL. */
void shmemi_amo_nbi_net(const char *call, struct shmemi_amo amo, void *old);

#endif
