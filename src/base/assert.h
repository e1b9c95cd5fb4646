/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assert.h - ski_assert(): an invariant of the runtime.
 *
 * Builds with NDEBUG (the preset release) compile the condition and never evaluate it; all others
 * (checked, debug, asan, tsan) end the job with file, line and condition when it does not hold.
 * A condition has no side effects and is cheap beside the function that it stands in.
 *
 * Data from another process, a file or the program is checked by code that a release runs, too,
 * never by an assertion.  Drivers are modules that link nothing of the runtime: they use assert().
 */
#ifndef SKI_ASSERT_H
#define SKI_ASSERT_H

#include "base/arch.h"

#ifdef NDEBUG
#define ski_assert(condition) ((void)sizeof((condition) ? 1 : 0))
#else
#define ski_assert(condition)                                                                      \
    (SKI_LIKELY(condition) ? (void)0 : ski_assert_failed(__FILE__, __LINE__, __func__, #condition))
#endif

/** Reports an invariant that does not hold, and ends the process by abort(). */
SKI_COLD _Noreturn void ski_assert_failed(const char *file, int line, const char *function,
                                          const char *condition);

#endif
