/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.h - the functions of randomaccess.c that randomaccess.ci calls. */
#ifndef RANDOMACCESS_H
#define RANDOMACCESS_H

#include "report.h"

void make_table(Updater *u);
void begin_sequence(Updater *u);
void make_numbers(Updater *u);

#endif
