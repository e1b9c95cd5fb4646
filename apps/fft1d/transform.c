/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - see transform.h. */
#include "transform.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TILE_MOST 8                 /* 128 bytes of a row: two lines of the cache            */
#define HUGE_PAGE ((size_t)2 << 20) /* where pages of that size exist                        */
#define STRIP_GAP                                                                                  \
    4               /* numbers after a row of a strip: rows that begin a power                     \
                       of two apart would share the sets of the caches       */
#define GAP_FROM 16 /* tiles in a row of them, from which on a gap is small  */
#define AHEAD    4  /* tiles of a strip that are asked for before their turn */

/* The tiles of a strip in each block: the first, and how far it is to the next. */
struct strip {
    int64_t first, step;
};

/* What the PEs of a process share.  Only the planner of FFTW may not be used by two at once. */
static struct {
    pthread_mutex_t lock;
    int             users;
    fftw_plan       forward, backward; /* of a strip, in place */
    struct roots    roots;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- shapes -------------------------------------------------------------------------- */

static int64_t largest_divisor(int64_t of, int64_t most)
{
    while (of % most != 0)
        most--;
    return most;
}

struct shape shape_of(int64_t side, int64_t chares, int64_t tile, bool measure)
{
    struct shape shape = {.side = side, .chares = chares, .measure = measure};

    shape.rows = side / chares;
    shape.tile = largest_divisor(shape.rows, tile > 0 ? tile : TILE_MOST);
    shape.step = shape.rows * shape.tile;
    if (shape.rows / shape.tile >= GAP_FROM)
        shape.step += shape.tile * shape.tile;
    return shape;
}

int64_t shape_block(const struct shape *shape)
{
    return shape->rows / shape->tile * shape->step;
}

/* From a row of a strip to the next. */
static int64_t strip_pitch(const struct shape *shape)
{
    return shape->side + STRIP_GAP;
}

static int64_t strips(const struct shape *shape)
{
    return shape->rows / shape->tile;
}

static struct strip row_strip(const struct shape *shape, int64_t which)
{
    return (struct strip){which * shape->step, shape->tile * shape->tile};
}

static struct strip column_strip(const struct shape *shape, int64_t which)
{
    return (struct strip){which * shape->tile * shape->tile, shape->step};
}

/* ---- getting ready ------------------------------------------------------------------- */

static number *allocate(int64_t count)
{
    size_t bytes  = ((size_t)count * sizeof(number) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void  *memory = aligned_alloc(HUGE_PAGE, bytes);

    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static fftw_plan plan(const struct shape *shape, number *strip, int sign)
{
    fftw_complex *data   = (fftw_complex *)strip;
    int           length = (int)shape->side, pitch = (int)strip_pitch(shape);

    return fftw_plan_many_dft(1, &length, (int)shape->tile, data, NULL, 1, pitch, data, NULL, 1,
                              pitch, sign, shape->measure ? FFTW_MEASURE : FFTW_ESTIMATE);
}

static void join_shared(const struct shape *shape, number *strip)
{
    pthread_mutex_lock(&shared.lock);
    if (shared.users++ == 0) {
        shared.forward  = plan(shape, strip, FFTW_FORWARD);
        shared.backward = plan(shape, strip, FFTW_BACKWARD);
        roots_make(&shared.roots, shape->side);
    }
    pthread_mutex_unlock(&shared.lock);
}

static void leave_shared(void)
{
    pthread_mutex_lock(&shared.lock);
    if (--shared.users == 0) {
        fftw_destroy_plan(shared.forward);
        fftw_destroy_plan(shared.backward);
        fftw_cleanup();
        roots_free(&shared.roots);
    }
    pthread_mutex_unlock(&shared.lock);
}

bool part_create(struct part *part, const struct shape *shape, int64_t index)
{
    part->shape = *shape;
    part->first = index * shape->rows;
    part->row   = allocate(shape->rows * shape->side);
    part->strip = allocate(shape->tile * strip_pitch(shape));
    part->block = calloc((size_t)shape->chares, sizeof *part->block);
    if (!part->row || !part->strip || !part->block)
        return false;
    join_shared(shape, part->strip);
    return true;
}

void part_destroy(struct part *part)
{
    free(part->row);
    free(part->strip);
    free(part->block);
    leave_shared();
}

/* ---- tiles --------------------------------------------------------------------------- */

/* A tile, and the T x T numbers it is copied to or from, whose rows are @p pitch apart.  The
 * size is a constant wherever these are called: the compiler unrolls them. */
#define TILE_INLINE static inline __attribute__((always_inline))

TILE_INLINE void tile_get(const number *tile, number *to, int64_t pitch, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        memcpy(to + i * pitch, tile + i * size, (size_t)size * sizeof *to);
}

TILE_INLINE void tile_put(number *tile, const number *from, int64_t pitch, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        memcpy(tile + i * size, from + i * pitch, (size_t)size * sizeof *from);
}

TILE_INLINE void tile_get_transposed(const number *tile, number *to, int64_t pitch, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            to[i * pitch + j] = tile[j * size + i];
}

/* Transposed, and multiplied by times[i] * root[i][j]. */
TILE_INLINE void tile_put_turned(number *tile, const number *from, int64_t pitch, int64_t size,
                                 const number *root, const number *times)
{
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            tile[j * size + i] =
                number_times(from[i * pitch + j], number_times(times[i], root[i * size + j]));
}

TILE_INLINE void tile_ask(const number *tile, int64_t size)
{
    for (int64_t i = 0; i < size * size; i += 4) /* a line of the cache */
        __builtin_prefetch(tile + i, 1);
}

/* ---- strips -------------------------------------------------------------------------- */

/* Calls the function with the size of the tiles as a constant, where it is a usual one. */
#define WITH_TILE(function, size, ...)                                                             \
    ((size) == 8   ? function(__VA_ARGS__, 8)                                                      \
     : (size) == 4 ? function(__VA_ARGS__, 4)                                                      \
                   : function(__VA_ARGS__, size))

TILE_INLINE void get_rows(const struct part *part, struct strip strip, number *to, int64_t pitch,
                          int64_t size)
{
    for (int64_t c = 0; c < part->shape.chares; c++) {
        const number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, to += size)
            tile_get(tile, to, pitch, size);
    }
}

TILE_INLINE void put_rows(const struct part *part, struct strip strip, const number *from,
                          int64_t pitch, int64_t size)
{
    for (int64_t c = 0; c < part->shape.chares; c++) {
        number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, from += size)
            tile_put(tile, from, pitch, size);
    }
}

/* Tiles that are far apart are not foreseen by the processor. */
TILE_INLINE void get_columns(const struct part *part, struct strip strip, number *to, int64_t pitch,
                             int64_t size)
{
    for (int64_t c = 0; c < part->shape.chares; c++) {
        const number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, to += size) {
            if (i + AHEAD * size < part->shape.rows)
                tile_ask(tile + AHEAD * strip.step, size);
            tile_get_transposed(tile, to, pitch, size);
        }
    }
}

