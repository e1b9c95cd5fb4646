/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - see transform.h. */
#include "transform.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TILE_MAX  8                 /* 128 bytes of a row: two cache lines */
#define HUGE_PAGE ((size_t)2 << 20) /* bytes                               */
#define STRIP_GAP                                                                                  \
    4                     /* numbers after a row of a strip: rows that begin a power               \
                             of two apart would share the sets of the caches       */
#define GAP_FROM       16 /* smallest number of tiles in a row with which a gap is added */
#define PREFETCH_TILES 4  /* number of tiles of a strip that are prefetched ahead */

/* The tiles of a strip in a block: the offset of the first, and the distance of two tiles. */
struct fft_strip {
    int64_t first, step;
};

/* Shared by the PEs of a process.  The lock protects the planner of FFTW, which is not thread-safe.
 */
static struct {
    pthread_mutex_t  lock;
    int              users;
    fftw_plan        forward, backward; /* in-place transforms of a strip */
    struct fft_roots roots;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- shapes -------------------------------------------------------------------------- */

static int64_t largest_divisor(int64_t of, int64_t most)
{
    while (of % most != 0)
        most--;
    return most;
}

struct fft_shape shape_of(int64_t side, int64_t chares, int64_t tile, bool measure)
{
    struct fft_shape shape = {.side = side, .chares = chares, .measure = measure};

    shape.rows = side / chares;
    shape.tile = largest_divisor(shape.rows, tile > 0 ? tile : TILE_MAX);
    shape.step = shape.rows * shape.tile;
    if (shape.rows / shape.tile >= GAP_FROM)
        shape.step += shape.tile * shape.tile;
    return shape;
}

int64_t shape_block(const struct fft_shape *shape)
{
    return shape->rows / shape->tile * shape->step;
}

/* Returns the distance between two rows of a strip. */
static int64_t strip_pitch(const struct fft_shape *shape)
{
    return shape->side + STRIP_GAP;
}

static int64_t strips(const struct fft_shape *shape)
{
    return shape->rows / shape->tile;
}

static struct fft_strip row_strip(const struct fft_shape *shape, int64_t which)
{
    return (struct fft_strip){which * shape->step, shape->tile * shape->tile};
}

static struct fft_strip column_strip(const struct fft_shape *shape, int64_t which)
{
    return (struct fft_strip){which * shape->tile * shape->tile, shape->step};
}

/* ---- allocation ------------------------------------------------------------------- */

static number *allocate(int64_t count)
{
    size_t bytes  = ((size_t)count * sizeof(number) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void  *memory = aligned_alloc(HUGE_PAGE, bytes);

    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static fftw_plan plan(const struct fft_shape *shape, number *strip, int sign)
{
    fftw_complex *data   = (fftw_complex *)strip;
    int           length = (int)shape->side, pitch = (int)strip_pitch(shape);

    return fftw_plan_many_dft(1, &length, (int)shape->tile, data, NULL, 1, pitch, data, NULL, 1,
                              pitch, sign, shape->measure ? FFTW_MEASURE : FFTW_ESTIMATE);
}

static void acquire_shared(const struct fft_shape *shape, number *strip)
{
    pthread_mutex_lock(&shared.lock);
    if (shared.users++ == 0) {
        shared.forward  = plan(shape, strip, FFTW_FORWARD);
        shared.backward = plan(shape, strip, FFTW_BACKWARD);
        roots_make(&shared.roots, shape->side);
    }
    pthread_mutex_unlock(&shared.lock);
}

static void release_shared(void)
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

bool part_create(struct fft_part *part, const struct fft_shape *shape, int64_t index)
{
    part->shape = *shape;
    part->first = index * shape->rows;
    part->row   = allocate(shape->rows * shape->side);
    part->strip = allocate(shape->tile * strip_pitch(shape));
    part->block = calloc((size_t)shape->chares, sizeof *part->block);
    if (!part->row || !part->strip || !part->block)
        return false;
    acquire_shared(shape, part->strip);
    return true;
}

void part_destroy(struct fft_part *part)
{
    free(part->row);
    free(part->strip);
    free(part->block);
    release_shared();
}

/* ---- tiles --------------------------------------------------------------------------- */

/* Copies between a tile and T x T numbers whose rows are @p pitch apart. All callers pass the size
 * as a constant, so the compiler unrolls the loops. */
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

/* Writes a tile transposed and multiplied by times[i] * root[i][j]. */
TILE_INLINE void tile_put_twiddled(number *tile, const number *from, int64_t pitch, int64_t size,
                                   const number *root, const number *times)
{
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            tile[j * size + i] =
                number_times(from[i * pitch + j], number_times(times[i], root[i * size + j]));
}

TILE_INLINE void tile_prefetch(const number *tile, int64_t size)
{
    for (int64_t i = 0; i < size * size; i += 4) /* a cache line */
        __builtin_prefetch(tile + i, 1);
}

/* ---- strips -------------------------------------------------------------------------- */

/* Calls the function with the tile size as a constant for the common sizes. */
#define WITH_TILE(function, size, ...)                                                             \
    ((size) == 8   ? function(__VA_ARGS__, 8)                                                      \
     : (size) == 4 ? function(__VA_ARGS__, 4)                                                      \
                   : function(__VA_ARGS__, size))

TILE_INLINE void get_rows(const struct fft_part *part, struct fft_strip strip, number *to,
                          int64_t pitch, int64_t size)
{
    for (int64_t c = 0; c < part->shape.chares; c++) {
        const number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, to += size)
            tile_get(tile, to, pitch, size);
    }
}

TILE_INLINE void put_rows(const struct fft_part *part, struct fft_strip strip, const number *from,
                          int64_t pitch, int64_t size)
{
    for (int64_t c = 0; c < part->shape.chares; c++) {
        number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, from += size)
            tile_put(tile, from, pitch, size);
    }
}

/* Prefetches, since hardware prefetchers do not predict tiles that are far apart. */
TILE_INLINE void get_columns(const struct fft_part *part, struct fft_strip strip, number *to,
                             int64_t pitch, int64_t size)
{
    for (int64_t c = 0; c < part->shape.chares; c++) {
        const number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, to += size) {
            if (i + PREFETCH_TILES * size < part->shape.rows)
                tile_prefetch(tile + PREFETCH_TILES * strip.step, size);
            tile_get_transposed(tile, to, pitch, size);
        }
    }
}

