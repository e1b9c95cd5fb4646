/* SPDX-License-Identifier: Apache-2.0 */
/* job_seed.h - one seed for all processes of a job, for tests whose PEs check each other's data. */
#ifndef JOB_SEED_H
#define JOB_SEED_H

#include <skua/skua.h>

/** Sets *@p seed, a variable of the process, to that of PE 0. Every PE calls it. */
static inline void job_seed_agree(uint64_t *seed)
{
    skua_future future = SKUA_FUTURE_INIT;
    uint64_t    of_0   = skua_pe() == 0 ? *seed : 0, all;

    skua_allreduce(SKUA_SUM, SKUA_UINT64, &of_0, 1, skua_done_future(&future));
    all = *(const uint64_t *)skua_future_wait(&future, NULL);
    skua_future_clear(&future);
    skua_sync(); /* all PEs of the process have read it */
    if (skua_pe() == skua_process_first(skua_process()))
        *seed = all;
    skua_sync();
}

#endif
