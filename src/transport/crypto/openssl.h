/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openssl.h - the implementation of skua-crypto.so (transport/crypto.h) with OpenSSL.
 */
#ifndef SKI_OPENSSL_H
#define SKI_OPENSSL_H

#include "transport/crypto.h"

/** The most bytes that OpenSSL gets in one call, 1 GB: its lengths are of type int.  A test sets
 * it.
 */
extern size_t ski_openssl_piece;

/** The module. */
extern const struct ski_crypto ski_crypto;

#endif
