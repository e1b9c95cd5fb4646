/* SPDX-License-Identifier: Apache-2.0 */
/* allreduce.h - reductions of one number over all PEs that the caller waits for. */
#ifndef ALLREDUCE_H
#define ALLREDUCE_H

#include <skua/skua.h>

/** Returns the combination of @p value over all PEs, or @p value itself if the job ends
 *  meanwhile. */
static inline double allreduce_double(skua_op op, double value)
{
    skua_future   future = SKUA_FUTURE_INIT;
    const double *result;

    skua_allreduce(op, SKUA_DOUBLE, &value, 1, skua_done_future(&future));
    result = skua_future_wait(&future, NULL);
    if (result)
        value = *result;
    skua_future_clear(&future);
    return value;
}

#endif
