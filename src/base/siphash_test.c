/* SPDX-License-Identifier: Apache-2.0 */
/* siphash_test.c - the vectors of SipHash's authors, for inputs of whole words. */
#include "base/siphash.h"

#include <string.h>

#include "tests/tap.h"

static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

/* Of the bytes 0, 1, 2 ...: none of them, 8 and 16. */
static const uint64_t words[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

static const unsigned char of_64[3][8] = {
    {0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72},
    {0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93},
    {0xdb, 0x9b, 0xc2, 0x57, 0x7f, 0xcc, 0x2a, 0x3f},
};
static const unsigned char of_128[16] = {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6,
                                         0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93};

int main(void)
{
    uint64_t hash[2], other[2];

    for (size_t count = 0; count <= 2; count++) {
        hash[0] = ski_siphash(key, words, count);
        OK(memcmp(hash, of_64[count], 8) == 0, "64 bits of %zu words", count);
    }
    ski_siphash_long(key, words, 0, hash);
    OK(memcmp(hash, of_128, 16) == 0, "128 bits of no words");
    ski_siphash_long(key, words, 1, hash);
    ski_siphash_long(key, words, 2, other);
    OK(hash[0] != other[0] && hash[1] != other[1] && hash[0] != ski_siphash(key, words, 1),
       "other words have another hash, and 128 bits another than 64");
    return tap_end();
}
