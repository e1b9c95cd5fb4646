/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skuac_padding.h - clears the padding of structs that are compared byte by byte (the values of
 * `inplace` entries, and indices of elements), as skuac's generated code uses it.
 */
#ifndef SKUA_SKUAC_PADDING_H
#define SKUA_SKUAC_PADDING_H

/** Zeroes the padding bytes of *@p object. If the compiler has no builtin for it, nothing happens,
 *  and SKUAC_CLEARS_PADDING is 0. */
#ifdef __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define SKUAC_CLEAR_PADDING(object) __builtin_clear_padding(object)
#define SKUAC_CLEARS_PADDING        1
#endif
#endif
#ifndef SKUAC_CLEARS_PADDING
#define SKUAC_CLEAR_PADDING(object) ((void)(object))
#define SKUAC_CLEARS_PADDING        0
#endif

#endif
