/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy.h - the declarations that the interface file and the program share. */
#ifndef NOCOPY_H
#define NOCOPY_H

#include "../tap.h"

#define SENT 12    /* arrays that a block sends in a step without a copy */
#define ROOM 15000 /* numbers of two arrays that a mover can hold */

SKUA_BEGIN_DECLS

/** Returns true if x[i] has the value that was sent, `tag` + i. */
void check(int n, const double *x, int tag);
void check_ghost(int step, int n, const double *x, const char *name, int m, const double *y);
void check_face(Block *self, int step, int n, const double *x);

void send_all(Block *self);
void Mover_send(Mover *self);

/** Frees an array whose transfer is complete. */
void is_free(skua_buffer b);

SKUA_END_DECLS

#endif
