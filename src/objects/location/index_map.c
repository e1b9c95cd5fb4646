/* SPDX-License-Identifier: Apache-2.0 */
/* index_map.c - see index_map.h. */
#include "objects/location/index_map.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "objects/model/index.h"

/* A map of the program. */
struct index_map_user {
    const char *name;
    skua_map_fn fn;
};

static struct index_map_user *index_map_users;
static uint32_t               index_map_user_count;

uint32_t skua_map_register(const char *name, skua_map_fn fn)
{
    ski_register_name(__func__, "map", name);
    index_map_users =
        ski_realloc(index_map_users, (index_map_user_count + 1) * sizeof *index_map_users);
    index_map_users[index_map_user_count] = (struct index_map_user){name, fn};
    return SKUA_MAP_USER + index_map_user_count++;
}

/* ---- ranges ------------------------------------------------------------------------- */

static int64_t index_map_extent(const skua_range *range, int d)
{
    return (int64_t)range->upper[d] - range->lower[d];
}

uint64_t ski_index_map_count(const skua_range *range)
{
    uint64_t count = range->dims > 0;

    for (int d = 0; d < range->dims; d++)
        count *= index_map_extent(range, d) > 0 ? (uint64_t)index_map_extent(range, d) : 0;
    return count;
}

static bool index_map_in_range(const skua_range *range, const skua_index *index)
{
    if (range->dims == 0)
        return false;
    for (int d = 0; d < range->dims; d++)
        if (index->at.x[d] < range->lower[d] || index->at.x[d] >= range->upper[d])
            return false;
    return true;
}

static uint64_t index_map_rank(const skua_range *range, const skua_index *index)
{
    uint64_t number = 0;

    ski_assert(index_map_in_range(range, index));
    for (int d = 0; d < range->dims; d++)
        number = number * (uint64_t)index_map_extent(range, d) +
                 (uint64_t)((int64_t)index->at.x[d] - range->lower[d]);
    return number;
}

static skua_index index_map_unrank(const skua_range *range, uint64_t number)
{
    skua_index index = {.bytes = 4 * (uint32_t)range->dims};

    for (int d = range->dims - 1; d >= 0; d--) {
        uint64_t n    = (uint64_t)index_map_extent(range, d);
        index.at.x[d] = (int32_t)(range->lower[d] + (int64_t)(number % n));
        number /= n;
    }
    return index;
}

/* Steps to the next index in row-major order. */
static void index_map_step(const skua_range *range, skua_index *index)
{
    for (int d = range->dims - 1; d >= 0; d--) {
        if (++index->at.x[d] < range->upper[d])
            return;
        index->at.x[d] = range->lower[d];
    }
}

/* ---- definitions -------------------------------------------------------------------- */

/* Chooses rows and columns of PEs, as square as possible, such that all PEs are used. */
static void index_map_choose_grid(int32_t arg[4], int pes)
{
    if (arg[0] <= 0 && arg[1] > 0)
        arg[0] = pes / arg[1];
    if (arg[0] <= 0)
        for (arg[0] = 1; (int64_t)(arg[0] + 1) * (arg[0] + 1) <= pes;)
            arg[0]++;
    while (arg[1] <= 0 && pes % arg[0] != 0)
        arg[0]--;
    if (arg[1] <= 0)
        arg[1] = pes / arg[0];
    arg[2] += arg[2] <= 0 ? 1 - arg[2] : 0;
    arg[3] += arg[3] <= 0 ? 1 - arg[3] : 0;
}

/* Returns whether a range has fewer indices than a double counts exactly. */
static bool index_map_countable(const skua_range *range)
{
    double count = 1;

    for (int d = 0; d < range->dims; d++)
        if (index_map_extent(range, d) > 0)
            count *= (double)index_map_extent(range, d);
    return count < 9e15;
}

