/* SPDX-License-Identifier: Apache-2.0 */
/* onesided.c - the optional operations of a driver: puts, gets, atomics. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)4 << 20)

static unsigned char          *target; /* memory of PE 1 */
static struct ski_driver_rkey *target_key;

/* Waits for the operation that returned this status and has this cookie. */
static void finish(struct end *ends, skua_status status, const int *cookie, const char *what)
{
    if (status == SKUA_PENDING) {
        WAIT_FOR(*cookie != SKUA_PENDING, ends, 2, what);
        status = (skua_status)*cookie;
    }
    if (status != SKUA_OK)
        fail("%s: %s", what, skua_status_str(status));
}

static void put(struct end *ends, const void *from, size_t bytes, size_t at)
{
    int         cookie = SKUA_PENDING;
    skua_status status;

    WAIT_FOR((status = driver->put(ends[0].peer[1], from, bytes, (uintptr_t)target + at, target_key,
                                   &cookie)) != SKUA_ERR_AGAIN,
             ends, 2, "a put to be accepted");
    finish(ends, status, &cookie, "put");
}

static void get(struct end *ends, void *to, size_t bytes, size_t at)
{
    int         cookie = SKUA_PENDING;
    skua_status status;

    WAIT_FOR((status = driver->get(ends[0].peer[1], to, bytes, (uintptr_t)target + at, target_key,
                                   &cookie)) != SKUA_ERR_AGAIN,
             ends, 2, "a get to be accepted");
    finish(ends, status, &cookie, "get");
}

static void flush(struct end *ends)
{
    int         cookie = SKUA_PENDING;
    skua_status status;

    WAIT_FOR((status = driver->flush(ends[0].peer[1], &cookie)) != SKUA_ERR_AGAIN, ends, 2,
             "a flush to be accepted");
    finish(ends, status, &cookie, "flush");
}

static void fill(unsigned char *memory, size_t bytes, unsigned salt)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(i * 7 + salt + (i >> 8));
}

/* Put and get back, with odd sizes and offsets; the surrounding bytes do not change. */
static void test_transfers(struct end *ends, unsigned char *mine, unsigned char *back)
{
    unsigned salt = 0;

    for (size_t bytes = 1; bytes < BYTES / 2; bytes = bytes * 3 + 1) {
        size_t at = 13 + bytes % 61, from = bytes % 7;

        fill(mine + from, bytes, ++salt);
        memset(target, 0xa5, at + bytes + 1);
        put(ends, mine + from, bytes, at);
        flush(ends);
        if (memcmp(target + at, mine + from, bytes) != 0)
            fail("a put of %zu bytes has not arrived after a flush", bytes);
        if (target[at - 1] != 0xa5 || target[at + bytes] != 0xa5)
            fail("a put of %zu bytes has written outside of its destination", bytes);
        memset(back, 0x5a, bytes + 2);
        get(ends, back + 1, bytes, at);
        if (memcmp(back + 1, mine + from, bytes) != 0)
            fail("a get of %zu bytes returns wrong data", bytes);
        if (back[0] != 0x5a || back[bytes + 1] != 0x5a)
            fail("a get of %zu bytes has written outside of its destination", bytes);
    }
}

/* Many operations in flight, and one flush for all. */
static void test_many_puts(struct end *ends, unsigned char *mine)
{
    enum { PUTS = 5000, EACH = 64 };
    static int  cookie[PUTS];
    skua_status status[PUTS];

    fill(mine, (size_t)PUTS * EACH, 99);
    memset(target, 0, (size_t)PUTS * EACH);
    for (int i = 0; i < PUTS; i++) {
        cookie[i] = SKUA_PENDING;
        WAIT_FOR((status[i] = driver->put(ends[0].peer[1], mine + i * EACH, EACH,
                                          (uintptr_t)target + (size_t)i * EACH, target_key,
                                          &cookie[i])) != SKUA_ERR_AGAIN,
                 ends, 2, "a put to be accepted");
    }
    flush(ends);
    if (memcmp(target, mine, (size_t)PUTS * EACH) != 0)
        fail("some of many puts have not arrived after a flush");
    for (int i = 0; i < PUTS; i++)
        finish(ends, status[i], &cookie[i], "put");
}

