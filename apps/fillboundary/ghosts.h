/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ghosts.h - the ghost cells of a level on one PE: which of its cells come from which box, and the
 * loops that copy them.
 *
 * Boxes are dealt to PEs in the order of a space-filling curve (Morton's), in parts of equal
 * numbers of cells, as BoxLib does. A box has a layer of ghost cells around it, one cell wide.
 * Those that another box contains are filled from there: by a local copy if both boxes belong to
 * one PE, else through a buffer. There is one buffer per neighbour: a PE packs everything for the
 * neighbour into it, and the neighbour unpacks it in the same order.
 *
 * The valid cell (i,j,k) of a level has the value ghosts_value(); ghost cells are NaN until they
 * are filled. Both the application and its MPI peers use this file.
 */
#ifndef GHOSTS_H
#define GHOSTS_H

#include "boxes.h"

/** The phases of an exchange: the columns of Table I of the paper. */
enum {
    PHASE_PACKING,
    PHASE_SENDING, /* without the exchange of addresses */
    PHASE_WAITING,
    PHASE_LOCAL,
    PHASE_UNPACKING,
    PHASE_EXCHANGE, /* of addresses */
    PHASES
};

/** Cells in memory: n[2] planes of n[1] rows of n[0] cells, from cell number `at` of the level's
 *  memory on. */
struct ghosts_part {
    ptrdiff_t at, row, plane; /* row, plane: distances in cells */
    int       n[3];
};

/** A list of cells: parts with long rows, then single cells of all others. A loop over short rows
 *  costs more than the cells, so these are listed one by one. */
struct ghosts_cells {
    struct ghosts_part *part;
    uint32_t           *cell; /* numbers in the level's memory */
    int                 parts;
    int64_t             singles, all; /* all: also those of the parts */
};

/** What a PE sends to and receives from another one. */
struct ghosts_neighbour {
    int                 pe;
    double             *memory; /* of the level */
    struct ghosts_cells send, receive;
};

/** A level on a PE. */
struct ghosts_level {
    int              level;
    struct box_list  boxes; /* of all PEs  */
    int             *owner; /* PE of each  */
    struct box_index index;
    int              pe;
    double         **data; /* of the first cell of each box, its ghost cells included; NULL:
                              a box of another PE */
    double                  *memory;
    struct ghosts_cells      local_to, local_from; /* between boxes of this PE */
    struct ghosts_neighbour *neighbour;            /* in ascending order of PEs */
    int                      neighbours;
};

/** The size of a problem; see ghosts_describe(). */
struct ghosts_count {
    int64_t cells, ghosts, copies;   /* ghosts: those that are filled  */
    int64_t remote_ghosts, messages; /* between PEs                    */
};

/** Deals the boxes of a list to @p pes PEs. Returns an array with the PE of each. */
int *ghosts_deal(const struct box_list *list, int pes);

/** Counts what one exchange of a level copies. */
struct ghosts_count ghosts_describe(const struct box_list *list, const int *owner);

/** Makes level number @p level of PE @p pe: the boxes of @p finest, halved that often. */
void ghosts_make(struct ghosts_level *level, const struct box_list *finest, const int *owner,
                 int number, int pe);

/** Frees a level. */
void ghosts_free(struct ghosts_level *level);

/** Sets valid cells to their values and ghost cells to NaN. */
void ghosts_fill(struct ghosts_level *level);

/** Counts the cells that are wrong: valid cells, ghost cells that another box contains and that
 *  differ from it, and others that are not NaN. Adds the number of ghost cells that are filled to
 *  *@p filled. */
int64_t ghosts_check(const struct ghosts_level *level, int64_t *filled);

/** Copies the cells for a neighbour into a buffer of send.all doubles. */
void ghosts_pack(const struct ghosts_neighbour *neighbour, double *buffer);

/** Copies the cells from a neighbour out of a buffer of receive.all doubles. */
void ghosts_unpack(const struct ghosts_neighbour *neighbour, const double *buffer);

/** Copies ghost cells between boxes of this PE. */
void ghosts_copy_local(const struct ghosts_level *level);

#endif
