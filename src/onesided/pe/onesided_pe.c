/* SPDX-License-Identifier: Apache-2.0 */
/* onesided_pe.c - see onesided_pe.h. */
#include "onesided/pe/onesided_pe.h"

#include "base/assert.h"

struct ski_onesided_root *ski_onesided;

static struct ski_job *onesided_job;
static int             onesided_process;

void ski_onesided_set_job(struct ski_job *job, int process)
{
    ski_assert(!job || (job->onesided && process >= 0));
    ski_onesided     = job ? job->onesided : NULL;
    onesided_job     = job;
    onesided_process = process;
}

struct ski_job *ski_onesided_job(void)
{
    return onesided_job;
}

void ski_onesided_check(const char *call)
{
    if (!ski_onesided)
        ski_misuse("%s: called outside of skua_main() and of phases (skua_init()), or by a child "
                   "of fork()",
                   call);
}

int32_t ski_caller_pe(void)
{
    if (ski_self && ski_self->pe < onesided_job->pes)
        return ski_self->pe;
    return ski_job_first_pe(onesided_job, onesided_process);
}
