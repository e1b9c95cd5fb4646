/* SPDX-License-Identifier: Apache-2.0 */
/* params_check.h - structs of the public interface whose size in the program and in the library may
 * differ: parameters that a program gives, and results that it takes. */
#ifndef SKI_PARAMS_CHECK_H
#define SKI_PARAMS_CHECK_H

#include <string.h>

#include <skua/status.h>

#include "base/arch.h"
#include "base/params.h"

/** Refuses a parameter struct @p type of @p call, which ski_params_known() does not know: the
 *  program is newer than the library, or its member `size` is not initialised. */
SKI_COLD skua_status ski_params_refuse(const char *call, const char *type, size_t size, size_t now);

/** Ends the job for the reasons of ski_params_refuse(). */
SKI_COLD _Noreturn void ski_params_misuse(const char *call, const char *type, size_t size,
                                          size_t now);

/** Returns SKUA_OK if a parameter struct @p type of @p call, whose member `size` is @p size, has no
 *  members that this library does not know; @p now is the size of the struct in this version. */
static inline skua_status ski_params_status(const char *call, const char *type, size_t size,
                                            size_t now)
{
    return SKI_LIKELY(ski_params_known(size, now)) ? SKUA_OK
                                                   : ski_params_refuse(call, type, size, now);
}

/** Ends the job if ski_params_status() would refuse a parameter struct. */
static inline void ski_params_check(const char *call, const char *type, size_t size, size_t now)
{
    if (!ski_params_known(size, now))
        ski_params_misuse(call, type, size, now);
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