bool ski_index_map_valid(const skua_array_def *def)
{
    if (def->dims < 0 || def->dims > 6 || (def->range.dims != 0 && def->range.dims != def->dims))
        return false;
    if (def->map.kind >= SKUA_MAP_USER + index_map_user_count || !index_map_countable(&def->range))
        return false;
    if (def->map.kind == SKUA_MAP_MATRIX)
        return def->dims == 2 && def->map.arg[0] > 0 && def->map.arg[1] > 0 &&
               def->map.arg[2] > 0 && def->map.arg[3] > 0;
    return def->map.kind != SKUA_MAP_CYCLIC || def->map.arg[0] > 0;
}

void ski_index_map_prepare(const char *call, skua_array_def *def)
{
    skua_map *map = &def->map;

    if (def->dims < 0 || def->dims > 6)
        ski_misuse("%s: an array has 1 to 6 dimensions, or 0 for strings of bytes, not %d", call,
                   def->dims);
    if (def->range.dims != 0 && def->range.dims != def->dims)
        ski_misuse("%s: a range of %d dimensions in an array of %d", call, def->range.dims,
                   def->dims);
    if (map->kind == SKUA_MAP_DEFAULT)
        map->kind = def->range.dims ? SKUA_MAP_BLOCK : SKUA_MAP_HASH;
    if (map->kind == SKUA_MAP_CYCLIC && map->arg[0] <= 0)
        map->arg[0] = 1;
    if (map->kind == SKUA_MAP_MATRIX)
        index_map_choose_grid(map->arg, skua_pes());
    if (map->kind == SKUA_MAP_MATRIX && (int64_t)map->arg[0] * map->arg[1] > skua_pes())
        ski_misuse("%s: a grid of %d x %d PEs, but there are %d", call, map->arg[0], map->arg[1],
                   skua_pes());
    if (!ski_index_map_valid(def))
        ski_misuse("%s: %s", call,
                   map->kind >= SKUA_MAP_USER + index_map_user_count
                       ? "its map was never registered"
                   : map->kind == SKUA_MAP_MATRIX ? "a matrix has two dimensions"
                                                  : "it has more elements than can be counted");
}

/* ---- homes -------------------------------------------------------------------------- */

/* a * b / c.  The product nearly always fits into 64 bits, which takes a tenth of the time. */
static inline uint64_t index_map_scale(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;

    if (SKI_LIKELY(!__builtin_mul_overflow(a, b, &product)))
        return product / c;
    return (uint64_t)((__uint128_t)a * b / c);
}

/* Of n elements, PE p has those from p*n/pes on. */
static uint64_t index_map_block_begin(uint64_t n, int pe, int pes)
{
    return index_map_scale(n, (unsigned)pe, (unsigned)pes);
}

static int index_map_block_home(uint64_t n, uint64_t number, int pes)
{
    int pe = (int)index_map_scale(number, (unsigned)pes, n);

    while (pe + 1 < pes && index_map_block_begin(n, pe + 1, pes) <= number)
        pe++;
    ski_assert(pe < pes && index_map_block_begin(n, pe, pes) <= number);
    return pe;
}

/* The grid is that of the job which created the array.  One that was restarted may have fewer PEs.
 */
static int index_map_matrix_home(const skua_array_def *def, const skua_index *index, int pes)
{
    const int32_t *arg    = def->map.arg;
    int64_t        row    = (int64_t)index->at.x[0] - def->range.lower[0];
    int64_t        column = (int64_t)index->at.x[1] - def->range.lower[1];

    int64_t pe = row / arg[2] % arg[0] * arg[1] + column / arg[3] % arg[1];

    return (int)(SKI_LIKELY(pe < pes) ? pe : pe % pes);
}

static int index_map_user_home(const skua_array_def *def, const skua_index *index, int pes)
{
    const struct index_map_user *map = &index_map_users[def->map.kind - SKUA_MAP_USER];
    int                          pe  = map->fn(index, &def->range, def->map.arg);
    char                         text[SKI_INDEX_TEXT];

    if ((unsigned)pe >= (unsigned)pes)
        ski_misuse("map \"%s\" gives %s the home PE %d; this job has PEs 0 to %d", map->name,
                   ski_index_text(text, index, def->dims), pe, pes - 1);
    return pe;
}

static int index_map_hash_home(const skua_index *index, int pes)
{
    return (int)((ski_index_hash(index) >> 32) * (unsigned)pes >> 32);
}

