/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit.h - limits of the process that a user can raise. */
#ifndef SKI_RLIMIT_H
#define SKI_RLIMIT_H

#include <stddef.h>

/** Returns the bytes of addresses that the process may have (ulimit -v); SIZE_MAX: no limit. */
size_t ski_rlimit_addresses(void);

/** Returns the bytes that a file of the process may have (ulimit -f); SIZE_MAX: no limit. */
size_t ski_rlimit_file(void);

/** Returns which limit to raise after a call of the system has failed with @p error, as the end of
 *  a message: "; raise ...", or "" where no limit is known to be the reason. */
const char *ski_rlimit_advice(int error);

#endif
