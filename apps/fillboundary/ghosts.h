/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ghosts.h - the ghost cells of a level on one PE: which of its cells come from which box, and the
 * loops that copy them.
 *
 * Boxes are distributed over PEs in the order of the Morton space-filling curve, in parts with
 * equal numbers of cells, as BoxLib does. A box has a layer of ghost cells around it, one cell
 * wide. Those that another box contains are filled from there: by a local copy if both boxes belong
 * to one PE, else through a buffer. There is one buffer per neighbour: a PE packs everything for
 * the neighbour into it, and the neighbour unpacks it in the same order.
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
    PHASE_SENDING, /* the data, without the addresses */
    PHASE_WAITING,
    PHASE_LOCAL,
    PHASE_UNPACKING,
    PHASE_EXCHANGE, /* exchange of addresses */
    PHASES
};

/** Cells in memory: n[2] planes of n[1] rows of n[0] cells, from cell number `at` of the level's
 *  memory on. */
struct ghosts_part {
    ptrdiff_t at, row, plane; /* row, plane: distances in cells */
    int       n[3];
};

/** A list of cells: first the parts with long rows, then the single cells of all other parts. The
 *  loop over a short row costs more than its cells, so these cells are listed one by one. */
struct ghosts_cells {
    struct ghosts_part *part;
    uint32_t           *cell; /* indices in the level's memory */
    int                 parts;
    int64_t             singles, all; /* all: number of cells, including those of the parts */
};

/** The cells that a PE sends to and receives from one other PE. */
struct ghosts_neighbour {
    int                 pe;
    double             *memory; /* the memory of the level */
    struct ghosts_cells send, receive;
};

/** A level on a PE. */
struct ghosts_level {
    int              level;
    struct box_list  boxes; /* boxes of all PEs */
    int             *owner; /* PE of each box */
    struct box_index index;
    int              pe;
    double         **data; /* of the first cell of each box, its ghost cells included; NULL:
                              a box of another PE */
    double                  *memory;
    struct ghosts_cells      local_to, local_from; /* between boxes of this PE */
    struct ghosts_neighbour *neighbour;            /* neighbours, in ascending order of PEs */
    int                      neighbours;
};

/** The size of a problem; see ghosts_describe(). */
struct ghosts_count {
    int64_t cells, ghosts, copies;   /* ghosts: ghost cells that are filled */
    int64_t remote_ghosts, messages; /* the part of these that is sent between PEs */
};

/** Distributes the boxes of a list over @p pes PEs. Returns an array with the PE of each box. */
int *ghosts_deal(const struct box_list *list, int pes);

/** Counts the cells and messages of one exchange of a level. */
struct ghosts_count ghosts_describe(const struct box_list *list, const int *owner);

/** Creates level number @p level of PE @p pe: the boxes of @p finest, halved @p level times. */
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
