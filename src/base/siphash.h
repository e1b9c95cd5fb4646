/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h - SipHash-2-4 of Aumasson and Bernstein over whole words: a keyed hash for short inputs
 * whose values reveal nothing about the key.
 *
 * It proves the knowledge of a secret where no cryptography library is installed.  siphash_test.c
 * checks it against the vectors of its authors.
 */
#ifndef SKI_SIPHASH_H
#define SKI_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Rotates @p x left by @p by bits. */
static inline uint64_t ski_siphash_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* SipRound: mixes the four words of the state. */
static inline void ski_siphash_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = ski_siphash_rotate(v[1], 13) ^ v[0], v[0] = ski_siphash_rotate(v[0], 32);
    v[2] += v[3], v[3] = ski_siphash_rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = ski_siphash_rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = ski_siphash_rotate(v[1], 17) ^ v[2], v[2] = ski_siphash_rotate(v[2], 32);
}

/* Absorbs @p count words and the padding word, which holds their length. */
static inline void ski_siphash_words(uint64_t v[4], const uint64_t key[2], const uint64_t *words,
                                     size_t count)
{
    v[0] = key[0] ^ UINT64_C(0x736f6d6570736575), v[1] ^= key[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = key[0] ^ UINT64_C(0x6c7967656e657261), v[3] = key[1] ^ UINT64_C(0x7465646279746573);
    for (size_t i = 0; i <= count; i++) {
        uint64_t word = i < count ? words[i] : (uint64_t)count << 59;

        v[3] ^= word;
        ski_siphash_round(v), ski_siphash_round(v);
        v[0] ^= word;
    }
}

/* Finalises the state and returns its hash. */
static inline uint64_t ski_siphash_end(uint64_t v[4])
{
    for (int i = 0; i < 4; i++)
        ski_siphash_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/** Returns the 64-bit hash of @p count words. */
static inline uint64_t ski_siphash(const uint64_t key[2], const uint64_t *words, size_t count)
{
    uint64_t v[4] = {0};

    ski_siphash_words(v, key, words, count);
    v[2] ^= 0xff;
    return ski_siphash_end(v);
}

/** Writes the 128-bit hash of @p count words, which is not an extension of the 64-bit hash. */
static inline void ski_siphash_long(const uint64_t key[2], const uint64_t *words, size_t count,
                                    uint64_t hash[2])
{
    uint64_t v[4] = {0, 0xee, 0, 0};

    ski_siphash_words(v, key, words, count);
    v[2] ^= 0xee;
    hash[0] = ski_siphash_end(v);
    v[1] ^= 0xdd;
    hash[1] = ski_siphash_end(v);
}

#endif
