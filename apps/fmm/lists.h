/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.h - which boxes act on each other, and how.
 *
 * Two boxes of the same level are *separated* if their positions differ by more than `separation`
 * boxes in some direction; expansions converge at such a distance.  Each pair of bodies is counted
 * once, by one of the four lists of a box that contains the first of them:
 *
 *     LIST_FAR    boxes of the same level, separated, whose parents are not: M2L
 *     LIST_NEAR   of a leaf: leaves that are not separated: pairs of bodies
 *     LIST_FINE   of a leaf: smaller boxes that are separated, whose parents are not: their
 * multipoles act on the bodies LIST_COARSE of a box: larger leaves that are separated, but not from
 * its parent: their bodies act on its local expansion
 *
 * FINE and COARSE mirror each other; FAR and NEAR are symmetric.  So the PE that owns a box finds,
 * in the lists of its own boxes, which boxes of other PEs need it.  A box with few bodies is
 * cheaper as bodies than as an expansion: with larger leaves it is never separated.
 *
 * With periodic boundaries, a list names images of boxes: displaced by a number of widths of the
 * root in each dimension, which an *image* encodes.
 */
#ifndef FMM_LISTS_H
#define FMM_LISTS_H

#include "translate.h"
#include "tree.h"

enum list { LIST_FAR, LIST_NEAR, LIST_FINE, LIST_COARSE, LISTS };

/** An entry of a list: a box. */
struct list_entry {
    int32_t node;
    int16_t image, direction; /* direction: of LIST_FAR, for translate_to_local() */
};

/** A target: a box and the ends of its lists, which begin at the ends of the previous target's
 *  lists. */
struct list_target {
    int32_t node;
    int32_t end[LISTS];
};

struct lists {
    struct comm        *comm;   /* which has their memory */
    struct list_target *target; /* boxes with leaves of this PE, parents before children */
    int32_t             targets;
    struct list_entry  *entry[LISTS];
    int32_t             entries[LISTS];
    int32_t             target_room, room[LISTS];
    bool                failed; /* no memory */
};

/** The parameters of the lists. */
struct list_rule {
    int     separation;
    bool    periodic;
    int64_t few; /* a box with at most so many bodies acts on larger leaves by its bodies */
};

/** Finds the lists of boxes that contain the leaves from @p first to @p end.  @p lists are zero but
 *  for comm, or
 *  lists that have been built before, whose memory is used again.  Returns false if there is no
 *  memory. */
bool lists_build(struct lists *lists, const struct tree *tree, const struct list_rule *rule,
                 const struct translator *translator, int32_t first, int32_t end);

/** Frees lists. */
void lists_free(struct lists *lists);

/** Returns the index of the first entry of a list of a target. */
static inline int32_t list_begin(const struct lists *lists, int32_t target, enum list list)
{
    return target > 0 ? lists->target[target - 1].end[list] : 0;
}

/** Returns the displacement of an image in widths of the root, in dimension @p d. */
int list_image_shift(int image, int d);

#endif
