/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - the result codes of all calls that may fail.
 *
 * Zero is success, a positive value means started but not complete, a negative value is a failure.
 * The list below is the only place that defines a code, its number and its text; the enum and
 * skua_status_str() are generated from it.
 */
#ifndef SKUA_STATUS_H
#define SKUA_STATUS_H

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** All result codes: SKUA_STATUS_MAP(X) expands to X(name, number, text) for each, where the name
 *  lacks its prefix SKUA_. */
#define SKUA_STATUS_MAP(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(PENDING, 1, "started; the completion will be delivered later")                               \
    X(ERR_AGAIN, -1, "no resource now; make progress and retry")                                   \
    X(ERR_NOMEM, -2, "out of memory")                                                              \
    X(ERR_INVAL, -3, "invalid argument")                                                           \
    X(ERR_UNREACH, -4, "no driver reaches that process")                                           \
    X(ERR_UNSUPPORTED, -5, "not supported here")                                                   \
    X(ERR_ADDRESS, -6, "the arena's address range is taken")                                       \
    X(ERR_MISMATCH, -7, "the processes of the job do not agree")                                   \
    X(ERR_SYSTEM, -8, "the operating system refused")                                              \
    X(ERR_REGION, -9, "there is no such region")                                                   \
    X(ERR_RANGE, -10, "outside of the region")                                                     \
    X(ERR_ALIGN, -11, "not aligned to the size of the type")                                       \
    X(ERR_BUSY, -12, "operations are in flight")                                                   \
    X(ERR_EXIT, -13, "the job ends")

/** The result of a call: SKUA_OK; a positive value for what has begun and is not complete; a
 *  negative one for a failure, which has been reported (error.h). */
typedef enum {
#define SKUA_STATUS_ENUM(name, code, text) SKUA_##name = (code),
    SKUA_STATUS_MAP(SKUA_STATUS_ENUM)
#undef SKUA_STATUS_ENUM
} skua_status;

/** Returns the text of @p status. It is never NULL and stays valid for the life of the program. */
SKUA_API const char *skua_status_str(skua_status status);

SKUA_END_DECLS

#endif
