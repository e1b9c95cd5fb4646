/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the secret of the job, and the proofs and keys that are derived from it.
 *
 * No driver gets the secret itself.  With security=job a proof is a 128-bit SipHash, which needs no
 * library, so hosts with and without one can belong to one job; with auth and encrypt the library
 * makes proofs and keys (crypto.h).
 */
#ifndef SKI_SECRET_H
#define SKI_SECRET_H

#include <skua/status.h>

#include "base/security.h"
#include "transport/crypto.h"

#define SKI_SECRET_WORDS 2

/** Loads skua-crypto.so, or finds it loaded.  Returns NULL, with @p reason written, if it cannot be
 *  used. */
const struct ski_crypto *ski_crypto_load(char *reason, size_t size);

/** Sets the level and the secret, which stays valid.  *@p crypto is the library, or NULL where none
 *  is needed.  A failure has been logged. */
skua_status ski_secret_begin(enum ski_security level, const uint64_t *secret,
                             const struct ski_crypto **crypto);

/** Writes a proof that a process of the job sent @p words.  Returns false if the library fails. */
bool ski_secret_prove(const uint64_t *words, size_t count, uint64_t proof[2]);

/** Derives keys for @p words, and for no others.  Returns false if there is no library or it
 *  fails. */
bool ski_secret_derive(const uint64_t *words, size_t count, void *keys, size_t bytes);

#endif
