/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crypto.h - what Skua needs of a library for cryptography: skua-crypto.so, a module
 * (base/module.h) that is loaded when the setting security asks for more than `job`.
 *
 * crypto/openssl.c stands on OpenSSL: AES-128-GCM, whose tags authenticate and which encrypts or
 * does not; keys by HKDF, proofs by HMAC, of SHA-256.
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

/* Functions fail, returning false or NULL, if the library does; ski_crypto.open() also if what it
 * is given is not genuine.  A cipher is used by one thread at a time. */
struct ski_crypto {
    unsigned version; /* SKI_CRYPTO_VERSION */

    /** A few words for people: the library and the algorithms. */
    const char *(*describe)(void);

    /** Write the proof, SKI_CRYPTO_PROOF bytes, that a holder of @p secret has said @p said. */
    bool (*prove)(const void *secret, size_t secret_bytes, const void *said, size_t bytes,
                  void *proof);

    /** Derive @p key_bytes of keys, which belong to @p said alone, from @p secret. */
    bool (*derive)(const void *secret, size_t secret_bytes, const void *said, size_t bytes,
                   void *keys, size_t key_bytes);

    /** Make a cipher of a key; @p encrypts: what it seals is also encrypted. */
    struct ski_cipher *(*make)(const void *key, bool encrypts);
    void (*drop)(struct ski_cipher *cipher);

    /** Copy @p parts to @p to, one after the other, encrypted or not, and write their tag.  No two
     *  calls with one key have the same nonce. */
    bool (*seal)(struct ski_cipher *cipher, const void *nonce, const struct iovec *part,
                 size_t parts, void *to, void *tag);

    /** Check, and decrypt in place, @p bytes at @p data.  False: they are not what was sealed, and
     *  must not be used. */
    bool (*open)(struct ski_cipher *cipher, const void *nonce, void *data, size_t bytes,
                 const void *tag);
};

#endif
