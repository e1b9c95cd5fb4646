/* SPDX-License-Identifier: Apache-2.0 */
/* allreduce.h - reductions of one number over all PEs that the caller waits for. */
#ifndef ALLREDUCE_H
#define ALLREDUCE_H

#include <skua/skua.h>
#include <stdint.h>
#include <string.h>

/** Combines the number at @p value of all PEs, of @p bytes; leaves it as it is if the job ends. */
static inline void allreduce_value(skua_op op, skua_type type, void *value, size_t bytes)
{
    skua_future future = SKUA_FUTURE_INIT;
    const void *result;

    skua_allreduce(op, type, value, 1, skua_done_future(&future));
    result = skua_future_wait(&future, NULL);
    if (result)
        memcpy(value, result, bytes);
    skua_future_clear(&future);
}

/** Returns @p value of all PEs combined, or as it is if the job ends. */
static inline double allreduce_double(skua_op op, double value)
{
    allreduce_value(op, SKUA_DOUBLE, &value, sizeof value);
    return value;
}

/** Returns @p value of all PEs combined, or as it is if the job ends. */
static inline uint64_t allreduce_uint64(skua_op op, uint64_t value)
{
    allreduce_value(op, SKUA_UINT64, &value, sizeof value);
    return value;
}

#endif
