/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - see index.h. */
#include "objects/model/index.h"

#include <stdio.h>

#include "base/assert.h"

/* Returns @p hash, and with it the two integers at @p at: both supported CPUs are little-endian. */
static inline uint64_t index_hash_two(uint64_t hash, const int32_t *at)
{
    uint64_t two;

    memcpy(&two, at, sizeof two);
    return (hash ^ two) * SKI_GOLDEN;
}

/* Returns the hash of one to six integers, the frequent indices. */
static inline uint64_t index_hash_words(const int32_t *x, uint32_t words)
{
    uint64_t hash = words;

    if (words >= 2)
        hash = index_hash_two(hash, x);
    if (words >= 4)
        hash = index_hash_two(hash, x + 2);
    if (words >= 6)
        hash = index_hash_two(hash, x + 4);
    if (words % 2)
        hash = (hash ^ (uint32_t)x[words - 1]) * SKI_GOLDEN;
    return hash ^ hash >> 32;
}

/* Returns the hash of an index of any length. */
static __attribute__((noinline)) uint64_t index_hash_bytes(const skua_index *index)
{
    uint64_t hash = index->bytes * SKI_GOLDEN;
    uint64_t word;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    for (uint32_t i = 0; i < index->bytes; i += (uint32_t)sizeof word) {
        uint32_t rest = index->bytes - i;

        word = 0;
        memcpy(&word, index->at.raw + i, rest < sizeof word ? rest : sizeof word);
        hash = (hash ^ word) * SKI_GOLDEN;
        hash ^= hash >> 29;
    }
    return hash;
}

uint64_t ski_index_hash(const skua_index *index)
{
    if (index->bytes <= 24 && index->bytes % 4 == 0)
        return index_hash_words(index->at.x, index->bytes / 4);
    return index_hash_bytes(index);
}

/* Writes integers in brackets. */
static void index_write_integers(char *at, size_t room, const skua_index *index)
{
    for (uint32_t i = 0; i < index->bytes / 4; i++) {
        int wrote = snprintf(at, room, "%s%d", i ? ", " : "(", index->at.x[i]);
        ski_assert(wrote > 0 && (size_t)wrote < room);
        at += wrote;
        room -= (size_t)wrote;
    }
    snprintf(at, room, ")");
}

const char *ski_index_text(char text[SKI_INDEX_TEXT], const skua_index *index, int dims)
{
    char *at = text;

    if (index->bytes > SKUA_INDEX_MAX) {
        snprintf(text, SKI_INDEX_TEXT, "(%u bytes)", index->bytes);
    } else if (dims > 0 && index->bytes >= 4 && index->bytes <= 24 && index->bytes % 4 == 0) {
        index_write_integers(text, SKI_INDEX_TEXT, index);
    } else {
        at += snprintf(at, SKI_INDEX_TEXT, "0x");
        for (uint32_t i = 0; i < index->bytes; i++)
            at += snprintf(at, 3, "%02x", index->at.raw[i]);
    }
    return text;
}
