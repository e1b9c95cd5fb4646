/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - indices as keys.
 *
 * The key of an index of up to eight bytes in an array of integers is the index itself:
 * equal keys are equal indices.  All others have a hash for a key, and are compared.
 */
#ifndef SKI_INDEX_H
#define SKI_INDEX_H

#include <string.h>

#include <skua/object.h>

#define SKI_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio */

/* Room for an index in words: "(-2147483648, ...)" or bytes in hexadecimal. */
#define SKI_INDEX_TEXT 104

/** Write it as people do; @p dims 0: a string of bytes. */
const char *ski_index_text(char text[SKI_INDEX_TEXT], const skua_index *index, int dims);

/** The hash of an index, whatever it is. */
uint64_t ski_index_hash(const skua_index *index);

/** The same of three or four integers: 12 or 16 bytes, of which @p word are the eights. */
static inline uint64_t ski_index_hash_pair(const uint64_t word[2], uint32_t bytes)
{
    uint64_t hash = ((bytes / 4 ^ word[0]) * SKI_GOLDEN ^ word[1]) * SKI_GOLDEN;

    return hash ^ hash >> 32;
}

static inline bool ski_index_equal(const skua_index *a, const skua_index *b)
{
    return a->bytes == b->bytes && memcmp(&a->at, &b->at, a->bytes) == 0;
}

#endif