static uint64_t apply(enum ski_net_op op, uint64_t old, uint64_t value, uint64_t compare)
{
    switch (op) {
    case SKI_NET_ADD: return old + value;
    case SKI_NET_AND: return old & value;
    case SKI_NET_OR: return old | value;
    case SKI_NET_XOR: return old ^ value;
    case SKI_NET_SWAP: return value;
    case SKI_NET_CSWAP: return old == compare ? value : old;
    }
    return old;
}

static uint64_t load(const void *from, unsigned bytes)
{
    uint32_t half;
    uint64_t whole = 0;

    memcpy(bytes == 4 ? (void *)&half : (void *)&whole, from, bytes);
    return bytes == 4 ? half : whole;
}

/* Runs one atomic.  Returns false if the driver does not support it. */
static bool try_atomic(struct end *ends, enum ski_net_op op, unsigned bytes, uint64_t value,
                       uint64_t compare)
{
    uint64_t    mask = bytes == 4 ? UINT32_MAX : UINT64_MAX, result = compare;
    uint64_t    old = load(target + 64, bytes), after = load(target + 64 + bytes, bytes);
    int         cookie = SKUA_PENDING;
    skua_status status;

    WAIT_FOR((status = driver->atomic(ends[0].peer[1], op, bytes, value, &result,
                                      (uintptr_t)target + 64, target_key, &cookie)) !=
                 SKUA_ERR_AGAIN,
             ends, 2, "an atomic to be accepted");
    if (status == SKUA_ERR_UNSUPPORTED)
        return false;
    finish(ends, status, &cookie, "atomic");
    if (result != old)
        fail("atomic %d of %u bytes: the previous value was %#llx, not %#llx", (int)op, bytes,
             (unsigned long long)old, (unsigned long long)result);
    if (load(target + 64, bytes) != (apply(op, old, value, compare) & mask))
        fail("atomic %d of %u bytes has the wrong result", (int)op, bytes);
    if (load(target + 64 + bytes, bytes) != after)
        fail("atomic %d of %u bytes has changed the following bytes", (int)op, bytes);
    return true;
}

static void test_atomics(struct end *ends)
{
    int missing = 0;

    memset(target, 0x77, 128);
    for (int op = SKI_NET_ADD; driver->atomic && op <= SKI_NET_CSWAP; op++)
        for (unsigned bytes = 4; bytes <= 8; bytes += 4)
            for (uint64_t i = 0; i < 4; i++) {
                uint64_t value   = UINT64_C(0x8123456789abcdef) * (i + 1);
                uint64_t compare = load(target + 64, bytes) + (i == 1);

                if (bytes == 4)
                    value = (uint32_t)value;
                missing += !try_atomic(ends, (enum ski_net_op)op, bytes, value, compare);
            }
    if (!driver->atomic || missing)
        printf("# not all atomics are offered\n");
}

void test_one_sided(struct end *ends)
{
    unsigned char          key[SKI_RKEY_MAX], *mine = malloc(BYTES), *back = malloc(BYTES);
    struct ski_driver_mem *memory;
    size_t                 bytes;

    target = aligned_alloc(4096, BYTES);
    if (!driver->put || driver->mem_reg(target, BYTES, &memory) != SKUA_OK) {
        printf("# %s has no one-sided operations here\n", driver->name);
    } else {
        bytes = driver->rkey_pack(memory, key);
        if (bytes == 0 || bytes > sizeof key)
            die("a key of %zu bytes", bytes);
        if (driver->rkey_unpack(ends[0].peer[1], key, bytes, &target_key) != SKUA_OK)
            die("take_key");
        flush(ends);
        test_transfers(ends, mine, back);
        test_many_puts(ends, mine);
        test_atomics(ends);
        driver->rkey_destroy(target_key);
        driver->mem_dereg(memory);
    }
    free(mine);
    free(back);
    free(target);
}
