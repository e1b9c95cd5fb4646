/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crypto.h - the contract of skua-crypto.so, a module (base/module.h) that is loaded when the
 * setting security is auth or encrypt.
 *
 * crypto/openssl.c implements it with OpenSSL: AES-128-GCM, which authenticates with or without
 * encryption, HKDF for keys and HMAC for proofs, both with SHA-256.
 */
#ifndef SKI_CRYPTO_H
#define SKI_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define SKI_CRYPTO_VERSION 1
#define SKI_CRYPTO_SYMBOL  "ski_crypto"
#define SKI_CRYPTO_KEY     16 /* bytes of a key, of a nonce, of a tag and of a proof */
#define SKI_CRYPTO_NONCE   12
#define SKI_CRYPTO_TAG     16
#define SKI_CRYPTO_PROOF   16

struct ski_cipher; /* one key, to seal with or to open with */

/* The functions of the module.  A function returns false or NULL if the library fails; open() also
 * if the data is not authentic.  A cipher is used by one thread at a time. */
struct ski_crypto {
    unsigned version; /* SKI_CRYPTO_VERSION */

    /** Returns a short description: the library and the algorithms. */
    const char *(*describe)(void);

    /** Writes a proof, of SKI_CRYPTO_PROOF bytes, that a holder of @p secret sent @p said. */
    bool (*prove)(const void *secret, size_t secret_bytes, const void *said, size_t bytes,
                  void *proof);

    /** Derives @p key_bytes bytes of keys from @p secret, for @p said and for nothing else. */
    bool (*derive)(const void *secret, size_t secret_bytes, const void *said, size_t bytes,
                   void *keys, size_t key_bytes);

    /** Makes a cipher of a key; with @p encrypts it also encrypts what it seals. */
    struct ski_cipher *(*make)(const void *key, bool encrypts);

    /** Frees a cipher, which may be NULL. */
    void (*drop)(struct ski_cipher *cipher);

    /** Copies @p parts to @p to, one after the other, encrypted or not, and writes their tag.  No
     *  two calls with one key have the same nonce. */
    bool (*seal)(struct ski_cipher *cipher, const void *nonce, const struct iovec *part,
                 size_t parts, void *to, void *tag);

    /** Checks and decrypts @p bytes at @p data in place.  Returns false if they are not authentic
     *  and must not be used. */
    bool (*open)(struct ski_cipher *cipher, const void *nonce, void *data, size_t bytes,
                 const void *tag);
};

#endif
