/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - symbol visibility, C linkage and keywords that every public header needs. */
#ifndef SKUA_API_H
#define SKUA_API_H

/** Marks a function or variable of the public interface: visible outside the library. */
#define SKUA_API __attribute__((visibility("default")))

/** Marks a public function that the caller reaches without the procedure linkage table, where the
 *  compiler supports it. This saves a few instructions on a fast path. */
#if __has_attribute(noplt)
#define SKUA_HOT_API SKUA_API __attribute__((noplt))
#else
#define SKUA_HOT_API SKUA_API
#endif

/** SKUA_BEGIN_DECLS and SKUA_END_DECLS enclose declarations with C linkage, in C and in C++.
 *  Between them clang does not warn of casts and NULL, which are valid in C; g++ never does
 *  there. */
#if defined(__cplusplus) && defined(__clang__)
#define SKUA_BEGIN_DECLS                                                                           \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wold-style-cast\"")      \
        _Pragma("clang diagnostic ignored \"-Wzero-as-null-pointer-constant\"") extern "C"         \
    {
#define SKUA_END_DECLS                                                                             \
    }                                                                                              \
    _Pragma("clang diagnostic pop")
#elif defined(__cplusplus)
#define SKUA_BEGIN_DECLS extern "C" {
#define SKUA_END_DECLS   }
#else
#define SKUA_BEGIN_DECLS
#define SKUA_END_DECLS
#endif

/** Keywords that C and C++ spell differently, for code that is compiled as either language. */
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
