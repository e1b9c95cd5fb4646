/* SPDX-License-Identifier: Apache-2.0 */
/* inplace.h - the declarations that the interface file and the program share. */
#ifndef LANDING_H
#define LANDING_H

#include "../tap.h"

#define ROWS 24

/* A struct with padding. */
struct spot {
    char   kind;
    double at;
    short  n;
};

enum { LEFT, RIGHT, SIDES };

SKUA_BEGIN_DECLS

void begin(Cell *self);
void send_columns(Cell *self);
void take_column(Cell *self, int side, int n, const skua_layout *x);
void compare(const Cell *self);
bool moves(Cell *self);
void check_asked(const Cell *self);
void hand_in(Cell *self, int64_t n);

SKUA_END_DECLS

#endif
