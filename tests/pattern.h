/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - fills memory with patterns that show misplaced bytes, for tests of transfers. */
#ifndef TESTS_PATTERN_H
#define TESTS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the byte of a pattern at position @p i. */
static inline unsigned char byte_of(uint64_t pattern, size_t i)
{
    return (unsigned char)((pattern * 0x9e3779b97f4a7c15u >> 32) + i * 131 + (i >> 8));
}

/* Fills memory with a pattern. */
static inline void fill(void *to, size_t bytes, uint64_t pattern)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = byte_of(pattern, i);
}

/* Returns true if memory has a pattern. */
static inline bool is_filled(const void *at, size_t bytes, uint64_t pattern)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)at)[i] != byte_of(pattern, i))
            return false;
    return true;
}

#endif
