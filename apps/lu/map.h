/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - which PE has which block.
 *
 * The factorisation is correct with any map.  A map is a function of the block's row and column;
 * those of the table in map.c have names, and one more line there adds another.
 *
 *   balanced 2-D block-cyclic; the PEs of the first blocks are in reverse order, so that the work
 * of the PEs differs less
 *
 *   cyclic   2-D block-cyclic, as in ScaLAPACK: PE (i mod P) * Q + j mod Q
 *
 *   tiling   tiles of P x Q PEs, column by column in strides of S; the rows of the next tile to the
 *            right begin R rows lower, which spreads a block column over more PEs
 *   snake    blocks go to PEs in turn by decreasing work, 0 .. P - 1, P - 1 .. 0 and so on
 *
 * A file gives one PE for each block instead, row by row.
 */
#ifndef LU_MAP_H
#define LU_MAP_H

#include "options.h"

/** Stores the PE of each block of the map that the options name.  Returns NULL, or an error text.
 */
const char *map_fill(const struct lu_options *options, int pes, int32_t *table);

/** Reads the PE of each block from a file. Returns true on success; otherwise stores an error text
 *  with the line in @p error. */
bool map_read(const char *path, const struct lu_options *options, int pes, int32_t *table,
              char error[160]);

/** Chooses the rows and columns of a grid of all PEs.  Fewer than 16 PEs have few rows, since a
 *  panel that is on few PEs is factored with little communication.  The grid of more PEs is about
 *  square: they would wait for the panels of few. */
void map_choose_grid(int pes, int64_t grid[2]);

#endif
