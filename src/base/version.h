/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - whether this library supports a program that was compiled with given headers. */
#ifndef SKI_VERSION_H
#define SKI_VERSION_H

#include <stdbool.h>

#include <skua/status.h>

/** Returns whether a library of version @p library serves programs that were compiled with headers
 *  of version @p headers; both are as SKUA_VERSION_NUMBER. */
bool ski_version_serves(int library, int headers);

/** Returns SKUA_ERR_MISMATCH, logged, if skua_version_expect() was called with a version that this
 *  library does not serve. */
skua_status ski_version_check(void);

#endif
