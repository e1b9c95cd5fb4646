/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy.h - what the interface file and the program share. */
#ifndef NOCOPY_H
#define NOCOPY_H

#include "../tap.h"

#define SENT 12 /* arrays that a block gives away in a step, not copied */
#define ROOM 15000 /* numbers of two arrays that a mover has room for */

SKUA_BEGIN_DECLS

/** Whether x[i] is as it was sent: `tag` + i. */
void check(int n, const double *x, int tag);
void check_ghost(int step, int n, const double *x, const char *name, int m, const double *y);
void check_face(Block *self, int step, int n, const double *x);

void send_all(Block *self);
void Mover_send(Mover *self);

/** What was sent may be used again: it is freed. */
void is_free(skua_buffer b);

SKUA_END_DECLS

#endif
