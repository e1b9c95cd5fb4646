/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openssl_test.c - data that OpenSSL gets in pieces, as 2 GB and more, is sealed and opened as in
 * one call.
 */
#include "transport/crypto/openssl.h"

#include <limits.h>
#include <string.h>

#include "tests/tap.h"

#define BYTES ((size_t)5000)

static unsigned char openssl_data[BYTES], openssl_sealed[BYTES], openssl_again[BYTES];

static bool openssl_test_seal(struct ski_cipher *cipher, const void *nonce, size_t first, void *to,
                              unsigned char *tag)
{
    struct iovec part[] = {{openssl_data, first}, {openssl_data + first, BYTES - first}};

    return ski_crypto.seal(cipher, nonce, part, 2, to, tag);
}

/* Seals in one call and in pieces of @p piece bytes, and opens in pieces. */
static bool openssl_test_is_same(struct ski_cipher *cipher, uint64_t *random, size_t piece)
{
    static const unsigned char nonce[SKI_CRYPTO_NONCE] = {1, 2, 3};
    unsigned char              tag[SKI_CRYPTO_TAG], tag_again[SKI_CRYPTO_TAG];
    size_t                     first = tap_random(random) % (BYTES + 1), whole = ski_openssl_piece;
    bool                       same = openssl_test_seal(cipher, nonce, first, openssl_sealed, tag);

    ski_openssl_piece = piece;
    same &= openssl_test_seal(cipher, nonce, first, openssl_again, tag_again) &&
            memcmp(tag, tag_again, sizeof tag) == 0 &&
            memcmp(openssl_sealed, openssl_again, BYTES) == 0 &&
            ski_crypto.open(cipher, nonce, openssl_again, BYTES, tag) &&
            memcmp(openssl_again, openssl_data, BYTES) == 0;
    openssl_sealed[tap_random(random) % BYTES] ^= 1;
    same &= !ski_crypto.open(cipher, nonce, openssl_sealed, BYTES, tag);
    ski_openssl_piece = whole;
    return same;
}

static void openssl_test_pieces(uint64_t *random, bool encrypts)
{
    static const unsigned char key[SKI_CRYPTO_KEY] = {4, 5, 6};
    static const size_t        piece[]             = {1, 15, 16, 37, 1024, BYTES - 1, BYTES};
    struct ski_cipher         *cipher              = ski_crypto.make(key, encrypts);
    bool                       same                = cipher != NULL;

    for (size_t i = 0; same && i < sizeof piece / sizeof *piece; i++)
        same = openssl_test_is_same(cipher, random, piece[i]);
    OK(same, "%s: pieces of any size are sealed and opened as the whole",
       encrypts ? "encrypt" : "auth");
    ski_crypto.drop(cipher);
}

int main(void)
{
    uint64_t random = tap_seed();

    OK(ski_openssl_piece > 0 && ski_openssl_piece <= INT_MAX, "a piece has a length of type int");
    for (size_t i = 0; i < BYTES; i++)
        openssl_data[i] = (unsigned char)tap_random(&random);
    openssl_test_pieces(&random, false);
    openssl_test_pieces(&random, true);
    return tap_end();
}
