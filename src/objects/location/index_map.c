/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_map.c - see index_map.h.
 *
 * Indices of a range are numbered in row-major order, the last dimension fastest.  The
 * block and cyclic maps are arithmetic on that number.  Indices outside of the range, of
 * elements inserted later, have homes by hash.
 */
#include "objects/location/index_map.h"

#include "base/memory.h"
#include "core/pe/handler.h"
#include "objects/chare/index.h"

struct user_map {
    const char *name;
    skua_map_fn fn;
};

static struct user_map *maps;
static uint32_t         map_count;

uint32_t skua_map_register(const char *name, skua_map_fn fn)
{
    ski_register_name("map", name);
    maps            = ski_realloc(maps, (map_count + 1) * sizeof *maps);
    maps[map_count] = (struct user_map){name, fn};
    return SKUA_MAP_USER + map_count++;
}

/* ---- ranges ------------------------------------------------------------------------ */

static int64_t extent(const skua_range *range, int d)
{
    return (int64_t)range->upper[d] - range->lower[d];
}

uint64_t ski_range_count(const skua_range *range)
{
    uint64_t count = range->dims > 0;

    for (int d = 0; d < range->dims; d++)
        count *= extent(range, d) > 0 ? (uint64_t)extent(range, d) : 0;
    return count;
}

static bool is_in(const skua_range *range, const skua_index *index)
{
    if (range->dims == 0)
        return false;
    for (int d = 0; d < range->dims; d++)
        if (index->at.x[d] < range->lower[d] || index->at.x[d] >= range->upper[d])
            return false;
    return true;
}

static uint64_t number_of(const skua_range *range, const skua_index *index)
{
    uint64_t number = 0;

    for (int d = 0; d < range->dims; d++)
        number = number * (uint64_t)extent(range, d) +
                 (uint64_t)((int64_t)index->at.x[d] - range->lower[d]);
    return number;
}

static skua_index index_of(const skua_range *range, uint64_t number)
{
    skua_index index = {.bytes = 4 * (uint32_t)range->dims};

    for (int d = range->dims - 1; d >= 0; d--) {
        uint64_t n    = (uint64_t)extent(range, d);
        index.at.x[d] = (int32_t)(range->lower[d] + (int64_t)(number % n));
        number /= n;
    }
    return index;
}

/* The next in row-major order. */
static void step(const skua_range *range, skua_index *index)
{
    for (int d = range->dims - 1; d >= 0; d--) {
        if (++index->at.x[d] < range->upper[d])
            return;
        index->at.x[d] = range->lower[d];
    }
}

/* ---- definitions --------------------------------------------------------------------- */

/* Rows and columns of PEs, as square as they can be, all of them used. */
static void choose_grid(int32_t arg[4], int pes)
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

static bool fits(const skua_range *range)
{
    double count = 1;

    for (int d = 0; d < range->dims; d++)
        if (extent(range, d) > 0)
            count *= (double)extent(range, d);
    return count < 9e15;
}

bool ski_map_right(const skua_array_def *def)
{
    if (def->dims < 0 || def->dims > 6 || (def->range.dims != 0 && def->range.dims != def->dims))
        return false;
    if (def->map.kind >= SKUA_MAP_USER + map_count || !fits(&def->range))
        return false;
    if (def->map.kind == SKUA_MAP_MATRIX)
        return def->dims == 2 && def->map.arg[0] > 0 && def->map.arg[1] > 0 &&
               def->map.arg[2] > 0 && def->map.arg[3] > 0;
    return def->map.kind != SKUA_MAP_CYCLIC || def->map.arg[0] > 0;
}

void ski_map_prepare(const char *call, skua_array_def *def)
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
        choose_grid(map->arg, skua_pes());
    if (map->kind == SKUA_MAP_MATRIX && (int64_t)map->arg[0] * map->arg[1] > skua_pes())
        ski_misuse("%s: a grid of %d x %d PEs, but there are %d", call, map->arg[0], map->arg[1],
                   skua_pes());
    if (!ski_map_right(def))
        ski_misuse("%s: %s", call,
                   map->kind >= SKUA_MAP_USER + map_count ? "its map was never registered"
                   : map->kind == SKUA_MAP_MATRIX         ? "a matrix has two dimensions"
                                                  : "it has more elements than can be counted");
}

/* ---- homes ---------------------------------------------------------------------------- */

/* a * b / c.  Where the product fits, as it nearly always does, in a tenth of the time. */
static inline uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;

    if (SKI_LIKELY(!__builtin_mul_overflow(a, b, &product)))
        return product / c;
    return (uint64_t)((__uint128_t)a * b / c);
}