/* ---- twiddle factors ------------------------------------------------------------------ */

/* The rows of a strip are rows j, j + 1, ... of the transposed matrix; column k of row j is
 * multiplied by the root of j k.  With k = k0 + s that is the root of j k0, one for each row of a
 * tile, times the root of j s, which is equal for all tiles. */
struct fft_twiddle {
    number  root[TILE_MAX * TILE_MAX];  /* roots of j s */
    int64_t a[TILE_MAX], b[TILE_MAX];   /* j k0 = a N + b */
    int64_t da[TILE_MAX], db[TILE_MAX]; /* the increments of a and b for the next tile */
};

/* The tables are those of the forward transform; the backward one needs the conjugate. */
static inline number twiddle_sign(number root, int sign)
{
    return (number){root.re, sign == FORWARD ? root.im : -root.im};
}

static void twiddle_begin(struct fft_twiddle *twiddle, const struct fft_shape *shape, int64_t j,
                          int sign)
{
    int64_t n = shape->side, size = shape->tile;

    memset(twiddle->a, 0, sizeof twiddle->a);
    memset(twiddle->b, 0, sizeof twiddle->b);
    for (int64_t i = 0; i < size; i++) {
        twiddle->da[i] = (j + i) * size / n;
        twiddle->db[i] = (j + i) * size % n;
        for (int64_t s = 0; s < size; s++)
            twiddle->root[i * size + s] =
                twiddle_sign(roots_at(&shared.roots, (j + i) * s / n, (j + i) * s % n), sign);
    }
}

/* Computes the roots of j k0 for the next tile. */
TILE_INLINE void twiddle_next(struct fft_twiddle *twiddle, int sign, number *times, int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        times[i] = twiddle_sign(roots_at(&shared.roots, twiddle->a[i], twiddle->b[i]), sign);
        twiddle->a[i] += twiddle->da[i];
        twiddle->b[i] += twiddle->db[i];
        if (twiddle->b[i] >= shared.roots.side) {
            twiddle->b[i] -= shared.roots.side;
            twiddle->a[i]++;
        }
    }
}

TILE_INLINE void put_columns(const struct fft_part *part, struct fft_strip strip,
                             struct fft_twiddle *twiddle, int sign, int64_t size)
{
    const number *from = part->strip;
    number        times[TILE_MAX];

    for (int64_t c = 0; c < part->shape.chares; c++) {
        number *tile = part->block[c] + strip.first;
        for (int64_t i = 0; i < part->shape.rows; i += size, tile += strip.step, from += size) {
            twiddle_next(twiddle, sign, times, size);
            tile_put_twiddled(tile, from, strip_pitch(&part->shape), size, twiddle->root, times);
        }
    }
}

/* ---- steps --------------------------------------------------------------------------- */

static void transform(const struct fft_part *part, int sign)
{
    fftw_complex *data = (fftw_complex *)part->strip;

    fftw_execute_dft(sign == FORWARD ? shared.forward : shared.backward, data, data);
}

void part_pack(struct fft_part *part)
{
    const struct fft_shape *shape = &part->shape;

    for (int64_t i = 0; i < strips(shape); i++)
        WITH_TILE(put_rows, shape->tile, part, row_strip(shape, i),
                  part->row + i * shape->tile * shape->side, shape->side);
}

void part_columns(struct fft_part *part, int sign)
{
    const struct fft_shape *shape = &part->shape;
    struct fft_twiddle      twiddle;

    for (int64_t i = 0; i < strips(shape); i++) {
        struct fft_strip strip = column_strip(shape, i);
        WITH_TILE(get_columns, shape->tile, part, strip, part->strip, strip_pitch(shape));
        transform(part, sign);
        twiddle_begin(&twiddle, shape, part->first + i * shape->tile, sign);
        WITH_TILE(put_columns, shape->tile, part, strip, &twiddle, sign);
    }
}

void part_rows(struct fft_part *part, int sign)
{
    const struct fft_shape *shape = &part->shape;

    for (int64_t i = 0; i < strips(shape); i++) {
        struct fft_strip strip = row_strip(shape, i);
        WITH_TILE(get_rows, shape->tile, part, strip, part->strip, strip_pitch(shape));
        transform(part, sign);
        WITH_TILE(put_rows, shape->tile, part, strip, part->strip, strip_pitch(shape));
    }
}

void part_unpack(struct fft_part *part)
{
    const struct fft_shape *shape = &part->shape;

    for (int64_t i = 0; i < strips(shape); i++)
        WITH_TILE(get_columns, shape->tile, part, column_strip(shape, i),
                  part->row + i * shape->tile * shape->side, shape->side);
}
