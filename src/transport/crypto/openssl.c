/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openssl.c - see transport/crypto.h.
 *
 * Data that is authenticated but not encrypted is passed to AES-GCM as additional data, for which
 * it computes the tag alone (GMAC).
 */
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/crypto/openssl.h"

size_t ski_openssl_piece = (size_t)1 << 30;

struct ski_cipher {
    EVP_CIPHER_CTX *sealing, *opening;
    bool            encrypts;
};

static const char *openssl_describe(void)
{
    static char text[128];

    snprintf(text, sizeof text, "%s: AES-128-GCM, HKDF and HMAC of SHA-256",
             OpenSSL_version(OPENSSL_VERSION));
    return text;
}

/* ---- proofs and keys -------------------------------------------------------------------- */

static bool openssl_prove(const void *secret, size_t secret_bytes, const void *said, size_t bytes,
                          void *proof)
{
    unsigned char whole[EVP_MAX_MD_SIZE];
    unsigned      n = sizeof whole;

    if (secret_bytes > INT_MAX ||
        !HMAC(EVP_sha256(), secret, (int)secret_bytes, said, bytes, whole, &n))
        return false;
    memcpy(proof, whole, SKI_CRYPTO_PROOF);
    return true;
}

static bool openssl_derive(const void *secret, size_t secret_bytes, const void *said, size_t bytes,
                           void *keys, size_t key_bytes)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
    bool          derived;

    derived = context && bytes <= INT_MAX && secret_bytes <= INT_MAX &&
              EVP_PKEY_derive_init(context) > 0 &&
              EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) > 0 &&
              EVP_PKEY_CTX_set1_hkdf_key(context, secret, (int)secret_bytes) > 0 &&
              EVP_PKEY_CTX_add1_hkdf_info(context, said, (int)bytes) > 0 &&
              EVP_PKEY_derive(context, keys, &key_bytes) > 0;
    EVP_PKEY_CTX_free(context);
    return derived;
}

/* ---- ciphers ----------------------------------------------------------------------------- */

static void openssl_drop(struct ski_cipher *cipher)
{
    if (!cipher)
        return;
    EVP_CIPHER_CTX_free(cipher->sealing);
    EVP_CIPHER_CTX_free(cipher->opening);
    free(cipher);
}

static struct ski_cipher *openssl_make(const void *key, bool encrypts)
{
    struct ski_cipher *cipher = calloc(1, sizeof *cipher);

    if (!cipher)
        return NULL;
    cipher->encrypts = encrypts;
    cipher->sealing  = EVP_CIPHER_CTX_new();
    cipher->opening  = EVP_CIPHER_CTX_new();
    if (cipher->sealing && cipher->opening &&
        EVP_EncryptInit_ex(cipher->sealing, EVP_aes_128_gcm(), NULL, key, NULL) &&
        EVP_DecryptInit_ex(cipher->opening, EVP_aes_128_gcm(), NULL, key, NULL))
        return cipher;
    openssl_drop(cipher);
    return NULL;
}

/* Passes @p bytes to OpenSSL, which takes an int of them at a time.  @p to is NULL for data that is
 * authenticated alone. */
static bool openssl_update(EVP_CIPHER_CTX *context, unsigned char *to, const unsigned char *from,
                           size_t bytes)
{
    while (bytes > 0) {
        size_t piece = bytes < ski_openssl_piece ? bytes : ski_openssl_piece;
        int    n;

        if (!EVP_CipherUpdate(context, to, &n, from, (int)piece))
            return false;
        from += piece;
        to = to ? to + piece : NULL;
        bytes -= piece;
    }
    return true;
}

static bool openssl_seal(struct ski_cipher *cipher, const void *nonce, const struct iovec *part,
                         size_t parts, void *to, void *tag)
{
    EVP_CIPHER_CTX *context = cipher->sealing;
    unsigned char  *at      = to;
    int             n;

    if (!EVP_EncryptInit_ex(context, NULL, NULL, NULL, nonce))
        return false;
    for (size_t i = 0; i < parts; i++) {
        if (!openssl_update(context, cipher->encrypts ? at : NULL, part[i].iov_base,
                            part[i].iov_len))
            return false;
        if (!cipher->encrypts)
            memcpy(at, part[i].iov_base, part[i].iov_len);
        at += part[i].iov_len;
    }
    return EVP_EncryptFinal_ex(context, at, &n) &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SKI_CRYPTO_TAG, tag);
}

static bool openssl_open(struct ski_cipher *cipher, const void *nonce, void *data, size_t bytes,
                         const void *tag)
{
    EVP_CIPHER_CTX *context = cipher->opening;
    unsigned char   rest[SKI_CRYPTO_TAG];
    int             n;

    return EVP_DecryptInit_ex(context, NULL, NULL, NULL, nonce) &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SKI_CRYPTO_TAG,
                               (void *)(uintptr_t)tag) &&
           openssl_update(context, cipher->encrypts ? data : NULL, data, bytes) &&
           EVP_DecryptFinal_ex(context, rest, &n) > 0;
}

__attribute__((visibility("default"))) const struct ski_crypto ski_crypto = {
    .version  = SKI_CRYPTO_VERSION,
    .describe = openssl_describe,
    .prove    = openssl_prove,
    .derive   = openssl_derive,
    .make     = openssl_make,
    .drop     = openssl_drop,
    .seal     = openssl_seal,
    .open     = openssl_open,
};
