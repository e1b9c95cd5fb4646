/* SPDX-License-Identifier: Apache-2.0 */
/* copy_test.c - all copies write the bytes they are asked for and none beside them, for sizes
 * around every step of their algorithms and all alignments. */
#include "base/copy.h"

#include <stdbool.h>

#include "tests/tap.h"

#define BYTES 8192
#define LARGE ((size_t)640 << 10) /* from here on aarch64 copies two streams */
#define GUARD 64

static char copy_from[LARGE + BYTES + 2 * GUARD], copy_to[LARGE + BYTES + 2 * GUARD];

/* Returns whether @p copy copies @p bytes between the two offsets and leaves the rest alone. */
static bool copy_test_one(void (*copy)(char *, const char *, size_t), size_t from, size_t to,
                          size_t bytes)
{
    const size_t room = bytes + 2 * GUARD;

    memset(copy_to, 0x5a, room);
    copy(copy_to + to, copy_from + from, bytes);
    if (memcmp(copy_to + to, copy_from + from, bytes) != 0)
        return false;
    for (size_t i = 0; i < room; i++)
        if ((i < to || i >= to + bytes) && copy_to[i] != 0x5a)
            return false;
    return true;
}

/* Returns the number of alignments of both sides at which a copy of @p bytes is wrong. */
static int copy_test_alignments(void (*copy)(char *, const char *, size_t), size_t bytes)
{
    int bad = 0;

    for (size_t from = 0; from < GUARD; from++)
        for (size_t to = 0; to < GUARD; to += 3)
            bad += !copy_test_one(copy, from, to, bytes);
    return bad;
}

/* Returns the number of sizes about LARGE at which a copy is wrong, with sides at the same offset
 * in a cache line and at different ones. */
static int copy_test_large(size_t step)
{
    int bad = 0;

    for (size_t bytes = LARGE; bytes <= LARGE + BYTES; bytes += step) {
        bad += !copy_test_one(ski_copy_large, 7, 7, bytes);
        bad += !copy_test_one(ski_copy_large, bytes % GUARD, GUARD - 1, bytes);
    }
    return bad;
}

static void copy_test_small(char *to, const char *from, size_t bytes)
{
    ski_copy_small(to, from, bytes);
}

static void copy_test_any(char *to, const char *from, size_t bytes)
{
    ski_copy(to, from, bytes);
}

static void copy_test_part(char *to, const char *from, size_t bytes)
{
    ski_copy_part(to, from, bytes);
}

static int copy_test_sizes(void (*copy)(char *, const char *, size_t), size_t first, size_t last)
{
    int bad = 0;

    for (size_t bytes = first; bytes <= last; bytes++)
        bad += !copy_test_one(copy, bytes % 16, GUARD - bytes % 7, bytes);
    return bad;
}

int main(void)
{
    for (size_t i = 0; i < sizeof copy_from; i++)
        copy_from[i] = (char)(i * 131 + (i >> 8));
    OK(copy_test_sizes(copy_test_small, 0, 300) == 0, "ski_copy_small, of 0 to 300 bytes");
    OK(copy_test_sizes(ski_copy_ahead, 2000, 2700) == 0, "ski_copy_ahead, around its distance");
    OK(copy_test_sizes(ski_copy_ahead, 0, 300) == 0, "ski_copy_ahead, of few bytes");
    OK(copy_test_alignments(ski_copy_ahead, 2239) == 0, "ski_copy_ahead, at any alignment");
    OK(copy_test_large(509) == 0, "ski_copy_large, of odd sizes");
    OK(copy_test_large(BYTES / 4) == 0, "ski_copy_large, of pieces");
    OK(copy_test_sizes(ski_copy_vectors, 0, 600) == 0, "ski_copy_vectors, of few bytes");
    OK(copy_test_alignments(ski_copy_vectors, 1037) == 0, "ski_copy_vectors, at any alignment");
    OK(copy_test_sizes(copy_test_any, BYTES - 100, BYTES) == 0, "ski_copy");
    OK(copy_test_sizes(copy_test_any, 2 * BYTES, 2 * BYTES + 100) == 0, "ski_copy, of more");
    OK(copy_test_sizes(copy_test_part, BYTES - 100, BYTES) == 0, "ski_copy_part");
    return tap_end();
}
