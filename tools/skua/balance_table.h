/* SPDX-License-Identifier: Apache-2.0 */
/* balance_table.h - the effect of strategies on a problem, as a table, as JSON and as a picture. */
#ifndef SKUA_BALANCE_TABLE_H
#define SKUA_BALANCE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "strategy/quality.h"

/* A row: the problem before, or after a strategy. */
struct balance_row {
    const char        *name;
    struct ski_quality quality;
    double             seconds; /* of the decision; for a local strategy, of one PE in all rounds */
    int                rounds; /* of a local strategy, else 0                                     */
    double            *times;  /* of each PE                                                      */
};

/** Prints rows as a table. */
void balance_table_print(FILE *to, const struct balance_row *rows, int count);

/** Prints rows as JSON, a line for each. */
void balance_table_print_json(FILE *to, const struct balance_row *rows, int count);

/** Draws the times of PEs of all rows, one panel below the other. */
void balance_table_draw(FILE *to, const skua_strategy_problem *problem,
                        const struct balance_row *rows, int count);

#endif
