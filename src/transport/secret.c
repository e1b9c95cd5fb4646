/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - see secret.h. */
#include "transport/secret.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/log.h"
#include "base/module.h"
#include "base/siphash.h"

static struct {
    const uint64_t          *secret;
    const struct ski_crypto *crypto; /* NULL: proofs are SipHashes */
} secret_state;

const struct ski_crypto *ski_crypto_load(char *reason, size_t size)
{
    void                    *library = ski_module_open("crypto", reason, size);
    const struct ski_crypto *crypto  = library ? dlsym(library, SKI_CRYPTO_SYMBOL) : NULL;

    if (!library || (crypto && crypto->version == SKI_CRYPTO_VERSION))
        return crypto;
    snprintf(reason, size, "skua-crypto.so belongs to another version of Skua");
    dlclose(library);
    return NULL;
}

skua_status ski_secret_begin(enum ski_security level, const uint64_t *secret,
                             const struct ski_crypto **crypto)
{
    char reason[256] = "";

    secret_state.secret = secret;
    secret_state.crypto = NULL;
    if (level != SKI_SECURITY_JOB)
        secret_state.crypto = ski_crypto_load(reason, sizeof reason);
    *crypto = secret_state.crypto;
    if (level == SKI_SECURITY_JOB || secret_state.crypto)
        return SKUA_OK;
    return ski_fail(SKUA_ERR_UNSUPPORTED,
                    "SKUA_SECURITY=%s needs OpenSSL, and it cannot be used: %s (Skua must have "
                    "been built where libssl-dev is installed)",
                    ski_security_name(level), reason);
}

bool ski_secret_prove(const uint64_t *words, size_t count, uint64_t proof[2])
{
    const size_t secret_bytes = SKI_SECRET_WORDS * sizeof *secret_state.secret;

    if (secret_state.crypto)
        return secret_state.crypto->prove(secret_state.secret, secret_bytes, words,
                                          count * sizeof *words, proof);
    ski_siphash_long(secret_state.secret, words, count, proof);
    return true;
}

bool ski_secret_derive(const uint64_t *words, size_t count, void *keys, size_t bytes)
{
    const size_t secret_bytes = SKI_SECRET_WORDS * sizeof *secret_state.secret;

    return secret_state.crypto &&
           secret_state.crypto->derive(secret_state.secret, secret_bytes, words,
                                       count * sizeof *words, keys, bytes);
}
