/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.h - potential and field of all bodies by the fast multipole method.
 *
 * A solve sorts the bodies, builds the tree, divides its leaves among the PEs, and then, on each
 * PE:
 *
 *     ghosts       starts the puts of the bodies that leaves of other PEs need
 *     up           multipoles of leaves (P2M) and of their ancestors (M2M)
 *     multipoles   starts the puts of the multipoles that other PEs need
 *     near         pairs of bodies within the PE, while data of other PEs arrive
 *     far          M2L within the PE, then with the multipoles of other PEs
 *     ghosts       pairs with bodies of other PEs
 *     down         local expansions of children (L2L) and of bodies (L2P)
 *     help         boxes of PEs of the same host that have not finished (help.h)
 *
 * A box whose leaves belong to several PEs has a part of its multipoles on each of them.  These
 * parts go to all PEs, which add them in the same order.  Local expansions need no exchange: each
 * PE computes those of all boxes above its leaves.
 */
#ifndef FMM_SOLVE_H
#define FMM_SOLVE_H

#include "lists.h"

/** The parameters of a solve. */
struct solve_rule {
    int     order, separation;
    int64_t leaf; /* largest number of bodies of a leaf */
    bool    periodic;
    bool    no_overlap; /* wait for the puts of other PEs before computing */
    bool    no_help;    /* every PE computes its boxes alone */
};

/** The phases that are timed. PHASE_WAIT is the time spent waiting for ghosts, multipoles and
 *  helpers, PHASE_HELP that spent helping other PEs. */
enum phase {
    PHASE_TREE,
    PHASE_UP,
    PHASE_NEAR,
    PHASE_FAR,
    PHASE_DOWN,
    PHASE_WAIT,
    PHASE_HELP,
    PHASES
};

/** A solver, and the solution. */
struct solver {
    struct comm      *comm;
    int               pe; /* that owns the boxes: of this PE or, in a task, of one that it helps */
    struct solve_rule rule;
    struct expansion  expansion;
    struct translator translator;

    struct tree       tree;
    struct lists      lists;
    struct traveller *traveller; /* the bodies of this PE in the order of the curve, */
    int64_t           n;
    struct body      *body;  /* these bodies in the layout of the kernels, */
    struct field     *field; /* and their solution */
    double            seconds[PHASES];

    bool    measures_speeds; /* equal on all PEs */
    double *speed;           /* of each PE relative to the mean, in the solves so far       */
    int64_t solves;          /* that it was measured in                                     */
    double  cost;            /* of the leaves of this PE, in the units of partition.c       */

    struct solve_work *work;
    struct help_board *board; /* the tasks of this PE (help.h) */
};

/** Prepares a solver.  Collective. */
void solver_create(struct solver *s, struct comm *comm, const struct solve_rule *rule);

/** Solves for all bodies; the @p n bodies of this PE become the solver's. Collective. Afterwards
 *  s->traveller holds the bodies that this PE then owns, and the solver their solution. */
void solver_run(struct solver *s, struct traveller *body, int64_t n);

/** Frees a solver. */
void solver_free(struct solver *s);

#endif
