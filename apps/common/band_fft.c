/* SPDX-License-Identifier: Apache-2.0 */
/* band_fft.c - see band_fft.h. */
#include "band_fft.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "huge_pages.h"

/* Padding after a row of a strip: rows that begin a power of two apart would share cache sets. */
#define STRIP_GAP 4

/* Shared by the PEs of a process.  The lock protects the planner of FFTW, which is not thread-safe.
 */
static struct {
    pthread_mutex_t  lock;
    int              users;
    fftw_plan        forward, backward; /* of a strip, in place */
    struct fft_roots roots;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the distance between two rows of a strip. */
static int64_t strip_pitch(const struct transpose_shape *shape)
{
    return shape->side + STRIP_GAP;
}

/* ---- allocation ------------------------------------------------------------------- */

static fftw_plan band_plan(const struct transpose_shape *shape, number *strip, int sign,
                           bool measure)
{
    fftw_complex *data   = (fftw_complex *)strip;
    int           length = (int)shape->side, pitch = (int)strip_pitch(shape);

    return fftw_plan_many_dft(1, &length, (int)shape->tile, data, NULL, 1, pitch, data, NULL, 1,
                              pitch, sign, measure ? FFTW_MEASURE : FFTW_ESTIMATE);
}

static void acquire_shared(const struct transpose_shape *shape, number *strip, bool measure)
{
    pthread_mutex_lock(&shared.lock);
    if (shared.users++ == 0) {
        shared.forward  = band_plan(shape, strip, FFTW_FORWARD, measure);
        shared.backward = band_plan(shape, strip, FFTW_BACKWARD, measure);
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

bool band_create(struct band_fft *band, const struct transpose_shape *shape, int64_t index,
                 bool measure)
{
    band->shape = *shape;
    band->first = index * shape->rows;
    band->row   = huge_alloc((size_t)(shape->rows * shape->side) * sizeof(number));
    band->strip = huge_alloc((size_t)(shape->tile * strip_pitch(shape)) * sizeof(number));
    band->block = calloc((size_t)shape->chares, sizeof *band->block);
    if (!band->row || !band->strip || !band->block)
        return false;
    acquire_shared(shape, band->strip, measure);
    return true;
}

void band_destroy(struct band_fft *band)
{
    free(band->row);
    free(band->strip);
    free(band->block);
    release_shared();
}

/* ---- twiddle factors ------------------------------------------------------------------ */

/* The rows of a strip are rows j, j + 1, ... of the transposed matrix; column k of row j is
 * multiplied by the root of j k.  With k = k0 + s that is the root of j k0, one for each row of a
 * tile, times the root of j s, which is equal for all tiles. */
struct fft_twiddle {
    number  root[TRANSPOSE_TILE_MAX * TRANSPOSE_TILE_MAX];  /* of j s               */
    int64_t a[TRANSPOSE_TILE_MAX], b[TRANSPOSE_TILE_MAX];   /* j k0 = a N + b ...   */
    int64_t da[TRANSPOSE_TILE_MAX], db[TRANSPOSE_TILE_MAX]; /* ... which grows so  */
};

/* The tables are those of the forward transform; the backward one needs the conjugate. */
static inline number twiddle_sign(number root, int sign)
{
    return (number){root.re, sign == FORWARD ? root.im : -root.im};
}

static void twiddle_begin(struct fft_twiddle *twiddle, const struct transpose_shape *shape,
                          int64_t j, int sign)
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
TRANSPOSE_INLINE void twiddle_next(struct fft_twiddle *twiddle, int sign, number *times,
                                   int64_t size)
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

/* Writes a tile transposed and multiplied by times[i] * root[i][j]. */
TRANSPOSE_INLINE void tile_put_twiddled(number *tile, const number *from, int64_t pitch,
                                        int64_t size, const number *root, const number *times)
{
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            tile[j * size + i] =
                number_times(from[i * pitch + j], number_times(times[i], root[i * size + j]));
}

TRANSPOSE_INLINE void put_columns(const struct band_fft *band, struct transpose_strip strip,
                                  struct fft_twiddle *twiddle, int sign, int64_t size)
{
    const number *from = band->strip;
    number        times[TRANSPOSE_TILE_MAX];

    for (int64_t c = 0; c < band->shape.chares; c++) {
        number *tile = band->block[c] + strip.first;
        for (int64_t i = 0; i < band->shape.rows; i += size, tile += strip.step, from += size) {
            twiddle_next(twiddle, sign, times, size);
            tile_put_twiddled(tile, from, strip_pitch(&band->shape), size, twiddle->root, times);
        }
    }
}

/* ---- steps --------------------------------------------------------------------------- */

static void transform_strip(const struct band_fft *band, int sign)
{
    fftw_complex *data = (fftw_complex *)band->strip;

    fftw_execute_dft(sign == FORWARD ? shared.forward : shared.backward, data, data);
}

void band_pack(struct band_fft *band)
{
    const struct transpose_shape *shape = &band->shape;

    for (int64_t i = 0; i < transpose_strips(shape); i++)
        TRANSPOSE_WITH_TILE(transpose_put_rows, shape->tile, shape, band->block,
                            transpose_rows(shape, i), band->row + i * shape->tile * shape->side,
                            shape->side);
}

void band_columns(struct band_fft *band, int sign)
{
    const struct transpose_shape *shape = &band->shape;
    struct fft_twiddle            twiddle;

    for (int64_t i = 0; i < transpose_strips(shape); i++) {
        struct transpose_strip strip = transpose_columns(shape, i);
        TRANSPOSE_WITH_TILE(transpose_get_columns, shape->tile, shape, band->block, strip,
                            band->strip, strip_pitch(shape));
        transform_strip(band, sign);
        twiddle_begin(&twiddle, shape, band->first + i * shape->tile, sign);
        TRANSPOSE_WITH_TILE(put_columns, shape->tile, band, strip, &twiddle, sign);
    }
}

void band_rows(struct band_fft *band, int sign)
{
    const struct transpose_shape *shape = &band->shape;

    for (int64_t i = 0; i < transpose_strips(shape); i++) {
        struct transpose_strip strip = transpose_rows(shape, i);
        TRANSPOSE_WITH_TILE(transpose_get_rows, shape->tile, shape, band->block, strip, band->strip,
                            strip_pitch(shape));
        transform_strip(band, sign);
        TRANSPOSE_WITH_TILE(transpose_put_rows, shape->tile, shape, band->block, strip, band->strip,
                            strip_pitch(shape));
    }
}

void band_unpack(struct band_fft *band)
{
    const struct transpose_shape *shape = &band->shape;

    for (int64_t i = 0; i < transpose_strips(shape); i++)
        TRANSPOSE_WITH_TILE(transpose_get_columns, shape->tile, shape, band->block,
                            transpose_columns(shape, i), band->row + i * shape->tile * shape->side,
                            shape->side);
}
