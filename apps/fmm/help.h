/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - PEs that have finished help the others of their host.
 *
 * The CPUs of a host are not equally fast at any time: they share clocks, caches and cores, and a
 * virtual machine takes them away for a while.  So the passes over the boxes of a PE are *rounds*
 * of independent *tasks*, each of which computes one chunk of targets.  A PE takes the tasks of its
 * rounds one after the other, and when all are complete it takes tasks of other PEs that share its
 * memory, from the one with the most left.  It reads the lists, bodies and multipoles of the other
 * PE, and adds to its fields and local expansions, where they are.
 *
 * Whichever PE computes a task, the sums are those of the same numbers in the same order: two tasks
 * that add to the same numbers are in two rounds, one of which is complete before the other begins,
 * and nothing is carried from one task to the next (passes.c).
 *
 * Order of memory accesses: a PE begins a round by a store (release) of its number of tasks, which
 * others load (acquire) before they take one; so they see everything that the tasks read, including
 * data of third PEs, which have arrived before.  A PE that has computed a task adds to the number
 * of complete tasks (release), which the PE that owns them loads (acquire) before it uses the
 * result.  The boards are reset before a PE takes part in the reductions of a solve, and others
 * read them after these; no PE helps any more when the solve ends, with a barrier.
 */
#ifndef FMM_HELP_H
#define FMM_HELP_H

#include <stdatomic.h>

#include "solve_work.h"

/** The tasks of a PE, in memory that other PEs may access. */
struct help_board {
    struct {
        _Atomic int32_t tasks; /* 0: the round has not begun */
        _Atomic int32_t next;  /* the first task that no PE has taken; it may exceed the number */
        _Atomic int32_t complete;
    } round[ROUNDS];
    _Atomic bool      over; /* all rounds of the PE are complete */
    struct solver     solver;
    struct solve_work work;
};

/** Prepares the rounds of a solve; before its first reduction. */
void help_reset(struct solver *s);

/** Computes the tasks of a round of this PE, of which helpers may still compute some. */
void help_run(struct solver *s, enum round round);

/** Waits until a round of this PE is complete, in PHASE_WAIT. */
void help_finish(struct solver *s, enum round round);

/** Helps other PEs, in PHASE_HELP, until none of them has a task left. */
void help_others(struct solver *s);

#endif
