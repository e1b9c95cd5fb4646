/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul3d.h - tiles of matmul3d.ci.
 *
 * The block of a matrix that a tile has is cut into as many slabs as there are tiles with the
 * same block.  These tiles are its *group*, and its own place in it is the slab that it begins
 * with, of A and B, or ends with, of C.
 */
#ifndef MATMUL3D_H
#define MATMUL3D_H

#include <stdint.h>

#include "common/gemm.h"
#include "options.h"

enum { A, B, C, MATRICES };

#define COMPARED_MOST 512 /* rows of matrices that are multiplied again */

struct set {
    char         *block[MATRICES]; /* rows of float or double                          */
    char        **part;            /* of our slab of C, by the tile that it comes from */
    skua_channel *in[MATRICES];    /* by the other tile of the group                   */
    skua_sender **out[MATRICES];
    int           filled, parts; /* slabs and parts that have come by channels ... */
    int64_t       turn;          /* ... for this step                              */
    struct Tile  *of;
};

struct Tile {
    int64_t    first[3], n[3]; /* of the X, Y and Z rows and columns: which are ours */
    int64_t    turn;           /* steps since the beginning: set turn % 2 is in use  */
    uint64_t   round;          /* which numbers the matrices have                    */
    double     shown;          /* when progress was                                  */
    struct set set[2];
};

/** How many tiles are in the group of a matrix besides this one. */
int others(const Tile *tile, int matrix);

void create_channels(Tile *tile);
void open_channel(Tile *tile, int set, int matrix, int to, skua_channel channel);
void send_slabs(const Tile *tile);
void take_slab(Tile *tile, const Slab *slab);
void send_parts(const Tile *tile);
void put_slabs(Tile *tile);
void put_parts(Tile *tile);
void multiply(Tile *tile);
void add_part(Tile *tile, const char *part);
void add_parts(Tile *tile);
void end_step(Tile *tile, int64_t step, int64_t steps);

void stop(Main *main, int way);
void judge(Main *main, const double *both);
void report(const Main *main);

#endif
