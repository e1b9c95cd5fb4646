/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.h - potential and field of all bodies by the fast multipole method.
 *
 * A solve sorts the bodies, builds the tree, divides its leaves among the PEs, and then, on each
 * PE:
 *
 *     ghosts       bodies that leaves of other PEs need start on their way
 *     up           multipoles of leaves (P2M) and of their ancestors (M2M)
 *     multipoles   those that other PEs need start on their way
 *     near         pairs of bodies within the PE: what arrives meanwhile costs nothing
 *     far          M2L within the PE, then with the multipoles of other PEs
 *     down         local expansions of children (L2L) and of bodies (L2P), and ghosts
 *
 * A box whose leaves belong to several PEs has a part of its multipoles on each of them.  These
 * parts go to all PEs, which add them in the same order.  Local expansions need no exchange: each
 * PE computes those of all boxes above its leaves.
 */
#ifndef FMM_SOLVE_H
#define FMM_SOLVE_H

#include "lists.h"

/** How to solve. */
struct solve_rule {
    int     order, separation;
    int64_t leaf; /* bodies of a leaf, at most */
    bool    periodic;
    bool    no_overlap; /* wait for what other PEs put before computing */
};

/** The phases that are timed. */
enum phase { PHASE_TREE, PHASE_UP, PHASE_NEAR, PHASE_FAR, PHASE_DOWN, PHASE_WAIT, PHASES };

/** A solver, and the solution. */
struct solver {
    struct comm      *comm;
    struct solve_rule rule;
    struct expansion  expansion;
    struct translator translator;

    struct tree       tree;
    struct lists      lists;
    struct traveller *traveller; /* the bodies of this PE, along the curve ...      */
    int64_t           n;
    struct body      *body;  /* ... as the kernels need them ...                    */
    struct field     *field; /* ... and the solution                                */
    double            seconds[PHASES];

    double *speed;  /* of each PE relative to the mean, in the solves so far       */
    int64_t solves; /* that it was measured in                                     */
    double  cost;   /* of the leaves of this PE, in the units of partition.c       */

    struct solve_work *work;
};

/** Prepares a solver. */
void solver_create(struct solver *s, struct comm *comm, const struct solve_rule *rule);

/** Solves for the @p n bodies that this PE has, which become the solver's.  Collective.  Afterwards
 *  each PE has other bodies, in s->traveller, and their solution. */
void solver_run(struct solver *s, struct traveller *body, int64_t n);

/** Frees a solver. */
void solver_free(struct solver *s);

#endif
