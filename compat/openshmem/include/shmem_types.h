/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_types.h - the types of OpenSHMEM: one table, from which shmem.h declares the typed
 * routines, shmem_generic.h and shmem_cxx.h select one by the type of an argument, and the library
 * defines them.
 *
 * A table calls X(TYPENAME, TYPE, ...) for each of its types, with the additional arguments of the
 * table. The lists ..._DISTINCT hold each type of C once, as a generic selection requires: int32_t
 * is int, size_t is unsigned long.
 */
#ifndef SHMEM_TYPES_H
#define SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/** The complex types of the reductions, under names that C++ compilers also accept. */
__extension__ typedef double _Complex shmem_complexd_type;
__extension__ typedef float _Complex shmem_complexf_type;

/* ---- the table ---------------------------------------------------------- */

#define SHMEM_INTEGERS_SIGNED(X, ...)                                                              \
    X(int, int, __VA_ARGS__)                                                                       \
    X(long, long, __VA_ARGS__)                                                                     \
    X(longlong, long long, __VA_ARGS__)

#define SHMEM_INTEGERS_UNSIGNED(X, ...)                                                            \
    X(uint, unsigned int, __VA_ARGS__)                                                             \
    X(ulong, unsigned long, __VA_ARGS__)                                                           \
    X(ulonglong, unsigned long long, __VA_ARGS__)

#define SHMEM_INTEGERS_EXACT(X, ...)                                                               \
    X(int32, int32_t, __VA_ARGS__)                                                                 \
    X(int64, int64_t, __VA_ARGS__)                                                                 \
    X(uint32, uint32_t, __VA_ARGS__)                                                               \
    X(uint64, uint64_t, __VA_ARGS__)

#define SHMEM_INTEGERS_SMALL_EXACT(X, ...)                                                         \
    X(int8, int8_t, __VA_ARGS__)                                                                   \
    X(int16, int16_t, __VA_ARGS__)                                                                 \
    X(uint8, uint8_t, __VA_ARGS__)                                                                 \
    X(uint16, uint16_t, __VA_ARGS__)

#define SHMEM_CHARACTERS(X, ...)                                                                   \
    X(char, char, __VA_ARGS__)                                                                     \
    X(schar, signed char, __VA_ARGS__)

#define SHMEM_REALS(X, ...)                                                                        \
    X(float, float, __VA_ARGS__)                                                                   \
    X(double, double, __VA_ARGS__)

/* ---- what the routines are defined for ---------------------------------- */

/** The types of put, get and collectives. */
#define SHMEM_RMA_TYPES(X, ...)                                                                    \
    SHMEM_RMA_TYPES_DISTINCT(X, __VA_ARGS__)                                                       \
    SHMEM_INTEGERS_SMALL_EXACT(X, __VA_ARGS__)                                                     \
    SHMEM_INTEGERS_EXACT(X, __VA_ARGS__)                                                           \
    X(size, size_t, __VA_ARGS__)                                                                   \
    X(ptrdiff, ptrdiff_t, __VA_ARGS__)

#define SHMEM_RMA_TYPES_DISTINCT(X, ...)                                                           \
    SHMEM_REALS(X, __VA_ARGS__)                                                                    \
    X(longdouble, long double, __VA_ARGS__)                                                        \
    SHMEM_CHARACTERS(X, __VA_ARGS__)                                                               \
    X(short, short, __VA_ARGS__)                                                                   \
    SHMEM_INTEGERS_SIGNED(X, __VA_ARGS__)                                                          \
    X(uchar, unsigned char, __VA_ARGS__)                                                           \
    X(ushort, unsigned short, __VA_ARGS__)                                                         \
    SHMEM_INTEGERS_UNSIGNED(X, __VA_ARGS__)

/** The types of add, increment and compare-and-swap, and of point-to-point synchronisation. */
#define SHMEM_AMO_TYPES(X, ...)                                                                    \
    SHMEM_AMO_TYPES_DISTINCT(X, __VA_ARGS__)                                                       \
    SHMEM_INTEGERS_EXACT(X, __VA_ARGS__)                                                           \
    X(size, size_t, __VA_ARGS__)                                                                   \
    X(ptrdiff, ptrdiff_t, __VA_ARGS__)

#define SHMEM_AMO_TYPES_DISTINCT(X, ...)                                                           \
    SHMEM_INTEGERS_SIGNED(X, __VA_ARGS__)                                                          \
    SHMEM_INTEGERS_UNSIGNED(X, __VA_ARGS__)

/** The types of fetch, set and swap. */
#define SHMEM_AMO_EXTENDED_TYPES(X, ...)                                                           \
    SHMEM_AMO_TYPES(X, __VA_ARGS__)                                                                \
    SHMEM_REALS(X, __VA_ARGS__)

#define SHMEM_AMO_EXTENDED_TYPES_DISTINCT(X, ...)                                                  \
    SHMEM_AMO_TYPES_DISTINCT(X, __VA_ARGS__)                                                       \
    SHMEM_REALS(X, __VA_ARGS__)

/** The types of bitwise atomics. */
#define SHMEM_AMO_BITWISE_TYPES(X, ...)                                                            \
    SHMEM_INTEGERS_UNSIGNED(X, __VA_ARGS__)                                                        \
    SHMEM_INTEGERS_EXACT(X, __VA_ARGS__)

