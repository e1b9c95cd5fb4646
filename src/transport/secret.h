/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the secret of the job, and what is made of it: proofs for connections, and keys.
 *
 * The secret itself goes to no driver.  With the setting security=job a proof is a SipHash of 128
 * bits, which needs no library, so that hosts with and without one can be of one job; with auth
 * and encrypt proofs and keys are the library's (crypto.h).
 */
#ifndef SKI_SECRET_H
#define SKI_SECRET_H

#include <skua/status.h>

#include "base/security.h"
#include "transport/crypto.h"

#define SKI_SECRET_WORDS 2

/** Load skua-crypto.so, or find it loaded; NULL, and why not. */
const struct ski_crypto *ski_crypto_load(char *reason, size_t size);

/** Begin with @p level and the secret, which stays in place: @p crypto is the library then, or NULL
 *  where none is needed.  A failure has been logged. */
skua_status_t ski_secret_begin(enum ski_security level, const uint64_t *secret,
                               const struct ski_crypto **crypto);

/** Write the proof that a process of the job has said @p words. */
bool ski_secret_prove(const uint64_t *words, size_t count, uint64_t proof[2]);

/** Derive keys that belong to @p words alone; false where there is no library. */
bool ski_secret_derive(const uint64_t *words, size_t count, void *keys, size_t bytes);

#endif
