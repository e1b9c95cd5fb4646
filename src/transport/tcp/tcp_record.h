/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_record.h - a stream of bytes in records that are authenticated and, with security=encrypt,
 * encrypted.
 *
 *      | head (8): bytes (32 bits), check (32 bits) | bytes | tag (16) | head | ...
 *
 * Each direction has its own keys and numbers its records.  The number of a record is not sent but
 * is part of the nonce, so a record that was changed, dropped, repeated or moved is not authentic.
 * The check, a hash of the number and the length, detects a wrong length before any of its bytes
 * are waited for.
 *
 * Nothing of a record is used before all of it is authenticated.  So records are opened in memory
 * of the connection first, of SKI_RECORD_MAX bytes, which stays in the cache.
 */
#ifndef SKI_TCP_RECORD_H
#define SKI_TCP_RECORD_H

#include "transport/crypto.h"

#define SKI_RECORD_HEAD 8
#define SKI_RECORD_MAX  ((size_t)32 << 10) /* bytes in a record */
#define SKI_RECORD_SIZE (SKI_RECORD_HEAD + SKI_RECORD_MAX + SKI_CRYPTO_TAG)
#define SKI_RECORD_ROOM (4 * SKI_RECORD_SIZE) /* bytes of room for what has arrived */

/* The keys of one direction, as derived. */
struct ski_record_keys {
    unsigned char key[SKI_CRYPTO_KEY];
    unsigned char nonce[16]; /* of the first record; SKI_CRYPTO_NONCE of it is used */
    uint64_t      check[2];
};

struct ski_record_direction {
    struct ski_cipher     *cipher;
    struct ski_record_keys keys;
    uint64_t               number; /* of the next record */
};

struct ski_records {
    const struct ski_crypto    *crypto;
    struct ski_record_direction in, out;
    char  *came; /* the `have` bytes that have arrived, of records not opened yet */
    size_t have;
    char  *goes;                /* the record that was sealed last */
    size_t length, sent, plain; /* its bytes: all, those that were sent, those of data */
};

/** Makes the records of a connection and wipes the keys @p in and @p out.  Returns NULL if memory
 * is exhausted or the library fails. */
struct ski_records *ski_records_make(const struct ski_crypto *crypto, bool encrypts,
                                     struct ski_record_keys *in, struct ski_record_keys *out);

/** Frees the records of a connection, which may be NULL. */
void ski_records_drop(struct ski_records *r);

/** Returns whether the last record that was sealed has not been sent completely. */
static inline bool ski_records_wait(const struct ski_records *r)
{
    return r->sent < r->length;
}

/** Seals the first r->plain bytes of @p parts, as many as fit, in r->goes.  Returns false if the
 *  library fails. */
bool ski_records_seal(struct ski_records *r, const struct iovec *part, size_t parts);

/** Opens the complete records among the r->have bytes received and passes their contents to @p
 * take. Returns false if one is not authentic, or @p take returns false. */
bool ski_records_open(struct ski_records *r,
                      bool (*take)(void *arg, const char *data, size_t bytes), void *arg);

#endif
