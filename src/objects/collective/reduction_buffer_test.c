/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_buffer_test.c - contributions are combined by their operator, lists are appended, and
 * what does not fit or is damaged is found. */
#include "objects/collective/reduction_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static struct ski_reduction_spec reduction_buffer_test_spec(skua_op op, skua_type type,
                                                            uint64_t count)
{
    return (struct ski_reduction_spec){op, (uint32_t)type, count};
}

static void reduction_buffer_test_combines(void)
{
    struct ski_reduction_buffer buffer = {0};
    struct ski_reduction_spec   spec   = reduction_buffer_test_spec(SKUA_SUM, SKUA_INT32, 3);
    int32_t                     one[3] = {1, 2, 3}, two[3] = {10, 20, 30};
    const int32_t               sums[3] = {11, 22, 33};

    OK(ski_reduction_buffer_fits(&buffer, &spec), "anything fits into an empty buffer");
    ski_reduction_buffer_add(&buffer, &spec, one, sizeof one, 4);
    OK(buffer.filled && buffer.pe == 4, "the first contribution fills it");
    ski_reduction_buffer_add(&buffer, &spec, two, sizeof two, 5);
    OK(buffer.bytes == sizeof sums && memcmp(buffer.data, sums, sizeof sums) == 0, "a sum");
    OK(buffer.pe == 4, "the first contributor is named");
    free(buffer.data);
}

static void reduction_buffer_test_fits(void)
{
    struct ski_reduction_buffer buffer = {0};
    struct ski_reduction_spec   spec   = reduction_buffer_test_spec(SKUA_SUM, SKUA_INT32, 1), other;
    int32_t                     one    = 1;

    ski_reduction_buffer_add(&buffer, &spec, &one, sizeof one, 0);
    other = reduction_buffer_test_spec(SKUA_MAX, SKUA_INT32, 1);
    OK(!ski_reduction_buffer_fits(&buffer, &other), "another operator does not fit");
    other = reduction_buffer_test_spec(SKUA_SUM, SKUA_INT64, 1);
    OK(!ski_reduction_buffer_fits(&buffer, &other), "nor does another type");
    other = reduction_buffer_test_spec(SKUA_SUM, SKUA_INT32, 2);
    OK(!ski_reduction_buffer_fits(&buffer, &other), "nor another count");
    OK(ski_reduction_buffer_fits(&buffer, &spec), "an equal one does");
    free(buffer.data);
}

static void reduction_buffer_test_nothing(void)
{
    struct ski_reduction_buffer buffer = {0};
    struct ski_reduction_spec   spec   = reduction_buffer_test_spec(SKUA_SUM, SKUA_INT32, 0);

    ski_reduction_buffer_add(&buffer, &spec, NULL, 0, 0);
    ski_reduction_buffer_add(&buffer, &spec, NULL, 0, 1);
    OK(buffer.filled && buffer.bytes == 0, "contributions of nothing");
    free(buffer.data);
}

static void reduction_buffer_test_lists(void)
{
    struct ski_reduction_buffer buffer = {0};
    struct ski_reduction_spec   spec   = reduction_buffer_test_spec(SKUA_CONCAT, SKUA_BYTE, 3);

    ski_reduction_buffer_add(&buffer, &spec, "abc", 3, 0);
    spec.count = 5;
    OK(ski_reduction_buffer_fits(&buffer, &spec), "lists may differ in length");
    ski_reduction_buffer_add(&buffer, &spec, "defgh", 5, 1);
    OK(buffer.bytes == 8 && memcmp(buffer.data, "abcdefgh", 8) == 0, "lists are appended");
    free(buffer.data);
}

/* A set as it is built on several PEs: each item is its length, its bytes and padding. */
static size_t reduction_buffer_test_put(char *to, const char *item)
{
    uint64_t length = strlen(item);

    memcpy(to, &length, sizeof length);
    memcpy(to + sizeof length, item, length);
    return sizeof length + ((length + 7) & ~(size_t)7);
}

static void reduction_buffer_test_set(void)
{
    _Alignas(8) char set[64] = {0};
    size_t           bytes, length, count = 0;
    const void      *at   = NULL;
    uint64_t         huge = UINT64_MAX;

    bytes = reduction_buffer_test_put(set, "twelve bytes");
    bytes += reduction_buffer_test_put(set + bytes, "");
    bytes += reduction_buffer_test_put(set + bytes, "x");
    while (skua_set_next(set, bytes, &at, &length))
        count++;
    OK(count == 3 && length == 1 && *(const char *)at == 'x', "all items of a set are found");
    at = NULL;
    memcpy(set, &huge, sizeof huge);
    OK(!skua_set_next(set, bytes, &at, &length), "a length beyond the set ends it");
    OK(!skua_set_next(set, 4, &at, &length), "as does a set that is cut short");
}

static void reduction_buffer_test_valid(void)
{
    struct ski_reduction_spec spec = reduction_buffer_test_spec(SKUA_SUM, SKUA_INT32, 4);

    OK(ski_reduction_spec_valid(&spec, 16), "four times four bytes");
    OK(!ski_reduction_spec_valid(&spec, 15) && !ski_reduction_spec_valid(&spec, 17),
       "and no other");
    spec.count = (UINT64_C(1) << 62) + 4;
    OK(!ski_reduction_spec_valid(&spec, 16), "a count whose bytes overflow");
    spec = reduction_buffer_test_spec(SKUA_SUM, (skua_type)1000, 4);
    OK(!ski_reduction_spec_valid(&spec, 16), "a type that does not exist");
    spec = reduction_buffer_test_spec((skua_op)UINT32_MAX, SKUA_INT32, 4);
    OK(!ski_reduction_spec_valid(&spec, 16), "an operator that does not exist");
    spec = reduction_buffer_test_spec(SKUA_CONCAT, SKUA_INT32, 4);
    OK(!ski_reduction_spec_valid(&spec, 16), "lists are of bytes");
}

int main(void)
{
    reduction_buffer_test_combines();
    reduction_buffer_test_fits();
    reduction_buffer_test_nothing();
    reduction_buffer_test_lists();
    reduction_buffer_test_set();
    reduction_buffer_test_valid();
    return tap_end();
}
