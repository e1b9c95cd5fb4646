/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.h - what randomaccess.ci needs of randomaccess.c. */
#ifndef RANDOMACCESS_H
#define RANDOMACCESS_H

#include <stdint.h>

#define LOOK_AHEAD 1024             /* numbers made whose updates are not: the rule ...      */
#define STEP       (LOOK_AHEAD / 2) /* ... half made in a step, half waiting in the stream   */
#define LAP        16               /* steps after which PEs wait for each other             */
#define PER_WORD   4                /* updates for every word                                */

void report(double seconds);
void verdict(uint64_t errors, double seconds);

void     make_table(Updater *u);
void     begin_sequence(Updater *u);
void     make_some(Updater *u);
void     show_progress(Updater *u);
uint64_t count_errors(const Updater *u);

#endif