int ski_index_map_home(const skua_array_def *def, const skua_index *index, int pes)
{
    if (def->map.kind >= SKUA_MAP_USER)
        return index_map_user_home(def, index, pes);
    if (def->map.kind == SKUA_MAP_HASH || !index_map_in_range(&def->range, index))
        return index_map_hash_home(index, pes);
    if (def->map.kind == SKUA_MAP_MATRIX)
        return index_map_matrix_home(def, index, pes);
    if (def->map.kind == SKUA_MAP_CYCLIC)
        return (int)(index_map_rank(&def->range, index) / (unsigned)def->map.arg[0] %
                     (unsigned)pes);
    return index_map_block_home(ski_index_map_count(&def->range),
                                index_map_rank(&def->range, index), pes);
}

/* ---- the indices of a PE ------------------------------------------------------------ */

typedef void index_map_fn(void *arg, const skua_index *index);

static void index_map_each_rank(const skua_range *range, uint64_t from, uint64_t to,
                                index_map_fn *fn, void *arg)
{
    skua_index index;

    if (from >= to)
        return;
    ski_assert(to <= ski_index_map_count(range));
    index = index_map_unrank(range, from);
    for (; from < to; from++, index_map_step(range, &index))
        fn(arg, &index);
}

static void index_map_each_cyclic(const skua_array_def *def, int pe, int pes, index_map_fn *fn,
                                  void *arg)
{
    uint64_t count = ski_index_map_count(&def->range);
    uint64_t piece = (uint64_t)def->map.arg[0];

    for (uint64_t at = (unsigned)pe * piece; at < count; at += (unsigned)pes * piece)
        index_map_each_rank(&def->range, at, at + piece < count ? at + piece : count, fn, arg);
}

/* Tests all indices: the map cannot be inverted. */
static void index_map_each_searched(const skua_array_def *def, int pe, int pes, index_map_fn *fn,
                                    void *arg)
{
    uint64_t   count = ski_index_map_count(&def->range);
    skua_index index = index_map_unrank(&def->range, 0);

    for (uint64_t i = 0; i < count; i++, index_map_step(&def->range, &index))
        if (ski_index_map_home(def, &index, pes) == pe)
            fn(arg, &index);
}

/* Calls @p fn for each index of a block-cyclic matrix whose home is @p pe. */
static void index_map_each_matrix(const skua_array_def *def, int pe, index_map_fn *fn, void *arg)
{
    const int32_t *a = def->map.arg;
    int64_t rows = index_map_extent(&def->range, 0), columns = index_map_extent(&def->range, 1);

    if (pe >= a[0] * a[1])
        return;
    for (int64_t i = 0; i < rows; i++) {
        if (i / a[2] % a[0] != pe / a[1])
            continue;
        for (int64_t j = (int64_t)(pe % a[1]) * a[3]; j < columns; j += (int64_t)a[1] * a[3])
            for (int64_t k = j; k < j + a[3] && k < columns; k++) {
                skua_index index =
                    skua_index2((int)(def->range.lower[0] + i), (int)(def->range.lower[1] + k));
                fn(arg, &index);
            }
    }
}

void ski_index_map_each(const skua_array_def *def, int pe, int pes,
                        void (*room)(void *arg, size_t count), index_map_fn *fn, void *arg)
{
    uint64_t count = ski_index_map_count(&def->range);

    if (count == 0)
        return;
    switch (def->map.kind) {
    case SKUA_MAP_BLOCK:
        room(arg,
             index_map_block_begin(count, pe + 1, pes) - index_map_block_begin(count, pe, pes));
        index_map_each_rank(&def->range, index_map_block_begin(count, pe, pes),
                            index_map_block_begin(count, pe + 1, pes), fn, arg);
        break;
    case SKUA_MAP_CYCLIC:
        room(arg, count / (unsigned)pes);
        index_map_each_cyclic(def, pe, pes, fn, arg);
        break;
    case SKUA_MAP_MATRIX: index_map_each_matrix(def, pe, fn, arg); break;
    default: index_map_each_searched(def, pe, pes, fn, arg);
    }
}
