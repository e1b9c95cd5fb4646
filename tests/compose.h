/* SPDX-License-Identifier: Apache-2.0 */
/* compose.h - two libraries that know nothing of each other (compose_array.c, compose_group.c).
 * Each registers what it needs, begins on one PE, and completes `done` with an int64_t when
 * it has come to its result; `rounds` makes it longer. */
#ifndef COMPOSE_H
#define COMPOSE_H

#include <skua/skua.h>

void array_register(void);
void array_begin(int rounds, skua_completion done);

void group_register(void);
void group_begin(int rounds, skua_completion done);

#endif
