/* SPDX-License-Identifier: Apache-2.0 */
/* pmix_none.c - Skua was built without PMIx (pmix.h). */
#include "boot/pmix.h"

bool ski_pmix_started_us(void)
{
    return false;
}

const char *ski_pmix_missing(void)
{
    return "Skua was built without its headers";
}

skua_status_t ski_pmix_start(struct ski_boot *boot)
{
    (void)boot;
    return SKUA_ERR_UNSUPPORTED;
}

skua_status_t ski_pmix_barrier(void)
{
    return SKUA_OK;
}

void ski_pmix_end(void)
{
}
