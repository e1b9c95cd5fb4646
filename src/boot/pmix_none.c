/* SPDX-License-Identifier: Apache-2.0 */
/* pmix_none.c - in place of pmix.c where Skua was built without PMIx. */
#include "boot/pmix.h"

const struct ski_external_launcher ski_pmix_launcher;

bool ski_pmix_launcher_present(void)
{
    return false;
}

const char *ski_pmix_missing(void)
{
    return "Skua was built without its headers";
}
