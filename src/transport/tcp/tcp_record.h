/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - a stream of bytes in records that are authenticated, and encrypted or not: what goes
 * over a link with the setting security=auth or encrypt.
 *
 *      | head (8): bytes (32 bits), check (32 bits) | bytes | tag (16) | head | ...
 *
 * Each direction has keys of its own and counts its records.  The number of a record is not sent:
 * it is part of the nonce, so that a record which was changed, dropped, repeated or moved is not
 * genuine.  The check, of the number and the length, finds a wrong length before a single byte is
 * waited for.
 *
 * Nothing of a record is used before all of it is found to be genuine.  So the records of a large
 * packet, whose data go straight to where they belong, are opened in memory of the link first, of
 * SKI_RECORD_MAX bytes, which stays in the cache.
 */
#ifndef SKI_TCP_RECORD_H
#define SKI_TCP_RECORD_H

#include "transport/crypto.h"

#define SKI_RECORD_HEAD 8
#define SKI_RECORD_MAX  ((size_t)32 << 10) /* bytes in a record */
#define SKI_RECORD_SIZE (SKI_RECORD_HEAD + SKI_RECORD_MAX + SKI_CRYPTO_TAG)
#define SKI_RECORD_ROOM (4 * SKI_RECORD_SIZE) /* for bytes that have come */

/* The keys of one direction: as derived. */
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
    char  *came; /* bytes that have come, and belong to records not opened yet */
    size_t have;
    char  *goes;                /* the record that was sealed last */
    size_t length, sent, plain; /* of it: all bytes, those that left, those in it */
};

/** Make the records of a link; NULL: there is no memory, or the library fails.  @p keys are wiped.
 */
struct ski_records *ski_records_make(const struct ski_crypto *crypto, bool encrypts,
                                     struct ski_record_keys *in, struct ski_record_keys *out);
void                ski_records_drop(struct ski_records *r);

/** Whether a record has been sealed that has not left whole. */
static inline bool ski_records_wait(const struct ski_records *r)
{
    return r->sent < r->length;
}

/** Seal the first bytes of @p parts, as many as fit, in r->goes; how many: r->plain.  False: the
 *  library fails. */
bool ski_records_seal(struct ski_records *r, const struct iovec *part, size_t parts);

/** Open what has come, r->have bytes, and give what is in whole records to @p take; false: it is
 *  not genuine, or @p take does not want it. */
bool ski_records_open(struct ski_records *r,
                      bool (*take)(void *arg, const char *data, size_t bytes), void *arg);

#endif
