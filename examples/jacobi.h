/* SPDX-License-Identifier: Apache-2.0 */
/* jacobi.h - the functions of jacobi.c that jacobi.ci calls. */
#ifndef JACOBI_H
#define JACOBI_H

#include <stdbool.h>

struct jacobi_outcome { /* the largest values of all blocks */
    double error, steps;
};

bool read_options(int argc, char **argv);
void report(struct jacobi_outcome o, double seconds);

void                  set_boundary(Block *block);
void                  send_edges(Block *block);
void                  receive_edge(Block *block, int side, const double *x);
double                relax(Block *block);
struct jacobi_outcome outcome_of(const Block *block);

#endif
