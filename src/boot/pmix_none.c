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

skua_status_t ski_pmix_put(const char *key, const void *data, size_t bytes)
{
    (void)key, (void)data, (void)bytes;
    return SKUA_ERR_UNSUPPORTED;
}

skua_status_t ski_pmix_get(int process, const char *key, void *data, size_t *bytes)
{
    (void)process, (void)key, (void)data, (void)bytes;
    return SKUA_ERR_UNSUPPORTED;
}

void ski_pmix_end(void)
{
}
