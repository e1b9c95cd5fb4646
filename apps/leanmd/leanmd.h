/* SPDX-License-Identifier: Apache-2.0 */
/* leanmd.h - the cells and computes of leanmd.ci. */
#ifndef LEANMD_H
#define LEANMD_H

#include <skua/skua.h>

#include "meter.h"
#include "options.h"
#include "start.h"
#include "tally.h"

struct Cell {
    struct md_atoms atoms;
    Compute_section computes;
    int64_t         step;
};

/** The cell that sends its positions, the reduction that sums the forces on its atoms, and what
 * gets the sum. */
struct md_sender {
    int             cell, n; /* number of the cell, number of its atoms */
    Compute_section to;
    skua_completion done;
};

/* Predicates that say which actions follow a step. */
bool    is_sample(int64_t step);
bool    is_migration(int64_t step);
bool    is_balancing(int64_t step);
int64_t samples(void);

/* Main */
void leanmd_prepare(void);
void create_objects(void);
void start_clock(Main *main);
void add_sample(Main *main, int64_t sample, const struct md_sums *sums);
void report(const Main *main, const skua_statistics *busy, double waited);

/* Cell */
void create_section(Cell *cell);
void send_positions(Cell *cell);
void move_atoms(Cell *cell, const int64_t *force, int count);
void send_atoms(Cell *cell);
void receive_atoms(Cell *cell, const struct md_atom *at, int n);

/* Compute */
void set_cells(Compute *compute);
void interact_within(Compute *compute, const struct md_sender *from, const double *x);
void interact_between(Compute *compute, const struct md_sender *from, const double *x,
                      const struct md_sender *other, const double *y);

#endif