#define SHMEM_AMO_BITWISE_TYPES_DISTINCT(X, ...)                                                   \
    SHMEM_INTEGERS_UNSIGNED(X, __VA_ARGS__)                                                        \
    X(int32, int32_t, __VA_ARGS__)                                                                 \
    X(int64, int64_t, __VA_ARGS__)

/** The types of waits and tests: those of atomics, and two that are deprecated. */
#define SHMEM_SYNC_TYPES(X, ...)                                                                   \
    SHMEM_AMO_TYPES(X, __VA_ARGS__)                                                                \
    X(short, short, __VA_ARGS__)                                                                   \
    X(ushort, unsigned short, __VA_ARGS__)

#define SHMEM_SYNC_TYPES_DISTINCT(X, ...)                                                          \
    SHMEM_AMO_TYPES_DISTINCT(X, __VA_ARGS__)                                                       \
    X(short, short, __VA_ARGS__)                                                                   \
    X(ushort, unsigned short, __VA_ARGS__)

/** The types of bitwise reductions over teams. */
#define SHMEM_REDUCE_BITWISE_TYPES(X, ...)                                                         \
    X(uchar, unsigned char, __VA_ARGS__)                                                           \
    X(ushort, unsigned short, __VA_ARGS__)                                                         \
    SHMEM_INTEGERS_UNSIGNED(X, __VA_ARGS__)                                                        \
    SHMEM_INTEGERS_SMALL_EXACT(X, __VA_ARGS__)                                                     \
    SHMEM_INTEGERS_EXACT(X, __VA_ARGS__)                                                           \
    X(size, size_t, __VA_ARGS__)

#define SHMEM_REDUCE_BITWISE_TYPES_DISTINCT(X, ...)                                                \
    X(uchar, unsigned char, __VA_ARGS__)                                                           \
    X(ushort, unsigned short, __VA_ARGS__)                                                         \
    SHMEM_INTEGERS_UNSIGNED(X, __VA_ARGS__)                                                        \
    X(int8, int8_t, __VA_ARGS__)                                                                   \
    X(int16, int16_t, __VA_ARGS__)                                                                 \
    X(int32, int32_t, __VA_ARGS__)                                                                 \
    X(int64, int64_t, __VA_ARGS__)

/** The types of sums and products over teams. */
#define SHMEM_REDUCE_SUM_TYPES(X, ...)                                                             \
    SHMEM_RMA_TYPES(X, __VA_ARGS__)                                                                \
    X(complexd, shmem_complexd_type, __VA_ARGS__)                                                  \
    X(complexf, shmem_complexf_type, __VA_ARGS__)

#define SHMEM_REDUCE_SUM_TYPES_DISTINCT(X, ...)                                                    \
    SHMEM_RMA_TYPES_DISTINCT(X, __VA_ARGS__)                                                       \
    X(complexd, shmem_complexd_type, __VA_ARGS__)                                                  \
    X(complexf, shmem_complexf_type, __VA_ARGS__)

/** The types of reductions over active sets (deprecated): bitwise, minimum and maximum, sums. */
#define SHMEM_TO_ALL_BITWISE_TYPES(X, ...)                                                         \
    X(short, short, __VA_ARGS__)                                                                   \
    SHMEM_INTEGERS_SIGNED(X, __VA_ARGS__)

#define SHMEM_TO_ALL_MINMAX_TYPES(X, ...)                                                          \
    SHMEM_TO_ALL_BITWISE_TYPES(X, __VA_ARGS__)                                                     \
    SHMEM_REALS(X, __VA_ARGS__)                                                                    \
    X(longdouble, long double, __VA_ARGS__)

#define SHMEM_TO_ALL_SUM_TYPES(X, ...)                                                             \
    SHMEM_TO_ALL_MINMAX_TYPES(X, __VA_ARGS__)                                                      \
    X(complexd, shmem_complexd_type, __VA_ARGS__)                                                  \
    X(complexf, shmem_complexf_type, __VA_ARGS__)

/** The operators of reductions and the types that each applies to: X(OPERATOR, TYPES, ...). */
#define SHMEM_REDUCE_OPERATORS(X, ...)                                                             \
    X(and, BITWISE, __VA_ARGS__)                                                                   \
    X(or, BITWISE, __VA_ARGS__)                                                                    \
    X(xor, BITWISE, __VA_ARGS__)                                                                   \
    X(max, MINMAX, __VA_ARGS__)                                                                    \
    X(min, MINMAX, __VA_ARGS__)                                                                    \
    X(sum, SUM, __VA_ARGS__)                                                                       \
    X(prod, SUM, __VA_ARGS__)

/** The types of minima and maxima over teams. */
#define SHMEM_REDUCE_MINMAX_TYPES(X, ...)          SHMEM_RMA_TYPES(X, __VA_ARGS__)
#define SHMEM_REDUCE_MINMAX_TYPES_DISTINCT(X, ...) SHMEM_RMA_TYPES_DISTINCT(X, __VA_ARGS__)

/** The sizes in bits of the routines that are named by the size of their elements. */
#define SHMEM_SIZES(X, ...)                                                                        \
    X(8, __VA_ARGS__)                                                                              \
    X(16, __VA_ARGS__)                                                                             \
    X(32, __VA_ARGS__)                                                                             \
    X(64, __VA_ARGS__)                                                                             \
    X(128, __VA_ARGS__)

#endif
