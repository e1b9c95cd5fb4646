/* SPDX-License-Identifier: Apache-2.0 */
/* params_check.h - structs of the public interface whose size in the program and in the library may
 * differ: parameters that a program gives, and results that it takes. */
#ifndef SKI_PARAMS_CHECK_H
#define SKI_PARAMS_CHECK_H

#include <string.h>

#include "base/log.h"
#include "base/params.h"

/** Ends the job if a parameter struct @p type of @p call, whose member `size` is @p size, has
 * members that this library does not know; @p now is the size of the struct in this version. */
static inline void ski_params_check(const char *call, const char *type, size_t size, size_t now)
{
    if (!ski_params_known(size, now))
        ski_misuse("%s: the %s of the program has %zu bytes and that of this library %zu; the "
                   "program was compiled against a newer Skua: update the library",
                   call, type, size, now);
}

/** Copies a result of @p now bytes at @p from into a struct of @p bytes of the program.  What the
 *  program has beyond the result becomes 0. */
static inline void ski_params_give(void *to, size_t bytes, const void *from, size_t now)
{
    memcpy(to, from, bytes < now ? bytes : now);
    if (bytes > now)
        memset((char *)to + now, 0, bytes - now);
}

#endif
