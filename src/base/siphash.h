/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h - SipHash-2-4 of Aumasson and Bernstein over whole words: a short keyed hash that a
 * party without the key can neither compute nor predict.
 */
#ifndef SKI_SIPHASH_H
#define SKI_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t ski_siphash_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void ski_siphash_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = ski_siphash_rotate(v[1], 13) ^ v[0], v[0] = ski_siphash_rotate(v[0], 32);
    v[2] += v[3], v[3] = ski_siphash_rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = ski_siphash_rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = ski_siphash_rotate(v[1], 17) ^ v[2], v[2] = ski_siphash_rotate(v[2], 32);
}

/** The hash of @p count words under @p key. */
static inline uint64_t ski_siphash(const uint64_t key[2], const uint64_t *words, size_t count)
{
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};

    for (size_t i = 0; i <= count;
         i++) { /* the last word, which pads the others, is their length */
        uint64_t word = i < count ? words[i] : (uint64_t)count << 59;

        v[3] ^= word;
        ski_siphash_round(v), ski_siphash_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        ski_siphash_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