/* ---- roots of unity ------------------------------------------------------------------ */

/* Of a strip, whose rows are j, j + 1, ... of the transposed matrix, column k is multiplied by
 * the root of j k.  With k = k0 + s that is the root of j k0, one for each row of a tile,
 * times the root of j s, the same for all tiles. */
struct turn {
    number  root[TILE_MOST * TILE_MOST];  /* of j s               */
    int64_t a[TILE_MOST], b[TILE_MOST];   /* j k0 = a N + b ...   */
    int64_t da[TILE_MOST], db[TILE_MOST]; /* ... which grows so  */
};

/* The table is of forward transforms; backward it is the conjugate. */
static inline number turned(number root, int sign)
{
    return (number){root.re, sign == FORWARD ? root.im : -root.im};
}

static void turn_begin(struct turn *turn, const struct shape *shape, int64_t j, int sign)
{
    int64_t n = shape->side, size = shape->tile;

    memset(turn->a, 0, sizeof turn->a);
    memset(turn->b, 0, sizeof turn->b);
    for (int64_t i = 0; i < size; i++) {
        turn->da[i] = (j + i) * size / n;
        turn->db[i] = (j + i) * size % n;
        for (int64_t s = 0; s < size; s++)
            turn->root[i * size + s] =
                turned(roots_at(&shared.roots, (j + i) * s / n, (j + i) * s % n), sign);
    }
}

/* The roots for the next tile. */
TILE_INLINE void turn_next(struct turn *turn, int sign, number *times, int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        times[i] = turned(roots_at(&shared.roots, turn->a[i], turn->b[i]), sign);
        turn->a[i] += turn->da[i];
        turn->b[i] += turn->db[i];
        if (turn->b[i] >= shared.roots.side) {
            turn->b[i] -= shared.roots.side;
            turn->a[i]++;
        }
    }
}

TILE_INLINE void put_columns(const struct part *part, struct strip strip, struct turn *turn,
                             int sign, int64_t size)
{
    const number *from = part->strip;
    number        times[TILE_MOST];

    for (int64_t c = 0; c < part->shape.chares; c++) {
        number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, from += size) {
            turn_next(turn, sign, times, size);
            tile_put_turned(tile, from, strip_pitch(&part->shape), size, turn->root, times);
        }
    }
}

/* ---- steps --------------------------------------------------------------------------- */

static void transform(const struct part *part, int sign)
{
    fftw_complex *data = (fftw_complex *)part->strip;

    fftw_execute_dft(sign == FORWARD ? shared.forward : shared.backward, data, data);
}

void part_pack(struct part *part)
{
    const struct shape *shape = &part->shape;

    for (int64_t i = 0; i < strips(shape); i++)
        WITH_TILE(put_rows, shape->tile, part, row_strip(shape, i),
                  part->row + i * shape->tile * shape->side, shape->side);
}

void part_columns(struct part *part, int sign)
{
    const struct shape *shape = &part->shape;
    struct turn         turn;

    for (int64_t i = 0; i < strips(shape); i++) {
        struct strip strip = column_strip(shape, i);
        WITH_TILE(get_columns, shape->tile, part, strip, part->strip, strip_pitch(shape));
        transform(part, sign);
        turn_begin(&turn, shape, part->first + i * shape->tile, sign);
        WITH_TILE(put_columns, shape->tile, part, strip, &turn, sign);
    }
}

void part_rows(struct part *part, int sign)
{
    const struct shape *shape = &part->shape;

    for (int64_t i = 0; i < strips(shape); i++) {
        struct strip strip = row_strip(shape, i);
        WITH_TILE(get_rows, shape->tile, part, strip, part->strip, strip_pitch(shape));
        transform(part, sign);
        WITH_TILE(put_rows, shape->tile, part, strip, part->strip, strip_pitch(shape));
    }
}

void part_unpack(struct part *part)
{
    const struct shape *shape = &part->shape;

    for (int64_t i = 0; i < strips(shape); i++)
        WITH_TILE(get_columns, shape->tile, part, column_strip(shape, i),
                  part->row + i * shape->tile * shape->side, shape->side);
}
