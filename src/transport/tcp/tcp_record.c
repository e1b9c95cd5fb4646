/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_record.c - see tcp_record.h. */
#include "transport/tcp/tcp_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

#define RECORD_IOV_MAX 64 /* parts of a record, at most: more than one system call takes */

struct record_head {
    uint32_t bytes, check;
};

_Static_assert(sizeof(struct record_head) == SKI_RECORD_HEAD, "as on the way");

/* ---- life ---------------------------------------------------------------------------- */

static bool record_direction_begin(struct ski_record_direction *direction,
                                   const struct ski_crypto *crypto, bool encrypts,
                                   const struct ski_record_keys *keys)
{
    direction->keys   = *keys;
    direction->cipher = crypto->make(keys->key, encrypts);
    explicit_bzero(direction->keys.key, sizeof direction->keys.key); /* the cipher has it */
    return direction->cipher != NULL;
}

struct ski_records *ski_records_make(const struct ski_crypto *crypto, bool encrypts,
                                     struct ski_record_keys *in, struct ski_record_keys *out)
{
    struct ski_records *r = calloc(1, sizeof *r);
    bool                made;

    if (!r)
        return NULL;
    r->crypto = crypto;
    r->came   = malloc(SKI_RECORD_ROOM);
    r->goes   = malloc(SKI_RECORD_SIZE);
    made      = r->came && r->goes && record_direction_begin(&r->in, crypto, encrypts, in) &&
           record_direction_begin(&r->out, crypto, encrypts, out);
    explicit_bzero(in, sizeof *in);
    explicit_bzero(out, sizeof *out);
    if (made)
        return r;
    ski_records_drop(r);
    return NULL;
}

void ski_records_drop(struct ski_records *r)
{
    if (!r)
        return;
    r->crypto->drop(r->in.cipher);
    r->crypto->drop(r->out.cipher);
    free(r->came);
    free(r->goes);
    explicit_bzero(r, sizeof *r);
    free(r);
}

/* ---- records ---------------------------------------------------------------------------- */

/* Returns the head of the next record.  Its check is valid for no other length or number. */
static struct record_head record_make_head(const struct ski_record_direction *direction,
                                           size_t                             bytes)
{
    const uint64_t words[] = {direction->number, bytes};
    uint64_t       hash    = ski_siphash(direction->keys.check, words, 2);

    return (struct record_head){(uint32_t)bytes, (uint32_t)(hash ^ hash >> 32)};
}

/* Writes the nonce of the next record, which no other record of this key has. */
static void record_nonce(struct ski_record_direction *direction,
                         unsigned char                nonce[SKI_CRYPTO_NONCE])
{
    uint64_t last;

    memcpy(nonce, direction->keys.nonce, SKI_CRYPTO_NONCE);
    memcpy(&last, nonce + SKI_CRYPTO_NONCE - sizeof last, sizeof last);
    last ^= direction->number++;
    memcpy(nonce + SKI_CRYPTO_NONCE - sizeof last, &last, sizeof last);
}

/* Selects the first bytes of @p part, as many as fit in a record.  Returns their number. */
static size_t record_choose(const struct iovec *part, size_t parts, struct iovec *chosen,
                            size_t *count)
{
    size_t room = SKI_RECORD_MAX;

    *count = 0;
    for (size_t i = 0; i < parts && room > 0 && *count < RECORD_IOV_MAX; i++) {
        size_t n = part[i].iov_len < room ? part[i].iov_len : room;

        chosen[(*count)++] = (struct iovec){part[i].iov_base, n};
        room -= n;
    }
    return SKI_RECORD_MAX - room;
}

bool ski_records_seal(struct ski_records *r, const struct iovec *part, size_t parts)
{
    struct iovec       chosen[RECORD_IOV_MAX];
    unsigned char      nonce[SKI_CRYPTO_NONCE];
    size_t             count, bytes = record_choose(part, parts, chosen, &count);
    struct record_head head = record_make_head(&r->out, bytes);

    assert(bytes > 0 && !ski_records_wait(r));
    memcpy(r->goes, &head, sizeof head);
    record_nonce(&r->out, nonce);
    if (!r->crypto->seal(r->out.cipher, nonce, chosen, count, r->goes + SKI_RECORD_HEAD,
                         r->goes + SKI_RECORD_HEAD + bytes))
        return false;
    r->plain  = bytes;
    r->length = SKI_RECORD_HEAD + bytes + SKI_CRYPTO_TAG;
    r->sent   = 0;
    return true;
}

/* Reads the length of the record at @p at, 0 if its head is not complete.  Returns whether the head
 * is valid. */
static bool record_read_head(const struct ski_records *r, const char *at, size_t have,
                             size_t *bytes)
{
    struct record_head head, right;

    *bytes = 0;
    if (have < sizeof head)
        return true;
    memcpy(&head, at, sizeof head);
    right  = record_make_head(&r->in, head.bytes);
    *bytes = head.bytes;
    return head.check == right.check && head.bytes > 0 && head.bytes <= SKI_RECORD_MAX;
}

bool ski_records_open(struct ski_records *r,
                      bool (*take)(void *arg, const char *data, size_t bytes), void *arg)
{
    char         *at = r->came;
    unsigned char nonce[SKI_CRYPTO_NONCE];
    size_t        bytes;
    bool          sense;

    while ((sense = record_read_head(r, at, r->have, &bytes)) && bytes > 0 &&
           r->have >= SKI_RECORD_HEAD + bytes + SKI_CRYPTO_TAG) {
        char *data = at + SKI_RECORD_HEAD;

        record_nonce(&r->in, nonce);
        if (!r->crypto->open(r->in.cipher, nonce, data, bytes, data + bytes) ||
            !take(arg, data, bytes))
            return false;
        at = data + bytes + SKI_CRYPTO_TAG;
        r->have -= SKI_RECORD_HEAD + bytes + SKI_CRYPTO_TAG;
    }
    if (sense && r->have > 0 && at != r->came)
        memmove(r->came, at, r->have);
    return sense;
}
