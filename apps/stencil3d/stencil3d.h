/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil3d.h - blocks of stencil3d.ci.
 *
 * A block has n[0] x n[1] x n[2] cells, x fastest, and beside them a ghost layer for each side,
 * where cells of the neighbour land: an array of rows or, in x, of one cell for each row.
 *
 * There are two sets of all of this: a sweep reads one and writes the other.  Cells that
 * neighbours lend are read from their sets, and the ghost layers are not touched.
 */
#ifndef STENCIL3D_H
#define STENCIL3D_H

#include <stdint.h>

#include "options.h"

enum { WEST, EAST, SOUTH, NORTH, BELOW, ABOVE, SIDES }; /* side ^ 1 is the opposite one */

struct outcome { /* largest of all blocks, but for the sum */
    double error, residual, sum;
};

/* What a block has of a neighbour. */
struct side {
    float       *ghost; /* its cells                                     */
    skua_channel in;    /* into our ghost layer                          */
    skua_sender *out;   /* into its own                                  */
    skua_sender *loan;  /* for a neighbour that looks at what is here    */
};

struct set {
    float        *u;      /* n[2] x n[1] rows of n[0] cells              */
    struct Block *of;     /* the block                                   */
    int64_t       sweep;  /* for which ghost layers come by channels ... */
    int           filled; /* ... so many so far                          */
    struct side   side[SIDES];
};

struct Block {
    int        n[3];
    int64_t    sweep; /* set sweep % 2 is read next                      */
    int64_t    steps; /* since the beginning was known                   */
    double     shown; /* when progress was                               */
    float     *cells; /* memory for all                                  */
    struct set set[2];

    Block_element self, neighbour[SIDES];
    bool          first; /* of all: it shows progress */
};

/** The first side of a block that another is on: rows that are not cut have none in x, planes that
 *  are not cut none in y. */
int first_side(void);

void create_channels(Block *block);
void open_channel(Block *block, int set, int side, skua_channel channel);
void send_faces(Block *block);
void take_face(Block *block, int side, const skua_layout *x);
void put_faces(Block *block, bool lent);
void release_ghosts(Block *block);

/** One sweep; the cells of neighbours are in our ghost layers or, if they were @p lent, where
 *  our channels tell. */
void compute(Block *block, bool lent);

void start(Main *main, int way);
void keep(Main *main, struct outcome outcome);
void report(const Main *main);

#endif
