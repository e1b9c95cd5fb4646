/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxes.h - lists of boxes: rectangular sets of cells of a three-dimensional grid that do not
 * overlap.
 *
 * A list is read from a file in the format of BoxLib and AMReX, or made as a ball of cubes. Both
 * the application and its MPI peers use it, so nothing here depends on a runtime.
 */
#ifndef BOXES_H
#define BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOXES_MAX       (1 << 22) /* largest number of boxes of a list */
#define BOXES_SPAN      (1 << 15) /* largest number of cells of the whole list in each direction */
#define BOXES_ERROR_MAX 320       /* size of an error text in bytes */

/** The cells lo .. hi, both included, in x, y and z. */
struct box {
    int lo[3], hi[3];
};

/** A list of boxes. `line`, if not NULL, is the line of the file that each one came from. */
struct box_list {
    struct box *box;
    int        *line;
    int         count;
};

/** Reads a list from a file: "(COUNT N", one "((x,y,z) (x,y,z) (0,0,0))" per line with the first
 *  and the last cell of a box, and ")", which may be missing. Returns false and stores "FILE:LINE:
 *  reason" in @p error if the file is not such a list, or two boxes overlap. */
bool boxes_read(struct box_list *list, const char *path, char error[BOXES_ERROR_MAX]);

/** Makes the @p count cubes of @p side cells, of a regular grid, that are nearest to a point: a
 *  ball, as refined regions of simulations often are. */
void boxes_ball(struct box_list *list, int count, int side);

/** Multiplies the resolution of all boxes by @p ratio. Returns false and stores the reason in
 *  @p error if the grid would become too large. */
bool boxes_refine(struct box_list *list, int ratio, char error[BOXES_ERROR_MAX]);

/** Divides all boxes into pieces of at most @p most cells in each direction, as equal as the
 *  alignment of the box allows. Returns false and stores the reason in @p error if there are too
 *  many. */
bool boxes_chop(struct box_list *list, int most, char error[BOXES_ERROR_MAX]);

/** Returns how many times, up to @p most, the resolution of all boxes can be halved such that each
 *  box still consists of whole cells. */
int boxes_halvings(const struct box_list *list, int most);

/** Stores @p from, halved @p times times, in @p list. */
void boxes_coarsen(struct box_list *list, const struct box_list *from, int times);

/** Returns the largest number of cells that a box has in a direction. */
int boxes_side(const struct box_list *list);

/** Returns the number of cells of all boxes. */
int64_t boxes_cells(const struct box_list *list);

/** Frees the memory of a list. */
void boxes_free(struct box_list *list);

/** Returns the number of cells of a box in a direction. */
static inline int box_length(const struct box *b, int d)
{
    return b->hi[d] - b->lo[d] + 1;
}

/** Returns the number of cells of a box. */
static inline int64_t box_cells(const struct box *b)
{
    return (int64_t)box_length(b, 0) * box_length(b, 1) * box_length(b, 2);
}

/** Stores the common cells of two boxes in *@p common. Returns false if there are none. */
static inline bool box_intersect(const struct box *a, const struct box *b, struct box *common)
{
    for (int d = 0; d < 3; d++) {
        common->lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        common->hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        if (common->lo[d] > common->hi[d])
            return false;
    }
    return true;
}

/** Returns a box with @p width further cells on each side. */
static inline struct box box_grow(struct box b, int width)
{
    for (int d = 0; d < 3; d++) {
        b.lo[d] -= width;
        b.hi[d] += width;
    }
    return b;
}

/* ---- finding boxes ------------------------------------------------------------------------ */

/** An index of a list: the boxes that have cells in each cubic bin of the grid. */
struct box_index {
    const struct box_list *list;
    int                    lo[3], bins[3], side; /* side: cells along a bin */
    /* Index in `member` of the first box of each bin, and the end. */
    int *first;
    int *member;
};

/** Makes an index of a list, which must not change while the index is used. */
void box_index_make(struct box_index *index, const struct box_list *list);

/** Calls @p fn for each box of the list that has cells in common with @p box, once. */
void box_index_visit(const struct box_index *index, const struct box                  *box,
                     void (*fn)(void *arg, int found, const struct box *common), void *arg);

/** Returns the box that contains a cell, or -1. */
int box_index_find(const struct box_index *index, const int cell[3]);

/** Frees the memory of an index. */
void box_index_free(struct box_index *index);

#endif
