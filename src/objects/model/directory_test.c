/* SPDX-License-Identifier: Apache-2.0 */
/* directory_test.c - a directory beside a plain array of what it should hold. */
#include "objects/model/directory.h"

#include "tests/tap.h"

#define DIRECTORY_TEST_KEYS 600

static struct ski_absent directory_test_record[DIRECTORY_TEST_KEYS];

static uintptr_t directory_test_value(int i)
{
    return (uintptr_t)&directory_test_record[i] | SKI_ABSENT_BIT;
}

/* Indices of @p bytes that differ in their first integer, far from each other. */
static void directory_test_indices(uint32_t bytes)
{
    for (int i = 0; i < DIRECTORY_TEST_KEYS; i++) {
        directory_test_record[i].index         = (skua_index){.bytes = bytes};
        directory_test_record[i].index.at.x[0] = i * 4096 - 7;
    }
}

/* Returns whether exactly the indices are found that `in` says. */
static bool directory_test_agrees(const struct ski_directory *directory, const bool *in)
{
    size_t count = 0;

    for (int i = 0; i < DIRECTORY_TEST_KEYS; i++) {
        uintptr_t value = ski_directory_find(directory, &directory_test_record[i].index);

        if (value != (in[i] ? directory_test_value(i) : 0))
            return false;
        count += in[i];
    }
    return count == directory->count;
}

/* Sets and removes entries at random. */
static void directory_test_random(uint32_t bytes, uint32_t of_directory)
{
    struct ski_directory directory;
    bool                 in[DIRECTORY_TEST_KEYS] = {false}, right = true;
    uint64_t             seed = 17 + bytes, version;

    directory_test_indices(bytes);
    ski_directory_init(&directory, of_directory);
    version = directory.version;
    for (int step = 0; step < 4000; step++) {
        int       i      = (int)(tap_random(&seed) % DIRECTORY_TEST_KEYS);
        uintptr_t former = in[i] ? directory_test_value(i) : 0;

        in[i]   = tap_random(&seed) % 3 != 0;
        right   = right && ski_directory_set(&directory, &directory_test_record[i].index,
                                           in[i] ? directory_test_value(i) : 0) == former;
        right   = right && directory.version > version;
        version = directory.version;
        if (step % 100 == 0)
            right = right && directory_test_agrees(&directory, in);
    }
    OK(right && directory_test_agrees(&directory, in), "indices of %u bytes are set and removed",
       bytes);
    ski_directory_destroy(&directory);
}

static void directory_test_reserve(void)
{
    struct ski_directory             directory;
    const struct ski_directory_slot *slot;

    directory_test_indices(4);
    ski_directory_init(&directory, 4);
    ski_directory_reserve(&directory, DIRECTORY_TEST_KEYS);
    slot = directory.slot;
    for (int i = 0; i < DIRECTORY_TEST_KEYS; i++)
        ski_directory_set(&directory, &directory_test_record[i].index, directory_test_value(i));
    OK(directory.slot == slot, "entries that room was made for move no other");
    ski_directory_destroy(&directory);
}

/* The mean number of slots that a search looks at, of 20000 keys at a stride. */
static double directory_test_probes(int stride)
{
    enum { KEYS = 20000 };
    struct ski_directory directory;
    uint64_t             probes = 0;

    ski_directory_init(&directory, 4);
    for (int i = 0; i < KEYS; i++) {
        skua_index index = {.bytes = 4};

        index.at.x[0] = (int32_t)((uint32_t)i * (uint32_t)stride);
        ski_directory_set(&directory, &index, directory_test_value(0));
    }
    for (uint64_t at = 0; at <= directory.mask; at++)
        if (directory.slot[at].value)
            probes +=
                ((at - ski_directory_begin(&directory, directory.slot[at].key)) & directory.mask) +
                1;
    ski_directory_destroy(&directory);
    return (double)probes / KEYS;
}

static void directory_test_strides(void)
{
    static const int strides[] = {1, 2, 3, 7, 8, 16, 60, 64, 1000, 1024, 4096, 65536, 100003};
    double           most      = 0;

    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        double probes = directory_test_probes(strides[i]);

        most = probes > most ? probes : most;
        printf("# keys at a stride of %d: a search looks at %.2f slots\n", strides[i], probes);
    }
    OK(most < 3, "a search for keys at a stride is short");
}

int main(void)
{
    directory_test_random(4, 4); /* keys are indices  */
    directory_test_random(8, 8);
    directory_test_random(12, 12); /* keys are hashes   */
    directory_test_random(40, 0);  /* of any length     */
    directory_test_reserve();
    directory_test_strides();
    OK(!ski_directory_object(directory_test_value(0)) &&
           ski_directory_absent(directory_test_value(0)) == &directory_test_record[0],
       "a value tells whether its element is absent");
    return tap_end();
}
