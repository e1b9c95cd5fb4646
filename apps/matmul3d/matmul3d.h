/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul3d.h - tiles of matmul3d.ci.
 *
 * The block of a matrix that a tile has is cut into as many slabs as there are tiles with the
 * same block.  These tiles are its *group*, and its own place in it is the slab that it begins
 * with, of A and B, or ends with, of C.  The others of a group are counted from there on, in a
 * circle: so not all send to the same one first.
 */
#ifndef MATMUL3D_H
#define MATMUL3D_H

#include <stdint.h>

#include "common/gemm.h"
#include "common/numbers.h"
#include "options.h"

enum { A, B, C, MATRICES };

#define COMPARED_MOST 512 /* rows of matrices that are multiplied again */

struct set {
    char         *block[MATRICES]; /* rows of float or double                           */
    char         *sum;             /* of what the others have of our slab of C          */
    skua_channel *in[C], in_sum;   /* into our blocks of A and B, by the other; to that */
    skua_channel *to[MATRICES];    /* those of the others                               */
    skua_sender  *out[C];          /* of our slabs of A and B, to all others            */
    skua_sender **parts;           /* of our block of C, each to one of the others      */
    int           filled;          /* slabs that have come by channels ...              */
    int64_t       turn;            /* ... for this step                                 */
    struct Tile  *of;
};

struct Tile {
    int        at[3];          /* our index                                          */
    int64_t    first[3], n[3]; /* of the X, Y and Z rows and columns: which are ours */
    int64_t    turn;           /* steps since the beginning: set turn % 2 is in use  */
    uint64_t   round;          /* which numbers the matrices have                    */
    double     shown;          /* when progress was                                  */
    struct set set[2];
};

struct rows {
    int64_t first, end;
};

/* matmul3d.c */

/** Directions of the rows and columns of a matrix. */
int rows_of(int matrix);
int columns_of(int matrix);

/** How many tiles are in a group besides ours. */
int others(int matrix);

/** Which rows of our block are our slab, and where it is. */
struct rows own_rows(const Tile *tile, int matrix);
skua_layout own_slab(const Tile *tile, const struct set *set, int matrix);

void create_channels(Tile *tile);
void take_channel(Tile *tile, int set, int matrix, int other, skua_channel channel);
void open_channels(Tile *tile);
void send_slabs(Tile *tile);
void take_slab(Tile *tile, const Slab *slab);
void send_parts(Tile *tile);
void put_slabs(Tile *tile);
void put_parts(Tile *tile);
void multiply(Tile *tile);
void add_part(Tile *tile, void *part);
void add_sum(Tile *tile);
void end_step(Tile *tile, int64_t step, int64_t steps);

/* check.c */
void judge(Main *main, const double *both);
void report(const Main *main);

#endif
