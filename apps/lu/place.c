/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - the positions of the blocks of each PE in its memory; see lu.h.
 *
 * All PEs compute the positions of all blocks.  Columns of a PE form a group if their blocks lie in
 * the same block rows, up to place_group_size() of them, and the right-hand side; but the first
 * SLOTS columns lie alone, without gaps, since later panels use their memory.  The first pass finds
 * the index of each column in its group.  The second one goes through the columns from the last to
 * the first, so that it meets the last column of a group, whose index tells the size of the group,
 * first.
 */
#include <skua/skua.h>

#include "lu.ci.h"

#define GROUP_NUMBERS 1024 /* largest number of values in a row of a group */
#define GROUP_GAP     8    /* gap after it: rows a power of two apart share cache sets */

/* The blocks of a PE in the column that a pass has reached. */
struct place_pe {
    int64_t column;   /* the last column with blocks of this PE so far, or -1 */
    int64_t previous; /* the column before it with blocks of this PE, or -1   */
    int     rows;     /* number of blocks of this PE in `column`              */
    int     rows_previous;
    bool    alike; /* the blocks so far lie in the same block rows as in `previous` */
    int     count; /* number of columns with blocks of this PE so far */
    int     index; /* index of column `indexed` in its group */
    int64_t indexed;
    int     open;  /* columns of the group that are not placed yet */
    int64_t pitch; /* distance between two rows of the group */
    size_t  base;  /* offset of the group */
    size_t  end;   /* end of the blocks that are placed */
};

/* Returns the largest number of columns of a group: of a small matrix fewer, so that a panel does
 * not wait long for the update of a group. */
static int64_t place_group_size(void)
{
    int64_t numbers = options.size / 4 < GROUP_NUMBERS ? options.size / 4 : GROUP_NUMBERS;

    return options.block < numbers ? numbers / options.block : 1;
}

/* Counts the blocks of each PE in a column, and compares their block rows with those of the
 * previous column. */
static void place_look(const Scheduler *s, struct place_pe *pes, int64_t j)
{
    for (int64_t i = 0; i < options.blocks; i++) {
        int32_t          pe = s->pe[block_number(i, j)];
        struct place_pe *at = &pes[pe];

        if (at->column != j) {
            at->previous      = at->column;
            at->rows_previous = at->rows;
            at->column        = j;
            at->rows          = 0;
            at->alike         = at->previous >= 0;
            at->count++;
        }
        at->rows++;
        at->alike = at->alike && s->pe[block_number(i, at->previous)] == pe;
    }
}

/* Stores the index of the column in the group of each PE, as the pitch of its blocks. */
static void place_index(Scheduler *s, struct place_pe *pes, int64_t j)
{
    for (int64_t i = options.blocks - 1; i >= 0; i--) {
        size_t           b  = block_number(i, j);
        struct place_pe *at = &pes[s->pe[b]];

        if (at->indexed != j) { /* the first block of this PE in this column */
            bool fits  = at->index + 1 < place_group_size() || j == options.blocks;
            bool alone = at->count <= SLOTS + 1; /* it, or the column before it */
            bool joins = at->alike && at->rows == at->rows_previous && fits && !alone;

            at->index   = joins ? at->index + 1 : 0;
            at->indexed = j;
        }
        s->pitch[b] = at->index;
    }
}

/* Places a group whose last column is @p j. The right-hand side of a group is in its gap. */
static void place_begin_group(struct place_pe *at, int columns, int64_t j)
{
    int64_t before = (columns - 1) * options.block;

    at->open  = columns;
    at->pitch = columns == 1 ? column_width(j)
                             : before + (j < options.blocks ? options.block : 0) + GROUP_GAP;
    at->base  = at->end;
    at->end += (size_t)(at->rows * options.block * at->pitch);
}

/* Places the blocks of a column. */
static void place_column(Scheduler *s, struct place_pe *pes, int64_t j)
{
    for (int64_t i = options.blocks - 1; i >= 0; i--) {
        size_t           b     = block_number(i, j);
        struct place_pe *at    = &pes[s->pe[b]];
        int              index = s->pitch[b];

        if (at->open == 0)
            place_begin_group(at, index + 1, j);
        s->pitch[b] = (int32_t)at->pitch;
        s->offset[b] =
            at->base + (size_t)(--at->rows * options.block * at->pitch + index * options.block);
        if (at->rows == 0)
            at->open--;
    }
}

size_t place_blocks(Scheduler *s)
{
    struct place_pe *pes = calloc((size_t)skua_pes(), sizeof *pes);
    size_t           own;

    if (!pes)
        skua_abort("PE %d has no memory for its tables; use a larger --block", skua_pe());
    for (int pe = 0; pe < skua_pes(); pe++)
        pes[pe].column = pes[pe].indexed = -1;
    for (int64_t j = 0; j <= options.blocks; j++) {
        place_look(s, pes, j);
        place_index(s, pes, j);
    }
    for (int pe = 0; pe < skua_pes(); pe++)
        pes[pe].column = -1;
    for (int64_t j = options.blocks; j >= 0; j--) {
        place_look(s, pes, j);
        place_column(s, pes, j);
    }
    own = pes[skua_pe()].end;
    free(pes);
    return own;
}
