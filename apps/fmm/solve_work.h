/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve_work.h - the data and the steps of one solve, which the files of the solver share.
 *
 *     partition.c   the tree, and which PE has which leaves and bodies
 *     parcels.c     transfers between PEs
 *     halo.c        ghosts and multipoles that PEs need of each other
 *     passes.c      the passes over the boxes of a PE
 *     help.c        tasks of these passes for other PEs
 *     solve.c       all of them in turn
 */
#ifndef FMM_SOLVE_WORK_H
#define FMM_SOLVE_WORK_H

#include <stdlib.h>
#include <string.h>

#include "common/huge_pages.h"
#include "solve.h"

/* The rounds of a solve. */
enum round {
    ROUND_NEAR,   /* pairs of bodies within a PE */
    ROUND_FAR,    /* translations within a PE */
    ROUND_GHOSTS, /* pairs with ghosts */
    ROUND_OTHERS, /* translations of multipoles of other PEs */
    ROUND_REST,   /* translations that tasks of both rounds have left over */
    ROUND_LEAVES, /* local expansions and multipoles to bodies */
    ROUNDS
};

/* The blocks that one PE receives in a transfer. */
struct solve_parcel {
    skua_block *block;
    size_t      n, room, bytes;
};

/* An entry of LIST_FAR as a translation. */
struct solve_pair {
    int32_t from, to;
};

/* The translations of one direction that do not fill the lanes wait for those of other PEs and of
 * later chunks. */
struct solve_rest {
    struct solve_pair pair[LANES];
    int32_t           n;
};

/* Memory that helpers can access. */
struct solve_memory {
    char  *at;
    size_t used, room; /* bytes */
};

struct solve_work {
    struct solve_memory  memory;            /* of the arrays that tasks use: */
    const double       **multipole_of;      /* address of the multipoles of each box, or NULL */
    const struct body  **bodies_of;         /* bodies of each leaf, by its number, or NULL */
    bool                *mine;              /* for each box: this PE owns all of its leaves */
    int32_t             *target_of;         /* target of each box, or -1 */
    double              *multipole, *local; /* expansions of each target */
    double              *total;             /* multipoles of shared boxes */
    int32_t             *shared;            /* boxes whose leaves belong to several PEs */
    int32_t              shareds;
    struct solve_parcel *parcel[TRANSFERS]; /* for each transfer: the parcel of each PE */
    void                *window[TRANSFERS];
    size_t               window_bytes[TRANSFERS];
    int32_t             *by_level; /* targets, sorted by level */
    int32_t              level_first[LEVELS_MAX + 2];
    struct solve_rest   *rest;  /* translations that wait, for each direction (passes.c), */
    int32_t              rests; /* of each task if PEs help each other, else of all */
};

/* Bytes that each PE (rows) puts to each PE (columns) in a transfer.  The ranges that a PE receives
 * are ordered by the sending PE. */
struct solve_sizes {
    int64_t *at;
    int      pes;
};

/* Ends the job if an allocation failed. */
static inline void solve_require(const struct solver *s, bool good)
{
    if (!good)
        s->comm->fail(s->comm, "there is not enough memory; use fewer --particles or more PEs");
}

/* Allocates @p n elements of @p bytes that are zero. */
static inline void *solve_alloc(const struct solver *s, size_t n, size_t bytes)
{
    void *at = huge_malloc((n + 1) * bytes);

    solve_require(s, at != NULL);
    memset(at, 0, (n + 1) * bytes);
    return at;
}

/* Returns the distance between two expansions, in coefficients. */
static inline int solve_stride(const struct solver *s)
{
    return expansion_stride(s->rule.order);
}

/* Returns the bodies of a leaf of this PE. */
static inline struct body *solve_bodies(const struct solver *s, const struct node *node)
{
    int32_t first = s->tree.first_of[s->pe];

    return s->body + (node->first - s->tree.node[s->tree.leaf[first]].first);
}

/* Returns the fields of the bodies of a leaf of this PE. */
static inline struct field *solve_fields(const struct solver *s, const struct node *node)
{
    return s->field + (solve_bodies(s, node) - s->body);
}

/* ---- partition.c ----------------------------------------------------------------------------- */

/** Returns the smallest cube around the bodies of all PEs; with periodic boundaries the unit cube.
 *  Collective. */
struct cube solve_cube(const struct solver *s, const struct traveller *body, int64_t n);

/** Builds the lists of the boxes above the leaves of this PE. */
void solve_find_lists(struct solver *s);

/** Divides the leaves by their bodies, then by the times that the PEs have found for them, and by
 *  the speeds of the PEs.  Collective. */
void solve_divide(struct solver *s);

/** Adds this solve to the mean speeds of all PEs.  Collective. */
void solve_measure_speeds(struct solver *s);

/** Moves bodies to the PEs that own their leaves.  Collective. */
void solve_move_bodies(struct solver *s, struct traveller *body, int64_t n);

/* ---- parcels.c ------------------------------------------------------------------------------- */

/** Appends @p bytes at @p offset to the parcel of a PE. */
void solve_add_block(const struct solver *s, struct solve_parcel *p, size_t offset, size_t bytes);

/** Empties the parcels of all transfers. */
void solve_clear_parcels(struct solver *s);

/** Returns the sizes of all parcels of a transfer.  Collective; the caller frees them. */
struct solve_sizes solve_exchange_sizes(struct solver *s, enum transfer transfer);

/** Returns the offset of the parcel of PE @p from in the window of PE @p to. */
size_t solve_offset(const struct solve_sizes *sizes, int from, int to);

/** Expects and puts all parcels of a transfer, whose blocks are at offsets from @p base. */
void solve_transfer(struct solver *s, enum transfer transfer, const struct solve_sizes *sizes,
                    const void *base);

/** Waits until all parcels for this PE have arrived, in PHASE_WAIT. */
void solve_wait(struct solver *s, enum transfer transfer);

/* ---- halo.c ---------------------------------------------------------------------------------- */

/** Finds the boxes of this PE that each other PE needs. */
void solve_pack(struct solver *s);

/** Records the addresses at which the multipoles and ghosts of other PEs will arrive. */
void solve_place(struct solver *s);

/** Puts this PE's parts of shared boxes to all PEs, including itself.  Returns their sizes, which
 *  the caller frees. */
struct solve_sizes solve_put_shared(struct solver *s);

/** Adds the parts of shared boxes, in the order of PEs, when they have arrived. */
void solve_add_shared(struct solver *s, const struct solve_sizes *sizes);

/* ---- passes.c -------------------------------------------------------------------------------- */

/** Computes the multipoles of all boxes of this PE from its bodies. */
void solve_up(struct solver *s);

/** Returns the number of tasks of a round, each of which is a chunk of targets (help.h). */
int32_t solve_tasks(const struct solver *s, enum round round);

/** Computes a task of a round. */
void solve_task(struct solver *s, enum round round, int32_t task);

/** Passes the local expansions down the tree to the leaves of this PE, when the rounds before
 *  ROUND_LEAVES are complete. */
void solve_down(struct solver *s);

#endif
