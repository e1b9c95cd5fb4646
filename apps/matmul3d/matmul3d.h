/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul3d.h - the tiles of matmul3d.ci.
 *
 * The tiles that have one block of a matrix form a *group*, and the block is divided into as many
 * slabs as the group has tiles.  The index of a tile in its group is the slab that it has at the
 * beginning, of A and B, or at the end, of C.  The other tiles of a group are counted cyclically
 * from there on, so that not all of them send to one tile first.
 */
#ifndef MATMUL3D_H
#define MATMUL3D_H

#include <stdint.h>

#include "common/gemm.h"
#include "common/numbers.h"
#include "options.h"

enum { A, B, C, MATRICES };

#define COMPARED_MAX 512 /* rows up to which the product is compared with three loops */

struct matmul_set {
    char         *block[MATRICES]; /* rows of float or double                                    */
    char         *sum;             /* sum of the other tiles' parts of our slab of C             */
    skua_channel *in[C], in_sum;   /* channels into our blocks of A and B, by tile, and into sum */
    skua_channel *to[MATRICES];    /* the channels of the other tiles, by tile                   */
    skua_sender  *out[C];          /* multicast of our slabs of A and B                          */
    skua_sender **parts;           /* slabs of our block of C, by tile                           */
    int           filled;          /* slabs that have arrived through channels                   */
    int64_t       turn;            /* the step of these slabs                                    */
    struct Tile  *of;
};

struct Tile {
    int               at[3];          /* index of this tile                             */
    int64_t           first[3], n[3]; /* our range of rows and columns in X, Y and Z    */
    int64_t           turn;           /* number of steps so far: set turn % 2 is in use */
    uint64_t          round;          /* seed of the contents of the matrices           */
    double            shown;          /* time of the last progress output               */
    struct matmul_set set[2];
};

struct matmul_rows {
    int64_t first, end;
};

/* matmul3d.c */

/** Returns the direction of the grid along which the rows of a matrix are divided. */
int rows_of(int matrix);

/** Returns the direction of the grid along which the columns of a matrix are divided. */
int columns_of(int matrix);

/** Returns the number of other tiles in a group. */
int others(int matrix);

/** Returns the rows of this tile's block that form its slab. */
struct matmul_rows own_rows(const Tile *tile, int matrix);

/** Returns the address of this tile's slab. */
skua_layout own_slab(const Tile *tile, const struct matmul_set *set, int matrix);

void create_channels(Tile *tile);
void receive_channel(Tile *tile, int set, int matrix, int other, skua_channel channel);
void open_channels(Tile *tile);
void send_slabs(Tile *tile);
void receive_slab(Tile *tile, const Slab *slab);
void send_parts(Tile *tile);
void put_slabs(Tile *tile);
void put_parts(Tile *tile);
void multiply(Tile *tile);
void add_part(Tile *tile, void *part);
void add_sum(Tile *tile);
void end_step(Tile *tile, int64_t step, int64_t steps);

/* check.c */
void check_result(Main *main, const double *both);
void report(const Main *main);

#endif