/* Of n elements PE p has those from p*n/pes on, the same for all but a rounding. */
static uint64_t block_begin(uint64_t n, int pe, int pes)
{
    return scale(n, (unsigned)pe, (unsigned)pes);
}

static int block_home(uint64_t n, uint64_t number, int pes)
{
    int pe = (int)scale(number, (unsigned)pes, n);

    while (pe + 1 < pes && block_begin(n, pe + 1, pes) <= number)
        pe++;
    return pe;
}

static int matrix_home(const skua_array_def *def, const skua_index *index)
{
    const int32_t *arg    = def->map.arg;
    int64_t        row    = (int64_t)index->at.x[0] - def->range.lower[0];
    int64_t        column = (int64_t)index->at.x[1] - def->range.lower[1];

    return (int)(row / arg[2] % arg[0] * arg[1] + column / arg[3] % arg[1]);
}

static int user_home(const skua_array_def *def, const skua_index *index, int pes)
{
    const struct user_map *map = &maps[def->map.kind - SKUA_MAP_USER];
    int                    pe  = map->fn(index, &def->range, def->map.arg);
    char                   text[SKI_INDEX_TEXT];

    if ((unsigned)pe >= (unsigned)pes)
        ski_misuse("map \"%s\" gives %s the home PE %d; this job has PEs 0 to %d", map->name,
                   ski_index_text(text, index, def->dims), pe, pes - 1);
    return pe;
}

static int hash_home(const skua_index *index, int pes)
{
    return (int)((ski_index_hash(index) >> 32) * (unsigned)pes >> 32);
}

int ski_map_home(const skua_array_def *def, const skua_index *index, int pes)
{
    if (def->map.kind >= SKUA_MAP_USER)
        return user_home(def, index, pes);
    if (def->map.kind == SKUA_MAP_HASH || !is_in(&def->range, index))
        return hash_home(index, pes);
    if (def->map.kind == SKUA_MAP_MATRIX)
        return matrix_home(def, index);
    if (def->map.kind == SKUA_MAP_CYCLIC)
        return (int)(number_of(&def->range, index) / (unsigned)def->map.arg[0] % (unsigned)pes);
    return block_home(ski_range_count(&def->range), number_of(&def->range, index), pes);
}

/* ---- lists ------------------------------------------------------------------------------ */

typedef void visit_fn(void *arg, const skua_index *index);

static void each_of(const skua_range *range, uint64_t from, uint64_t to, visit_fn *fn, void *arg)
{
    skua_index index;

    if (from >= to)
        return;
    index = index_of(range, from);
    for (; from < to; from++, step(range, &index))
        fn(arg, &index);
}

static void each_cyclic(const skua_array_def *def, int pe, int pes, visit_fn *fn, void *arg)
{
    uint64_t count = ski_range_count(&def->range);
    uint64_t piece = (uint64_t)def->map.arg[0];

    for (uint64_t at = (unsigned)pe * piece; at < count; at += (unsigned)pes * piece)
        each_of(&def->range, at, at + piece < count ? at + piece : count, fn, arg);
}

/* By looking at all: where the map cannot be turned round. */
static void each_found(const skua_array_def *def, int pe, int pes, visit_fn *fn, void *arg)
{
    uint64_t   count = ski_range_count(&def->range);
    skua_index index = index_of(&def->range, 0);

    for (uint64_t i = 0; i < count; i++, step(&def->range, &index))
        if (ski_map_home(def, &index, pes) == pe)
            fn(arg, &index);
}

static void each_in_matrix(const skua_array_def *def, int pe, visit_fn *fn, void *arg)
{
    const int32_t *a    = def->map.arg;
    int64_t        rows = extent(&def->range, 0), columns = extent(&def->range, 1);

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

void ski_map_each(const skua_array_def *def, int pe, int pes, void (*room)(void *arg, size_t count),
                  visit_fn *fn, void *arg)
{
    uint64_t count = ski_range_count(&def->range);

    if (count == 0)
        return;
    switch (def->map.kind) {
    case SKUA_MAP_BLOCK:
        room(arg, block_begin(count, pe + 1, pes) - block_begin(count, pe, pes));
        each_of(&def->range, block_begin(count, pe, pes), block_begin(count, pe + 1, pes), fn, arg);
        break;
    case SKUA_MAP_CYCLIC:
        room(arg, count / (unsigned)pes);
        each_cyclic(def, pe, pes, fn, arg);
        break;
    case SKUA_MAP_MATRIX: each_in_matrix(def, pe, fn, arg); break;
    default: each_found(def, pe, pes, fn, arg);
    }
}
