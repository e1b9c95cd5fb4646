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
    const struct ski_crypto *crypto; /* NULL: proofs are ours */
} job;

const struct ski_crypto *ski_crypto_load(char *why, size_t size)
{
    void                    *library = ski_module_open("crypto", why, size);
    const struct ski_crypto *crypto  = library ? dlsym(library, SKI_CRYPTO_SYMBOL) : NULL;

    if (!library || (crypto && crypto->version == SKI_CRYPTO_VERSION))
        return crypto;
    snprintf(why, size, "skua-crypto.so is of another version of Skua");
    dlclose(library);
    return NULL;
}

skua_status_t ski_secret_begin(enum ski_security level, const uint64_t *secret,
                               const struct ski_crypto **crypto)
{
    char why[256] = "";

    job.secret = secret;
    job.crypto = NULL;
    if (level != SKI_SECURITY_JOB)
        job.crypto = ski_crypto_load(why, sizeof why);
    *crypto = job.crypto;
    if (level == SKI_SECURITY_JOB || job.crypto)
        return SKUA_OK;
    return ski_fail(SKUA_ERR_UNSUPPORTED,
                    "SKUA_SECURITY=%s needs OpenSSL, and it cannot be used: %s (Skua must have "
                    "been built where libssl-dev is installed)",
                    ski_security_name(level), why);
}

bool ski_secret_prove(const uint64_t *words, size_t count, uint64_t proof[2])
{
    const size_t secret_bytes = SKI_SECRET_WORDS * sizeof *job.secret;

    if (job.crypto)
        return job.crypto->prove(job.secret, secret_bytes, words, count * sizeof *words, proof);
    ski_siphash_long(job.secret, words, count, proof);
    return true;
}

bool ski_secret_derive(const uint64_t *words, size_t count, void *keys, size_t bytes)
{
    const size_t secret_bytes = SKI_SECRET_WORDS * sizeof *job.secret;

    return job.crypto &&
           job.crypto->derive(job.secret, secret_bytes, words, count * sizeof *words, keys, bytes);
}
