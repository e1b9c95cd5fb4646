/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - hashing, comparing and printing the index of an element.
 *
 * An index of up to eight bytes in an array of integers is its own key: equal keys are equal
 * indices.  The key of any other index is its hash, so indices with equal keys are compared.
 */
#ifndef SKI_INDEX_H
#define SKI_INDEX_H

#include <string.h>

#include <skua/object.h>

#define SKI_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio */

/* Characters of an index as text: "(-2147483648, ...)" or bytes in hexadecimal. */
#define SKI_INDEX_TEXT 104

/** Writes an index to @p text: integers in brackets, or, if @p dims is 0, bytes in hexadecimal. */
const char *ski_index_text(char text[SKI_INDEX_TEXT], const skua_index *index, int dims);

/** Returns the hash of an index of any length. */
uint64_t ski_index_hash(const skua_index *index);

/** Returns ski_index_hash() of an index of three or four integers, of 12 or 16 bytes in all, which
 * are in the two words.  @p golden is SKI_GOLDEN, which the caller has in memory: a load is faster.
 */
static inline uint64_t ski_index_hash_pair(const uint64_t word[2], uint32_t bytes, uint64_t golden)
{
    uint64_t hash = ((bytes / 4 ^ word[0]) * golden ^ word[1]) * golden;

    return hash ^ hash >> 32;
}

/** Returns whether two indices have equal length and bytes. */
static inline bool ski_index_equal(const skua_index *a, const skua_index *b)
{
    return a->bytes == b->bytes && memcmp(&a->at, &b->at, a->bytes) == 0;
}

#endif
