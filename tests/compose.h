/* SPDX-License-Identifier: Apache-2.0 */
/* compose.h - two independent libraries (compose_array.c, compose_group.c).  Each registers its
 * classes, is started on one PE, and completes `done` with its result, an int64_t; `rounds` is the
 * amount of work. */
#ifndef COMPOSE_H
#define COMPOSE_H

#include <skua/skua.h>

void array_register(void);
void array_begin(int rounds, skua_completion done);

void group_register(void);
void group_begin(int rounds, skua_completion done);

#endif
