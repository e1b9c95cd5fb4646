/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - see version.h. */
#include "base/version.h"

#include <stdatomic.h>
#include <stddef.h>

#include <skua/version.h>

#include "base/log.h"

static _Atomic int version_expected = SKUA_VERSION_NUMBER;

const char *skua_version(int *major, int *minor, int *patch)
{
    if (major)
        *major = SKUA_VERSION_MAJOR;
    if (minor)
        *minor = SKUA_VERSION_MINOR;
    if (patch)
        *patch = SKUA_VERSION_PATCH;
    return SKUA_VERSION;
}

void skua_version_expect(int number)
{
    atomic_store(&version_expected, number);
}

bool ski_version_serves(int library, int headers)
{
    int major = library / 1000000, minor = library / 1000 % 1000, theirs = headers / 1000 % 1000;

    if (headers / 1000000 != major)
        return false;
    return major == 0 ? theirs == minor : theirs <= minor;
}

skua_status ski_version_check(void)
{
    int headers = atomic_load(&version_expected);

    if (ski_version_serves(SKUA_VERSION_NUMBER, headers))
        return SKUA_OK;
    return ski_fail(SKUA_ERR_MISMATCH,
                    "the program was compiled with headers of Skua %d.%d.%d, but runs with library "
                    "version " SKUA_VERSION ": compile it with the headers of this library, or set "
                    "LD_LIBRARY_PATH to the library of the headers",
                    headers / 1000000, headers / 1000 % 1000, headers % 1000);
}
