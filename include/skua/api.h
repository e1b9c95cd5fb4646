/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - what every public header needs: symbol visibility and C linkage. */
#ifndef SKUA_API_H
#define SKUA_API_H

#define SKUA_API __attribute__((visibility("default")))

/* Called without the detour through the linker's table, where the compiler can: a few
 * instructions less. */
#if __has_attribute(noplt)
#define SKUA_HOT_API SKUA_API __attribute__((noplt))
#else
#define SKUA_HOT_API SKUA_API
#endif

#ifdef __cplusplus
#define SKUA_BEGIN_DECLS extern "C" {
#define SKUA_END_DECLS   }
#else
#define SKUA_BEGIN_DECLS
#define SKUA_END_DECLS
#endif

/* Words that C and C++ spell differently, for code that is compiled as either. */
#ifdef __cplusplus
#define SKUA_ALIGNAS(bytes)             alignas(bytes)
#define SKUA_ALIGNOF(type)              alignof(type)
#define SKUA_STATIC_ASSERT(fact, words) static_assert(fact, words)
#else
#define SKUA_ALIGNAS(bytes)             _Alignas(bytes)
#define SKUA_ALIGNOF(type)              _Alignof(type)
#define SKUA_STATIC_ASSERT(fact, words) _Static_assert(fact, words)
#endif

#endif
