/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_record_test.c - streams in records: what was sealed comes out, however it is cut; and once a
 * byte was changed, left out, repeated or moved, nothing that comes after it.
 *
 * Without the library (skua-crypto.so) there is nothing to test.
 */
#include "transport/tcp/tcp_record.h"

#include <string.h>

#include "base/config.h"
#include "tests/tap.h"
#include "transport/secret.h"

#define STREAM ((size_t)1 << 20)
#define ROUNDS 60
#define DAMAGE 300

static const struct ski_crypto *crypto;
static uint64_t                 random_state;

struct record_test_world {
    struct ski_records *from, *to;
    char                plain[STREAM], wire[2 * STREAM], out[STREAM];
    size_t              bytes, length, got; /* of plain, of wire, of out */
};

static struct record_test_world w;

static uint64_t record_test_draw(uint64_t least, uint64_t most)
{
    return least + tap_random(&random_state) % (most - least + 1);
}

/* Both sides of a link. */
static void record_test_begin(bool encrypts)
{
    for (int side = 0; side < 2; side++) {
        struct ski_record_keys in  = {.key = {1}, .nonce = {2}, .check = {3, 4}};
        struct ski_record_keys out = {.key = {5}, .nonce = {6}, .check = {7, 8}};
        struct ski_records    *r   = side ? ski_records_make(crypto, encrypts, &in, &out)
                                          : ski_records_make(crypto, encrypts, &out, &in);

        *(side ? &w.to : &w.from) = r;
    }
}

static void record_test_end(void)
{
    ski_records_drop(w.from);
    ski_records_drop(w.to);
}

/* Seals up to @p most bytes in pieces of all sizes, each of several parts. */
static void record_test_seal_all(size_t most)
{
    w.bytes = record_test_draw(1, most);
    for (size_t i = 0; i < w.bytes; i++)
        w.plain[i] = (char)tap_random(&random_state);
    w.length = w.got = 0;
    for (size_t at = 0; at < w.bytes; at += w.from->plain) {
        size_t end_sent     = w.bytes - at,
               cut          = record_test_draw(0, end_sent < 1000 ? end_sent : 1000);
        struct iovec part[] = {
            {w.plain + at, cut},
            {w.plain + at + cut, record_test_draw(1, 4) == 1 ? end_sent - cut : 0}};

        if (cut + part[1].iov_len == 0)
            part[0].iov_len = 1;
        if (!ski_records_seal(w.from, part, 2))
            return;
        memcpy(w.wire + w.length, w.from->goes, w.from->length);
        w.length += w.from->length;
        w.from->sent = w.from->length;
    }
}

static bool record_test_take(void *arg, const char *data, size_t bytes)
{
    (void)arg;
    memcpy(w.out + w.got, data, bytes);
    w.got += bytes;
    return true;
}

/* Opens all records. Returns whether all of them are genuine. */
static bool record_test_open_all(void)
{
    bool genuine = true;

    for (size_t at = 0, n; at < w.length && genuine; at += n) {
        size_t room = SKI_RECORD_ROOM - w.to->have;

        n = record_test_draw(1, record_test_draw(1, 3) == 1 ? 20 : room);
        n = n < w.length - at ? n : w.length - at;
        n = n < room ? n : room;
        memcpy(w.to->came + w.to->have, w.wire + at, n);
        w.to->have += n;
        genuine = ski_records_open(w.to, record_test_take, NULL);
    }
    return genuine;
}

static bool record_test_is_beginning(void)
{
    return w.got <= w.bytes && memcmp(w.out, w.plain, w.got) == 0;
}

static void test_record_whole(bool encrypts)
{
    unsigned good = 0, hidden = 0;

    for (int i = 0; i < ROUNDS; i++) {
        record_test_begin(encrypts);
        record_test_seal_all(STREAM / 2);
        hidden += w.bytes > 64 && !memmem(w.wire, w.length, w.plain + w.bytes - 32, 32);
        good += record_test_open_all() && w.got == w.bytes && record_test_is_beginning() &&
                w.to->have == 0;
        record_test_end();
    }
    OK(good == ROUNDS, "%u of %d streams come out as they were sealed", good, ROUNDS);
    OK(encrypts ? hidden > ROUNDS / 2 : hidden < ROUNDS / 4, "%u of them cannot be read on the way",
       hidden);
}

/* Changes one place of what is on the way. Returns false if there is nothing to change. */
static bool record_test_damage(int kind)
{
    size_t at = record_test_draw(0, w.length - 1), n = record_test_draw(1, 100);

    if (at + 2 * n > w.length)
        return false;
    switch (kind) {
    case 0: w.wire[at] ^= (char)(1 << record_test_draw(0, 7)); return true;
    case 1: memmove(w.wire + at, w.wire + at + n, w.length - at - n); break;
    case 2:
        memmove(w.wire + at + n, w.wire + at, w.length - at);
        w.length += 2 * n;
        break;
    default:
        if (memcmp(w.wire + at, w.wire + at + n, n) == 0)
            return false;
        memcpy(w.wire + w.length, w.wire + at, n);
        memmove(w.wire + at, w.wire + at + n, n);
        memcpy(w.wire + at + n, w.wire + w.length, n);
        return true;
    }
    w.length -= n;
    return true;
}

static void test_record_damage(bool encrypts)
{
    unsigned good = 0, noticed = 0, all = 0;

    for (int i = 0; i < DAMAGE; i++) {
        record_test_begin(encrypts);
        record_test_seal_all(4000);
        if (w.length > 300 && record_test_damage(i % 4)) {
            all++;
            noticed += !record_test_open_all() || w.to->have > 0; /* the end is missing */
            good += record_test_is_beginning() && w.got < w.bytes;
        }
        record_test_end();
    }
    OK(noticed == all && all > DAMAGE / 2, "%u of %u damages are noticed", noticed, all);
    OK(good == all, "and nothing after them is taken: %u", good);
}

/* Records of another link, of the other direction, and one that was there before. */
static void test_record_elsewhere(void)
{
    record_test_begin(true);
    record_test_seal_all(1000);
    w.length = w.from->length; /* the last one alone */
    memcpy(w.wire, w.from->goes, w.length);
    w.to->in.number = w.from->out.number - 1;
    OK(record_test_open_all(), "a record in its turn is genuine");
    OK(!record_test_open_all(), "the same again is not");
    record_test_end();
    record_test_begin(true);
    record_test_seal_all(1000);
    record_test_end();
    record_test_begin(true);
    w.to->in.keys.check[0]++;
    OK(!record_test_open_all() && w.got == 0, "nor is one of another link");
    record_test_end();
}

int main(void)
{
    char reason[256];

    random_state = tap_seed();
    if (ski_config_load() != SKUA_OK || !(crypto = ski_crypto_load(reason, sizeof reason))) {
        printf("# %s\n", reason);
        return tap_end();
    }
    printf("# %s\n", crypto->describe());
    for (int encrypts = 0; encrypts < 2; encrypts++) {
        test_record_whole(encrypts);
        test_record_damage(encrypts);
    }
    test_record_elsewhere();
    return tap_end();
}
