/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.h - the functions of randomaccess.c that randomaccess.ci calls. */
#ifndef RANDOMACCESS_H
#define RANDOMACCESS_H

#include <stdint.h>

#define LOOK_AHEAD 1024             /* the rule: how many numbers may be ahead of their updates */
#define STEP       (LOOK_AHEAD / 2) /* half are generated in a step, half wait in the stream    */
#define LAP        16               /* steps between two synchronisations of the PEs            */
#define PER_WORD   4                /* updates per word of the table                            */

void report(double seconds);
void report_errors(uint64_t errors, double seconds);

void     make_table(Updater *u);
void     begin_sequence(Updater *u);
void     make_numbers(Updater *u);
void     show_progress(Updater *u);
uint64_t count_errors(const Updater *u);

#endif
