/* SPDX-License-Identifier: Apache-2.0 */
/* index_map_test.c - each index has one home, and the PEs list their indices as the maps say. */
#include "objects/location/index_map.h"

#include "tests/tap.h"

#define INDEX_MAP_TEST_MAX 4096

struct index_map_test {
    const skua_array_def *def;
    int                   pe, pes;
    size_t                count, room;
    bool                  right; /* each index was listed by its home, and by no other */
    unsigned char         seen[INDEX_MAP_TEST_MAX];
};

static void index_map_test_room(void *arg, size_t count)
{
    struct index_map_test *test = arg;

    test->room = count;
}

/* The number of an index in its range, in row-major order. */
static size_t index_map_test_rank(const skua_range *range, const skua_index *index)
{
    size_t rank = 0;

    for (int d = 0; d < range->dims; d++)
        rank = rank * (size_t)(range->upper[d] - range->lower[d]) +
               (size_t)(index->at.x[d] - range->lower[d]);
    return rank;
}

static void index_map_test_visit(void *arg, const skua_index *index)
{
    struct index_map_test *test = arg;

    test->count++;
    test->right = test->right && ski_index_map_home(test->def, index, test->pes) == test->pe &&
                  test->seen[index_map_test_rank(&test->def->range, index)]++ == 0;
}

/* Lists the indices of all PEs; *least and *most are of how many a PE has. */
static bool index_map_test_all(const skua_array_def *def, int pes, size_t *least, size_t *most)
{
    struct index_map_test test  = {.def = def, .pes = pes, .right = true};
    size_t                total = 0;

    *least = SIZE_MAX;
    *most  = 0;
    for (test.pe = 0; test.pe < pes; test.pe++) {
        test.count = test.room = 0;
        ski_index_map_each(def, test.pe, pes, index_map_test_room, index_map_test_visit, &test);
        test.right = test.right && test.room <= test.count + 4; /* a block */
        total += test.count;
        *least = test.count < *least ? test.count : *least;
        *most  = test.count > *most ? test.count : *most;
    }
    return test.right && total == ski_index_map_count(&def->range);
}

static void index_map_test_maps(void)
{
    skua_array_def def = {.dims = 2, .range = {.dims = 2, .lower = {-3, 5}, .upper = {34, 28}}};
    size_t         least, most;

    for (int pes = 1; pes <= 13; pes += 3) {
        def.map = (skua_map){.kind = SKUA_MAP_BLOCK};
        OK(index_map_test_all(&def, pes, &least, &most) && most - least <= 1,
           "block on %d PEs: all have equally many", pes);
        def.map = (skua_map){.kind = SKUA_MAP_CYCLIC, .arg = {4}};
        OK(index_map_test_all(&def, pes, &least, &most) && most - least <= 4, "cyclic on %d PEs",
           pes);
        def.map = (skua_map){.kind = SKUA_MAP_HASH};
        OK(index_map_test_all(&def, pes, &least, &most), "hash on %d PEs", pes);
    }
    def.map = (skua_map){.kind = SKUA_MAP_MATRIX, .arg = {2, 3, 5, 2}};
    OK(index_map_test_all(&def, 6, &least, &most) && least > 0, "matrix of 2 x 3 PEs");
    OK(index_map_test_all(&def, 7, &least, &most) && least == 0, "a PE outside of it has none");
}

/* More indices than a product of 64 bits counts: the block map needs 128. */
static void index_map_test_huge(void)
{
    skua_array_def def   = {.dims  = 2,
                            .range = {.dims = 2, .upper = {INT32_MAX, 4000000}},
                            .map   = {.kind = SKUA_MAP_BLOCK}};
    skua_index     first = skua_index2(0, 0), last = skua_index2(INT32_MAX - 1, 3999999);
    skua_index     middle = skua_index2(INT32_MAX / 2, 0);

    OK(ski_index_map_valid(&def) && ski_index_map_home(&def, &first, 100000) == 0 &&
           ski_index_map_home(&def, &last, 100000) == 99999 &&
           ski_index_map_home(&def, &middle, 100000) / 100 == 499,
       "homes of 8e15 indices");
}

static void index_map_test_invalid(void)
{
    skua_array_def def     = {.dims = 1, .map = {.kind = SKUA_MAP_BLOCK}};
    skua_index     outside = skua_index1(1000);

    def.range = (skua_range){.dims = 1, .upper = {10}};
    OK(ski_index_map_valid(&def), "a range of ten");
    OK((unsigned)ski_index_map_home(&def, &outside, 7) < 7, "an index outside of it has a home");
    def.dims = 7;
    OK(!ski_index_map_valid(&def), "seven dimensions are too many");
    def.dims = 2;
    OK(!ski_index_map_valid(&def), "the range has as many dimensions as the array");
    def = (skua_array_def){.dims = 1, .map = {.kind = SKUA_MAP_CYCLIC}};
    OK(!ski_index_map_valid(&def), "a cyclic map has blocks of one at least");
    def.map.kind = UINT32_MAX;
    OK(!ski_index_map_valid(&def), "a map that was never registered");
}

int main(void)
{
    index_map_test_maps();
    index_map_test_huge();
    index_map_test_invalid();
    return tap_end();
}
