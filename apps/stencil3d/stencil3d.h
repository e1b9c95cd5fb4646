/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil3d.h - the blocks of stencil3d.ci.
 *
 * A block has n[0] x n[1] x n[2] cells, x fastest, and a ghost layer for each side, which receives
 * cells of the neighbour: an array of rows or, in x, of one cell for each row.
 *
 * There are two sets of all of this: a sweep reads one and writes the other.  With zero-copy
 * channels the cells of neighbours are read in place, and the ghost layers are not used.
 */
#ifndef STENCIL3D_H
#define STENCIL3D_H

#include <stdint.h>

#include "options.h"

enum { WEST, EAST, SOUTH, NORTH, BELOW, ABOVE, SIDES }; /* side ^ 1 is the opposite one */

struct stencil_outcome { /* error, residual: the largest over all blocks */
    double error, residual, sum;
};

/* The connection of a block with a neighbour. */
struct stencil_side {
    float       *ghost; /* cells of the neighbour                       */
    skua_channel in;    /* the channel into our ghost layer             */
    skua_sender *out;   /* sender into the ghost layer of the neighbour */
    skua_sender *loan;  /* zero-copy: the neighbour reads our cells     */
};

struct stencil_set {
    float              *u;      /* n[2] x n[1] rows of n[0] cells           */
    struct Block       *of;     /* the block that owns the set              */
    int64_t             sweep;  /* the sweep that reads the ghost layers    */
    int                 filled; /* number of ghost layers that have arrived */
    struct stencil_side side[SIDES];
};

struct Block {
    int                n[3];
    int64_t            sweep; /* number of the next sweep; it reads set sweep % 2 */
    int64_t            steps; /* number of steps since the cells were filled      */
    double             shown; /* time of the last progress output                 */
    float             *cells; /* the memory of both sets                          */
    struct stencil_set set[2];

    Block_element self, neighbour[SIDES];
    bool          first; /* the block that shows progress */
};

/** Returns the first side that has a neighbour: there is none in x if rows are not divided, none in
 *  y if planes are not divided. */
int first_side(void);

void create_channels(Block *block);
void open_channel(Block *block, int set, int side, skua_channel channel);
void send_faces(Block *block);
void receive_face(Block *block, int side, const skua_layout *x);
void put_faces(Block *block, bool lent);
void release_ghosts(Block *block);

/** Computes one sweep.  The cells of neighbours are in our ghost layers or, if @p lent, in the
 * views of our channels. */
void compute(Block *block, bool lent);

/** Starts some steps in all blocks; @p left steps remain. */
void start(Main *main, int variant, int64_t left);

/** Starts the creation of channels in all blocks after a restart. */
void reconnect(Main *main);
void add_outcome(Main *main, struct stencil_outcome outcome);
void report(const Main *main);

#endif
