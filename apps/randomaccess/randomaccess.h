/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.h - the functions of randomaccess.c that randomaccess.ci calls. */
#ifndef RANDOMACCESS_H
#define RANDOMACCESS_H

#include <stdint.h>

#include "table.h"

#define LOOK_AHEAD 1024             /* numbers that may be ahead of their updates: the rule  */
#define STEP       (LOOK_AHEAD / 2) /* half is made in a step, half waits in the stream      */
#define LAP        16               /* steps between two synchronizations of the PEs         */
#define PER_WORD   4                /* updates per word of the table                         */

void report(double seconds);
void report_errors(uint64_t errors, double seconds);

void make_table(Updater *u);
void begin_sequence(Updater *u);
void make_numbers(Updater *u);
void show_progress(Updater *u);

#endif
