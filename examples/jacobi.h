/* SPDX-License-Identifier: Apache-2.0 */
/* jacobi.h - what a block of jacobi.ci computes. */
#ifndef JACOBI_H
#define JACOBI_H

#include <stdbool.h>

struct outcome { /* largest of all blocks */
    double error, steps;
};

bool read_options(int argc, char **argv);
void report(struct outcome o, double seconds);

void           set_boundary(Block *block);
void           send_edges(Block *block);
void           take_edge(Block *block, int side, const double *x);
double         relax(Block *block);
struct outcome outcome_of(const Block *block);

#endif
