/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - the functions of everything.c that everything.ci calls. */
#ifndef CHECKS_H
#define CHECKS_H

SKUA_BEGIN_DECLS

void begin(Main *self, int argc, char **argv);
void check_counts(Main *self, int n, const int64_t *counts);
void send_messages(Main *self);
void create_all(Main *self);
void use_shapes(Main *self);
void send_items(Main *self);
void walk_all(Main *self);
void check_walk(int n, const int64_t *sums);
void wander(Main *self);

void check_own(const Own *self);
void fill(Walker *self);
void move_on(Walker *self);
void check_step(const Walker *self, int round, int n, const int *v, const char *text);
void check_walker(const Walker *self);

SKUA_END_DECLS

#endif
